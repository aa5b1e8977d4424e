/* SPDX-License-Identifier: MIT */
/* Which kernels the user's regular expressions choose, with librtl's log played here. */
#include <sys/wait.h>

#include <rtl/publish.h>

#include "../../streams/hsa/objects/kernels.h"
#include "unit.h"

static char line[512];

void rtl_log(enum rtl_level level, const char *component, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
}

/* The settings are read once in a process. */
struct trial {
	const char *kernel, *exclude, *strict;
	const char *symbol;
	bool on, left_out;
	const char *said; /* a part of the line; NULL: there is none */
};

static int try_it(const struct trial *t)
{
	if (t->kernel)
		setenv("RTL_KERNEL", t->kernel, 1);
	if (t->exclude)
		setenv("RTL_EXCLUDE", t->exclude, 1);
	if (t->strict)
		setenv("RTL_STRICT", t->strict, 1);
	kernel_choice_init();
	if (kernel_choice_on != t->on)
		return 10;
	if (t->on && kernel_choice_leaves_out(t->symbol) != t->left_out)
		return 11;
	return t->said ? !strstr(line, t->said) : *line;
}

static int status_of(const struct trial *trial)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(try_it(trial));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define GEMM "_Z4gemmIfEvPT_" /* void gemm<float>(float*) */

TEST(test_kernel_choice__names__as_they_are_shown)
{
	static const struct trial trials[] = {
		{NULL, NULL, NULL, GEMM, false, false, NULL},
		{"", "", NULL, GEMM, false, false, NULL},
		{"gemm", NULL, NULL, GEMM, true, false, NULL},
		{"^void gemm<float>\\(float\\*\\)$", NULL, NULL, GEMM, true, false, NULL},
		{"_Z4", NULL, NULL, GEMM, true, true, NULL},
		{"copy|fill", NULL, NULL, GEMM, true, true, NULL},
		{"copy\n\nge+mm", NULL, NULL, GEMM, true, false, NULL},
		{NULL, "gemm", NULL, GEMM, true, true, NULL},
		{NULL, "double\ncopy", NULL, GEMM, true, false, NULL},
		{"gemm", "<float>", NULL, GEMM, true, true, NULL},
		{"gemm", "<double>", NULL, GEMM, true, false, NULL},
		{"^plain$", NULL, NULL, "plain", true, false, NULL},
	};

	for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++)
		assert_int_equal(status_of(&trials[i]), 0);
}

TEST(test_kernel_choice__no_expression__said_and_chooses_nothing)
{
	static const struct trial alone = {"a(",
					   NULL,
					   NULL,
					   GEMM,
					   false,
					   false,
					   "RTL_KERNEL: 'a(' is not a regular expression ("};
	static const struct trial among = {"gemm",
					   "gemm\n[",
					   NULL,
					   GEMM,
					   true,
					   true,
					   "RTL_EXCLUDE: '[' is not a regular expression ("};
	static const struct trial strict = {"a(", NULL, "1", GEMM, false, false, NULL};

	assert_int_equal(status_of(&alone), 0);
	assert_int_equal(status_of(&among), 0);
	assert_int_equal(status_of(&strict), 2);
}

/* regcomp(3) would use up the stack of the program. */
TEST(test_kernel_choice__deeper_than_anybody_writes__refused)
{
	static char deep[20001];
	const struct trial trial = {
		deep, NULL, NULL, GEMM, false, false, "nested or repeated too often"};

	memset(deep, '(', sizeof(deep) - 1);
	assert_int_equal(status_of(&trial), 0);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
