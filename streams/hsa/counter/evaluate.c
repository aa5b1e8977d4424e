/* SPDX-License-Identifier: MIT */
/* The value of a compiled expression: see metrics.h and program.h. */
#include <math.h>
#include <stdlib.h>

#include "program.h"

struct machine {
	const struct metric *metric;
	const struct metric_values *values;
	size_t used; /* vectors on the stack */
	bool divided_by_zero;
	size_t counts[METRIC_STACK]; /* of each vector */
};

static struct place *places_of(const struct machine *m, size_t vector)
{
	return m->metric->scratch + vector * m->metric->scratch_each;
}

static bool push_number(struct machine *m, double value)
{
	*places_of(m, m->used) = (struct place){.value = value};
	m->counts[m->used++] = 1;
	return true;
}

static bool push_input(struct machine *m, uint32_t number)
{
	const struct metric_input *input = &m->metric->inputs[number];
	const struct metric_values *values = &m->values[number];
	struct place *places = places_of(m, m->used);
	size_t count = 0;

	for (size_t i = 0; i < values->count; i++) {
		const struct metric_sample *sample = &values->samples[i];
		if (input->instance != METRIC_ALL_INSTANCES &&
		    input->instance != sample->at[METRIC_INSTANCE])
			continue;
		memcpy(places[count].at, sample->at, sizeof(sample->at));
		places[count].done = false;
		places[count++].value = (double)sample->value;
	}
	m->counts[m->used++] = count;
	return count != 0;
}

static bool operate(struct machine *m, enum step_kind kind, double a, double b, double *out)
{
	m->divided_by_zero = kind == STEP_DIVIDE && b == 0;
	if (m->divided_by_zero)
		return false;
	*out = kind == STEP_ADD        ? a + b
	       : kind == STEP_SUBTRACT ? a - b
	       : kind == STEP_MULTIPLY ? a * b
				       : a / b;
	return true;
}

/* Vectors go together if they are of the same places, or one of them has one value. */
static bool binary(struct machine *m, enum step_kind kind)
{
	struct place *a = places_of(m, m->used - 2), *b = places_of(m, m->used - 1);
	size_t a_count = m->counts[m->used - 2], b_count = m->counts[m->used - 1];
	size_t count = a_count > b_count ? a_count : b_count;

	if (a_count != b_count && a_count != 1 && b_count != 1)
		return false;
	if (a_count == 1 && count > 1) {
		double value = a[0].value;
		memcpy(a, b, count * sizeof(*a));
		for (size_t i = 0; i < count; i++)
			a[i].value = value;
	}
	for (size_t i = 0; i < count; i++) {
		const struct place *other = &b[b_count == 1 ? 0 : i];
		if (a_count > 1 && b_count > 1 && memcmp(a[i].at, other->at, sizeof(a[i].at)) != 0)
			return false;
		if (!operate(m, kind, a[i].value, other->value, &a[i].value))
			return false;
	}
	m->counts[m->used - 2] = count;
	m->used--;
	return true;
}

static double reduced(enum reduction reduction, double so_far, double value)
{
	if (reduction == REDUCE_MIN)
		return value < so_far ? value : so_far;
	if (reduction == REDUCE_MAX)
		return value > so_far ? value : so_far;
	return so_far + value;
}

/* Places that differ in these dimensions alone become one. It is written where the first was, or
 * before that: never over one that is still to be read. */
static void reduce(struct machine *m, enum reduction reduction, uint32_t dimensions)
{
	struct place *places = places_of(m, m->used - 1);
	size_t count = m->counts[m->used - 1], kept = 0;

	for (size_t i = 0; i < count; i++) {
		for (int d = 0; d < METRIC_DIMENSIONS; d++) {
			if (dimensions >> d & 1)
				places[i].at[d] = 0;
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct place place = places[i];
		size_t of = 1;
		if (place.done)
			continue;
		for (size_t j = i + 1; j < count; j++) {
			if (places[j].done || memcmp(places[j].at, place.at, sizeof(place.at)) != 0)
				continue;
			places[j].done = true;
			place.value = reduced(reduction, place.value, places[j].value);
			of++;
		}
		if (reduction == REDUCE_AVR)
			place.value /= (double)of;
		places[kept++] = place;
	}
	m->counts[m->used - 1] = kept;
}

static bool keeps(const struct step *step, const struct place *place)
{
	uint16_t at;

	if (step->kind == STEP_LIMIT)
		return place->at[METRIC_INSTANCE] < step->number;
	at = place->at[step->number];
	return at < 64 && (step->selection >> at & 1);
}

/* A dimension of which one value is selected is none any more. */
static bool filter(struct machine *m, const struct step *step)
{
	struct place *places = places_of(m, m->used - 1);
	size_t count = m->counts[m->used - 1], kept = 0;
	bool single = step->kind == STEP_SELECT && !(step->selection & (step->selection - 1));

	for (size_t i = 0; i < count; i++) {
		if (!keeps(step, &places[i]))
			continue;
		places[kept] = places[i];
		if (single)
			places[kept].at[step->number] = 0;
		kept++;
	}
	m->counts[m->used - 1] = kept;
	return kept != 0;
}

static bool negate(struct machine *m)
{
	struct place *places = places_of(m, m->used - 1);

	for (size_t i = 0; i < m->counts[m->used - 1]; i++)
		places[i].value = -places[i].value;
	return true;
}

static bool run_step(struct machine *m, const struct step *step)
{
	switch (step->kind) {
	case STEP_NUMBER:
		return push_number(m, step->value);
	case STEP_INPUT:
		return push_input(m, step->number);
	case STEP_NO_VALUE:
		return false;
	case STEP_NEGATE:
		return negate(m);
	case STEP_REDUCE:
		reduce(m, step->reduction, step->number);
		return true;
	case STEP_SELECT:
	case STEP_LIMIT:
		return filter(m, step);
	default:
		return binary(m, step->kind);
	}
}

static bool make_room(struct metric *metric, const struct metric_values *values)
{
	size_t most = 1;
	struct place *scratch;

	for (size_t i = 0; i < metric->input_count; i++)
		most = values[i].count > most ? values[i].count : most;
	if (most <= metric->scratch_each)
		return true;
	if (most > SIZE_MAX / metric->depth)
		return false;
	scratch = reallocarray(metric->scratch, most * metric->depth, sizeof(*scratch));
	if (!scratch)
		return false;
	metric->scratch = scratch;
	metric->scratch_each = most;
	return true;
}

bool metric_evaluate(struct metric *metric, const struct metric_values *values, double *out)
{
	struct machine m = {.metric = metric, .values = values};
	double sum = 0;

	if (!make_room(metric, values))
		return false;
	for (size_t i = 0; i < metric->step_count; i++) {
		if (run_step(&m, &metric->steps[i]))
			continue;
		if (!m.divided_by_zero || !metric->zero_divide)
			return false;
		*out = 0;
		return true;
	}
	for (size_t i = 0; i < m.counts[0]; i++)
		sum += places_of(&m, 0)[i].value;
	if (!isfinite(sum))
		return false;
	*out = sum;
	return true;
}
