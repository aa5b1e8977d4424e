/* SPDX-License-Identifier: MIT */
#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "output_place.h"

int part_check_place(const char *output)
{
	uid_t owner;

	return output_is_foreign(output, &owner)
		       ? cli_failed("output %s: " OUTPUT_FOREIGN, output, (unsigned)owner)
		       : CLI_OK;
}

int part_refuse(const char *output, const char *kind)
{
	return cli_failed("output %s exists and is not a %s: not overwritten; move it away, or "
			  "choose another file with -o",
			  output, kind);
}

/* In a folder that others may write to as well: the file is new, and what SQLite would read beside it is not theirs. */
static int make(const struct part *part)
{
	const char *which = "";
	uid_t owner;
	int fd = OUTPUT_NOT_OURS;

	unlink(part->path); /* what one that was killed has left */
	if (!output_has_foreign_companion(part->path, &which, &owner))
		fd = output_open(part->path, O_WRONLY | O_CREAT | O_EXCL, &owner);
	if (fd == OUTPUT_NOT_OURS)
		return cli_failed("%s%s: " OUTPUT_FOREIGN, part->path, which, (unsigned)owner);
	if (fd < 0)
		return part_failed(part, errno);
	close(fd);
	return CLI_OK;
}

int part_begin(struct part *part, const char *output)
{
	*part = (struct part){.output = output, .path = cli_format("%s.part", output)};
	if (!part_check_place(output) && !make(part))
		return CLI_OK;
	free(part->path);
	part->path = NULL;
	return CLI_FAILED;
}

int part_failed(const struct part *part, int error)
{
	return cli_failed("%s cannot be written: %s; choose another place with -o", part->output,
			  strerror(error));
}

int part_end(struct part *part, int status)
{
	if (!status && rename(part->path, part->output) != 0)
		status = part_failed(part, errno);
	if (status)
		unlink(part->path);
	free(part->path);
	part->path = NULL;
	return status;
}
