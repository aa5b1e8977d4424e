/* SPDX-License-Identifier: MIT */
/* See summary.h: the JSON. */
#include "json.h"
#include "model.h"

static void print_group(struct json *json, const struct summary_group *group, const char *key,
			uint64_t total_ns);
static void print_idle(struct json *json, const char *key, const struct idle_rows *rows);

static void print_rows(struct json *json, const struct summary_view *view, const char *key,
		       uint64_t total_ns, unsigned top)
{
	for (size_t i = 0; i < view->count && (!top || i < top); i++)
		print_group(json, view->groups[i], key, total_ns);
}

/* Of a table that is broken down: what each key was in all, and the rows of each. */
static void print_keys(struct json *json, const struct summary_section *section, uint64_t total_ns,
		       const struct summary_style *style)
{
	size_t count;
	struct summary_key *keys = summary_keys(section, style->sort, &count);

	json_print(json, "by:%s keys:[", summary_by_name(section->summary));
	for (size_t i = 0; i < count; i++)
		print_group(json, keys[i].all, NULL, total_ns);
	json_print(json, "] rows:[");
	for (size_t i = 0; i < count; i++)
		print_rows(json, &keys[i].view, keys[i].all->name, total_ns, style->top);
	json_end(json);
	summary_keys_free(keys, count);
}

/* The kernels of a range with the greatest shares. */
static void print_within(struct json *json, const struct summary_group *range)
{
	const struct summary_within *top[SUMMARY_WITHIN_SHOWN];
	uint64_t total_ns;
	const size_t count = summary_top_within(range, &total_ns, top);

	json_array(json, "kernels");
	for (size_t i = 0; i < count; i++)
		json_print(json, "{name:%s total_ns:%lu share:%.6f}", top[i]->what->name,
			   top[i]->ns, (double)top[i]->ns / (double)total_ns);
	json_end(json);
}

/* Of a range of several processes, that with the greatest mean first. */
static void print_parts(struct json *json, const struct summary_group *range)
{
	size_t count;
	const struct summary_part **parts = summary_parts(range, &count);

	if (!parts)
		return;
	json_array(json, "processes");
	for (size_t i = 0; i < count; i++) {
		json_print(json, "{");
		if (parts[i]->process->rank >= 0)
			json_print(json, "rank:%d", parts[i]->process->rank);
		json_print(json, "pid:%d count:%lu total_ns:%lu mean_ns:%.1f",
			   parts[i]->process->pid, parts[i]->count, parts[i]->total_ns,
			   (double)parts[i]->total_ns / (double)parts[i]->count);
		print_idle(json, "path", &parts[i]->path);
		json_end(json);
	}
	json_end(json);
	free(parts);
}

static void print_graph(struct json *json, const struct summary_graph *graph)
{
	char executable[32];

	snprintf(executable, sizeof(executable), "0x%" PRIx64, graph->executable);
	json_print(json, "graph:%lu variant:%lu pid:%d executable:%s nodes:[", graph->number,
		   graph->variant, graph->pid, graph->executable ? executable : NULL);
	print_rows(json, &graph->nodes, NULL, graph->nodes.total_ns, 0);
	json_end(json);
}

/* What made a node: null is not known, and "" no range. */
static void print_origin(struct json *json, const struct summary_origin *origin)
{
	const struct summary_group *range = origin && origin->range ? *origin->range : NULL;

	json_text(json, "call", origin ? origin->function : NULL);
	if (origin && origin->tid)
		json_number(json, "tid", origin->tid);
	else
		json_text(json, "tid", NULL);
	json_text(json, "range", range ? range->name : origin && !origin->range ? "" : NULL);
}

static void print_skew(struct json *json, const struct summary_skew *skew)
{
	json_print(json, "skew_count:%lu mean_skew_ns:%.1f max_skew_ns:%lu waited_for:[",
		   skew->count, (double)skew->ns / (double)skew->count, skew->max_ns);
	for (int32_t i = 0; i < skew->ranks; i++)
		if (skew->late[i].count)
			json_print(json, "{rank:%d count:%lu ns:%lu}", i, skew->late[i].count,
				   skew->late[i].ns);
	json_end(json);
}

static void print_group(struct json *json, const struct summary_group *group, const char *key,
			uint64_t total_ns)
{
	json_print(json, "{?key:%s name:%s count:%lu ?untimed:%lu", key, group->name,
		   group->count + group->untimed, group->untimed);
	if (group->section->has_bytes)
		json_number(json, "bytes", group->bytes);
	json_print(json, "?failed:%lu", group->failed);
	if (!strcmp(group->section->title, SUMMARY_RANGES))
		json_print(json,
			   "gpu_busy_ns:%lu gpu_not_submitted_ns:%lu gpu_not_started_ns:%lu"
			   " gpu_unknown_ns:%lu",
			   group->busy_ns, group->idle_ns[IDLE_NOT_SUBMITTED],
			   group->idle_ns[IDLE_NOT_STARTED], group->idle_ns[IDLE_NOT_KNOWN]);
	if (group->count) {
		json_print(json,
			   "total_ns:%lu mean_ns:%.1f min_ns:%lu max_ns:%lu p50_ns:%lu p90_ns:%lu"
			   " p99_ns:%lu p999_ns:%lu",
			   group->total_ns, (double)group->total_ns / (double)group->count,
			   group->min_ns, group->max_ns, summary_group_quantile(group, 0.5),
			   summary_group_quantile(group, 0.9), summary_group_quantile(group, 0.99),
			   summary_group_quantile(group, 0.999));
		if (group->section->has_bytes)
			json_print(json, "gb_per_s:%.6f", summary_group_rate(group));
		if (group->bus > 0)
			json_print(json, "bus_gb_per_s:%.6f",
				   summary_group_rate(group) * group->bus);
		json_print(json, "share:%.6f",
			   total_ns ? (double)group->total_ns / (double)total_ns : 0.0);
	}
	if (group->node_of) {
		print_origin(json, group->origin);
		json_number(json, "path_ns", group->path_ns);
	}
	if (group->gaps)
		json_print(json, "mean_gap_ns:%.1f", (double)group->gap_ns / (double)group->gaps);
	if (group->skew && group->skew->count)
		print_skew(json, group->skew);
	print_parts(json, group);
	if (group->within)
		print_within(json, group);
	if (group->graph)
		print_graph(json, group->graph);
	if (group->path.count)
		print_idle(json, "path", &group->path);
	json_end(json);
}

static void print_open(struct json *json, const struct summary_section *section)
{
	json_print(json, "open:%lu open_longest:[", section->open_count);
	for (uint32_t i = 0; i < SUMMARY_OPEN_SHOWN && section->open[i].name; i++)
		json_print(json, "{name:%s tid:%u ns:%lu}", section->open[i].name,
			   section->open[i].tid, section->open[i].duration_ns);
	json_end(json);
}

static void print_section(struct json *json, const struct summary_section *section,
			  const struct summary_style *style)
{
	struct summary_view view;

	if (summary_view(section, style->sort, &view))
		return json_print(json, "{error:%s}", "out of memory");
	json_print(json,
		   "{stream:%s kind:%s count:%lu total_ns:%lu names:%lu ?refused:%lu ?unlinked:%lu"
		   " ?unpaired:%lu",
		   section->stream, section->kind, view.operations, view.total_ns, view.count,
		   section->refused, section->unlinked, section->unpaired);
	if (section->open_count)
		print_open(json, section);
	json_text(json, "title", section->title);
	if (section->keys) {
		print_keys(json, section, view.total_ns, style);
	} else {
		json_array(json, "rows");
		print_rows(json, &view, NULL, view.total_ns, style->top);
		json_end(json);
	}
	json_end(json);
	free(view.groups);
}

static void print_cause(struct json *json, const struct idle_row *row)
{
	json_text(json, "cause", summary_cause_key(row->cause));
	if (row->what)
		json_text(json,
			  row->cause == IDLE_OUTSIDE ? "range"
			  : row->cause == PATH_WORK  ? "work"
						     : "function",
			  row->what->name);
	json_print(json, "?tid:%u", row->thread ? row->thread->tid : 0);
}

static void print_gap(struct json *json, const struct summary_gap *gap)
{
	json_print(json, "{begin_ns:%lu end_ns:%lu causes:[", gap->is->begin, gap->is->end);
	for (size_t i = 0; i < GAP_PARTS; i++) {
		const struct gap_part *part = &gap->is->parts[i];

		if (!part->row)
			continue;
		json_object(json, NULL);
		print_cause(json, &gap->device->time.rows.list[part->row - 1]);
		json_print(json, "ns:%lu}", part->ns);
	}
	json_print(json, "]}");
}

static void print_idle(struct json *json, const char *key, const struct idle_rows *rows)
{
	size_t count;
	struct idle_row *list = summary_idle_rows(rows, &count);

	json_array(json, key);
	for (size_t i = 0; list && i < count; i++) {
		json_object(json, NULL);
		print_cause(json, &list[i]);
		json_print(json, "total_ns:%lu count:%lu longest_ns:%lu}", list[i].total_ns,
			   list[i].count, list[i].longest_ns);
	}
	json_end(json);
	free(list);
}

static void print_device(struct json *json, const struct summary *summary,
			 const struct summary_device *device)
{
	const struct gpu_time *time = &device->time;
	const uint64_t unknown = gpu_time_unknown(time, false);
	const uint64_t span = time->last ? time->last - time->first : 0;
	const uint64_t apart = time->kernels_ns + time->copies_ns;

	json_print(json, "{gpu:%u", device->number);
	for (unsigned i = 0; i < DEVICE_TEXTS; i++) {
		const char *text = summary_device_text(summary, device->number, i);

		if (text)
			json_text(json, summary_device_key(i), text);
	}
	json_print(json,
		   "count:%lu copies:%lu span_ns:%lu recorded_ns:%lu busy_ns:%lu kernels_ns:%lu"
		   " copies_ns:%lu both_ns:%lu idle_ns:%lu unknown_ns:%lu uncertain_ns:%lu",
		   device->kernels, device->copies, span, span - gpu_time_unknown(time, true),
		   time->busy_ns, time->kernels_ns, time->copies_ns,
		   apart > time->busy_ns ? apart - time->busy_ns : 0, time->idle_ns - unknown,
		   unknown, time->uncertain_ns);
	print_idle(json, "idle", &time->rows);
	json_print(json, "gap_count:%lu gaps:[", time->gaps.count);
	for (size_t i = 0; i < summary->gap_count; i++)
		if (summary->gaps[i].device == device)
			print_gap(json, &summary->gaps[i]);
	json_print(json, "]}");
}

static void print_processes(struct json *json, const struct summary_process *list, size_t count,
			    bool by_rank)
{
	static const char *const names[SUMMARY_DEEDS] = {"kernels", "copies", "hip_calls",
							 "other_calls"};

	for (size_t i = 0; i < count; i++) {
		json_object(json, NULL);
		if (list[i].rank >= 0)
			json_print(json, "rank:%d", list[i].rank);
		if (by_rank)
			json_print(json, "processes:%u ?host:%s", list[i].processes,
				   list[i].host_name);
		else
			json_print(json, "pid:%d ?host:%s ?program:%s", list[i].pid,
				   list[i].host_name, list[i].program);
		for (unsigned k = 0; k < SUMMARY_DEEDS; k++) {
			json_object(json, names[k]);
			json_print(json, "count:%lu total_ns:%lu}", list[i].deeds[k].count,
				   list[i].deeds[k].total_ns);
		}
		json_end(json);
	}
}

static void print_all_processes(struct json *json, const struct summary *summary)
{
	struct summary_process *list = NULL;
	size_t count = 0;

	summary_list_processes(summary, &list, &count);
	json_array(json, "processes");
	print_processes(json, list, list ? count : 0, false);
	json_print(json, "] ranks:[");
	print_processes(json, list, list ? summary_join_ranks(list, count) : 0, true);
	json_end(json);
	free(list);
}

static void print_stream(struct json *json, const struct summary_stream *stream)
{
	const struct rtl_ledger *l = &stream->ledger;

	json_print(json,
		   "{stream:%s published:%lu delivered:%lu discarded:%lu abandoned:%lu missed:%lu"
		   " left_out:%lu losses:[",
		   stream->name, l->published, l->delivered, l->discarded, l->abandoned, l->missed,
		   l->left_out);
	for (const struct summary_loss *loss = stream->losses; loss; loss = loss->next)
		json_print(json, "{cause:%s count:%lu}", loss->cause, loss->count);
	json_print(json, "]}");
}

void summary_print_json(struct summary *summary, FILE *file, const struct summary_style *style)
{
	struct json json = {.file = file};

	json_print(&json, "{title:%s sections:[", style->title);
	for (const struct summary_section *s = summary->sections; s; s = s->next)
		print_section(&json, s, style);
	json_print(&json, "] devices:[");
	for (struct summary_device *d = summary->devices; d; d = d->next)
		print_device(&json, summary, d);
	json_end(&json);
	summary_print_counters_json(&json, summary, style->top);
	print_all_processes(&json, summary);
	json_print(&json, "?ended:%s", summary->ended);
	json_value(&json, "rank_states", summary->ranks_json ? summary->ranks_json : "[]");
	json_array(&json, "faults");
	for (size_t i = 0; i < SUMMARY_FAULTS_KEPT && i < summary->fault_count; i++) {
		const struct summary_fault *fault = &summary->faults[i];

		json_print(&json,
			   "{pid:%d gpu:%u queue:%u kind:%s address:%lu reason:%s memory:%s}",
			   fault->pid, fault->is.gpu, fault->is.queue,
			   rtl_hsa_fault_kind_text(fault->is.kind), fault->is.address,
			   fault->reason, fault->memory);
	}
	json_print(&json, "] ledger:[");
	for (const struct summary_stream *s = summary->streams; s; s = s->next)
		print_stream(&json, s);
	json_print(&json, "]}");
}
