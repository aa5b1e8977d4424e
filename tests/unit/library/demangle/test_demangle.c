/* SPDX-License-Identifier: MIT */
/* Demangled names: as c++filt shows them, and bounded. */
#include <sys/resource.h>
#include <time.h>

#include "demangle.h"
#include "unit.h"

/* Of a name that, with _Z, its length and v, is as long as one may be. */
#define LONGEST (size_t)((16u << 10) - 8)

static const struct {
	const char *mangled, *readable;
} names[] = {
	{"_Z3incPii", "inc(int*, int)"},
	{"_Z10vector_addPKfS0_Pfi", "vector_add(float const*, float const*, float*, int)"},
	{"_ZN7example6kernelILi256ELb1EEEvPfPKfm",
	 "void example::kernel<256, true>(float*, float const*, unsigned long)"},
	{"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_"
	 "6detail5ArrayIPcLi1EEEEEviT0_T1_",
	 "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
	 "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, "
	 "at::detail::Array<char*, 1>)"},
	{"_Z3funv.llvm.1234", "fun() [clone .llvm.1234]"},
};

TEST(test_demangle__names__are_as_cxxfilt_shows_them)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = demangle(names[i].mangled);

		if (!text)
			fail_msg("not understood: %s", names[i].mangled);
		assert_string_equal(text, names[i].readable);
		free(text);
	}
}

TEST(test_demangle__not_mangled__is_none)
{
	static const char *const others[] = {"",
					     "vector_add",
					     "_Z",
					     "_Zrubbish",
					     "_Z3ab",
					     "_Z1fi_",
					     "_ZN1f",
					     "_Z1fT_",
					     "_Z1fS_",
					     "Z1fv",
					     "_Z999999999999999999999fv"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(demangle(others[i]));
}

/* _Z1f, and parameters of which each is a pair of the one before, twice. */
static char *explosive(int parameters)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *name = malloc(64 + 16 * (size_t)parameters), *at = name;

	assert_non_null(name);
	assert_true(parameters <= 37);
	at += sprintf(at, "_Z1f4pairIiiE");
	for (int i = 0; i < parameters; i++)
		at += sprintf(at, "S_IS%c_S%c_E", digits[i], digits[i]);
	return name;
}

TEST(test_demangle__exponential__is_left_mangled_at_once)
{
	struct rusage usage;
	clock_t begin;
	char *name = explosive(5);

	char *text = demangle(name);

	assert_non_null(text);
	assert_memory_equal(text, "f(pair<int, int>, pair<pair<int, int>, pair<int, int> >, pair<",
			    60);
	free(text);
	free(name);
	name = explosive(26); /* 273 characters, for some gigabytes */
	assert_int_equal(strlen(name), 273);
	begin = clock();
	assert_null(demangle(name));
	/* milliseconds, where libstdc++ takes seconds; and megabytes */
	assert_true(clock() - begin < CLOCKS_PER_SEC);
	free(name);
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(usage.ru_maxrss < 200 << 10);
#endif
}

static char *named(size_t length)
{
	char *name = malloc(length + 32);
	int begin;

	assert_non_null(name);
	begin = sprintf(name, "_Z%zu", length);
	memset(name + begin, 'x', length);
	strcpy(name + begin + length, "v");
	return name;
}

TEST(test_demangle__long_name__is_whole)
{
	char *name = named(LONGEST), *text = demangle(name);

	assert_non_null(text);
	assert_int_equal(strlen(text), LONGEST + 2);
	assert_string_equal(text + LONGEST - 1, "x()");
	free(text);
	free(name);
}

TEST(test_demangle__too_long__is_left_mangled)
{
	char *name = named(LONGEST + 1);

	assert_null(demangle(name));
	free(name);
}

/* As deep as a name can be: the stack is enough. */
TEST(test_demangle__too_deep__is_left_mangled)
{
	static const char codes[] = "PKNFADMU";
	char name[LONGEST];

	for (size_t i = 0; i < strlen(codes); i++) {
		memset(name, codes[i], LONGEST - 2);
		memcpy(name, "_Z1f", 4);
		strcpy(name + LONGEST - 2, "i");
		assert_null(demangle(name));
	}
}

RUN_TESTS(NULL, NULL, NULL, NULL)
