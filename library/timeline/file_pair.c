/* SPDX-License-Identifier: MIT */
/*
 * file_pair.c: two places of a file that are written by one system call, so that a process that is
 * killed has written both or none, but for a kill in the microsecond in which the kernel copies
 * them. One write cannot do that: it would pass over all that lies between them, page by page.
 * io_submit(2) of buffered writes makes them in turn before it returns.
 */
#include <linux/aio_abi.h>

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"

struct pair {
	aio_context_t context;
	struct iocb writes[2];
};

static void set_write(struct iocb *write, int fd, const struct file_piece *piece)
{
	*write = (struct iocb){
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uint64_t)(uintptr_t)piece->bytes,
		.aio_nbytes = piece->length,
		.aio_offset = (int64_t)piece->offset,
	};
}

/* How many of the two are done; what is not is written again. */
static long submit(struct pair *pair)
{
	struct iocb *list[2] = {&pair->writes[0], &pair->writes[1]};
	const long submitted = syscall(SYS_io_submit, pair->context, 2, list);
	struct io_event events[2];
	long done = 0, whole = 0;

	while (done < submitted) {
		const long n = syscall(SYS_io_getevents, pair->context, 1, submitted - done,
				       events + done, NULL);

		if (n < 0 && errno != EINTR)
			return 0;
		done += n > 0 ? n : 0;
	}
	for (long i = 0; i < done; i++)
		whole += events[i].res ==
			 (int64_t)((const struct iocb *)(uintptr_t)events[i].obj)->aio_nbytes;
	return whole;
}

void file_write_pair(struct file *file, const struct file_piece pieces[2])
{
	struct pair pair = {0};
	long done = 0;

	if (file->error)
		return;
	for (int i = 0; i < 2; i++)
		set_write(&pair.writes[i], file->fd, &pieces[i]);
	if (syscall(SYS_io_setup, 2, &pair.context) == 0) {
		done = submit(&pair);
		syscall(SYS_io_destroy, pair.context);
	}
	/* where the system does not have that, by two calls */
	for (int i = 0; done < 2 && i < 2; i++)
		file_write(file, pieces[i].bytes, pieces[i].length, pieces[i].offset);
}
