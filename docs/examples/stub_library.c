/* SPDX-License-Identifier: MIT */
/*
 * A library that may be traced and does not require rtl: it loads and runs without it.
 *
 *     cc -O2 -shared -fPIC stub_library.c -o libmatrix.so $(pkg-config --cflags rtl)
 *
 * Trace programs that use it like any other: RTL_SUBSCRIBERS=... ./app, or rtl trace ./app. The loader must
 * find librtl.so.0; docs/publishers.md explains when it looks.
 */
#include <pthread.h>
#include <rtl/stub.h>

struct product {
	uint64_t rows, columns;
	double norm;
};

static const struct rtl_field fields[] = {
	{sizeof(struct rtl_field), RTL_KIND_UINT, 0, offsetof(struct product, rows), 8, "rows",
	 "count", "of the result"},
	{sizeof(struct rtl_field), RTL_KIND_UINT, 0, offsetof(struct product, columns), 8,
	 "columns", "count", "of the result"},
	{sizeof(struct rtl_field), RTL_KIND_FLOAT, 0, offsetof(struct product, norm), 8, "norm", "",
	 "of the result; 0 at the begin"},
};

static const struct rtl_type_info types[] = {
	{sizeof(struct rtl_type_info), RTL_FUNCTION_WITH_ARGS_BEGIN, 3, sizeof(struct product), 0,
	 "multiply_begin", "matrix_multiply was called", fields},
	{sizeof(struct rtl_type_info), RTL_FUNCTION_WITH_ARGS_END, 3, sizeof(struct product), 0,
	 "multiply_end", "matrix_multiply returns", fields},
};

static const struct rtl_stream_info info = {
	sizeof(info), 1, 0, "example.matrix", "calls of a matrix library", types, 2, 0};

static struct rtl_stream *stream = &rtl_stream_none;
static uint64_t multiply_uid;

/* Without librtl it returns RTL_ENOTSUP, and stream stays &rtl_stream_none. */
static void register_stream(void)
{
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc)};

	if (rtl_stream_register(&info, &stream))
		return;
	desc.kind = "function";
	desc.name = "matrix_multiply";
	rtl_tracepoint_register(&desc, &multiply_uid);
}

/* Layers below find in the scope which call they work for. */
__attribute__((visibility("default"))) double matrix_multiply(uint64_t rows, uint64_t columns)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct product product = {rows, columns, 0};
	struct rtl_span span;

	pthread_once(&once, register_stream);
	if (rtl_span_prepare(&span, stream, RTL_FUNCTION_WITH_ARGS_BEGIN,
			     RTL_FUNCTION_WITH_ARGS_END, multiply_uid)) {
		span.correlation = rtl_unique_id();
		rtl_span_begin(&span, &product, sizeof(product));
	}
	product.norm = (double)rows * (double)columns; /* the work */
	rtl_span_end(&span, &product, sizeof(product));
	return product.norm;
}
