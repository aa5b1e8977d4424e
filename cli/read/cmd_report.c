/* SPDX-License-Identifier: MIT */
/* rtl report: a trace as one page for a browser. The page is report_page.html with three blocks of data in it: what
 * `rtl summary --json` prints, facts and names, and the events, packed (report.h), compressed and in base64. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli.h"
#include "collect.h"
#include "convert.h"
#include "database.h"
#include "embed.h"
#include "folders.h"
#include "json.h"
#include "report.h"
#include "summary.h"

#define EVENTS_MOST 2000000u
/* Where in the page the data goes. */
#define MARK "<!--rtl:data-->"

EMBED(report_page, RTL_CLI "/read/report_page.html");

struct request {
	struct cli_operands files;
	const char *output;
	unsigned most;
	bool unfinished;
};

struct page {
	const char *path;          /* of the trace */
	struct database *database; /* NULL: it is a recording */
	struct summary *summary;
	FILE *file; /* in memory */
	char *text;
	size_t size;
	bool failed; /* after a line */
};

static const struct cli_option options[] = {
	CLI_VALUE('o', "output", "FILE", offsetof(struct request, output),
		  "the page (default: the trace's name with the suffix .html)"),
	CLI_NUMBER(0, "events", "N", offsetof(struct request, most),
		   "a number of events, 1 or more",
		   "draw only the N longest events in the timeline (default:\n"
		   "2000000); the tables count all"),
	DATABASE_UNFINISHED(offsetof(struct request, unfinished)),
};

/* ---- JSON ---- */

/* A text of JSON that was written to memory, as a script, so that no string in it ends that. It is freed. */
static void put_script(FILE *page, const char *id, FILE *file, char **json)
{
	cli_need(fclose(file) ? NULL : *json);
	fprintf(page, "<script type=\"application/json\" id=\"%s\">", id);
	for (const char *at = *json; *at; at++)
		if (*at == '<')
			fputs("\\u003c", page);
		else
			fputc(*at, page);
	fputs("</script>\n", page);
	free(*json);
}

static int put_summary(struct page *page)
{
	const struct summary_style style = {.title = page->path};
	char *json = NULL;
	size_t size;
	FILE *file = cli_need(open_memstream(&json, &size));
	const int rc = page->database ? database_summarize_more(page->database, page->summary) : 0;

	summary_print_json(page->summary, file, &style);
	put_script(page->file, "rtl-summary", file, &json);
	return rc;
}

/* Rows: key, value */
static void put_value(void *user, const char *const *row)
{
	json_text(user, row[0], row[1]);
}

static int put_facts(struct json *json, const struct page *page, const struct report *report)
{
	const struct rtl_host *host = report->sink.host;
	const struct rtl_process *process;

	json_print(json, "version:%s file:%s base_ns:%lu end_ns:%lu processes:[", rtl_version(),
		   cli_base_name(page->path), report->base_ns, report->end_ns);
	for (uint32_t i = 1; (process = host->process(host, i)); i++) {
		json_print(json, "{pid:%d", process->pid);
		if (process->rank >= 0)
			json_print(json, "rank:%d", process->rank);
		json_print(json, "program:%s command:%s host:%s}", process->program,
			   process->command, process->host_name);
	}
	json_end(json);
	return page->database
		       ? database_query(
				 page->database,
				 "SELECT key, value FROM rtl_meta WHERE key IN ('state', 'mode')"
				 " UNION ALL SELECT 'began', datetime(min(realtime_ns) / "
				 "1000000000,"
				 " 'unixepoch') || ' UTC' FROM rtl_clock WHERE realtime_ns NOT NULL"
				 " UNION ALL SELECT 'host', min(host_name) FROM rtl_process",
				 put_value, json)
		       : 0;
}

static void put_tracks(struct json *json, const struct report *report)
{
	json_array(json, "tracks");
	for (size_t i = 0; i < report->track_count; i++) {
		const struct report_track *track = &report->tracks[i];

		if (track->gpu >= 0)
			json_print(json, "{gpu:%lu queue:%u", track->gpu, track->number);
		else
			json_print(json, "{pid:%u tid:%u", track->pid, track->number);
		json_print(json, "count:%lu left_out:%lu}", track->count, track->left_out);
	}
	json_print(json, "] names:[");
	for (size_t i = 0; i < report->name_count; i++)
		json_print(json, "[%s %s]", report->names[i].text->text,
			   report->names[i].kind->text);
	json_end(json);
}

static int put_trace(struct page *page, const struct report *report)
{
	char *text = NULL;
	size_t size;
	struct json json = {.file = cli_need(open_memstream(&text, &size))};
	int rc;

	json_object(&json, NULL);
	rc = put_facts(&json, page, report);
	put_tracks(&json, report);
	json_end(&json);
	put_script(page->file, "rtl-trace", json.file, &text);
	return rc;
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
static void put_events(FILE *page, const struct report *report)
{
	uLongf size = compressBound(report->packed_size);
	unsigned char *compressed = cli_need(malloc(size));
	const int result =
		compress2(compressed, &size, report->packed, report->packed_size, Z_BEST_SPEED);

	cli_need(result == Z_OK ? compressed : NULL);
	fputs("<script type=\"text/plain\" id=\"rtl-events\">", page);
	put_base64(page, compressed, size);
	fputs("</script>\n", page);
	free(compressed);
}

/* What stands behind the mark. */
static char *end_page(struct report *report, size_t *size)
{
	struct page *page = report->user;

	page->failed = put_summary(page) || put_trace(page, report);
	put_events(page->file, report);
	fputs(strstr(report_page, MARK) + strlen(MARK), page->file);
	fflush(page->file);
	*size = page->size;
	return page->failed ? NULL : cli_need(strdup(page->text));
}

/* ---- the command ---- */

static int write_events(struct page *page, const struct part *part, struct report *report)
{
	struct timeline *timeline = &report->sink.timeline;
	const bool is_foreign =
		page->database && !database_has_table(page->database, "rtl_process");
	const int fd = open(part->path, O_WRONLY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return part_failed(part, errno);
	timeline->writer = &report_writer;
	if (!timeline_begin(timeline, part->path, fd, TIMELINE_JSON, 0, 0, "", false) ||
	    !work_init(&report->sink.work, timeline, false) || !report_init(report, is_foreign))
		return part_failed(part, timeline_error(timeline));
	status = convert_feed(part, &(char *){(char *)(uintptr_t)page->path}, 1, &report->sink,
			      page->summary);
	return page->failed ? CLI_FAILED : status;
}

static int write_part(struct page *page, const struct part *part, unsigned most)
{
	struct report *report = cli_need(calloc(1, sizeof(*report)));
	int status;

	page->summary = cli_need(summary_create());
	page->file = cli_need(open_memstream(&page->text, &page->size));
	report->most = most;
	report->end = end_page;
	report->user = page;
	fwrite(report_page, 1, (size_t)(strstr(report_page, MARK) - report_page), page->file);
	status = write_events(page, part, report);
	fclose(page->file);
	free(page->text);
	summary_destroy(page->summary);
	report_fini(report);
	return status;
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
	struct page page = {.path = path};
	struct part part;
	struct rtl_folder is;
	int status;

	if (database_same_file(path, output))
		return cli_failed("%s is the trace: give the page another name with -o", output);
	if (!is_replaceable(output))
		return part_refuse(output, "page of rtl");
	if (folder_is(path)) {
		status = folder_look("report", path, &is);
		if (!status && is.in_use)
			status = cli_failed("report: %s is in use by process %d", path, is.pid);
	} else {
		page.database = database_open(path, false);
		status = page.database
				 ? database_refuse_unfinished(page.database, request->unfinished)
				 : CLI_FAILED;
	}
	if (status == CLI_OK)
		status = part_begin(&part, output);
	if (status == CLI_OK)
		status = part_end(&part, write_part(&page, &part, request->most));
	if (status == CLI_OK) {
		cli_line("%s: open it in a browser", output);
		status = cli_finish_output();
	}
	database_close(page.database);
	return status;
}

/* run.db: run.html. To be freed. */
static char *default_output(const char *path)
{
	const char *name = cli_base_name(path), *dot = strrchr(name, '.');
	const size_t length = dot && dot != name ? (size_t)(dot - path) : strlen(path);

	return cli_format("%.*s.html", (int)length, path);
}

static int run(void *user)
{
	const struct request *request = user;
	const char *path = request->files.list[0];
	char *chosen;
	int status;

	if (!request->most)
		return cli_usage("report: --events 0: give a number of events, 1 or more");
	chosen = request->output ? cli_format("%s", request->output) : default_output(path);
	status = report(request, path, chosen);
	free(chosen);
	return status;
}

const struct cli_command cmd_report = {
	.name = "report",
	.operands = "FILE",
	.purpose = "Writes one HTML page: timeline, tables, idle gaps",
	.details =
		"FILE is an SQLite database that rtl or RPD wrote, or the folder of a recording.\n"
		"The page is one file, which needs no network.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, 1, "one file at a time"),
	.missing = "give the file of a trace: rtl report FILE",
	.request = &(const struct request){.most = EVENTS_MOST},
	.run = run,
};
