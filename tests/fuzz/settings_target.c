/* SPDX-License-Identifier: MIT */
/* The RTL_ variables: the input's lines are their values, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "bus.h"
#include "fuzz.h"
#include "life.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"RTL_BUFFER_SIZE", "RTL_BUFFER_TOTAL",
					    "RTL_BUFFER_POLICY", "RTL_EXIT_TIMEOUT",
					    "RTL_STALL_TIMEOUT"};
	char *text = strndup((const char *)data, size), *rest = text, *line;
	struct bus_settings settings;

	scratch_init();
	if (!text)
		abort();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		line = strsep(&rest, "\n");
		if (line)
			setenv(names[i], line, 1);
		else
			unsetenv(names[i]);
	}
	settings_read(&settings);
	if (settings.ring_bytes < 65536 || settings.ring_bytes > 1ull << 40 ||
	    settings.total_bytes < 65536 || settings.total_bytes > 1ull << 40 ||
	    settings.exit_timeout_ms > 86400000 || settings.stall_timeout_ms > 86400000)
		abort();
	free(text);
	return 0;
}
