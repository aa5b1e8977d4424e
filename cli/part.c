/* SPDX-License-Identifier: MIT */
/* See part.h. */
#include "part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int part_begin(struct part *part, const char *output)
{
	*part = (struct part){.output = output};
	if (asprintf(&part->path, "%s.part", output) < 0) {
		part->path = NULL;
		return cli_failed("out of memory");
	}
	unlink(part->path); /* what one that was killed has left */
	return CLI_OK;
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
