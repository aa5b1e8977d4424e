/* SPDX-License-Identifier: MIT */
#include "pattern.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MOST (16u << 10)
#define DEPTH_MOST  200u
/* Characters that regcomp(3) makes anew because something is repeated: `(a{20}b+){30}`. */
#define REPEATED_MOST 1000u

/* How much regcomp will have to do. */
struct work {
	size_t groups[DEPTH_MOST]; /* of what is open, the outermost first */
	size_t depth, last;        /* of the last character or group, which may be repeated */
	size_t repeated;           /* of all of it */
};

static const char *skip_brackets(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	if (*at == ']')
		at++;
	for (; *at && *at != ']'; at++) {
		const char *end = *at == '[' && strchr(":.=", at[1] ? at[1] : ' ')
					  ? strchr(at + 2, at[1])
					  : NULL;

		if (end && end[1] == ']') /* [:alpha:] */
			at = end + 1;
	}
	return *at ? at : at - 1;
}

static bool repeat(struct work *work, size_t times)
{
	const size_t more = times <= REPEATED_MOST ? work->last * (times - 1) : SIZE_MAX;

	work->last += more;
	work->groups[work->depth] += more;
	work->repeated += more;
	return more <= REPEATED_MOST && work->repeated <= REPEATED_MOST;
}

static size_t read_bounds(const char *at)
{
	size_t least = strtoul(at + 1, (char **)(uintptr_t)&at, 10);
	size_t most = *at == ',' ? strtoul(at + 1, NULL, 10) : least;

	return (least > most ? least : most) + 1;
}

/* Takes one character, or what stands for one, at `at`, and returns where that ends. NULL: too much. */
static const char *take(struct work *work, const char *at)
{
	bool good = true;

	switch (*at) {
	case '(':
		if (++work->depth == DEPTH_MOST)
			return NULL;
		work->groups[work->depth] = work->last = 0;
		return at;
	case ')':
		if (work->depth) {
			work->last = work->groups[work->depth--] + 1;
			work->groups[work->depth] += work->last;
		}
		return at;
	case '+':
	case '*':
	case '?': /* which costs no copy, but time if one repeats another */
		good = repeat(work, 2);
		break;
	case '{':
		good = repeat(work, read_bounds(at));
		break;
	case '[':
		at = skip_brackets(at);
		work->groups[work->depth] += work->last = 1;
		break;
	default:
		at += *at == '\\' && at[1];
		work->groups[work->depth] += work->last = 1;
		break;
	}
	return good ? at : NULL;
}

static bool is_bearable(const char *pattern)
{
	struct work work = {.depth = 0};

	if (strlen(pattern) > LENGTH_MOST)
		return false;
	for (const char *at = pattern; *at; at++)
		if (!(at = take(&work, at)))
			return false;
	return true;
}

bool pattern_compile(regex_t *regex, const char *pattern, char *why, size_t size)
{
	int error;

	if (!is_bearable(pattern)) {
		snprintf(why, size, "it is too long, or nested or repeated too often");
		return false;
	}
	error = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (error)
		regerror(error, regex, why, size);
	return !error;
}
