/* SPDX-License-Identifier: MIT */
/* All that the publishers' half of core needs from above. */
#include "bus.h"

const struct bus_ops bus_ops;
