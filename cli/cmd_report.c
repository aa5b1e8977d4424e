/* SPDX-License-Identifier: MIT */
/*
 * rtl report: a trace as one page for a browser. The page is report_page.html with three blocks of
 * data in it: what `rtl summary --json` prints, facts and names, and the events, packed
 * (report_events.h), compressed and in base64.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <rtl/types.h>

#include "cli.h"
#include "database.h"
#include "json.h"
#include "part.h"
#include "report_events.h"
#include "report_page.h"
#include "summary.h"
#include "trace_summary.h"

#define EVENTS_MOST 4000000u

struct request {
	struct cli_operands files;
	const char *output;
	unsigned most;
	bool unfinished;
};

static const struct cli_option options[] = {
	CLI_VALUE('o', "output", "FILE", offsetof(struct request, output),
		  "the page (default: FILE of the trace with .html for its suffix)"),
	CLI_NUMBER(0, "events", "N", offsetof(struct request, most),
		   "a number of events, 1 or more",
		   "events in the timeline, the longest (default: 4000000);\n"
		   "the tables count all"),
	DATABASE_UNFINISHED(offsetof(struct request, unfinished)),
};

/* ---- JSON ---- */

/* A text of JSON that was written to memory, as a script, so that no string in it ends that. It is freed. 0,
 * or -1 after a line. */
static int put_script(FILE *page, const char *id, FILE *file, char **json)
{
	const bool failed = !file || fclose(file);

	if (failed)
		cli_error("out of memory");
	else
		fprintf(page, "<script type=\"application/json\" id=\"%s\">", id);
	for (const char *at = failed ? "" : *json; *at; at++)
		if (*at == '<')
			fputs("\\u003c", page);
		else
			fputc(*at, page);
	if (!failed)
		fputs("</script>\n", page);
	free(*json);
	return failed ? -1 : 0;
}

static int put_summary(FILE *page, struct database *database, const char *title)
{
	const struct summary_style style = {.title = title};
	struct summary *summary = summary_create();
	char *json = NULL;
	size_t size;
	FILE *file = summary ? open_memstream(&json, &size) : NULL;
	int rc = file ? database_summarize(database, summary) : 0;

	if (file && !rc)
		summary_print_json(summary, file, &style);
	summary_destroy(summary);
	return put_script(page, "rtl-summary", file, &json) ? -1 : rc;
}

/* Rows: pid, program, command, host */
static void put_process(void *user, const char *const *row)
{
	struct json *json = user;

	json_object(json, NULL);
	json_value(json, "pid", row[0] ? row[0] : "0");
	json_text(json, "program", row[1]);
	json_text(json, "command", row[2]);
	json_text(json, "host", row[3]);
	json_end(json);
}

/* Rows: key, value */
static void put_value(void *user, const char *const *row)
{
	json_text(user, row[0], row[1]);
}

static int put_facts(struct json *json, struct database *database,
		     const struct report_events *events, const char *path)
{
	const char *name = strrchr(path, '/');
	int rc;

	json_text(json, "version", rtl_version());
	json_text(json, "file", name ? name + 1 : path);
	json_number(json, "base_ns", events->base_ns);
	json_number(json, "end_ns", events->end_ns);
	json_number(json, "left_out", events->left_out);
	json_number(json, "shortest_ns", events->shortest_ns);
	if (database_query(database,
			   "SELECT key, value FROM rtl_meta WHERE key IN ('state', 'mode')"
			   " UNION ALL SELECT 'began', datetime(min(realtime_ns) / 1000000000,"
			   " 'unixepoch') || ' UTC' FROM rtl_clock WHERE realtime_ns NOT NULL"
			   " UNION ALL SELECT 'host', min(host_name) FROM rtl_process",
			   put_value, json))
		return -1;
	json_array(json, "processes");
	rc = database_query(database,
			    "SELECT pid, program, command, host_name FROM rtl_process"
			    " ORDER BY process",
			    put_process, json);
	json_end(json);
	return rc;
}

static void put_tracks(struct json *json, const struct report_events *events)
{
	json_array(json, "tracks");
	for (size_t i = 0; i < events->track_count; i++) {
		const struct report_track *track = &events->tracks[i];
		const bool is_gpu = track->gpu >= 0;

		json_object(json, NULL);
		json_number(json, is_gpu ? "gpu" : "pid",
			    (uint64_t)(is_gpu ? track->gpu : track->pid));
		json_number(json, is_gpu ? "queue" : "tid", (uint64_t)track->queue);
		json_number(json, "count", track->count);
		json_end(json);
	}
	json_end(json);
	json_array(json, "names");
	for (size_t i = 0; i < events->name_count; i++) {
		json_array(json, NULL);
		json_text(json, NULL, events->names[i].text ? events->names[i].text : "");
		json_text(json, NULL, events->names[i].kind);
		json_end(json);
	}
	json_end(json);
}

static int put_trace(FILE *page, struct database *database, const struct report_events *events,
		     const char *path)
{
	char *text = NULL;
	size_t size;
	struct json json = {.file = open_memstream(&text, &size)};
	int rc = 0;

	if (json.file) {
		json_object(&json, NULL);
		rc = put_facts(&json, database, events, path);
		put_tracks(&json, events);
		json_end(&json);
	}
	return put_script(page, "rtl-trace", json.file, &text) ? -1 : rc;
}

/* ---- events ---- */

/* In base64 (RFC 4648). */
static void put_base64(FILE *page, const unsigned char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		const uint32_t group = (uint32_t)bytes[i] << 16 |
				       (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
				       (i + 2 < size ? bytes[i + 2] : 0);
		const char four[4] = {digits[group >> 18], digits[group >> 12 & 63],
				      i + 1 < size ? digits[group >> 6 & 63] : '=',
				      i + 2 < size ? digits[group & 63] : '='};

		fwrite(four, 1, sizeof(four), page);
	}
}

/* The page's browser reads the format of RFC 1950, which compress2 writes. */
static int put_events(FILE *page, const struct report_events *events)
{
	uLongf size = compressBound(events->packed_size);
	unsigned char *compressed = malloc(size);

	if (!compressed || compress2(compressed, &size, events->packed, events->packed_size,
				     Z_BEST_SPEED) != Z_OK) {
		free(compressed);
		cli_error("out of memory");
		return -1;
	}
	fputs("<script type=\"text/plain\" id=\"rtl-events\">", page);
	put_base64(page, compressed, size);
	fputs("</script>\n", page);
	free(compressed);
	return 0;
}

static int put_page(FILE *page, struct database *database, const char *path, unsigned most)
{
	const char *mark = strstr(report_page, REPORT_PAGE_MARK);
	struct report_events events;
	int rc;

	fwrite(report_page, 1, (size_t)(mark - report_page), page);
	rc = report_events_read(&events, database, most) || put_summary(page, database, path) ||
			     put_trace(page, database, &events, path) || put_events(page, &events)
		     ? -1
		     : 0;
	report_events_fini(&events);
	fputs(mark + strlen(REPORT_PAGE_MARK), page);
	return rc;
}

/* ---- the command ---- */

static int write_part(const struct part *part, struct database *database, const char *path,
		      unsigned most)
{
	FILE *page = fopen(part->path, "we");
	int status;
	bool bad;

	if (!page)
		return part_failed(part, errno);
	status = put_page(page, database, path, most) ? CLI_FAILED : CLI_OK;
	errno = 0;
	bad = ferror(page) != 0;
	if ((fclose(page) || bad) && !status)
		status = part_failed(part, errno ? errno : ENOSPC);
	return status;
}

static int write_page(const char *output, struct database *database, const char *path,
		      unsigned most)
{
	struct part part;

	if (part_begin(&part, output))
		return CLI_FAILED;
	return part_end(&part, write_part(&part, database, path, most));
}

/* Nothing is there, or an empty file, or a page of this command's. */
static bool is_replaceable(const char *path)
{
	char begin[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t length;

	if (fd < 0)
		return true; /* or it cannot be written: who makes it says that better */
	length = !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, begin, sizeof(begin)) : -1;
	close(fd);
	return !length || (length == sizeof(begin) && !memcmp(begin, report_page, sizeof(begin)));
}

static int report(const struct request *request, const char *path, const char *output)
{
	struct database *database;
	int status;

	if (database_same_file(path, output))
		return cli_failed("%s is the trace: give the page another name with -o", output);
	if (!is_replaceable(output))
		return cli_failed(
			"output %s exists and is no page of rtl, so it is not written over; "
			"move it away, or choose another file with -o",
			output);
	database = database_open(path, false);
	if (!database)
		return CLI_FAILED;
	status = database_refuse_unfinished(database, request->unfinished);
	if (status == CLI_OK)
		status = write_page(output, database, path, request->most);
	if (status == CLI_OK) {
		cli_line("%s: open it in a browser", output);
		status = cli_finish_output();
	}
	database_close(database);
	return status;
}

/* run.db: run.html. To be freed. */
static char *default_output(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name : path, '.');
	const int length =
		dot && dot != (name ? name + 1 : path) ? (int)(dot - path) : (int)strlen(path);
	char *output;

	return asprintf(&output, "%.*s.html", length, path) < 0 ? NULL : output;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.most = EVENTS_MOST};
	const char *path;
	char *chosen;
	int status = cli_read(command, argc, argv, &request);

	if (status >= 0)
		return status;
	if (!request.most)
		return cli_usage("report: --events 0: give a number of events, 1 or more");
	if (!request.files.count)
		return cli_usage("report: give the file of a trace: rtl report FILE");
	path = request.files.list[0];
	chosen = request.output ? strdup(request.output) : default_output(path);
	if (!chosen)
		return cli_failed("out of memory");
	status = report(&request, path, chosen);
	free(chosen);
	return status;
}

const struct cli_command cmd_report = {
	.name = "report",
	.operands = "FILE",
	.purpose = "Makes of a trace a page for a browser: a timeline, tables, gaps",
	.details = "FILE is an SQLite database that rtl or RPD wrote. The page is one file, which "
		   "needs\n"
		   "no network.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, 1, "one file at a time"),
	.run = run,
};
