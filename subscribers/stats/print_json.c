/* SPDX-License-Identifier: MIT */
/* See summary.h: the JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "model.h"

/* Length of the UTF-8 character at p; 0 if it is none. */
static size_t utf8_length(const unsigned char *p)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	if (*p < 0x80)
		return 1;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	size_t length = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	uint32_t code = *p & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	bool surrogate = code >= 0xd800 && code < 0xe000;
	return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

void summary_print_json_string(FILE *file, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	fputc('"', file);
	while (*p) {
		size_t length = utf8_length(p);
		if (*p == '"' || *p == '\\')
			fprintf(file, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			fprintf(file, "\\u%04x", *p);
		else if (!length)
			fputs("\\ufffd", file);
		else
			fwrite(p, 1, length, file);
		p += length ? length : 1;
	}
	fputc('"', file);
}

static void print_group(FILE *file, const struct summary_group *group, uint64_t total_ns)
{
	static const struct {
		const char *key;
		double share;
	} quantiles[] = {{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"p999_ns", 0.999}};

	fputs("{\"name\":", file);
	summary_print_json_string(file, group->name);
	fprintf(file, ",\"count\":%" PRIu64, group->count + group->untimed);
	if (group->untimed)
		fprintf(file, ",\"untimed\":%" PRIu64, group->untimed);
	if (group->section->has_bytes)
		fprintf(file, ",\"bytes\":%" PRIu64, group->bytes);
	if (group->failed)
		fprintf(file, ",\"failed\":%" PRIu64, group->failed);
	if (group->count) {
		fprintf(file, ",\"total_ns\":%" PRIu64 ",\"mean_ns\":%.1f", group->total_ns,
			(double)group->total_ns / (double)group->count);
		fprintf(file, ",\"min_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64, group->min_ns,
			group->max_ns);
		for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
			fprintf(file, ",\"%s\":%" PRIu64, quantiles[i].key,
				summary_group_quantile(group, quantiles[i].share));
		if (group->section->has_bytes)
			fprintf(file, ",\"gb_per_s\":%.6f", summary_group_rate(group));
		fprintf(file, ",\"share\":%.6f",
			total_ns ? (double)group->total_ns / (double)total_ns : 0.0);
	}
	fputc('}', file);
}

static void print_open(FILE *file, const struct summary_section *section)
{
	fprintf(file, ",\"open\":%" PRIu64 ",\"open_longest\":[", section->open_count);
	for (uint32_t i = 0; i < SUMMARY_OPEN_SHOWN && section->open[i].name; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", file);
		summary_print_json_string(file, section->open[i].name);
		fprintf(file, ",\"tid\":%" PRIu32 ",\"ns\":%" PRIu64 "}", section->open[i].tid,
			section->open[i].duration_ns);
	}
	fputc(']', file);
}

static void print_section(FILE *file, const struct summary_section *section, unsigned top)
{
	struct summary_view view;

	if (summary_view(section, &view)) {
		fputs("{\"error\":\"out of memory\"}", file);
		return;
	}
	fputs("{\"stream\":", file);
	summary_print_json_string(file, section->stream);
	fputs(",\"kind\":", file);
	summary_print_json_string(file, section->kind);
	fprintf(file, ",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"names\":%zu",
		view.operations, view.total_ns, view.count);
	if (section->refused)
		fprintf(file, ",\"refused\":%" PRIu64, section->refused);
	if (section->unlinked)
		fprintf(file, ",\"unlinked\":%" PRIu64, section->unlinked);
	if (section->unpaired)
		fprintf(file, ",\"unpaired\":%" PRIu64, section->unpaired);
	if (section->open_count)
		print_open(file, section);
	fputs(",\"title\":", file);
	summary_print_json_string(file, section->title);
	fputs(",\"rows\":[", file);
	for (size_t i = 0; i < view.count && (!top || i < top); i++) {
		fputs(i ? ",\n  " : "\n  ", file);
		print_group(file, view.groups[i], view.total_ns);
	}
	fputs("]}", file);
	free(view.groups);
}

static void print_device(FILE *file, const struct summary *summary, struct summary_device *device)
{
	uint64_t busy = busy_total(&device->busy);
	uint64_t span = device->count ? device->busy.last - device->busy.first : 0;

	fprintf(file, "{\"gpu\":%" PRIu32, device->number);
	for (unsigned i = 0; i < DEVICE_TEXTS; i++) {
		const char *text = summary_device_text(summary, device->number, i);

		if (!text)
			continue;
		fprintf(file, ",\"%s\":", summary_device_key(i));
		summary_print_json_string(file, text);
	}
	fprintf(file, ",\"count\":%" PRIu64 ",\"span_ns\":%" PRIu64, device->count, span);
	fprintf(file, ",\"busy_ns\":%" PRIu64 ",\"idle_ns\":%" PRIu64, busy,
		span > busy ? span - busy : 0);
	fprintf(file, ",\"uncertain_ns\":%" PRIu64 "}", device->busy.uncertain_ns);
}

static void print_stream(FILE *file, const struct summary_stream *stream)
{
	const struct rtl_ledger *l = &stream->ledger;

	fputs("{\"stream\":", file);
	summary_print_json_string(file, stream->name);
	fprintf(file,
		",\"published\":%" PRIu64 ",\"delivered\":%" PRIu64 ",\"discarded\":%" PRIu64
		",\"abandoned\":%" PRIu64 ",\"missed\":%" PRIu64 ",\"losses\":[",
		l->published, l->delivered, l->discarded, l->abandoned, l->missed);
	for (const struct summary_loss *loss = stream->losses; loss; loss = loss->next) {
		fputs(loss == stream->losses ? "{\"cause\":" : ",{\"cause\":", file);
		summary_print_json_string(file, loss->cause);
		fprintf(file, ",\"count\":%" PRIu64 "}", loss->count);
	}
	fputs("]}", file);
}

void summary_print_json(struct summary *summary, FILE *file, const struct summary_style *style)
{
	fputs("{\"title\":", file);
	summary_print_json_string(file, style->title);
	fputs(",\n \"sections\":[", file);
	for (const struct summary_section *s = summary->sections; s; s = s->next) {
		fputs(s == summary->sections ? "\n  " : ",\n  ", file);
		print_section(file, s, style->top);
	}
	fputs("],\n \"devices\":[", file);
	for (struct summary_device *d = summary->devices; d; d = d->next) {
		fputs(d == summary->devices ? "\n  " : ",\n  ", file);
		print_device(file, summary, d);
	}
	fputs("],\n \"ledger\":[", file);
	for (const struct summary_stream *s = summary->streams; s; s = s->next) {
		fputs(s == summary->streams ? "\n  " : ",\n  ", file);
		print_stream(file, s);
	}
	fputs("]}\n", file);
}
