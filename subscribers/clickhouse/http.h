/* SPDX-License-Identifier: MIT */
/* http.h: statements for a ClickHouse server, over its HTTP interface. One at a time; each waits for the answer, but no
 * longer than the time-out while nothing moves. One thread. It has no signals. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What came of a statement; http->message says it in words but for the first. */
enum http_result {
	HTTP_DONE,
	HTTP_AWAY,    /* the server has not got it */
	HTTP_DOUBT,   /* it may have got it, and done it */
	HTTP_BUSY,    /* it cannot do it for now: try again */
	HTTP_REFUSED, /* it will not do it */
};

/** Where the server is, and who asks. Texts are the caller's, and stay. */
struct http_server {
	const char *host;
	uint16_t port;
	bool tls;
	const char *ca; /* file with certificates; NULL: the system's */
	const char *database, *user, *password;
	uint32_t timeout_s;
};

struct http {
	CURL *curl;
	struct curl_slist *headers;
	struct http_server server;
	char *url;        /* without parameters */
	char *parameters; /* of every statement */
	char *answer;     /* the last one's, terminated */
	size_t answer_size, answer_room;
	bool out_of_memory;
	long code; /* of ClickHouse; 0: none */
	char message[640];
	char error[CURL_ERROR_SIZE];
	/* what is being sent */
	const char *body;
	size_t body_size, sent;
	bool asked; /* for the first byte */
};

/** 0, or RTL_ENOMEM. */
int http_init(struct http *http, const struct http_server *server);
void http_fini(struct http *http);

/** The last one's answer; "" if it had none. */
static inline const char *http_answer(const struct http *http)
{
	return http->answer_size ? http->answer : "";
}

/** Makes a message, after the server's address. */
__attribute__((format(printf, 2, 3))) void http_say(struct http *http, const char *format, ...);
/** A statement whose answer is wanted: http_answer. */
enum http_result http_ask(struct http *http, const char *statement);
/** INSERT, with that data, under that query_id. */
enum http_result http_insert(struct http *http, const char *statement, const char *query_id,
			     const void *data, size_t size);
