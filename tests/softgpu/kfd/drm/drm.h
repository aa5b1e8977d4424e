/* SPDX-License-Identifier: MIT
 * All that linux/kfd_ioctl.h needs of this header, which comes with libdrm-dev only. */
#include <linux/types.h>
#include <sys/ioctl.h>
