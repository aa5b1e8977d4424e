/* SPDX-License-Identifier: MIT */
/* rtl list-counters: which hardware counters and metrics each GPU has, and what they need. */
#include <definitions.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"
#include "embed.h"
#include "gpus.h"
#include "view.h"

EMBED(list_counters_sql, RTL_CLI "/check/list_counters.sql");

enum { MESSAGE_BYTES = 1024 };

struct listing {
	bool as_json, compiles;
	const char *gfx, *definitions;
	char *list;
	struct cli_operands operands;
	struct view view;
	struct wanted *wanted; /* for each operand */
};

/* A name that is asked for. */
struct wanted {
	bool found;
	struct cli_nearest nearest;
};

/* A GPU, or the name of one that is not here. */
struct subject {
	const struct gpu *gpu;
	uint32_t node;
	const char *gfx, *product;
	struct counter_set *set;
	bool countable;
	char why[MESSAGE_BYTES]; /* not countable */
};

/* One definition: what is to be said of it. */
struct entry {
	const struct counter_def *def;
	struct metric *metric;   /* NULL: it cannot be had at all */
	char why[MESSAGE_BYTES]; /* "": it can be had */
};

/* ---- what there is ---- */

static uint32_t registers_of(void *user, const char *block)
{
	const struct subject *subject = user;
	uint32_t instances, registers;

	return gpu_block(subject->gpu, block, &instances, &registers) ? registers : 0;
}

static void judge(struct subject *subject, const struct counter_def *def, struct entry *entry)
{
	size_t pass, refused;

	*entry = (struct entry){.def = def};
	entry->metric = metric_compile(subject->set, def->name, entry->why, sizeof(entry->why));
	if (!entry->metric)
		return;
	if (subject->countable)
		passes_choose(&entry->metric, 1, registers_of, subject, &pass, &refused, entry->why,
			      sizeof(entry->why));
}

static bool asked_for(struct listing *listing, const char *name)
{
	bool asked = !listing->operands.count;

	for (size_t i = 0; i < listing->operands.count; i++) {
		struct wanted *wanted = &listing->wanted[i];

		if (!fnmatch(listing->operands.list[i], name, FNM_CASEFOLD))
			asked = wanted->found = true;
		else if (!wanted->found)
			cli_nearest_look(&wanted->nearest, name);
	}
	return asked;
}

/* Those that nothing has. */
static int say_unknown(struct listing *listing)
{
	int status = CLI_OK;

	for (size_t i = 0; i < listing->operands.count; i++) {
		const char *name = listing->operands.list[i];
		const char *meant = listing->wanted[i].nearest.name;

		if (!listing->wanted[i].found)
			status = cli_failed("no counter or metric is named %s%s%s%s", name,
					    *meant ? "; did you mean " : "", meant,
					    *meant ? "?" : "");
	}
	return status;
}

static void write_entry(struct json *json, const struct subject *subject, const struct entry *entry)
{
	const struct counter_def *def = entry->def;
	uint32_t instances, registers;

	json_print(json, "{name:%s unit:%s description:%s", def->name, def->unit, def->description);
	if (def->block)
		json_print(json, "block:%s event:%u", def->block, def->event);
	else
		json_text(json, "expression", def->expression);
	if (def->block && subject->countable &&
	    gpu_block(subject->gpu, def->block, &instances, &registers))
		json_print(json, "instances:%u registers:%u", instances, registers);
	if (!def->block && entry->metric) {
		json_array(json, "needs");
		for (size_t i = 0; i < entry->metric->input_count; i++)
			json_text(json, NULL, entry->metric->inputs[i].name);
		json_end(json);
	}
	json_print(json, "available:%i ?reason:%s}", subject->countable && !*entry->why,
		   *entry->why          ? entry->why
		   : subject->countable ? NULL
					: subject->why);
}

static void write_subject(struct listing *listing, struct subject *subject)
{
	struct json *json = &listing->view.json;

	json_object(json, NULL);
	if (subject->gpu)
		json_number(json, "gpu", subject->node);
	json_text(json, "name", subject->gfx);
	json_print(json, "?product:%s definitions:%s available:%i ?reason:%s counters:[",
		   subject->product && *subject->product ? subject->product : NULL,
		   counter_set_source(subject->set), subject->countable,
		   subject->countable ? NULL : subject->why);
	for (size_t i = 0; i < counter_set_count(subject->set); i++) {
		const struct counter_def *def = counter_set_at(subject->set, i);
		struct entry entry;
		if (!asked_for(listing, def->name))
			continue;
		judge(subject, def, &entry);
		write_entry(json, subject, &entry);
		metric_destroy(entry.metric);
	}
	json_print(json, "]}");
}

static int print(struct listing *listing, struct subject *subject)
{
	const struct counter_options options = {.list = listing->list};
	char message[MESSAGE_BYTES];

	subject->set = subject->gpu
			       ? gpu_counters(subject->gpu, &options, message, sizeof(message))
			       : counter_set_load(subject->gfx, &options, message, sizeof(message));
	if (!subject->set)
		return cli_failed("%s", message);
	write_subject(listing, subject);
	counter_set_destroy(subject->set);
	return CLI_OK;
}

static int print_named(struct listing *listing)
{
	struct subject subject = {.gfx = listing->gfx,
				  .why = "--arch was given: the GPUs here are not asked"};

	return print(listing, &subject);
}

static int print_here(struct listing *listing)
{
	struct gpu *const *list;
	int status = gpus_find(&list);

	for (size_t i = 0; !status && list[i]; i++) {
		struct subject subject = {.gpu = list[i], .node = list[i]->node};
		int error;
		subject.gfx = list[i]->name;
		subject.product = list[i]->product;
		subject.countable = gpus_count(subject.why, sizeof(subject.why));
		error = print(listing, &subject);
		status = error ? error : status;
	}
	return status;
}

static int list_counters(void *request)
{
	struct listing *listing = request;
	char message[MESSAGE_BYTES];
	int status, error;

	listing->list = definitions_list(listing->definitions, message, sizeof(message));
	if (!listing->list)
		return cli_failed("%s", message);
	if (listing->compiles) {
		fputs(listing->list, stdout);
		free(listing->list);
		return cli_finish_output();
	}
	listing->wanted = cli_need(calloc(listing->operands.count + 1, sizeof(*listing->wanted)));
	for (size_t i = 0; i < listing->operands.count; i++)
		listing->wanted[i].nearest = cli_nearest_to(listing->operands.list[i],
							    strlen(listing->operands.list[i]));
	view_begin(&listing->view, listing->as_json);
	json_print(&listing->view.json, "{gpus:[");
	status = listing->gfx ? print_named(listing) : print_here(listing);
	error = view_end(&listing->view, list_counters_sql);
	if (!status && !error)
		status = say_unknown(listing);
	status = status ? status : error;
	free(listing->wanted);
	free(listing->list);
	return status;
}

static const struct cli_option options[] = {
	CLI_VALUE(0, "arch", "GFX", offsetof(struct listing, gfx),
		  "list those of this architecture, such as gfx90a; needs no\nGPU"),
	CLI_VALUE('d', "definitions", "FILE", offsetof(struct listing, definitions),
		  "read these definitions: counter_defs.yaml or metrics.xml\nof ROCm"),
	CLI_FLAG(0, "compile", offsetof(struct listing, compiles),
		 "print the definitions as a list, for programs without `rtl\ntrace` "
		 "(RTL_COUNTERS_DEFINITIONS)"),
	CLI_FLAG(0, "json", offsetof(struct listing, as_json), "print JSON, for programs"),
};

const struct cli_command cmd_list_counters = {
	.name = "list-counters",
	.operands = "[NAME]...",
	.purpose = "Lists the hardware counters and metrics of each GPU",
	.details = "NAME may have wildcards, such as 'TCC*'. Without NAME, lists all.\n"
		   "Unavailable ones are listed with the reason.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct listing, operands, SIZE_MAX, NULL),
	.run = list_counters,
};
