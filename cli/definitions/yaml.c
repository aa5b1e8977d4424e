/* SPDX-License-Identifier: MIT */
/* Definitions in the formats of rocprofiler-sdk (counter_defs.yaml, config.yaml), by libyaml.
 *
 * Of ROCm 7:    rocprofiler-sdk: {counters: [{name, description, definitions: [{architectures: [...],
 *               block, event | expression}]}]}
 * Of ROCm 6.2:  NAME: {description, architectures: {gfx906/gfx908: {block, event | expression}}}
 * `unit` is read as well. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "reading.h"

struct file {
	struct reading *reading;
	const char *path;
	yaml_document_t document;
};

static bool fail(struct file *file, const yaml_node_t *node, const char *what)
{
	return reading_fail(file->reading, "%s: line %zu: %s", file->path,
			    node->start_mark.line + 1, what);
}

static yaml_node_t *node_at(struct file *file, int index)
{
	return yaml_document_get_node(&file->document, index);
}

static const char *text_in(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

static yaml_node_t *child_of(struct file *file, const yaml_node_t *node, const char *key)
{
	if (!node || node->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const char *text = text_in(node_at(file, pair->key));

		if (text && !strcmp(text, key))
			return node_at(file, pair->value);
	}
	return NULL;
}

static const char *text_of(struct file *file, const yaml_node_t *node, const char *key)
{
	return text_in(child_of(file, node, key));
}

/* For GPUs, between slashes. */
static bool add(struct file *file, const char *gpus, const char *name, const yaml_node_t *counter,
		const yaml_node_t *definition)
{
	const char *block = text_of(file, definition, "block");
	const char *event = text_of(file, definition, block ? "event" : "expression");

	if (!block && !event)
		return fail(file, definition,
			    "a definition with neither a block nor an expression");
	if (block && (!event || !reading_is_number(event)))
		return fail(file, definition, "a definition's event is not a number");
	return reading_add(
		file->reading,
		(reading_item){[ITEM_GPUS] = gpus,
			       [ITEM_NAME] = name,
			       [ITEM_BLOCK] = block,
			       [ITEM_WHAT] = event,
			       [ITEM_UNIT] = text_of(file, counter, "unit"),
			       [ITEM_DESCRIPTION] = text_of(file, counter, "description")});
}

/* The format of ROCm 7. */
static bool add_listed(struct file *file, const char *name, const yaml_node_t *counter,
		       const yaml_node_t *definition)
{
	const yaml_node_t *list = child_of(file, definition, "architectures");
	char gpus[4096] = "";
	size_t used = 0;

	if (!list || list->type != YAML_SEQUENCE_NODE)
		return true;
	for (yaml_node_item_t *item = list->data.sequence.items.start;
	     item < list->data.sequence.items.top; item++) {
		const char *gpu = text_in(node_at(file, *item));

		if (gpu && used < sizeof(gpus))
			used += (size_t)snprintf(gpus + used, sizeof(gpus) - used, "%s%s",
						 used ? "/" : "", gpu);
	}
	return add(file, gpus, name, counter, definition);
}

static bool add_counters(struct file *file, const yaml_node_t *counters)
{
	for (yaml_node_item_t *item = counters->data.sequence.items.start;
	     item < counters->data.sequence.items.top; item++) {
		const yaml_node_t *counter = node_at(file, *item);
		const yaml_node_t *list = child_of(file, counter, "definitions");
		const char *name = text_of(file, counter, "name");

		if (!name || !*name || !list || list->type != YAML_SEQUENCE_NODE)
			return fail(file, counter, "a counter without name and definitions");
		for (yaml_node_item_t *at = list->data.sequence.items.start;
		     at < list->data.sequence.items.top; at++) {
			if (!add_listed(file, name, counter, node_at(file, *at)))
				return false;
		}
	}
	return true;
}

/* The format of ROCm 6.2. */
static bool add_names(struct file *file, const yaml_node_t *root)
{
	for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     pair < root->data.mapping.pairs.top; pair++) {
		const yaml_node_t *counter = node_at(file, pair->value);
		const yaml_node_t *list = child_of(file, counter, "architectures");
		const char *name = text_in(node_at(file, pair->key));

		if (!name || !list || list->type != YAML_MAPPING_NODE)
			return fail(file, counter, "a counter without architectures");
		for (yaml_node_pair_t *at = list->data.mapping.pairs.start;
		     at < list->data.mapping.pairs.top; at++) {
			const char *gpus = text_in(node_at(file, at->key));

			if (gpus && !add(file, gpus, name, counter, node_at(file, at->value)))
				return false;
		}
	}
	return true;
}

static bool add_all(struct file *file)
{
	const yaml_node_t *root = yaml_document_get_root_node(&file->document);
	const yaml_node_t *sdk = child_of(file, root, "rocprofiler-sdk");
	const yaml_node_t *counters = child_of(file, sdk, "counters");

	if (!root)
		return true;
	if (root->type != YAML_MAPPING_NODE)
		return fail(file, root, "no definitions");
	if (!sdk)
		return add_names(file, root);
	if (!counters || counters->type != YAML_SEQUENCE_NODE)
		return fail(file, sdk, "rocprofiler-sdk without counters");
	return add_counters(file, counters);
}

bool reading_yaml(struct reading *reading, const char *text, const char *path)
{
	struct file file = {.reading = reading, .path = path};
	yaml_parser_t parser;
	bool done;

	if (!yaml_parser_initialize(&parser))
		return false;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
	if (yaml_parser_load(&parser, &file.document)) {
		done = add_all(&file);
		yaml_document_delete(&file.document);
	} else {
		done = reading_fail(reading, "%s: line %zu: %s", path, parser.problem_mark.line + 1,
				    parser.problem ? parser.problem : "out of memory");
	}
	yaml_parser_delete(&parser);
	return done;
}
