/* SPDX-License-Identifier: MIT */
/* rtl new-subscriber: the beginning of a plugin, in a folder of its own. RTL_NEW_SUBSCRIBER is the folder of the
 * templates, by the build. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "embed.h"

EMBED(new_subscriber_c, RTL_NEW_SUBSCRIBER "/subscriber.c.in");
EMBED(new_subscriber_cpp, RTL_NEW_SUBSCRIBER "/subscriber.cpp.in");
EMBED(new_subscriber_publisher, RTL_NEW_SUBSCRIBER "/publisher.c.in");
EMBED(new_subscriber_cmake, RTL_NEW_SUBSCRIBER "/CMakeLists.txt.in");
EMBED(new_subscriber_counts, RTL_NEW_SUBSCRIBER "/counts.in");
EMBED(new_subscriber_readme, RTL_NEW_SUBSCRIBER "/README.md.in");
extern const char new_subscriber_c[], new_subscriber_cpp[], new_subscriber_publisher[],
	new_subscriber_cmake[], new_subscriber_counts[], new_subscriber_readme[];

#define NAME_MOST 40

struct beginning {
	struct cli_operands names;
	bool cxx;
};

/* What stands for a @WORD@ in a template. */
struct words {
	const char *name, *languages, *suffix;
};

static const char *word(const struct words *words, const char *mark, size_t length)
{
	const struct {
		const char *mark, *text;
	} all[] = {
		{"NAME", words->name}, {"LANGUAGES", words->languages}, {"SUFFIX", words->suffix}};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strlen(all[i].mark) == length && !memcmp(all[i].mark, mark, length))
			return all[i].text;
	return NULL;
}

static void fill_in(FILE *file, const char *template, const struct words *words)
{
	const char *at, *end;

	while ((at = strchr(template, '@')) && (end = strchr(at + 1, '@'))) {
		const char *text = word(words, at + 1, (size_t)(end - at - 1));

		fprintf(file, "%.*s%s", (int)(at - template), template, text ? text : "@");
		template = text ? end + 1 : at + 1;
	}
	fputs(template, file);
}

/* Writes one file below the folder; false after a line. */
static bool make(int folder, const char *where, const char *path, const char *template,
		 const struct words *words)
{
	int fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool good = file;

	if (file) {
		fill_in(file, template, words);
		good = !ferror(file);
		good &= !fclose(file);
	} else if (fd >= 0) {
		close(fd);
	}
	if (!good)
		cli_error("cannot write %s/%s: %s", where, path, strerror(errno));
	return good;
}

/* Becomes a name of a target, of a file, and text in sources. */
static bool is_name(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return *name >= 'a' && *name <= 'z' && !name[length] && length <= NAME_MOST;
}

static int fill(int folder, const char *name, bool cxx)
{
	const struct words words = {name, cxx ? "C CXX" : "C", cxx ? "cpp" : "c"};
	char source[NAME_MOST + 16];

	snprintf(source, sizeof(source), "%s_sub.%s", name, words.suffix);
	if (mkdirat(folder, "test", 0777))
		return cli_failed("cannot make %s/test: %s", name, strerror(errno));
	if (!make(folder, name, source, cxx ? new_subscriber_cpp : new_subscriber_c, &words) ||
	    !make(folder, name, "CMakeLists.txt", new_subscriber_cmake, &words) ||
	    !make(folder, name, "README.md", new_subscriber_readme, &words) ||
	    !make(folder, name, "test/publisher.c", new_subscriber_publisher, &words) ||
	    !make(folder, name, "test/counts", new_subscriber_counts, &words))
		return CLI_FAILED;
	printf("%s/%s is the subscriber, lib%s_sub.so. Build and test it:\n"
	       "  cmake -S %s -B %s/build && cmake --build %s/build && ctest --test-dir %s/build\n",
	       name, source, name, name, name, name, name);
	return cli_finish_output();
}

static int begin(const char *name, bool cxx)
{
	int folder, status;

	if (!is_name(name))
		return cli_usage("'%s' cannot be the name of a subscriber: give up to %d of a-z, "
				 "0-9 and _, a "
				 "letter first",
				 name, NAME_MOST);
	if (mkdir(name, 0777))
		return cli_failed("cannot make the folder %s: %s", name, strerror(errno));
	folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return cli_failed("cannot open the folder %s: %s", name, strerror(errno));
	status = fill(folder, name, cxx);
	close(folder);
	return status;
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "cxx", offsetof(struct beginning, cxx), "in C++ (11 and later) instead of C"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct beginning beginning = {0};
	int status = cli_read(command, argc, argv, &beginning);

	if (status >= 0)
		return status;
	if (!beginning.names.count)
		return cli_usage("new-subscriber: give a name for it");
	return begin(beginning.names.list[0], beginning.cxx);
}

const struct cli_command cmd_new_subscriber = {
	.name = "new-subscriber",
	.operands = "NAME",
	.purpose = "Begins a subscriber of your own: source, CMake, a test",
	.details = "Makes the folder NAME in the working directory; it builds against the rtl that "
		   "is\n"
		   "installed.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct beginning, names, 1, "one name at a time"),
	.run = run,
};
