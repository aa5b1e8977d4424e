/* SPDX-License-Identifier: MIT */
/*
 * A program with a stream of its own: a solver that publishes each iteration.
 *
 *     cc own_stream.c -o own_stream $(pkg-config --cflags --libs rtl)
 *
 *     ./own_stream 5                                              nobody listens
 *     RTL_SUBSCRIBERS='libsqlite_sub.so?output=run.db' ./own_stream 5
 *     rtl trace -o run.db ./own_stream 5
 *     sqlite3 run.db 'SELECT iteration, residual, method FROM rtl_e_example_solver_task_end'
 */
#include <rtl/describe.h>
#include <rtl/rtl.h>
#include <stdio.h>
#include <stdlib.h>

/* What an event carries. Its members are described below, one by one. */
struct iteration {
	uint64_t iteration;
	double residual;
	uint64_t method; /* an interned string */
	uint32_t rows;
	uint32_t restarted;
};

#define FIELD(...) RTL_FIELD(struct iteration, __VA_ARGS__)
RTL_DESCRIBE_STREAM(info, "example.solver", "iterations of a solver", RTL_TASK_END, "task_end",
		    "an iteration has ended", struct iteration,
		    FIELD(iteration, RTL_KIND_UINT, "count", "number of the iteration, from 0"),
		    FIELD(residual, RTL_KIND_FLOAT, "", "what is left to solve"),
		    FIELD(method, RTL_KIND_STRING, "", "how this iteration was done"),
		    FIELD(rows, RTL_KIND_UINT, "count", "rows that were touched"),
		    FIELD(restarted, RTL_KIND_UINT, "", "1 if the method began anew"));

static struct rtl_stream *stream = &rtl_stream_none;
static uint64_t jacobi, gauss_seidel;

/* The test costs a load and a branch; the rest happens only if somebody listens. */
static void publish(uint64_t iteration, double residual, uint64_t method)
{
	struct rtl_record *record;
	struct iteration *payload;

	if (!rtl_enabled(stream, RTL_TASK_END))
		return;
	record = rtl_reserve_in_scope(stream, RTL_TASK_END, sizeof(*payload));
	if (!record)
		return;
	payload = rtl_record_payload(record);
	payload->iteration = iteration;
	payload->residual = residual;
	payload->method = method;
	payload->rows = 1000;
	payload->restarted = iteration == 0;
	rtl_commit(record);
}

static double solve(uint64_t iterations)
{
	double residual = 1;
	uint64_t i;
	RTL_REGION("solve"); /* on the stream rtl.default, up to the end of this function */

	for (i = 0; i < iterations; i++) {
		residual *= 0.5;
		publish(i, residual, i % 2 ? gauss_seidel : jacobi);
	}
	return residual;
}

int main(int argc, char **argv)
{
	/* a failure leaves stream as it is: the program runs on, untraced */
	rtl_stream_register(&info, &stream);
	rtl_string_intern("jacobi", &jacobi);
	rtl_string_intern("gauss-seidel", &gauss_seidel);
	printf("residual %g\n", solve(argc > 1 ? strtoull(argv[1], NULL, 10) : 10));
	return 0;
}
