/* SPDX-License-Identifier: MIT */
/* rtl new-subscriber: the beginning of a plugin, in a folder of its own. RTL_NEW_SUBSCRIBER is the folder of the
 * templates, by the build. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "embed.h"

EMBED(new_subscriber_sh, RTL_CLI "/check/new_subscriber.sh");
EMBED(new_subscriber_c, RTL_CLI "/check/new_subscriber/subscriber.c.in");
EMBED(new_subscriber_cpp, RTL_CLI "/check/new_subscriber/subscriber.cpp.in");
EMBED(new_subscriber_publisher, RTL_CLI "/check/new_subscriber/publisher.c.in");
EMBED(new_subscriber_cmake, RTL_CLI "/check/new_subscriber/CMakeLists.txt.in");
EMBED(new_subscriber_counts, RTL_CLI "/check/new_subscriber/counts.in");
EMBED(new_subscriber_readme, RTL_CLI "/check/new_subscriber/README.md.in");

#define NAME_MOST 40

struct beginning {
	struct cli_operands names;
	bool cxx;
};

static int begin(void *request)
{
	const struct beginning *beginning = request;
	const char *name = beginning->names.list[0];
	/* becomes a name of a target, of a file, and text in sources */
	const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (*name < 'a' || *name > 'z' || name[length] || length > NAME_MOST)
		return cli_usage("'%s' cannot be the name of a subscriber: give up to %d of a-z, "
				 "0-9 and _, a letter first",
				 name, NAME_MOST);
	setenv("template_c", new_subscriber_c, 1);
	setenv("template_cpp", new_subscriber_cpp, 1);
	setenv("template_publisher", new_subscriber_publisher, 1);
	setenv("template_cmake", new_subscriber_cmake, 1);
	setenv("template_counts", new_subscriber_counts, 1);
	setenv("template_readme", new_subscriber_readme, 1);
	execl("/bin/sh", "sh", "-c", new_subscriber_sh, "rtl", name, beginning->cxx ? "cpp" : "c",
	      NULL);
	return cli_failed("cannot run /bin/sh: %s", strerror(errno));
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "cxx", offsetof(struct beginning, cxx), "in C++ (11 and later) instead of C"),
};

const struct cli_command cmd_new_subscriber = {
	.name = "new-subscriber",
	.operands = "NAME",
	.purpose = "Makes a project for your own subscriber: source, CMake, a test",
	.details = "Makes the folder NAME in the working directory; it builds against the rtl that "
		   "is\n"
		   "installed.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct beginning, names, 1, "one name at a time"),
	.missing = "give a name for it",
	.run = begin,
};
