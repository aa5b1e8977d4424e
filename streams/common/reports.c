/* SPDX-License-Identifier: MIT */
#include "reports.h"

struct reports reports;
