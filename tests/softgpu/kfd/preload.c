/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kfd.h"

#define DEVICE "/dev/kfd"
#define RENDER "/dev/dri/renderD"

static bool is_device(const char *path)
{
	return strcmp(path, DEVICE) == 0 || strncmp(path, RENDER, sizeof(RENDER) - 1) == 0;
}

KFD_EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (is_device(path))
		return strcmp(path, DEVICE) == 0
			       ? kfd_open_device()
			       : kfd_open_render((unsigned int)atoi(path + sizeof(RENDER) - 1));
	if (kfd_sysfs_has(path))
		return kfd_sysfs_open(path);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

KFD_EXPORT __attribute__((alias("open"))) int open64(const char *path, int flags, ...);

/* The next library's function of this name and type. */
#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

KFD_EXPORT FILE *fopen(const char *path, const char *mode)
{
	FILE *file;
	int fd;

	if (!kfd_sysfs_has(path))
		return NEXT(fopen)(path, mode);
	fd = kfd_sysfs_open(path);
	file = fd < 0 ? NULL : fdopen(fd, mode);
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

KFD_EXPORT __attribute__((alias("fopen"))) FILE *fopen64(const char *path, const char *mode);

KFD_EXPORT DIR *opendir(const char *path)
{
	if (kfd_sysfs_has(path)) {
		path = kfd_sysfs_folder(path);
		if (!path) {
			errno = ENOENT;
			return NULL;
		}
	}
	return NEXT(opendir)(path);
}

/* The driver's commands have the letter and a size; what else has the letter (consoles) has none. */
KFD_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) == AMDKFD_IOCTL_BASE && _IOC_SIZE(request))
		return kfd_command(request, arg);
	return (int)syscall(SYS_ioctl, fd, request, arg);
}
