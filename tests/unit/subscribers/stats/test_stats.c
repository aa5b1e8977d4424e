/* SPDX-License-Identifier: MIT */
/* Unit tests of what the statistics subscriber counts with: histogram, pairing, durations, JSON strings. */
#include "histogram.h"
#include "pairing.h"
#include "summary.h"
#include "unit.h"

/* ---- histogram ---- */

static void assert_within_percent(uint64_t value, uint64_t truth)
{
	double off = (double)value - (double)truth;

	if (off > 0.01 * (double)truth || off < -0.01 * (double)truth)
		fail_msg("%llu is not within 1 %% of %llu", (unsigned long long)value,
			 (unsigned long long)truth);
}

TEST(test_histogram__single_value__within_bound)
{
	for (unsigned shift = 0; shift < 64; shift++) {
		for (int i = 0; i < 100; i++) {
			uint64_t value = unit_random() >> shift;
			struct histogram h = {0};
			histogram_add(&h, value);
			assert_within_percent(histogram_quantile(&h, 0.5), value);
			histogram_fini(&h);
		}
	}
}

TEST(test_histogram__extremes__kept)
{
	struct histogram h = {0};

	assert_int_equal(histogram_quantile(&h, 0.5), 0);
	histogram_add(&h, 0);
	histogram_add(&h, UINT64_MAX);
	assert_int_equal(histogram_quantile(&h, 0.5), 0);
	assert_within_percent(histogram_quantile(&h, 1), UINT64_MAX);
	histogram_fini(&h);
}

TEST(test_histogram__nearest_rank__as_defined)
{
	struct histogram h = {0};

	for (uint64_t i = 1; i <= 100; i++)
		histogram_add(&h, i);
	assert_int_equal(histogram_quantile(&h, 0.5), 50);
	assert_int_equal(histogram_quantile(&h, 0.99), 99);
	assert_int_equal(histogram_quantile(&h, 1), 100);
	assert_int_equal(histogram_quantile(&h, 0), 1);
	histogram_fini(&h);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

TEST(test_histogram__many_values__quantiles_within_bound)
{
	enum { N = 100000 };
	static uint64_t values[N];
	struct histogram h = {0};

	for (size_t i = 0; i < N; i++) {
		values[i] = 1 + (unit_random() >> (30 + unit_random() % 30));
		histogram_add(&h, values[i]);
	}
	qsort(values, N, sizeof(*values), compare_u64);
	assert_within_percent(histogram_quantile(&h, 0.5), values[N / 2 - 1]);
	assert_within_percent(histogram_quantile(&h, 0.99), values[N / 100 * 99 - 1]);
	assert_within_percent(histogram_quantile(&h, 0.999), values[N / 1000 * 999 - 1]);
	histogram_fini(&h);
}

/* ---- pairing ---- */

TEST(test_pairing__same_instance__told_apart_by_process_and_owner)
{
	struct pairing pairing = {0};
	int a, b;
	struct pairing_begin begin = {.owner = &a, .instance = 7, .process = 1, .time_ns = 100};

	assert_true(pairing_put(&pairing, &begin));
	assert_false(pairing_put(&pairing, &begin));
	begin.process = 2;
	begin.time_ns = 200;
	assert_true(pairing_put(&pairing, &begin));
	begin.owner = &b;
	assert_false(pairing_take(&pairing, &begin));
	begin.owner = &a;
	assert_true(pairing_take(&pairing, &begin));
	assert_int_equal(begin.time_ns, 200);
	assert_false(pairing_take(&pairing, &begin));
	begin.process = 1;
	assert_int_equal(pairing_waiting(&pairing, &a), 1);
	assert_true(pairing_take(&pairing, &begin));
	assert_int_equal(begin.time_ns, 100);
	pairing_fini(&pairing);
}

TEST(test_pairing__put_and_take_at_random__as_a_plain_array)
{
	enum { N = 3000 };
	static bool waiting[N];
	struct pairing pairing = {0};
	struct pairing_begin begin = {.owner = &pairing};
	size_t count = 0;

	for (int i = 0; i < 300000; i++) {
		uint64_t n = unit_random() % N;
		begin.instance = n << 40 | n;
		if (unit_random() & 1) {
			assert_int_equal(pairing_put(&pairing, &begin), !waiting[n]);
			waiting[n] = true;
		} else {
			assert_int_equal(pairing_take(&pairing, &begin), waiting[n]);
			waiting[n] = false;
		}
	}
	for (size_t i = 0; i < N; i++)
		count += waiting[i];
	assert_int_equal(pairing_waiting(&pairing, &pairing), count);
	pairing_fini(&pairing);
}

TEST(test_pairing__full__refuses)
{
	struct pairing pairing = {0};
	struct pairing_begin begin = {.owner = &pairing};

	for (begin.instance = 1; begin.instance <= PAIRING_MAX; begin.instance++)
		assert_true(pairing_put(&pairing, &begin));
	assert_false(pairing_put(&pairing, &begin));
	begin.instance = 5;
	assert_true(pairing_take(&pairing, &begin));
	begin.instance = PAIRING_MAX + 1;
	assert_true(pairing_put(&pairing, &begin));
	pairing_fini(&pairing);
}

/* ---- texts ---- */

TEST(test_duration__each_unit__four_digits)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0ns"},
		{999, "999ns"},
		{1000, "1.000us"},
		{9999, "9.999us"},
		{20574, "20.57us"},
		{99994, "99.99us"},
		{99996, "100.0us"},
		{999949, "999.9us"},
		{999950, "1.000ms"},
		{1234567890, "1.235s"},
		{999960000000, "1000s"},
		{UINT64_MAX, "18446744074s"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[SUMMARY_DURATION_SIZE];
		assert_string_equal(summary_duration(text, cases[i].ns), cases[i].text);
	}
}

/* Of a summary, which is no more. */
static char *text_of(struct summary *summary, unsigned columns)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	summary_print_text(summary, file, &(struct summary_style){.title = "", .columns = columns});
	fclose(file);
	summary_destroy(summary);
	return text;
}

static void assert_lines_fit(unsigned columns)
{
	static const char name[] = "void a_namespace::a_kernel<float, 17>(float const*, float*, "
				   "unsigned int, some::long::type<4>, another::type)";
	struct summary *summary = summary_create();
	struct summary_section *section = summary_section(summary, "s", "task", "t");
	char *text;

	for (uint64_t i = 1; i < 1000000; i++)
		summary_group_add(summary_group(section, i % 10 ? name : "short"), i * 977);
	text = text_of(summary, columns);
	/* what it returns and takes goes first */
	assert_non_null(strstr(text, "  a_namespace::a_kernel<float, 17>\n"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= columns);
	free(text);
}

TEST(test_text__long_names__lines_fit)
{
	assert_lines_fit(80);
	assert_lines_fit(100);
	assert_lines_fit(120);
	assert_lines_fit(132);
}

/* A key that only other things have is named. */
TEST(test_text__calls_by_gpu__says_that_they_have_none)
{
	struct summary *summary = summary_create();
	char error[SUMMARY_ERROR], *text;

	assert_int_equal(summary_set_by(summary, "gpu", NULL, error), 0);
	summary_group_add(summary_group(summary_section(summary, "s", "function", "t"), "f"), 10);
	text = text_of(summary, 0);
	assert_non_null(strstr(text, "(not by gpu, which these calls do not have)"));
	free(text);
}

/* Of kernels in namespaces, too, the name is shown first. */
TEST(test_text__long_names__without_namespaces)
{
	static const char *const names[][2] = {
		{"void at::native::elementwise_kernel<4, at::native::Add<float> >(int, float*)",
		 "  elementwise_kernel<4, Add<float> >\n"},
		{"void at::native::elementwise_kernel<4, at::native::Mul<float> >(int, float*)",
		 "  elementwise_kernel<4, Mul<float> >\n"},
		{"void at::(anonymous namespace)::Outer<at::X>::inner_kernel<at::Y>(int)",
		 "  Outer<X>::inner_kernel<Y>\n"}};
	struct summary *summary = summary_create();
	struct summary_section *section = summary_section(summary, "s", "task", "t");
	char *text;

	for (int i = 0; i < 3; i++)
		summary_group_add(summary_group(section, names[i][0]), 10);
	text = text_of(summary, 80);
	for (int i = 0; i < 3; i++)
		assert_non_null(strstr(text, names[i][1]));
	free(text);
}

/* Where they differ is what is shown of them, wherever that is. */
TEST(test_text__names_alike__look_different)
{
	static const char head[] =
		"void ns::gemm_kernel<ns::Tile<64, 64>, ns::Layout<ns::RowMajor>, ";
	static const char tail[] =
		", ns::Epilogue<ns::Identity>, 4>(float const*, float*, int, int)";
	static const char *const types[] = {"float",
					    "double",
					    "ns::half",
					    "ns::bfloat16",
					    "\xc3\xa9\xc3\xa9\xc3\xa9",
					    "\xc3\xa8\xc3\xa9\xc3\xa9"};

	for (unsigned columns = 60; columns < 220; columns++) {
		struct summary *summary = summary_create();
		struct summary_section *section = summary_section(summary, "s", "task", "t");
		char *text, *lines[16];
		size_t count = 0;

		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
			char name[256];

			snprintf(name, sizeof(name), "%s%s%s", head, types[i], tail);
			summary_group_add(summary_group(section, name), 10);
		}
		text = text_of(summary, columns);
		for (char *line = strtok(text, "\n"); line && count < 16; line = strtok(NULL, "\n"))
			lines[count++] = line;
		assert_int_equal(count, 2 + sizeof(types) / sizeof(*types));
		for (size_t i = 2; i < count; i++) {
			for (size_t j = 2; j < i; j++)
				assert_string_not_equal(lines[i], lines[j]);
			assert_null(strstr(lines[i], "\xa9.\xc3"));
		}
		free(text);
	}
}

/* ---- names ---- */

TEST(test_group__more_names_than_kept__counted_together)
{
	struct summary *summary = summary_create();
	struct summary_section *section = summary_section(summary, "s", "task", "t");
	struct summary_group *others;
	char name[32];

	for (unsigned i = 0; i < SUMMARY_GROUPS_MAX; i++) {
		snprintf(name, sizeof(name), "kernel %u", i);
		assert_non_null(summary_group(section, name));
	}
	others = summary_group(section, "one more");
	assert_ptr_equal(others, summary_group(section, "and another"));
	assert_ptr_equal(others, summary_group(section, SUMMARY_OTHERS));
	assert_ptr_not_equal(others, summary_group(section, "kernel 7"));
	summary_destroy(summary);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
