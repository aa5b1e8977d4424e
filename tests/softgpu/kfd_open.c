/* SPDX-License-Identifier: MIT
 *
 * Preloaded into rocminfo only, which opens the driver's device file itself to see whether
 * it may: gives it /dev/null for /dev/kfd.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (strcmp(path, "/dev/kfd") == 0)
		path = "/dev/null";
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

__attribute__((visibility("default"), alias("open"))) int open64(const char *path, int flags, ...);
