/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <stdlib.h>

#include "hash.h"

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
	struct rtl_values_info *values; /* NULL: its description is invalid */
	bool described; /* release when `values` is as it stays, acquire by lookup_values */
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

	while ((given = answer->newest)) {
		answer->newest = given->older;
		free(given);
	}
	free(answer->values);
	free(answer);
}

void lookup_fini(struct lookup *lookup)
{
	table_each(&lookup->answers, free_answer, NULL);
	table_fini(&lookup->answers);
	free(lookup->metadata);
	pthread_mutex_destroy(&lookup->lock);
}

/* *key: where it is, or would go. */
static struct answer *find(const struct lookup *lookup, const struct source *source, uint64_t uid,
			   uint64_t *key)
{
	struct answer *answer;

	*key = hash_finish(hash_u64((uintptr_t)source, uid));
	for (; (answer = table_find(&lookup->answers, *key)); *key = hash_finish(*key))
		if (answer->source == source && answer->uid == uid)
			break;
	return answer;
}

/* The answer for a tracepoint, made if there is none yet; NULL: no memory. Under the lock. */
static struct answer *find_or_add(struct lookup *lookup, const struct source *source, uint64_t uid)
{
	uint64_t key;
	struct answer *answer = find(lookup, source, uid, &key);

	if (answer || !(answer = calloc(1, sizeof(*answer))))
		return answer;
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
	    (answer = find_or_add(lookup, source, uid)))
		tracepoint = give(answer, &found);
	pthread_mutex_unlock(&lookup->lock);
	return tracepoint;
}

/* ---- values */

/* Under the lock. */
static const struct answer *describe(struct lookup *lookup, const struct source *source,
				     uint64_t uid)
{
	struct rtl_tracepoint found;
	struct answer *answer;
	const char *text;

	if (!source->ops->tracepoint(source, uid, &found, &lookup->metadata, &lookup->room))
		return NULL;
	text = rtl_tracepoint_value(&found, RTL_VALUES_KEY);
	if (!text || !(answer = find_or_add(lookup, source, uid)))
		return NULL; /* it may be said yet */
	if (!answer->described)
		answer->values = values_parse(text);
	__atomic_store_n(&answer->described, true, __ATOMIC_RELEASE);
	return answer;
}

const struct rtl_values_info *lookup_values(struct lookup *lookup, const struct source *source,
					    uint64_t uid)
{
	uint64_t key;
	const struct answer *answer = find(lookup, source, uid, &key);

	if (!answer || !__atomic_load_n(&answer->described, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&lookup->lock);
		answer = describe(lookup, source, uid);
		pthread_mutex_unlock(&lookup->lock);
	}
	return answer ? answer->values : NULL;
}
