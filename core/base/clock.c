/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <rtl/publish.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

enum clock_kind clock_kind = CLOCK_KIND_NS;
#ifdef __x86_64__
uint32_t clock_calls = 1;
#else
uint32_t clock_calls; /* no code has a reading inline there, so a test of it costs nothing */
#endif

/* The kernel has checked what we would have to: constant, nonstop, the same on all CPUs. */
__attribute__((constructor(101))) static void clock_choose(void)
{
#ifdef __x86_64__
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const char *force = secure_getenv("RTL_CLOCK");
	char text[16];

	if (force && !strcmp(force, "boottime"))
		return;
	if (read_text(path, text, sizeof(text)) >= 3 && !strncmp(text, "tsc", 3))
		clock_kind = CLOCK_KIND_TSC;
	clock_calls = clock_kind != CLOCK_KIND_TSC;
#endif
}

void clock_pair_take(struct clock_pair *pair)
{
	uint64_t best = UINT64_MAX;

	if (clock_kind == CLOCK_KIND_NS) {
		pair->ticks = pair->ns = clock_ns();
		pair->error_ticks = 0;
		return;
	}
	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_ticks_ordered();
		uint64_t ns = clock_ns();
		uint64_t after = clock_ticks_ordered();

		if (after - before < best) {
			best = after - before;
			pair->ticks = before + best / 2;
			pair->ns = ns;
			pair->error_ticks = best / 2 + 1;
		}
	}
}

/* a * b / c, where only the product is large. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/* Sets the slope of a line's pair, which is not the first. */
static void set_slope(struct clock_pair *b)
{
	b->slope = scale(b->ns - b[-1].ns, (uint64_t)1 << 48, b->ticks - b[-1].ticks);
}

void clock_line_add(struct clock_line *line, const struct clock_pair *pair)
{
	uint32_t kept;

	if (line->count) {
		struct clock_pair *last = &line->pairs[line->count - 1];

		if (pair->ticks <= last->ticks || pair->ns < last->ns)
			return; /* would fold the line back */
	}
	if (line->count == CLOCK_LINE_PAIRS) {
		kept = 0;
		for (uint32_t i = 0; i < CLOCK_LINE_PAIRS; i++)
			if (i == 0 || i >= CLOCK_LINE_PAIRS / 2 || i % 2 == 0)
				line->pairs[kept++] = line->pairs[i];
		for (uint32_t i = 1; i < kept; i++)
			set_slope(&line->pairs[i]);
		line->count = kept;
	}
	line->pairs[line->count] = *pair;
	if (line->count++)
		set_slope(&line->pairs[line->count - 1]);
	line->taken++;
}

uint64_t clock_line_ns(const struct clock_line *line, uint64_t ticks)
{
	const struct clock_pair *a, *b;
	uint32_t i = line->count - 1, middle;

	if (line->count < 2)
		return clock_kind == CLOCK_KIND_NS ? ticks : line->pairs[0].ns;
	/* mostly in the last stretch, or just behind it; of a backlog or a recording anywhere */
	for (uint32_t low = 1; low < i && line->pairs[i - 1].ticks > ticks;) {
		middle = (low + i) / 2;
		if (line->pairs[middle].ticks > ticks)
			i = middle;
		else
			low = middle + 1;
	}
	a = &line->pairs[i - 1];
	b = &line->pairs[i];
	if (ticks < a->ticks) /* before the line: as steep as its first stretch */
		return a->ns - ticks_along(a->ticks - ticks, b->slope);
	return a->ns + ticks_along(ticks - a->ticks, b->slope);
}

uint64_t rtl_clock_ns(void)
{
	return clock_ns();
}

/* ---- from ticks to ns at once */

/* How far ahead a stretch reaches: at first as far as there is experience, then so long. */
#define AHEAD_NS 20000000u
/* Over how long, up to twice, the clocks' rates are compared. */
#define BASE_NS 1000000000u
/* How often somebody beyond the end looks whether another thread has made the next stretch. */
#define LOOKS 2000

/* Slow conversions first look at so many stretches before the current one: 80 ms. */
#define STRETCHES_BEFORE 4

struct ticks_line ticks_line;
struct ticks_stretch *ticks_now = &ticks_line.stretches[TICKS_STRETCHES - 1];

/* What makes stretches. */
static struct {
	uint32_t owner; /* pid while somebody does, a parent's counts as none; acquire, release */
	struct clock_pair base, next_base;
	struct clock_line knots; /* where stretches began: for ticks older than those we have */
} maker;

static inline void pause_cpu(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

static __thread bool making __attribute__((tls_model("initial-exec")));

/* At the load, after clock_choose, and in a child whose parent was forked while one of its threads made
 * a stretch: that may have left this unsound. */
__attribute__((constructor(102))) static void begin_anew(void)
{
	clock_pair_take(&maker.base);
	maker.next_base = maker.base;
	maker.knots.count = 0;
}

/* False: another thread is at it, or we have interrupted it. */
static bool maker_lock(void)
{
	uint32_t me = (uint32_t)getpid(), owner = __atomic_load_n(&maker.owner, __ATOMIC_RELAXED);

	if (owner == me || making)
		return false;
	making = true; /* before: a signal handler must not wait for us */
	/* acquire: with the release in maker_unlock */
	if (!__atomic_compare_exchange_n(&maker.owner, &owner, me, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED)) {
		making = false;
		return false;
	}
	if (owner)
		begin_anew();
	return true;
}

static void maker_unlock(void)
{
	__atomic_store_n(&maker.owner, 0, __ATOMIC_RELEASE);
	making = false;
}

static struct ticks_stretch *place_of(uint64_t n)
{
	return &ticks_line.stretches[(n - 1) % TICKS_STRETCHES];
}

/* Stretch number n - 1 of the first n; false: its place has been written to meanwhile. */
static bool read_stretch(uint64_t n, struct ticks_stretch *out)
{
	const struct ticks_stretch *s = place_of(n);

	/* acquire: the look at count below comes after these */
	out->ticks = __atomic_load_n(&s->ticks, __ATOMIC_ACQUIRE);
	out->ns = __atomic_load_n(&s->ns, __ATOMIC_ACQUIRE);
	out->length = __atomic_load_n(&s->length, __ATOMIC_ACQUIRE);
	out->serves = __atomic_load_n(&s->serves, __ATOMIC_ACQUIRE);
	out->slope = __atomic_load_n(&s->slope, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&ticks_line.count, __ATOMIC_RELAXED) - n < TICKS_STRETCHES - 1;
}

/* How much longer the newest stretch has become by promise: n in the upper 16 bits, ticks beyond
 * its end in the others. CLOSED: number n, complete in its place, follows. */
static uint64_t promise;

#define CLOSED            ((UINT64_C(1) << 48) - 1)
#define PROMISE(n, delta) ((uint64_t)(n) << 48 | (delta))

static bool replace_promise(uint64_t old, uint64_t new)
{
	/* acq_rel: a thread that sees it closed sees the stretch that follows */
	return __atomic_compare_exchange_n(&promise, &old, new, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* Completes a closing. Any thread does it: the one that closed may have been stopped. */
static void settle(void)
{
	uint64_t word = __atomic_load_n(&promise, __ATOMIC_ACQUIRE);
	uint64_t count = __atomic_load_n(&ticks_line.count, __ATOMIC_ACQUIRE);

	if ((word & CLOSED) != CLOSED)
		return;
	if ((count & 0xffff) == word >> 48)
		__atomic_compare_exchange_n(&ticks_line.count, &count, count + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	replace_promise(word, PROMISE((word >> 48) + 1, 0));
}

/* Promises that `s`, the newest of n, serves `ticks`. False: the line has become longer instead. */
static bool make_promise(uint64_t n, const struct ticks_stretch *s, uint64_t ticks)
{
	uint64_t delta = ticks - s->ticks - s->length + 1, word;

	/* no time that there has been: no use in keeping it */
	if ((int64_t)(ticks - clock_ticks()) > 0 || delta >= CLOSED)
		return true;
	for (;;) {
		word = __atomic_load_n(&promise, __ATOMIC_ACQUIRE);
		if (word >> 48 != (n & 0xffff) || (word & CLOSED) == CLOSED) {
			settle();
			return false;
		}
		if ((word & CLOSED) >= delta || replace_promise(word, PROMISE(n, delta)))
			return true;
	}
}

/* Adds a stretch from `start` to `ns` at `ticks`. False: `word` is no longer the promise. Release, the stores:
 * a reader that sees any of them sees at its second look the count before. */
static bool append(uint64_t word, const struct clock_pair *start, uint64_t ticks, uint64_t ns)
{
	uint64_t length = ticks - start->ticks, rise = ns > start->ns ? ns - start->ns : 0;
	uint64_t slope = scale(rise, (uint64_t)1 << 48, length);
	uint64_t n = __atomic_load_n(&ticks_line.count, __ATOMIC_RELAXED); /* settled, and ours */
	struct ticks_stretch *s = place_of(n + 1);

	__atomic_store_n(&s->ticks, start->ticks, __ATOMIC_RELEASE);
	__atomic_store_n(&s->ns, start->ns, __ATOMIC_RELEASE);
	__atomic_store_n(&s->length, length, __ATOMIC_RELEASE);
	__atomic_store_n(&s->serves, length / 4 * 3, __ATOMIC_RELEASE);
	__atomic_store_n(&s->slope, slope, __ATOMIC_RELEASE);
	if (!replace_promise(word, PROMISE(word >> 48, CLOSED)))
		return false;
	settle();
	if (n) /* nobody has to look for its end any more; relaxed: either is right */
		__atomic_store_n(&place_of(n)->serves, place_of(n)->length, __ATOMIC_RELAXED);
	clock_line_add(&maker.knots, start);
	return true;
}

/* Makes the newest stretch the current one if it has begun; under maker's lock. */
static void advance(void)
{
	const uint64_t n = __atomic_load_n(&ticks_line.count, __ATOMIC_ACQUIRE);

	if (n && (int64_t)(clock_ticks() - place_of(n)->ticks) >= 0)
		/* release: with the acquire in ticks_to_ns, for what is in it */
		__atomic_store_n(&ticks_now, place_of(n), __ATOMIC_RELEASE);
}

/* Where the line ends, if the promise remains what it is. */
static struct clock_pair line_end(uint64_t *word)
{
	uint64_t n = __atomic_load_n(&ticks_line.count, __ATOMIC_ACQUIRE), length;
	struct ticks_stretch s;

	*word = __atomic_load_n(&promise, __ATOMIC_ACQUIRE);
	if (!n)
		return maker.base;
	(void)read_stretch(n, &s);
	length = s.length + (*word & CLOSED);
	return (struct clock_pair){.ticks = s.ticks + length,
				   .ns = s.ns + ticks_along(length, s.slope)};
}

static bool is_beyond(uint64_t ticks)
{
	struct ticks_stretch s;
	uint64_t n = __atomic_load_n(&ticks_line.count, __ATOMIC_ACQUIRE);

	return !n || !read_stretch(n, &s) || (int64_t)(ticks - s.ticks - s.length) >= 0;
}

/* Whether the line is to be made longer when it is `ticks`. */
static bool is_short(uint64_t ticks)
{
	uint64_t n = __atomic_load_n(&ticks_line.count, __ATOMIC_ACQUIRE);
	struct ticks_stretch s;

	if (!n)
		return true;
	return read_stretch(n, &s) && (int64_t)(ticks - s.ticks) >= (int64_t)s.serves;
}

/* Makes the line longer, so that it reaches beyond now; under maker's lock. */
static void extend(void)
{
	struct clock_pair now, end, base = maker.base;
	uint64_t rise, run, ahead, to, word;

	settle();
	advance();
	if (!is_short(clock_ticks()))
		return;
	clock_pair_take(&now);
	if (now.ticks <= base.ticks || now.ns <= base.ns)
		return;
	rise = now.ns - base.ns;
	run = now.ticks - base.ticks;
	if (rise >= 2 * BASE_NS) {
		maker.base = maker.next_base;
		maker.next_base = now;
	}
	/* no further ahead than there is experience: then the error is that of the pairs */
	ahead = scale(rise < AHEAD_NS ? rise : AHEAD_NS, run, rise) + 1;
	do {
		end = line_end(&word);
		/* after a pause what lies between is known better than it can be foretold */
		while (now.ticks > end.ticks && now.ticks - end.ticks > ahead) {
			(void)append(word, &end, now.ticks, now.ns);
			end = line_end(&word);
		}
		to = (end.ticks > now.ticks ? end.ticks : now.ticks) + ahead;
	} while (!append(word, &end, to, now.ns + scale(to - now.ticks, rise, run)));
	advance();
}

/* For ticks that the stretch of now does not reach. */
static void prolong(uint64_t ticks)
{
	if (maker_lock()) {
		extend();
		maker_unlock();
		return;
	}
	if (making)
		return; /* this is a signal handler that has interrupted it */
	for (int looks = 0; looks < LOOKS && is_beyond(ticks); looks++)
		pause_cpu();
}

/* Older than all stretches that are kept. `oldest` is the oldest of them. */
static uint64_t long_ago(uint64_t ticks, const struct ticks_stretch *oldest)
{
	uint64_t ns;

	if (!maker_lock())
		return oldest->ns - ticks_along(oldest->ticks - ticks, oldest->slope);
	ns = clock_line_ns(&maker.knots, ticks);
	maker_unlock();
	return ns;
}

/* Ticks of shortly before the stretch `s`. */
static bool served_before(const struct ticks_stretch *s, uint64_t ticks, uint64_t *ns)
{
	for (int i = 0; i < STRETCHES_BEFORE; i++) {
		s = (s == ticks_line.stretches ? s + TICKS_STRETCHES : s) - 1;
		if (ticks_served(s, ticks, ns))
			return true;
	}
	return false;
}

uint64_t ticks_to_ns_slow(uint64_t ticks)
{
	const struct ticks_stretch *now = __atomic_load_n(&ticks_now, __ATOMIC_ACQUIRE);
	struct ticks_stretch s = {0};
	uint64_t n = __atomic_load_n(&ticks_line.count, __ATOMIC_RELAXED), ns;

	if (clock_kind == CLOCK_KIND_NS)
		return ticks;
	/* relaxed: only whether it is worth looking there */
	if (n && (int64_t)(ticks - __atomic_load_n(&now->ticks, __ATOMIC_RELAXED)) < 0) {
		if (served_before(now, ticks, &ns))
			return ns;
	} else {
		prolong(ticks);
	}
	n = __atomic_load_n(&ticks_line.count, __ATOMIC_ACQUIRE);
	for (uint64_t k = n; k && read_stretch(k, &s); k--)
		if ((int64_t)(ticks - s.ticks) >= 0) {
			if (k == n && ticks - s.ticks >= s.length && !make_promise(n, &s, ticks))
				return ticks_to_ns_slow(ticks);
			return s.ns + ticks_along(ticks - s.ticks, s.slope);
		}
	return n ? long_ago(ticks, &s) : clock_ns();
}

uint64_t rtl_ticks(void)
{
	return clock_ticks();
}

uint64_t rtl_ticks_to_ns(uint64_t ticks)
{
	return ticks_to_ns(ticks);
}
