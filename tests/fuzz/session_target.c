/* SPDX-License-Identifier: MIT */
/* The collector's page, as a traced process reads it: the first byte says how much of the file
 * there is, the next ones where in it the rest of the input stands. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "log.h"
#include "parts.h"
#include "scratch.h"

static struct session_page page;

/* Puts the input's pieces into the page. */
static void fill(struct input *in)
{
	size_t at, n;

	memset(&page, 0, sizeof(page));
	memcpy(page.magic, SESSION_MAGIC, sizeof(page.magic));
	page.version = SESSION_VERSION;
	while (in->left) {
		at = input_number(in, 2);
		n = input_number(in, 1) * (at % 3 ? 1 : 256);
		if (at % 5 == 4) { /* all of it: no end anywhere */
			memset(page.wants, (int)input_number(in, 1), sizeof(page.wants));
			continue;
		}
		if (at % 2)
			at %= 256;
		if (at >= sizeof(page) - 1)
			continue;
		n = n < in->left ? n : in->left;
		n = n < sizeof(page) - at ? n : sizeof(page) - at;
		memcpy((char *)&page + at, in->at, n);
		in->at += n;
		in->left -= n;
	}
	page.paused = 0;
}

static void ask(void)
{
	static const char *const names[] = {"rtl.hsa", "t.real", "a", "", "rtl.diagnostics"};

	for (uint32_t i = 0; i < 5; i++) {
		session_wants(names[i], 10);
		session_wants(names[i], 0);
		session_wants(names[i], RTL_TYPE_ANY - 1);
	}
	if (page.wants[0] && !memchr(page.wants, 0, 64)) {
		char name[128];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(page.wants, " \n") % 127,
			 page.wants);
		session_wants(name, 10);
	}
	session_is_alive();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint32_t part = input_number(&in, 1);
	size_t length = part < 250 ? sizeof(page) : sizeof(page) * (part - 250) / 6;
	char path[300];
	int fd;

	scratch_init();
	fill(&in);
	snprintf(path, sizeof(path), "%s/" SESSION_FILE, scratch);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, &page, length) != (ssize_t)length)
		abort();
	close(fd);
	setenv("RTL_COLLECTOR", scratch, 1);
	if (!session_join())
		ask();
	session_leave();
	unlink(path);
	return 0;
}
