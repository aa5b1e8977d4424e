/* SPDX-License-Identifier: MIT */
/* Names and texts of the error codes: one table. */
#include <rtl/types.h>

static const struct {
	const char *name;
	const char *text;
} errors[] = {
	[-RTL_OK] = {"RTL_OK", "success"},
	[-RTL_EINVAL] = {"RTL_EINVAL", "invalid argument or setting"},
	[-RTL_ENOMEM] = {"RTL_ENOMEM", "out of memory"},
	[-RTL_ENOENT] = {"RTL_ENOENT", "not found"},
	[-RTL_EEXIST] = {"RTL_EEXIST", "already exists, with another definition"},
	[-RTL_EABI] = {"RTL_EABI", "made for another version of the ABI"},
	[-RTL_EIO] = {"RTL_EIO", "reading or writing failed"},
	[-RTL_ENOSPC] = {"RTL_ENOSPC", "no room left"},
	[-RTL_ELIMIT] = {"RTL_ELIMIT", "a limit is reached"},
	[-RTL_ENOTSUP] = {"RTL_ENOTSUP", "not available here"},
	[-RTL_EFORMAT] = {"RTL_EFORMAT", "damaged, or of another format"},
	[-RTL_EBUSY] = {"RTL_EBUSY", "busy, or not allowed here"},
	[-RTL_EPLUGIN] = {"RTL_EPLUGIN", "a subscriber failed"},
};

static int known(int error)
{
	return error <= 0 && error > -(int)(sizeof(errors) / sizeof(*errors));
}

const char *rtl_error_name(int error)
{
	return known(error) ? errors[-error].name : "RTL_E?";
}

const char *rtl_error_text(int error)
{
	return known(error) ? errors[-error].text : "unknown error";
}

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *rtl_version(void)
{
	return TEXT(RTL_VERSION_MAJOR) "." TEXT(RTL_VERSION_MINOR) "." TEXT(RTL_VERSION_PATCH);
}
