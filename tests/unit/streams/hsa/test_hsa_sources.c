/* SPDX-License-Identifier: MIT */
/* What becomes of slots when a pass is made: kinds of work of a source that this test plays. */
#include <pthread.h>

#include <rtl/rtl.h>

#include "../../streams/hsa/harvest/source.h"
#include "../../streams/hsa/harvest/turn.h"
#include "../../streams/hsa/objects/agents.h"
#include "../../streams/hsa/runtime/interceptor.h"
#include "unit.h"

struct interceptor interceptor;

/* ---- what is around it */

static struct rtl_stream metadata_stream, events, *const events_at = &events;
static int room;
static unsigned room_asked, agents_published;
static struct rtl_pending pending;
static uint64_t missed;
static const char *missed_cause;
static __thread uint32_t thread_id = 1;

void agents_publish(void)
{
	agents_published++;
}

uint32_t rtl_thread_id(void)
{
	return thread_id;
}

uint64_t rtl_clock_ns(void)
{
	return 1;
}

int rtl_room(const struct rtl_stream *stream, uint16_t type, uint32_t payload_bytes)
{
	assert_ptr_equal(stream, &events);
	assert_int_equal(type, RTL_TASK_END);
	assert_int_equal(payload_bytes, 40);
	room_asked++;
	return room;
}

void rtl_stream_count_missed(struct rtl_stream *stream, const char *cause, uint64_t count)
{
	assert_ptr_equal(stream, &events);
	missed_cause = cause;
	missed += count;
}

/* ---- a source */

struct work {
	struct slot slot;
	unsigned number;
	bool has_ended;
} __attribute__((aligned(64)));

static unsigned published[16], published_count, freed, settled;
static bool taken_meanwhile;
static struct turn *turn;

static bool finished(struct slot *slot)
{
	return ((struct work *)slot)->has_ended;
}

static void publish(struct source *source, struct slot *slot)
{
	turn_out();
	/* Another thread takes what this one would go on with. */
	if (taken_meanwhile)
		assert_true(turn_change(turn, TURN_OUT, TURN_TAKEN));
	assert_true(slot->under_way); /* or it is lost, should the process be killed now */
	published[published_count++] = ((struct work *)slot)->number;
	turn_in();
}

static const struct slot_kind event = {.signal = SLOT_OVER,
				       .stream = &events_at,
				       .end_type = RTL_TASK_END,
				       .payload_bytes = 40,
				       .finished = finished,
				       .publish = publish};
static const struct slot_kind silent = {
	.signal = SLOT_OVER, .finished = finished, .publish = publish};

static void settle(struct source *source)
{
	settled++;
}

static void free_source(struct source *source)
{
	slots_fini(&source->pool);
	freed++;
}

static const struct source_kind kind = {
	.stream = &events_at, .settle = settle, .free = free_source};
static const struct source_kind any_order = {
	.stream = &events_at, .in_any_order = true, .free = free_source};

static struct source source;
static struct sources sources;
static struct turn mine;
static struct work *works[16];

static int setup_kind(const struct source_kind *of)
{
	interceptor.config.slots = 1000;
	interceptor.stream = &metadata_stream;
	memset(&source, 0, sizeof(source));
	memset(&sources, 0, sizeof(sources));
	memset(&mine, 0, sizeof(mine));
	turn = &mine;
	room = 0;
	room_asked = 0;
	published_count = freed = settled = agents_published = 0;
	memset(&pending, 0, sizeof(pending));
	missed = 0;
	taken_meanwhile = false;
	sources_adopt(&(struct sources){0}); /* of the test before */
	source.kind = of;
	source.pending = &pending;
	if (slots_init(&source.pool, sizeof(struct work), 64, 64, true))
		return -1;
	sources_add(&source);
	return !turn_try(&mine, rtl_thread_id());
}

static int setup(void **state)
{
	return setup_kind(&kind);
}

static int teardown(void **state)
{
	turn_give_back(&mine);
	if (!freed)
		slots_fini(&source.pool);
	return 0;
}

/* One piece of work for each letter: e, an event; s, none; E, S: behind a barrier. */
static void submit(const char *what)
{
	static unsigned number;

	number = 0;
	for (; *what; what++, number++) {
		struct work *work = (struct work *)slot_take(&source.pool);

		assert_non_null(work);
		work->slot.kind = *what == 'e' || *what == 'E' ? &event : &silent;
		work->slot.behind_barrier = *what == 'E' || *what == 'S';
		work->number = number;
		work->has_ended = false;
		work->slot.under_way = 1;
		works[number] = work;
		slot_submit(&source.pool, &work->slot);
	}
}

static bool pass(uint32_t number)
{
	bool all;

	(void)sources_pass(&sources, number, false, &all);
	return all;
}

static void assert_published(unsigned count, unsigned last)
{
	assert_int_equal(published_count, count);
	if (count)
		assert_int_equal(published[count - 1], last);
}

TEST(test_pass__ended_in_any_order__publishes_each_once)
{
	submit("eeee");
	works[2]->has_ended = works[0]->has_ended = true;
	assert_true(pass(1));
	assert_published(2, 2);
	assert_int_equal(published[0], 0);
	assert_int_equal(sources.under_way, 2);
	assert_false(works[0]->slot.under_way);
	assert_true(pass(2));
	assert_published(2, 2);
	works[1]->has_ended = works[3]->has_ended = true;
	assert_true(pass(3));
	assert_published(4, 3);
	assert_int_equal(pending.ended, 4);
	assert_int_equal(slots_free(&source.pool), 64);
	assert_int_equal(settled, 3);
	assert_int_equal(sources.under_way, 0);
}

TEST(test_pass__behind_what_a_barrier_waits_for__is_looked_at_now_and_then)
{
	submit("eEeeE");
	works[1]->has_ended = true;
	assert_true(pass(1));
	assert_published(0, 0);
	/* Each eighth looks at all; and finds that order means nothing here. */
	assert_true(pass(8));
	assert_published(1, 1);
	works[4]->has_ended = true;
	assert_true(pass(9));
	assert_published(2, 4);
	assert_int_equal(sources.under_way, 3);
}

TEST(test_pass__no_event__asks_for_no_room_and_counts_nothing)
{
	submit("se");
	works[0]->has_ended = works[1]->has_ended = true;
	room = RTL_EBUSY;
	assert_false(pass(1));
	assert_published(1, 0);
	assert_int_equal(room_asked, 1);
	assert_int_equal(pending.ended, 0);
	room = 0;
	assert_true(pass(2));
	assert_published(2, 1);
	assert_int_equal(pending.ended, 1);
}

TEST(test_pass__may_wait__asks_nobody)
{
	bool all;

	submit("ee");
	works[0]->has_ended = works[1]->has_ended = true;
	room = RTL_EBUSY;
	assert_true(sources_pass(&sources, 1, true, &all));
	assert_true(all);
	assert_published(2, 1);
	assert_int_equal(room_asked, 0);
}

static void end_all(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		works[i]->has_ended = true;
}

TEST(test_pass__asks_for_room_for_each)
{
	submit("eesee");
	end_all(5);
	assert_true(pass(1));
	assert_published(5, 4);
	assert_int_equal(room_asked, 4);
}

TEST(test_help__events_and_others__no_more_than_asked_for)
{
	submit("eesee");
	end_all(5);
	assert_int_equal(sources_help(&sources, 4), 1);
	assert_published(4, 3);
	assert_int_equal(sources_help(&sources, 4), 0);
	assert_published(5, 4);
}

TEST(test_help__no_more_than_asked_for)
{
	submit("eee");
	for (int i = 0; i < 3; i++)
		works[i]->has_ended = true;
	assert_int_equal(sources_help(&sources, 2), 1);
	assert_published(2, 1);
	assert_int_equal(sources_help(&sources, 2), 0);
	assert_published(3, 2);
}

/* What a program finds that waits for each piece of its work. */
TEST(test_help__the_only_one__is_published_when_it_has_ended)
{
	submit("e");
	assert_int_equal(sources_help(&sources, 10), 0);
	assert_published(0, 0);
	assert_int_equal(source.unfinished, 1);
	works[0]->has_ended = true;
	room = RTL_EBUSY;
	assert_int_equal(sources_help(&sources, 10), RTL_EBUSY);
	assert_published(0, 0);
	assert_int_equal(source.unfinished, 1);
	room = 0;
	assert_int_equal(sources_help(&sources, 0), 1);
	assert_published(0, 0);
	assert_int_equal(sources_help(&sources, 1), 0);
	assert_published(1, 0);
	assert_int_equal(source.unfinished, 0);
	assert_int_equal(pending.ended, 1);
	assert_int_equal(slots_free(&source.pool), 64);
	assert_int_equal(sources_help(&sources, 1), 0);
	assert_published(1, 0);
}

TEST(test_help__the_only_one_and_those_behind__each_once_and_in_order)
{
	submit("e");
	assert_int_equal(sources_help(&sources, 10), 0);
	submit("es");
	works[0]->has_ended = works[1]->has_ended = true;
	assert_int_equal(sources_help(&sources, 10), 0);
	assert_published(2, 1);
	assert_int_equal(source.unfinished, 1);
	assert_int_equal(source.pool.pending, 1);
	source.pool.first->kind = &silent;
	((struct work *)source.pool.first)->has_ended = true;
	assert_int_equal(sources_help(&sources, 10), 0);
	assert_published(3, 0);
	assert_int_equal(source.unfinished, 0);
	/* A pass finds nothing of it left. */
	assert_true(pass(8));
	assert_published(3, 0);
	assert_int_equal(slots_free(&source.pool), 64);
}

TEST(test_help__the_only_one_given_up_meanwhile__leaves_everything)
{
	submit("e");
	works[0]->has_ended = taken_meanwhile = true;
	assert_int_equal(sources_help(&sources, 10), 0);
	assert_published(1, 0);
	assert_int_equal(slots_free(&source.pool), 63);
	assert_true(turn_left());
}

TEST(test_help__what_ends_in_any_order__is_looked_at_to_the_end)
{
	teardown(NULL);
	assert_int_equal(setup_kind(&any_order), 0);
	submit("eE");
	works[1]->has_ended = true;
	assert_int_equal(sources_help(&sources, 10), 0);
	assert_published(1, 1);
}

TEST(test_abandon__events_are_counted)
{
	submit("eses");
	assert_true(pass(1));
	sources_abandon(&sources, "cause");
	assert_int_equal(missed, 2);
	assert_string_equal(missed_cause, "cause");
	assert_int_equal(pending.ended, 2);
	assert_null(source.pool.first);
	assert_null(sources.first);
}

TEST(test_pass__dead__is_freed_when_nothing_can_touch_it)
{
	submit("ee");
	works[0]->has_ended = true;
	source.dead = true;
	assert_true(pass(1));
	assert_published(1, 0);
	assert_int_equal(missed, 1);
	assert_int_equal(freed, 1);
	assert_null(sources.first);
}

TEST(test_pass__taken_while_out__leaves_everything)
{
	submit("ee");
	works[0]->has_ended = works[1]->has_ended = true;
	taken_meanwhile = true;
	(void)pass(1);
	assert_published(1, 0);
	/* Neither was its slot given back, nor was the next one looked at. */
	assert_int_equal(slots_free(&source.pool), 62);
	assert_true(turn_left());
}

TEST(test_pass__recording_begins__publishes_gpus_once_more)
{
	assert_true(pass(1));
	assert_int_equal(agents_published, 0);
	metadata_stream.wanted[RTL_METADATA & 0xff] = 1;
	assert_true(pass(2));
	assert_true(pass(3));
	assert_int_equal(agents_published, 1);
	metadata_stream.wanted[RTL_METADATA & 0xff] = 0;
}

/* ---- turns */

static struct turn other;

static void *take_turns(void *count)
{
	static _Atomic uint32_t next = 2;

	thread_id = next++;
	__atomic_store_n(&interceptor.state, INTERCEPTOR_ON, __ATOMIC_RELAXED);
	for (int i = 0; i < 20000; i++) {
		turn_take_for_sure(&mine);
		++*(uint64_t *)count;
		turn_give_back(&mine);
	}
	return NULL;
}

TEST(test_turn__of_several_threads__is_ones_at_a_time)
{
	uint64_t count = 0; /* who has the turn */
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &count), 0);
	assert_false(turn_take(&mine, rtl_thread_id(), true)); /* this thread has it */
	turn_give_back(&mine);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(count, 80000);
	assert_true(turn_try(&mine, rtl_thread_id()));
}

static void *keep_turn(void *out)
{
	thread_id = 2;
	turn_take_for_sure(&mine);
	if (out)
		turn_go_out(&mine);
	turn_give_back(&other); /* it is taken now */
	usleep(30000);
	turn_give_back(&mine);
	return NULL;
}

/* As the runtime's handler thread, which waits for no subscriber. */
TEST(test_turn__of_another_thread__is_waited_for_unless_it_is_out)
{
	pthread_t thread;

	turn_give_back(&mine);
	for (int out = 0; out < 2; out++) {
		turn_take_for_sure(&other);
		assert_int_equal(pthread_create(&thread, NULL, keep_turn, out ? &mine : NULL), 0);
		turn_take_for_sure(&other);
		turn_give_back(&other);
		assert_int_equal(turn_take(&mine, rtl_thread_id(), false), !out);
		if (!out)
			turn_give_back(&mine);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	turn_come_in(&mine);
	assert_true(turn_try(&mine, rtl_thread_id()));
}

RUN_TESTS(setup, teardown, NULL, NULL)
