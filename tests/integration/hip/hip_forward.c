/* SPDX-License-Identifier: MIT */
/*
 * hip_forward: calls every function of HIP's C API, first in hip_fake.c itself and then as a
 * program would, with the same values in all registers and stack words that can carry arguments;
 * both must receive, and return, the same. Then calls within calls. Writes a line for each call
 * that a trace should have: "call NAME RESULT STREAM DEVICE [PARENT]".
 *
 * With the argument "bare" no wrapper is expected.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_fake.h"
#include "types.h"

#define STACK_WORDS 24

struct words {
	uint64_t word[STACK_WORDS];
};

/* Registers and stack as every function may take its arguments from, whatever its own are. */
typedef uint64_t (*any_fn)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
			   double, double, double, double, double, double, double, struct words);

static char memory[4096];
static struct hip_fake_seen *seen;
static int *lively;

static void *find(void *handle, const char *symbol)
{
	/* the loader's own, which finds the library's functions: that of rtl would find rtl's */
	void *(*look_up)(void *, const char *);
	void *found;

	*(void **)&look_up = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5");
	found = look_up ? look_up(handle, symbol) : NULL;
	if (!found) {
		printf("hip_forward: FAILED: no %s\n", symbol);
		exit(1);
	}
	return found;
}

/* A floating-point register that holds that float. */
static double both(float value)
{
	const struct {
		float low, high;
	} pair = {value, value};
	double result;

	memcpy(&result, &pair, sizeof(result));
	return result;
}

/* Distinct values; all are addresses, so that what follows a pointer lives. */
static uint64_t call(any_fn function)
{
	const uint64_t base = (uint64_t)(uintptr_t)memory;
	struct words words;

	for (unsigned i = 0; i < STACK_WORDS; i++)
		words.word[i] = base + 1024 + 64 * i;
	return function(base, base + 64, base + 128, base + 192, base + 256, base + 320, both(1),
			both(2), both(3), both(4), both(5), both(6), both(7), both(8), words);
}

static int64_t result_of(const struct hip_function *function, uint64_t result)
{
	switch (function->result_kind) {
	case 'e':
	case 'i':
		return (int32_t)result;
	case 'a':
		return (int64_t)result;
	default:
		return 0;
	}
}

/* The arguments as a subscriber prints them. */
static void record_arguments(const struct hip_function *function, const uint64_t *slots,
			     bool succeeded)
{
	printf("args ");
	for (unsigned i = 0; i < function->signature.count; i++) {
		const struct call_argument *argument = &function->signature.arguments[i];
		const bool output = argument->out_size && succeeded;
		const uint16_t kind = output ? argument->out_kind : argument->kind;
		uint64_t value = slots[i];
		double real;
		float left;

		if (output)
			value = hip_fake_output(argument, i);
		if (output && argument->out_size == 4 && kind != RTL_KIND_INT)
			value = (uint32_t)value;
		memcpy(&real, &value, sizeof(real));
		memcpy(&left, &value, sizeof(left));
		printf("%s%s%s=", i ? ", " : "", output ? "*" : "", argument->name);
		if (argument->values && (output || !argument->out_size))
			printf("?");
		else if (kind == RTL_KIND_ADDRESS)
			printf("0x%llx", (unsigned long long)value);
		else if (kind == RTL_KIND_INT)
			printf("%lld", (long long)value);
		else if (kind == RTL_KIND_UINT)
			printf("%llu", (unsigned long long)value);
		else if (kind == RTL_KIND_FLOAT)
			printf("%.17g", output ? (double)left : real);
		else
			printf("'text %u'", i);
	}
	printf("\n");
}

static void record(const struct hip_function *function, const uint64_t *slots, int64_t result,
		   const char *parent)
{
	printf("call %s %lld 0x%llx %d%s%s\n", function->name, (long long)result,
	       function->stream >= 0 ? (unsigned long long)slots[function->stream] : 0,
	       function->device >= 0 ? (int)slots[function->device] : -1, parent ? " " : "",
	       parent ? parent : "");
}

static bool check(enum hip_id id, void *fake, bool bare)
{
	const struct hip_function *function = &hip_functions[id];
	any_fn direct = (any_fn)find(fake, function->symbol);
	any_fn wrapped = (any_fn)find(RTLD_DEFAULT, function->symbol);
	char left[sizeof(struct hip_channel_format_desc)];
	struct hip_fake_seen expected;
	uint64_t first, second;

	if ((direct == wrapped) != bare) {
		printf("hip_forward: FAILED: %s is %s\n", function->symbol,
		       bare ? "wrapped" : "not wrapped");
		return false;
	}
	seen->calls = 0;
	memset(memory, 0, sizeof(memory));
	first = call(direct);
	expected = *seen;
	memcpy(left, memory, sizeof(left));
	seen->calls = 0;
	memset(memory, 0, sizeof(memory));
	for (unsigned i = 0; i < function->signature.count; i++)
		if (function->signature.arguments[i].kind == RTL_KIND_TEXT)
			sprintf((char *)(uintptr_t)expected.slots[i], "text %u", i);
	second = call(wrapped);
	if (memcmp(&expected, seen, sizeof(expected)) != 0 || seen->id != id ||
	    result_of(function, first) != result_of(function, second) ||
	    (function->result_kind == 's' && memcmp(left, memory, sizeof(left)) != 0)) {
		printf("hip_forward: FAILED: %s does not get or return what it should\n",
		       function->symbol);
		return false;
	}
	record(function, seen->slots, result_of(function, second), NULL);
	record_arguments(function, seen->slots,
			 function->result_kind == 'e' && !result_of(function, second));
	return true;
}

static void callback(void *unused)
{
	int32_t device;

	((int32_t(*)(int32_t *))find(RTLD_DEFAULT, "hipGetDevice"))(&device);
}

/* What is in a range or called by a callback has a parent; what HIP calls itself is not seen. */
static void nest(void)
{
	int32_t (*launch)(void *, void (*)(void *), void *) =
		(int32_t(*)(void *, void (*)(void *), void *))find(RTLD_DEFAULT,
								   "hipLaunchHostFunc");
	int32_t (*synchronize)(void) = (int32_t(*)(void))find(RTLD_DEFAULT, "hipDeviceSynchronize");
	void (*push)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "roctxRangePushA");
	void (*pop)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "roctxRangePop");
	const uint64_t slots[CALL_ARGUMENTS] = {0x5000};
	int32_t result;

	if (push && pop) { /* those of the interceptor: not there when bare */
		push("around");
		callback(NULL);
		pop();
		record(&hip_functions[HIP_ID_hipGetDevice], slots, HIP_ID_hipGetDevice % 3,
		       "around");
	}
	*lively = 1;
	result = launch((void *)0x5000, callback, NULL);
	record(&hip_functions[HIP_ID_hipGetDevice], slots, HIP_ID_hipGetDevice % 3,
	       "hipLaunchHostFunc");
	record(&hip_functions[HIP_ID_hipLaunchHostFunc], slots, result, NULL);
	result = synchronize();
	record(&hip_functions[HIP_ID_hipDeviceSynchronize], slots, result, NULL);
	*lively = 0;
}

int main(int argc, char **argv)
{
	const bool bare = argc > 1 && !strcmp(argv[1], "bare");
	void *fake = dlopen("libhip_fake.so", RTLD_LAZY | RTLD_NOLOAD);

	seen = fake ? dlsym(fake, HIP_FAKE_SEEN) : NULL;
	lively = fake ? dlsym(fake, HIP_FAKE_LIVELY) : NULL;
	if (!seen || !lively) {
		printf("hip_forward: FAILED: libhip_fake.so is not there\n");
		return 1;
	}
	for (int id = 0; id < HIP_FUNCTIONS; id++)
		if (!check((enum hip_id)id, fake, bare))
			return 1;
	nest();
	printf("hip_forward: ok %d functions\n", HIP_FUNCTIONS);
	return 0;
}
