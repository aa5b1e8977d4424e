/* SPDX-License-Identifier: MIT
 *
 * What the thunk and ROCr call of libdrm and libdrm_amdgpu, whose own would ask the kernel. They open
 * the render nodes themselves or have it done here; what they would learn is what sysfs.c says.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfd.h"

struct amdgpu_device {
	int fd;
};

/* Words of struct amdgpu_gpu_info that are read. */
enum info_word {
	INFO_FAMILY = 3,
	INFO_SHADER_ENGINES = 10,
	INFO_ARRAYS = 11,
	INFO_COUNTER_KHZ = 18,
	INFO_GB_ADDR_CONFIG = 31,
	INFO_WORDS = 83,
};

int drmOpenRender(int minor);
int drmClose(int fd);
int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, struct amdgpu_device **out);
int amdgpu_device_deinitialize(struct amdgpu_device *device);
int amdgpu_device_get_fd(struct amdgpu_device *device);
const char *amdgpu_get_marketing_name(struct amdgpu_device *device);
int amdgpu_query_gpu_info(struct amdgpu_device *device, uint32_t *info);

KFD_EXPORT int drmOpenRender(int minor)
{
	return kfd_open_render((unsigned int)minor);
}

KFD_EXPORT int drmClose(int fd)
{
	return close(fd);
}

KFD_EXPORT int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor,
					struct amdgpu_device **out)
{
	struct amdgpu_device *device = calloc(1, sizeof(*device));

	if (!device)
		return -ENOMEM;
	device->fd = fd;
	*major = 3;
	*minor = 57;
	*out = device;
	return 0;
}

KFD_EXPORT int amdgpu_device_deinitialize(struct amdgpu_device *device)
{
	free(device);
	return 0;
}

/* The caller closes the one that it has opened. */
KFD_EXPORT int amdgpu_device_get_fd(struct amdgpu_device *device)
{
	return fcntl(device->fd, F_DUPFD_CLOEXEC, 0);
}

KFD_EXPORT const char *amdgpu_get_marketing_name(struct amdgpu_device *device __attribute__((unused)))
{
	return "softgpu";
}

KFD_EXPORT int amdgpu_query_gpu_info(struct amdgpu_device *device __attribute__((unused)),
				     uint32_t *info)
{
	memset(info, 0, INFO_WORDS * sizeof(*info));
	info[INFO_FAMILY] = sg_config.arch->family;
	info[INFO_SHADER_ENGINES] = sg_config.engines;
	info[INFO_ARRAYS] = 1;
	info[INFO_COUNTER_KHZ] = (uint32_t)(sg_config.clock_hz / 1000);
	info[INFO_GB_ADDR_CONFIG] = KFD_GB_ADDR_CONFIG;
	return 0;
}
