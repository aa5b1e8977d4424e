/* SPDX-License-Identifier: MIT */
/* What a plugin is linked to that names the framework libxptifw.so, without a version. At run time the
 * folder of links has that name for rtl's. */
#include "xpti/xpti.h"

uint8_t xptiRegisterStream(const char *name)
{
	return name ? XPTI_INVALID_STREAM : 0;
}

int32_t xptiRegisterCallback(uint8_t stream, uint16_t type, xpti_callback callback)
{
	return stream && type && callback ? XPTI_FAIL : XPTI_INVALIDARG;
}
