/* SPDX-License-Identifier: MIT */
/* Scenarios of the ledger: what was missed, and what was left out, by cause. */
#include "test_bus_child.h"

static struct rtl_stream *stream, *other;
static const struct rtl_stream_info *main_info;

/* Notes t.main; nobody subscribes. */
static int note_main(struct probe *p, const struct rtl_stream_info *info)
{
	if (!strcmp(info->name, "t.main"))
		main_info = info;
	return 1;
}

/* ---- losses */

struct loss {
	uint64_t a, b, rest, causes;
};

static void note_loss(void *user, const char *cause, uint64_t count)
{
	struct loss *loss = user;

	loss->causes++;
	if (!strcmp(cause, "cause a"))
		loss->a += count;
	else if (!strcmp(cause, "cause b"))
		loss->b += count;
	else
		loss->rest += count;
}

static int check_losses(struct probe *p)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};
	struct loss loss = {0, 0, 0, 0};

	CHECK(!p->host->ledger(p->host, NULL, main_info, &ledger));
	p->host->losses(p->host, NULL, main_info, note_loss, &loss);
	CHECK(loss.a == 2000 && loss.b == 5 && loss.rest == 0 && loss.causes == 2);
	CHECK(ledger.missed == 2005 && ledger.published == 0);
	CHECK(p->host->ledger(p->host, NULL, NULL, &ledger) == RTL_EINVAL);
	ledger.struct_size = 8;
	CHECK(p->host->ledger(p->host, NULL, main_info, &ledger) == RTL_EINVAL);
	return 0;
}

static void *count_some(void *user)
{
	for (int i = 0; i < 1000; i++)
		rtl_stream_count_missed(stream, "cause a", 1);
	return user;
}

SCENARIO(missed)
{
	pthread_t thread;

	USE_HOOKS(.stream = note_main, .finish = check_losses);
	stream = register_stream("t.main");
	other = register_stream("t.other");
	thread = start_thread(count_some, NULL);
	count_some(NULL);
	join_thread(thread);
	rtl_stream_count_missed(stream, "cause b", 5);
	rtl_stream_count_missed(other, "cause a", 77);
	rtl_stream_count_missed(&rtl_stream_none, "cause a", 77);
	rtl_stream_count_missed(NULL, "cause a", 77);
	rtl_stream_count_missed(stream, NULL, 77);
	CHECK(ledger_of(stream).missed == 2005 && ledger_of(other).missed == 77);
}

static void check_left_out(void *user, const char *cause, uint64_t count)
{
	CHECK(!strcmp(cause,
		      count == 7 ? "a kernel that was not selected" : "outside of the ranges"));
	*(uint64_t *)user += count;
}

static int check_all_left_out(struct probe *p)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)}, older = {.struct_size = 48};
	uint64_t sum = 0;

	CHECK(!p->host->ledger(p->host, NULL, main_info, &ledger));
	CHECK(ledger.left_out == 9 && ledger.published == ledger.delivered + 9);
	older.left_out = 12345;
	CHECK(!p->host->ledger(p->host, NULL, main_info, &older));
	CHECK(older.published == ledger.published && older.left_out == 12345);
	p->host->left_out(p->host, NULL, main_info, check_left_out, &sum);
	CHECK(sum == 9);
	return 0;
}

SCENARIO(left_out)
{
	USE_HOOKS(.stream = note_main, .finish = check_all_left_out);
	stream = register_stream("t.main");
	rtl_stream_count_left_out(stream, RTL_LEFT_OUT_KERNEL, 7);
	rtl_stream_count_left_out(stream, RTL_LEFT_OUT_RANGE, 2);
	rtl_stream_count_left_out(stream, 77, 2);
	rtl_stream_count_left_out(&rtl_stream_none, RTL_LEFT_OUT_RANGE, 2);
	rtl_stream_count_left_out(NULL, RTL_LEFT_OUT_RANGE, 2);
	CHECK(ledger_of(stream).left_out == 9);
}

/* More causes than there is room for: what is counted is counted for its own stream. */
SCENARIO(missed_by_many_causes)
{
	char cause[32];

	stream = register_stream("t.main");
	other = register_stream("t.other");
	rtl_stream_count_missed(other, "the only one", 1);
	for (int i = 0; i < 400; i++) {
		snprintf(cause, sizeof(cause), "cause %d", i);
		rtl_stream_count_missed(stream, cause, 1);
	}
	rtl_stream_count_missed(other, "another one", 1);
	CHECK(ledger_of(stream).missed == 400);
	CHECK(ledger_of(other).missed == 2);
}
