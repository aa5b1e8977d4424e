/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "values.h"

/* What was given out; never changed. */
struct given {
	struct given *older;
	struct rtl_tracepoint tracepoint;
	struct rtl_metadata metadata[];
};

/* One tracepoint of one process. */
struct answer {
	const struct source *source;
	uint64_t uid;
	struct given *newest;
};

/* What its values are. */
struct described {
	const struct source *source;
	uint64_t uid;
	struct rtl_values_info *info; /* NULL: its description makes no sense */
};

void lookup_init(struct lookup *lookup)
{
	memset(lookup, 0, sizeof(*lookup));
	pthread_mutex_init(&lookup->lock, NULL);
}

static void free_answer(void *unused, void *entry)
{
	struct answer *answer = entry;
	struct given *given;

	(void)unused;
	while ((given = answer->newest)) {
		answer->newest = given->older;
		free(given);
	}
	free(answer);
}

static void free_described(void *unused, void *entry)
{
	struct described *described = entry;

	(void)unused;
	free(described->info);
	free(described);
}

void lookup_fini(struct lookup *lookup)
{
	table_each(&lookup->values, free_described, NULL);
	table_fini(&lookup->values);
	table_each(&lookup->answers, free_answer, NULL);
	table_fini(&lookup->answers);
	free(lookup->metadata);
	pthread_mutex_destroy(&lookup->lock);
}

static uint64_t key_of(const struct source *source, uint64_t uid)
{
	return hash_finish(hash_u64((uintptr_t)source, uid));
}

/* The answer for a tracepoint, made if there is none yet; NULL: no memory. */
static struct answer *find_answer(struct lookup *lookup, const struct source *source, uint64_t uid)
{
	uint64_t key = key_of(source, uid);
	struct answer *answer;

	for (; (answer = table_find(&lookup->answers, key)); key = hash_finish(key))
		if (answer->source == source && answer->uid == uid)
			return answer;
	answer = calloc(1, sizeof(*answer));
	if (!answer)
		return NULL;
	answer->source = source;
	answer->uid = uid;
	if (!table_insert(&lookup->answers, key, answer))
		return answer;
	free(answer);
	return NULL;
}

static bool is_same(const struct rtl_tracepoint *a, const struct rtl_tracepoint *b)
{
	if (a->metadata_count != b->metadata_count)
		return false;
	for (uint32_t i = 0; i < a->metadata_count; i++)
		if (strcmp(a->metadata[i].key, b->metadata[i].key) != 0 ||
		    strcmp(a->metadata[i].value, b->metadata[i].value) != 0 ||
		    a->metadata[i].kind != b->metadata[i].kind)
			return false;
	return true;
}

static const struct rtl_tracepoint *give(struct answer *answer, const struct rtl_tracepoint *found)
{
	struct given *given = answer->newest;

	if (given && is_same(&given->tracepoint, found))
		return &given->tracepoint;
	given = malloc(sizeof(*given) + found->metadata_count * sizeof(*given->metadata));
	if (!given)
		return NULL;
	given->tracepoint = *found;
	given->tracepoint.metadata = given->metadata;
	if (found->metadata_count)
		memcpy(given->metadata, found->metadata,
		       found->metadata_count * sizeof(*given->metadata));
	given->older = answer->newest;
	answer->newest = given;
	return &given->tracepoint;
}

const struct rtl_tracepoint *lookup_tracepoint(struct lookup *lookup, const struct source *source,
					       uint64_t uid)
{
	const struct rtl_tracepoint *tracepoint = NULL;
	struct rtl_tracepoint found;
	struct answer *answer;

	pthread_mutex_lock(&lookup->lock);
	if (source->ops->tracepoint(source, uid, &found, &lookup->metadata, &lookup->room) &&
	    (answer = find_answer(lookup, source, uid)))
		tracepoint = give(answer, &found);
	pthread_mutex_unlock(&lookup->lock);
	return tracepoint;
}

/* ---- values */

/* *key: where it is, or would go. */
static const struct described *find_described(const struct lookup *lookup,
					      const struct source *source, uint64_t uid,
					      uint64_t *key)
{
	const struct described *described;

	for (*key = key_of(source, uid); (described = table_find(&lookup->values, *key));
	     *key = hash_finish(*key))
		if (described->source == source && described->uid == uid)
			break;
	return described;
}

/* Under the lock: one that has not been looked up. */
static const struct described *describe(struct lookup *lookup, const struct source *source,
					uint64_t uid, uint64_t key)
{
	struct described *described;
	struct rtl_tracepoint found;
	const char *text;

	if (!source->ops->tracepoint(source, uid, &found, &lookup->metadata, &lookup->room))
		return NULL;
	text = rtl_tracepoint_value(&found, RTL_VALUES_KEY);
	if (!text || !(described = calloc(1, sizeof(*described))))
		return NULL; /* it may be said yet */
	*described = (struct described){source, uid, values_parse(text)};
	if (!table_insert(&lookup->values, key, described))
		return described;
	free_described(NULL, described);
	return NULL;
}

const struct rtl_values_info *lookup_values(struct lookup *lookup, const struct source *source,
					    uint64_t uid)
{
	uint64_t key;
	const struct described *described = find_described(lookup, source, uid, &key);

	if (described)
		return described->info;
	pthread_mutex_lock(&lookup->lock);
	described = find_described(lookup, source, uid, &key);
	if (!described)
		described = describe(lookup, source, uid, key);
	pthread_mutex_unlock(&lookup->lock);
	return described ? described->info : NULL;
}
