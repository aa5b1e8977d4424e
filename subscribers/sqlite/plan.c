/* SPDX-License-Identifier: MIT */
#include "sub.h"

#include <math.h>
#include <strings.h>

/* ---- making one ---- */

static const char *const base_names[] = {
	"id", "origin", "time_ns", "instance", "correlation", "process", "tid", "uid", "parent_uid",
};

static enum plan_how how_of(const struct rtl_field *f)
{
	enum { S8 = 1 << 8, S48 = S8 | 1 << 4, S1248 = S48 | 1 << 2 | 1 << 1 };
	static const struct {
		enum plan_how how;
		unsigned sizes; /* bits: bytes that it may have */
	} kinds[] = {
		[RTL_KIND_UINT] = {PLAN_NUMBER, S1248},    [RTL_KIND_BOOL] = {PLAN_NUMBER, S1248},
		[RTL_KIND_ADDRESS] = {PLAN_NUMBER, S1248}, [RTL_KIND_INT] = {PLAN_INT, S1248},
		[RTL_KIND_FLOAT] = {PLAN_FLOAT, S48},      [RTL_KIND_TIME] = {PLAN_TIME, S8},
		[RTL_KIND_UID] = {PLAN_UID, S8},           [RTL_KIND_STRING] = {PLAN_STRING, S8},
		[RTL_KIND_TEXT] = {PLAN_TEXT, S8},         [RTL_KIND_ARGS] = {PLAN_ARGS, S8},
		[RTL_KIND_VALUES] = {PLAN_ARGS, S8},
	};

	if (f->kind >= sizeof(kinds) / sizeof(*kinds) || f->size > 8 ||
	    !(kinds[f->kind].sizes >> f->size & 1))
		return PLAN_BYTES;
	return kinds[f->kind].how == PLAN_NUMBER && f->size == 8 ? PLAN_WORD : kinds[f->kind].how;
}

/* Whether the view that decodes the table would have two columns of one name. */
static bool clash(const char *a, const char *b)
{
	const size_t n = strlen(a), m = strlen(b);

	return strcasecmp(a, b) == 0 ||
	       (n == m + 3 && !strncasecmp(a, b, m) && !strcasecmp(a + m, "_id")) ||
	       (m == n + 3 && !strncasecmp(a, b, n) && !strcasecmp(b + n, "_id"));
}

static bool is_taken(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < sizeof(base_names) / sizeof(base_names[0]); i++)
		if (clash(base_names[i], name))
			return true;
	for (uint32_t i = 0; i < plan->count; i++)
		if (clash(plan->list[i].name, name))
			return true;
	return name[0] == 'g' && name[1] && !name[1 + strspn(name + 1, "0123456789")];
}

void plan_name(char out[PLAN_MAX_NAME], const char *name, const char *fallback)
{
	snprintf(out, PLAN_MAX_NAME, "%s", name && *name ? name : fallback);
	for (char *c = out; *c; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') &&
		    !(*c >= '0' && *c <= '9'))
			*c = '_';
}

static void name_column(const struct plan *plan, struct plan_column *column)
{
	char name[PLAN_MAX_NAME];

	plan_name(name, column->field->name, "field");
	snprintf(column->name, sizeof(column->name), "%s", name);
	for (unsigned n = 2; is_taken(plan, column->name); n++)
		snprintf(column->name, sizeof(column->name), "%s_%u", name, n);
}

static struct plan_group *find_group(struct plan *plan, uint32_t number)
{
	for (uint32_t i = 0; i < plan->group_count; i++)
		if (plan->groups[i].number == number)
			return &plan->groups[i];
	plan->groups[plan->group_count] = (struct plan_group){.number = number, .columns = 1};
	plan->groups[plan->group_count].cell = plan->columns++;
	return &plan->groups[plan->group_count++];
}

bool plan_init(struct plan *plan, const struct rtl_type_info *info)
{
	const uint32_t count = info->field_count;

	*plan = (struct plan){.info = info, .columns = PLAN_BASE};
	plan->list = calloc(count + 1, sizeof(*plan->list));
	plan->groups = calloc(count + 1, sizeof(*plan->groups));
	if (!plan->list || !plan->groups) {
		plan_fini(plan);
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct plan_column *column = &plan->list[i];

		column->field = rtl_type_field(info, i);
		column->how = how_of(column->field);
		if (column->how != PLAN_TIME && column->how != PLAN_ARGS) /* these are in none */
			column->group = column->field->group;
		name_column(plan, column);
		plan->count++;
		if (column->group)
			column->cell = find_group(plan, column->group)->columns++;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!plan->list[i].group)
			plan->list[i].cell = plan->columns++;
	return true;
}

void plan_fini(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->group_count; i++)
		dictionary_fini(&plan->groups[i].known); /* the rows went with the writer */
	free(plan->list);
	free(plan->groups);
	*plan = (struct plan){0};
}

/* ---- filling rows ---- */

static int64_t read_int(const void *at, uint32_t size)
{
	const unsigned unused = 64 - 8 * size;

	return (int64_t)(host_number(at, size) << unused) >> unused;
}

/* A NaN is NULL to SQLite, and -0 is 0. */
static void set_float(struct rows *rows, struct cell *cell, const void *at, uint32_t size)
{
	double wide;
	float narrow;

	memcpy(size == sizeof(wide) ? (void *)&wide : (void *)&narrow, at, size);
	if (size != sizeof(wide))
		wide = narrow;
	if (wide == wide && (wide != 0 || !signbit(wide)))
		cell_real(cell, wide);
	else
		cell_blob(rows, cell, at, size);
}

static const char *text_of(const struct rtl_event *event, const void *at, uint32_t *length)
{
	struct rtl_text text;

	memcpy(&text, at, sizeof(text));
	*length = text.length;
	return (uint64_t)text.offset + text.length <= event->payload_size
		       ? (const char *)event->payload + text.offset
		       : NULL;
}

static int64_t text_id(struct sub *sub, const struct rtl_event *event, const void *at)
{
	uint32_t length;
	const char *text = text_of(event, at, &length);

	return string_id(sub, text, text ? length : 0);
}

/* A field's bytes: zeros, if the event is of an older minor version, which does not have it. */
static const char *bytes_of(const struct plan *plan, const struct plan_column *column,
			    const struct rtl_event *event)
{
	static const char zeros[RTL_PAYLOAD_MAX];

	return column - plan->list < event->type_info->field_count
		       ? (const char *)event->payload + column->field->offset
		       : zeros;
}

/* A field that is as it is in rows and groups. */
static void set_plain(struct sub *sub, struct process *process, struct rows *rows,
		      struct cell *cell, const struct plan_column *column,
		      const struct rtl_event *event, const void *at)
{
	uint64_t value;

	switch (column->how) {
	case PLAN_NUMBER:
	case PLAN_WORD:
		cell_int(cell, (int64_t)host_number(at, column->field->size));
		break;
	case PLAN_INT:
		cell_int(cell, read_int(at, column->field->size));
		break;
	case PLAN_FLOAT:
		set_float(rows, cell, at, column->field->size);
		break;
	case PLAN_UID:
		value = host_number(at, 8);
		cell_int_if(cell, value != 0, (int64_t)value);
		tracepoints_need(sub, process, value);
		break;
	case PLAN_STRING:
		value = host_number(at, 8);
		cell_int_if(cell, value != 0, string_of_host(sub, process, value));
		break;
	case PLAN_TEXT:
		cell_int(cell, text_id(sub, event, at));
		break;
	default:
		cell_blob(rows, cell, at, column->field->size);
		break;
	}
}

static void set_own(struct sub *sub, struct process *process, struct rows *rows, struct cell *cell,
		    const struct plan_column *column, const struct rtl_event *event, const char *at)
{
	int64_t id;

	if (column->how == PLAN_TIME) {
		const uint64_t ns = host_number(at, 8);

		cell_int_if(cell, ns != 0, (int64_t)(ns - event->time_ns));
		process_extend(process, ns);
	} else if (column->how == PLAN_WORD) {
		const uint64_t value = host_number(at, 8);

		cell_int_if(cell, value != event->correlation, (int64_t)value);
	} else if (column->how == PLAN_ARGS) {
		id = host_number(at, 8) ? args_id(sub, process, event, column->field) : 0;
		cell_int_if(cell, id != 0, id);
	} else {
		set_plain(sub, process, rows, cell, column, event, at);
	}
}

/* What tells a group's values: those of the fields, the characters of texts, and whose strings they are. */
struct key {
	size_t size;
	bool whole;
	char bytes[1024];
};

static void key_put(struct key *key, const void *bytes, size_t size)
{
	if (key->size + size > sizeof(key->bytes)) {
		key->whole = false;
		return;
	}
	memcpy(key->bytes + key->size, bytes, size);
	key->size += size;
}

static void make_key(struct key *key, const struct process *process, const struct plan *plan,
		     const struct plan_group *group, const struct rtl_event *event)
{
	key->size = 0;
	key->whole = true;
	key_put(key, &process->number, sizeof(process->number));
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct plan_column *column = &plan->list[i];
		const char *at = bytes_of(plan, column, event), *text;
		uint32_t length;

		if (column->group != group->number)
			continue;
		if (column->how != PLAN_TEXT) {
			key_put(key, at, column->field->size);
			continue;
		}
		text = text_of(event, at, &length);
		key_put(key, &length, sizeof(length));
		key_put(key, text ? text : "", text ? length : 0);
	}
}

static void add_group_row(struct sub *sub, struct process *process, const struct plan *plan,
			  struct plan_group *group, int64_t id, const struct rtl_event *event)
{
	struct cell *cells = rows_add(&group->rows);

	cell_int(&cells[0], id);
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct plan_column *column = &plan->list[i];

		if (column->group == group->number)
			set_plain(sub, process, &group->rows, &cells[column->cell], column, event,
				  bytes_of(plan, column, event));
	}
}

/* One whose values are long has a row of its own. */
static int64_t group_id(struct sub *sub, struct process *process, const struct plan *plan,
			struct plan_group *group, const struct rtl_event *event)
{
	struct key key;
	bool is_new = true;
	int64_t id;

	make_key(&key, process, plan, group, event);
	id = key.whole ? dictionary_find(&group->known, key.bytes, key.size, &is_new)
		       : group->known.next_id++;
	if (!id)
		writer_error(&sub->writer, SQLITE_NOMEM, "group");
	else if (is_new)
		add_group_row(sub, process, plan, group, id, event);
	return id;
}

void plan_fill(struct sub *sub, struct process *process, struct plan *plan, struct rows *rows,
	       struct cell *cells, const struct rtl_event *event)
{
	for (uint32_t i = 0; i < plan->group_count; i++)
		cell_int(&cells[plan->groups[i].cell],
			 group_id(sub, process, plan, &plan->groups[i], event));
	for (uint32_t i = 0; i < plan->count; i++)
		if (!plan->list[i].group)
			set_own(sub, process, rows, &cells[plan->list[i].cell], &plan->list[i],
				event, bytes_of(plan, &plan->list[i], event));
}
