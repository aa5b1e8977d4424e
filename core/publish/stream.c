/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include "bus.h"
#include "dict.h"
#include "log.h"

struct rtl_stream rtl_stream_none = {.struct_size = sizeof(rtl_stream_none)};

static const struct rtl_stream_info *infos[SPOOL_STREAMS_MAX];
static uint32_t count;               /* release by add, acquire by stream_count */
static bool told[SPOOL_STREAMS_MAX]; /* the subscribers in this process know it */
static const char *vendors[255];

uint32_t stream_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

const struct rtl_stream_info *stream_info(uint32_t number)
{
	return infos[number];
}

struct rtl_stream *stream_of(uint32_t number)
{
	return &bus.spool.control->streams[number].pub;
}

const struct rtl_type_info *stream_type_info(uint32_t number, uint16_t type)
{
	return rtl_stream_find_type(infos[number], type);
}

static void fill_slot(uint32_t number)
{
	struct rtl_stream *stream = stream_of(number);
	struct stream_wants wants = {0};

	stream->struct_size = sizeof(*stream);
	stream->number = number;
	for (uint32_t i = 0; bus.collected && i < infos[number]->type_count; i++) {
		const uint16_t type = infos[number]->types[i].type;

		if (session_wants(infos[number]->name, type))
			wants.bits[type & 0xff] =
				session_is_outside() && !stream_type_describes(infos[number], type)
					? SPOOL_WANT_COUNT
					: SPOOL_WANT_RECORD;
	}
	if (bus.collected)
		stream_want(stream, infos[number], &wants, SPOOL_WANT_RECORD | SPOOL_WANT_COUNT);
}

static int add(const struct rtl_stream_info *info, uint32_t *number)
{
	struct rtl_stream_info *copy;

	if (count == SPOOL_STREAMS_MAX)
		return RTL_ELIMIT;
	copy = stream_info_copy(info);
	if (!copy)
		return RTL_ENOMEM;
	copy->number = *number = count;
	infos[count] = copy;
	fill_slot(count);
	if (bus_starts_elsewhere())
		stream_want_all(stream_of(count),
				copy); /* until the subscribers are there, and told */
	dict_add_stream(&bus.spool, copy);
	bus.spool.control->stream_count = count + 1;
	/* release: with the acquire in stream_count */
	__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
	return 0;
}

static int find(const char *name)
{
	uint32_t n = stream_count();

	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(infos[i]->name, name))
			return (int)i;
	return -1;
}

/* Subscribers hear of the stream before its first event, if they can. */
static void tell(uint32_t number)
{
	/* acquire: with the release below: subscribers know earlier streams, by whatever thread, before later ones */
	if (!__atomic_load_n(&told[number], __ATOMIC_ACQUIRE) && bus_ops.tell_stream(number))
		__atomic_store_n(&told[number], true, __ATOMIC_RELEASE);
}

int rtl_stream_register(const struct rtl_stream_info *info, struct rtl_stream **out)
{
	const char *flaw = out ? stream_info_flaw(info) : "no out";
	uint32_t number = 0;
	int known, err;

	if (flaw) {
		log_line(RTL_LEVEL_INFO, "stream", "%s is not well-formed: %s",
			 info && info->name ? info->name : "a stream", flaw);
		return RTL_EINVAL;
	}
	err = bus_ops.start();
	if (err)
		return err;
	bus_lock();
	known = find(info->name);
	if (known >= 0) {
		number = (uint32_t)known;
		err = stream_same_layout(infos[number], info) ? 0 : RTL_EEXIST;
	} else {
		err = add(info, &number);
	}
	bus_unlock();
	if (err)
		return err;
	if (!bus_starts_elsewhere() && bus.host)
		tell(number);
	/* release: other threads of the publisher may look at the pointer already (rtl_enabled) */
	__atomic_store_n(out, stream_of(number), __ATOMIC_RELEASE);
	return 0;
}

struct rtl_stream *rtl_stream_find(const char *name)
{
	int number = name ? find(name) : -1;

	return number < 0 ? NULL : stream_of((uint32_t)number);
}

const struct rtl_stream_info *rtl_stream_describe(const struct rtl_stream *stream)
{
	return stream && stream != &rtl_stream_none ? infos[stream->number] : NULL;
}

void rtl_stream_end(struct rtl_stream *stream)
{
	const struct rtl_type_info *type;
	struct rtl_record *record;

	if (!stream || stream == &rtl_stream_none || !rtl_enabled(stream, RTL_STREAM_END))
		return;
	type = stream_type_info(stream->number, RTL_STREAM_END);
	record = type ? rtl_reserve(stream, RTL_STREAM_END, type->payload_size) : NULL;
	if (!record)
		return;
	memset(rtl_record_payload(record), 0, type->payload_size);
	rtl_commit(record);
}

void stream_refill(void)
{
	for (uint32_t i = 0; i < count; i++) {
		fill_slot(i);
		dict_add_stream(&bus.spool, infos[i]);
	}
	bus.spool.control->stream_count = count;
}

static struct spool_loss *find_loss(uint32_t stream, const char *cause)
{
	struct spool_control *control = bus.spool.control;
	/* acquire: with the release in add_loss */
	uint32_t n = __atomic_load_n(&control->loss_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (control->losses[i].stream == stream &&
		    !strncmp(control->losses[i].cause, cause, sizeof(control->losses[i].cause) - 1))
			return &control->losses[i];
	return NULL;
}

/* Where a cause is counted that was not known before. */
static uint64_t *add_loss(uint32_t stream, const char *cause)
{
	struct spool_control *control = bus.spool.control;
	struct spool_loss *loss;

	bus_lock();
	loss = find_loss(stream, cause);
	if (!loss && control->loss_count < SPOOL_LOSSES_MAX) {
		loss = &control->losses[control->loss_count];
		loss->stream = stream;
		strncpy(loss->cause, cause, sizeof(loss->cause) - 1);
		__atomic_store_n(&control->loss_count, control->loss_count + 1, __ATOMIC_RELEASE);
	}
	bus_unlock();
	return loss ? &loss->count : &control->streams[stream].missed_otherwise;
}

void rtl_stream_count_missed(struct rtl_stream *stream, const char *cause, uint64_t n)
{
	struct spool_loss *loss;
	uint64_t *counter;

	if (!stream || stream == &rtl_stream_none || !cause)
		return;
	if (!bus_here() && bus_ops.start()) /* in a child: the page is still its parent's */
		return;
	loss = find_loss(stream->number, cause);
	counter = loss ? &loss->count : add_loss(stream->number, cause);
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

void rtl_stream_count_left_out(struct rtl_stream *stream, uint32_t why, uint64_t n)
{
	if (!stream || (!bus_here() && bus_ops.start())) /* in a child, as above */
		return;
	left_out_count(stream, why, n);
}

int rtl_vendor_register(const char *name, uint8_t *vendor)
{
	int err = RTL_ELIMIT;

	if (!name || !*name || !vendor)
		return RTL_EINVAL;
	bus_lock();
	for (int i = 1; i < 255; i++) {
		if (!vendors[i] && !(vendors[i] = strdup(name))) {
			err = RTL_ENOMEM;
			break;
		}
		if (!strcmp(vendors[i], name)) {
			*vendor = (uint8_t)i;
			err = 0;
			break;
		}
	}
	bus_unlock();
	return err;
}

/* ---- what publishers have under way: rtl_stream_pending */

/* For publishers that got no entry; nobody reads it. */
static struct rtl_pending no_entry;

_Static_assert(offsetof(struct spool_pending, pub) == 0, "an entry begins with its public part");

static struct spool_pending *take_pending(uint32_t stream, const char *cause)
{
	struct spool_pending *list = bus.spool.control->pending;

	for (uint32_t i = 0; i < SPOOL_PENDING_MAX; i++) {
		if (list[i].used)
			continue;
		memset(&list[i], 0, sizeof(list[i]));
		list[i].stream = stream;
		strncpy(list[i].cause, cause, sizeof(list[i].cause) - 1);
		/* release: with the acquire in ledger.c */
		__atomic_store_n(&list[i].used, 1, __ATOMIC_RELEASE);
		return &list[i];
	}
	return NULL;
}

struct rtl_pending *rtl_stream_pending(struct rtl_stream *stream, const char *cause)
{
	struct spool_pending *entry;

	if (!stream || stream == &rtl_stream_none || !cause || (!bus_here() && bus_ops.start()))
		return &no_entry;
	bus_lock();
	entry = take_pending(stream->number, cause);
	bus_unlock();
	if (entry)
		return &entry->pub;
	log_line(RTL_LEVEL_INFO, "bus",
		 "no entry is left (of %u) for what is under way: if the process is killed, it is "
		 "not counted",
		 SPOOL_PENDING_MAX);
	return &no_entry;
}

void rtl_pending_release(struct rtl_pending *pending)
{
	struct spool_pending *entry = (struct spool_pending *)pending;

	/* in a child of fork it is its parent's */
	if (!pending || pending == &no_entry || !bus_here())
		return;
	bus_lock();
	__atomic_store_n(&entry->used, 0, __ATOMIC_RELEASE);
	bus_unlock();
}
