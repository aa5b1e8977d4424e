/* SPDX-License-Identifier: MIT */
/* See links.h. */
#include "links.h"

#include <stdlib.h>

#include "schema.h"
#include "sub.h"

/* ---- the table */

static bool is_used(const void *entry)
{
	return ((const struct link *)entry)->number != 0;
}

static uint64_t hash_of(const void *entry)
{
	const struct link *link = entry;

	return hash_number(link->number ^ (uint64_t)link->process << 40);
}

static bool is_same(const void *entry, const void *key)
{
	const struct link *a = entry, *b = key;

	return a->number == b->number && a->process == b->process;
}

static const struct hash_kind kind = {
	.bytes = sizeof(struct link),
	.initial = 1024,
	.is_used = is_used,
	.hash = hash_of,
	.is_same = is_same,
};

/* NULL: it is not there. */
static struct link *find(const struct links *links, uint32_t process, uint64_t number)
{
	const struct link key = {.number = number, .process = process};

	return hash_find(&links->hash, &kind, hash_of(&key), &key);
}

static void take_out(struct links *links, struct link *link)
{
	links->came -= link->came;
	hash_take_out(&links->hash, &kind, link);
}

/* Those whose operations are yet to come are forgotten: mostly they never do. */
static void make_room(struct links *links)
{
	links->unsettled = true;
	for (size_t i = 0; i < links->hash.capacity; i++)
		for (struct link *link = hash_at(&links->hash, &kind, i);
		     link->number && link->came;)
			take_out(links, link);
}

/* False: it cannot be kept. */
static bool keep(struct links *links, const struct link *link)
{
	struct link *place;

	/* Where most are others, looking through all of them gains little. */
	if (links->hash.count >= LINKS_KEPT && links->came >= LINKS_KEPT / 2)
		make_room(links);
	place = links->hash.count < LINKS_KEPT ? hash_add(&links->hash, &kind, hash_of(link), link)
					       : NULL;
	if (!place) {
		links->unsettled = true;
		return false;
	}
	*place = *link;
	links->came += link->came;
	return true;
}

void links_fini(struct links *links)
{
	hash_fini(&links->hash);
	*links = (struct links){0};
}

/* ---- calls and operations */

bool links_init(struct sub *sub)
{
	sub->links.unsettled = sub->continues;
	return writer_exec(&sub->writer, schema_link_views);
}

int64_t links_op(struct sub *sub, const struct process *process, uint64_t correlation, int64_t op,
		 bool *first)
{
	struct links *links = &sub->links;
	struct link *link;
	int64_t api;

	if (!correlation || !(sub->hip_calls.plain[0] || sub->hip_calls.have_args))
		return 0;
	link = find(links, process->number, correlation);
	if (link) {
		api = link->api;
		if (first) {
			*first = !link->kernel;
			link->kernel = 1;
		}
		if (!link->came)
			link->count++;
		else if (--link->count == 0)
			take_out(links, link);
	} else {
		const struct link early = {.number = correlation,
					   .api = sub->next_api++,
					   .process = process->number,
					   .kernel = first != NULL,
					   .count = 1};

		api = early.api;
		if (first)
			*first = true;
		keep(links, &early);
	}
	dispatch_write_link(sub, api, op);
	return api;
}

int64_t links_call(struct sub *sub, const struct process *process, uint64_t number, uint32_t *work)
{
	struct links *links = &sub->links;
	struct link *link = find(links, process->number, number);

	if (link) {
		const int64_t api = link->api;

		const uint32_t before = link->count, said = *work;

		link->came = 1;
		links->came++;
		link->count = said > before ? said - before : 0;
		if (said == LINKS_WORK_UNKNOWN || said < before)
			*work = before;
		if (!link->count)
			take_out(links, link);
		return api;
	}
	if (*work) {
		const struct link call = {.number = number,
					  .api = sub->next_api,
					  .process = process->number,
					  .came = 1,
					  .count = *work};

		keep(links, &call);
		if (*work == LINKS_WORK_UNKNOWN)
			*work = 0;
	}
	return sub->next_api++;
}

/* ---- the end */

/* Links to rows of rocpd_api that are not there, and what they belong to. */
static const char find_dangling[] =
	"CREATE TEMP TABLE dangling (id INTEGER, api_id INTEGER, op_id INTEGER, process INTEGER,"
	" number INTEGER);" /* typed: else its index would not do for the join below */
	"INSERT INTO temp.dangling SELECT l.id, l.api_id, l.op_id, ifnull(d.process, c.process),"
	" ifnull(d.correlation, c.correlation)"
	" FROM main.rocpd_api_ops AS l LEFT JOIN main.rtl_dispatch AS d ON d.op_id = l.op_id"
	" LEFT JOIN main.rtl_copy AS c ON d.op_id IS NULL AND c.op_id = l.op_id"
	" WHERE NOT EXISTS (SELECT 1 FROM main.rocpd_api AS a WHERE a.id = l.api_id);"
	"CREATE INDEX temp.dangling_number ON dangling (number, process);";

/* The call has come after all, under another id. */
static const char correct[] =
	"CREATE TEMP TABLE found (id INTEGER PRIMARY KEY, old INTEGER, api_id INTEGER);"
	"INSERT INTO temp.found SELECT g.id, g.api_id, c.api_id FROM main.rtl_call AS c"
	" CROSS JOIN temp.dangling AS g ON g.number = c.instance AND g.process = c.process"
	" WHERE c.flags IS NOT NULL;"
	"CREATE INDEX temp.found_old ON found (old);"
	"UPDATE rocpd_api_ops SET api_id ="
	" (SELECT f.api_id FROM temp.found AS f WHERE f.id = rocpd_api_ops.id)"
	" WHERE id IN (SELECT id FROM temp.found);"
	"UPDATE OR IGNORE rocpd_kernelapi SET api_ptr_id ="
	" (SELECT f.api_id FROM temp.found AS f WHERE f.old = api_ptr_id)"
	" WHERE api_ptr_id IN (SELECT old FROM temp.found);"
	"UPDATE OR IGNORE rocpd_copyapi SET api_ptr_id ="
	" (SELECT f.api_id FROM temp.found AS f WHERE f.old = api_ptr_id)"
	" WHERE api_ptr_id IN (SELECT old FROM temp.found);"
	"DELETE FROM rocpd_kernelapi WHERE api_ptr_id IN (SELECT api_id FROM temp.dangling);"
	"DELETE FROM rocpd_copyapi WHERE api_ptr_id IN (SELECT api_id FROM temp.dangling);"
	"DELETE FROM temp.dangling WHERE id IN (SELECT id FROM temp.found);"
	/* They have submitted more than their threads have counted, or were forgotten early. */
	"CREATE TEMP TABLE work (api_id INTEGER PRIMARY KEY, count INTEGER);"
	"INSERT INTO temp.work SELECT l.api_id, count(*) FROM main.rocpd_api_ops AS l"
	" WHERE l.api_id IN (SELECT api_id FROM temp.found) GROUP BY l.api_id;"
	"UPDATE rtl_call SET work = max(work,"
	" (SELECT w.count FROM temp.work AS w WHERE w.api_id = rtl_call.api_id))"
	" WHERE api_id IN (SELECT api_id FROM temp.work);";

/* The call never comes. */
static void stand_in(struct sub *sub)
{
	struct writer *w = &sub->writer;
	const struct names *names = &sub->names;

	writer_exec(w, "DELETE FROM rocpd_api_ops WHERE id IN (SELECT id FROM temp.dangling)");
	if (!sub->settings.links)
		return;
	writer_execf(w, "UPDATE temp.dangling SET api_id = rowid + %lld", (long long)sub->next_api);
	writer_execf(
		w,
		"INSERT INTO rocpd_api SELECT g.api_id, p.pid, d.tid, d.submit_ns, d.submit_ns,"
		" %lld, %d, %lld, o.description_id FROM temp.dangling AS g JOIN rtl_dispatch"
		" AS d ON d.op_id = g.op_id JOIN rocpd_op AS o ON o.id = g.op_id"
		" JOIN rtl_process AS p ON p.process = d.process",
		(long long)names->kernel_dispatch, NAMES_EMPTY, (long long)names->hsa);
	writer_exec(w, "INSERT INTO rocpd_kernelapi SELECT g.api_id, '', d.grid_x, d.grid_y,"
		       " d.grid_z, d.workgroup_x, d.workgroup_y, d.workgroup_z, d.lds_bytes,"
		       " d.scratch_bytes, o.description_id FROM temp.dangling AS g"
		       " JOIN rtl_dispatch AS d ON d.op_id = g.op_id"
		       " JOIN rocpd_op AS o ON o.id = g.op_id");
	copy_stand_in(sub);
	writer_exec(w, "INSERT INTO rocpd_api_ops SELECT id, api_id, op_id FROM temp.dangling");
}

void links_settle(struct sub *sub)
{
	struct links *links = &sub->links;
	struct writer *w = &sub->writer;
	bool waiting = false;

	for (size_t i = 0; i < links->hash.capacity && !waiting; i++) {
		const struct link *link = hash_at(&links->hash, &kind, i);

		waiting = link->number && !link->came;
	}
	if (!waiting && !links->unsettled)
		return;
	if (!writer_exec(w, find_dangling))
		return;
	if (writer_ask_int(w, "SELECT count(*) FROM temp.dangling") && writer_exec(w, correct) &&
	    writer_ask_int(w, "SELECT count(*) FROM temp.dangling"))
		stand_in(sub);
	writer_exec(w, "DROP TABLE IF EXISTS temp.found; DROP TABLE IF EXISTS temp.work;"
		       " DROP TABLE temp.dangling");
}
