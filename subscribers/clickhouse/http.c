/* SPDX-License-Identifier: MIT */
#include "http.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rtl/types.h>

#define CONNECT_MS 2000L
/* Servers close connections that were idle for 3 s and more: one of those is not used again. */
#define IDLE_S 2L
/* So much of an answer is kept. */
#define ANSWER_MOST (64u << 20)

/* Error codes of ClickHouse, ErrorCodes.cpp. */
enum {
	CH_UNKNOWN_DATABASE = 81,
	CH_READONLY = 164,
	CH_UNKNOWN_USER = 192,
	CH_IP_ADDRESS_NOT_ALLOWED = 195,
	CH_DATABASE_ACCESS_DENIED = 291,
	CH_ACCESS_DENIED = 497,
	CH_AUTHENTICATION_FAILED = 516,
};

/* What passes: CANNOT_WRITE, CANNOT_OPEN_FILE, CANNOT_FSYNC, TIMEOUT_EXCEEDED, TOO_SLOW, TOO_MANY_SIMULTANEOUS_QUERIES,
 * NO_FREE_CONNECTION, SOCKET_TIMEOUT, NETWORK_ERROR, MEMORY_LIMIT_EXCEEDED, TABLE_IS_READ_ONLY, NOT_ENOUGH_SPACE,
 * TOO_MANY_PARTS, UNKNOWN_STATUS_OF_INSERT, QUERY_WAS_CANCELLED, KEEPER_EXCEPTION, POCO_EXCEPTION, STD_EXCEPTION. */
static const int busy_codes[] = {75,  76,  87,  159, 160, 202, 203, 209,  210,
				 241, 242, 243, 252, 319, 394, 999, 1000, 1001};

/* ---- sending and receiving ---- */

static size_t give(char *to, size_t size, size_t count, void *user)
{
	struct http *http = user;
	const size_t left = http->body_size - http->sent;
	const size_t given = size * count < left ? size * count : left;

	http->asked = true;
	memcpy(to, http->body + http->sent, given);
	http->sent += given;
	return given;
}

/* Nothing is sent a second time behind our back: it may have been done the first time. */
static int rewind_body(void *user, curl_off_t offset, int origin)
{
	return CURL_SEEKFUNC_FAIL;
}

static size_t take(char *from, size_t size, size_t count, void *user)
{
	struct http *http = user;
	const size_t bytes = size * count, needed = http->answer_size + bytes + 1;

	if (needed > http->answer_room) {
		const size_t room = needed < 4096 ? 4096 : 2 * needed;
		char *answer = needed < ANSWER_MOST ? realloc(http->answer, room) : NULL;

		if (!answer) {
			http->out_of_memory = true;
			return 0;
		}
		http->answer = answer;
		http->answer_room = room;
	}
	memcpy(http->answer + http->answer_size, from, bytes);
	http->answer_size += bytes;
	http->answer[http->answer_size] = '\0';
	return bytes;
}

/* Newer servers tell of what went wrong after they had said 200. */
static size_t take_header(char *from, size_t size, size_t count, void *user)
{
	static const char name[] = "x-clickhouse-exception-code:";
	struct http *http = user;
	char line[64];

	if (size * count > sizeof(name) && size * count < sizeof(line)) {
		memcpy(line, from, size * count);
		line[size * count] = '\0';
		if (!strncasecmp(line, name, sizeof(name) - 1))
			http->code = strtol(line + sizeof(name) - 1, NULL, 10);
	}
	return size * count;
}

/* ---- results ---- */

void http_say(struct http *http, const char *format, ...)
{
	va_list args;
	size_t used = (size_t)snprintf(http->message, sizeof(http->message), "%s: ", http->url);

	if (used >= sizeof(http->message))
		return;
	va_start(args, format);
	vsnprintf(http->message + used, sizeof(http->message) - used, format, args);
	va_end(args);
	for (char *at = http->message; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
}

static bool is_busy(long code)
{
	for (size_t i = 0; i < sizeof(busy_codes) / sizeof(*busy_codes); i++)
		if (code == busy_codes[i])
			return true;
	return false;
}

/* The server's own words, without what is of no use to anybody. */
static const char *words(struct http *http)
{
	char *text = http->answer_size ? http->answer : NULL, *from, *end;

	if (!text)
		return "it says nothing else";
	from = strstr(text, "DB::Exception: ");
	text = from ? from + sizeof("DB::Exception: ") - 1 : text;
	end = strstr(text, ", e.what()");
	if (end)
		*end = '\0';
	return text;
}

static enum http_result judge(struct http *http, long status, bool inserts)
{
	if (!http->code && http->answer_size && !strncmp(http->answer, "Code: ", 6))
		http->code = strtol(http->answer + 6, NULL, 10);
	if (status == 200 && !http->code)
		return HTTP_DONE;
	if (status == 401 || http->code == CH_AUTHENTICATION_FAILED ||
	    (http->code >= CH_UNKNOWN_USER && http->code <= CH_IP_ADDRESS_NOT_ALLOWED))
		http_say(http,
			 "the server refuses the user '%s' or its password: give others with user= "
			 "and password=",
			 http->server.user);
	else if (http->code == CH_UNKNOWN_DATABASE)
		http_say(http,
			 "there is no database '%s': make it (CREATE DATABASE), or give another "
			 "one with database=",
			 http->server.database);
	else if (http->code == CH_READONLY || http->code == CH_DATABASE_ACCESS_DENIED ||
		 http->code == CH_ACCESS_DENIED)
		http_say(http, "the user '%s' may not write to the database '%s': %s",
			 http->server.user, http->server.database, words(http));
	else if (http->code)
		http_say(http, "error %ld: %s", http->code, words(http));
	else
		http_say(http, "this is no ClickHouse, or its HTTP port is another one (HTTP %ld)",
			 status);
	if (is_busy(http->code) || (!http->code && status >= 500))
		return inserts ? HTTP_DOUBT : HTTP_BUSY;
	return HTTP_REFUSED;
}

static enum http_result fail(struct http *http, CURLcode code)
{
	const char *text = *http->error ? http->error : curl_easy_strerror(code);

	if (http->out_of_memory) {
		http_say(http, "out of memory");
		return HTTP_REFUSED;
	}
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		http_say(http, "%s; give the certificate's authority with ca=", text);
		return HTTP_REFUSED;
	case CURLE_SSL_CONNECT_ERROR:
		http_say(http, "no TLS there (%s)", text);
		return HTTP_AWAY;
	case CURLE_OPERATION_TIMEDOUT:
		http_say(http, "it does not answer");
		return http->asked ? HTTP_DOUBT : HTTP_AWAY;
	default:
		http_say(http, "%s", text);
		return http->asked ? HTTP_DOUBT : HTTP_AWAY;
	}
}

/* A TLS library may raise SIGPIPE, which is the program's. */
static CURLcode perform(CURL *curl)
{
	const struct timespec none = {0, 0};
	sigset_t pipe, old, pending;
	CURLcode code;
	bool was;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	was = sigismember(&pending, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &old);
	code = curl_easy_perform(curl);
	if (!was)
		while (sigtimedwait(&pipe, NULL, &none) == SIGPIPE)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return code;
}

static enum http_result run(struct http *http, const char *url, const void *body, size_t size,
			    bool inserts)
{
	long status = 0;
	CURLcode code;

	http->body = body;
	http->body_size = size;
	http->sent = http->answer_size = 0;
	http->asked = http->out_of_memory = false;
	http->code = 0;
	*http->error = *http->message = '\0';
	curl_easy_setopt(http->curl, CURLOPT_URL, url);
	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	code = perform(http->curl);
	if (code)
		return fail(http, code);
	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	return judge(http, status, inserts);
}

enum http_result http_ask(struct http *http, const char *statement)
{
	enum http_result result;
	char *url;

	if (asprintf(&url, "%s?%s", http->url, http->parameters) < 0) {
		http_say(http, "out of memory");
		return HTTP_REFUSED;
	}
	result = run(http, url, statement, strlen(statement), false);
	free(url);
	return result == HTTP_DOUBT ? HTTP_AWAY : result;
}

enum http_result http_insert(struct http *http, const char *statement, const char *query_id,
			     const void *data, size_t size)
{
	char *query = curl_easy_escape(http->curl, statement, 0), *url = NULL;
	enum http_result result = HTTP_REFUSED;

	if (query && asprintf(&url, "%s?%s&query_id=%s&query=%s", http->url, http->parameters,
			      query_id, query) >= 0)
		result = run(http, url, data, size, true);
	else
		http_say(http, "out of memory");
	free(url);
	curl_free(query);
	return result;
}

/* ---- life ---- */

static bool set_options(struct http *http)
{
	const struct http_server *s = &http->server;
	CURL *curl = http->curl;
	char *database = curl_easy_escape(curl, s->database, 0);
	bool ipv6 = strchr(s->host, ':');

	if (!database || asprintf(&http->url, "%s://%s%s%s:%u/", s->tls ? "https" : "http",
				  ipv6 ? "[" : "", s->host, ipv6 ? "]" : "", (unsigned)s->port) < 0)
		http->url = NULL;
	else if (asprintf(&http->parameters, "database=%s", database) < 0)
		http->parameters = NULL;
	curl_free(database);
	http->headers = curl_slist_append(NULL, "Expect:"); /* which would cost a second */
	if (!http->url || !http->parameters || !http->headers)
		return false;
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, http->headers);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->error);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
	curl_easy_setopt(curl, CURLOPT_READDATA, http);
	curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, rewind_body);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, http);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, http);
	curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 1L << 20);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)s->timeout_s);
	curl_easy_setopt(curl, CURLOPT_MAXAGE_CONN, IDLE_S);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
	curl_easy_setopt(curl, CURLOPT_USERNAME, s->user);
	curl_easy_setopt(curl, CURLOPT_PASSWORD, s->password);
	if (s->ca)
		curl_easy_setopt(curl, CURLOPT_CAINFO, s->ca);
	return true;
}

int http_init(struct http *http, const struct http_server *server)
{
	http->server = *server;
	http->curl = curl_easy_init();
	return http->curl && set_options(http) ? 0 : RTL_ENOMEM;
}

void http_fini(struct http *http)
{
	if (http->curl)
		curl_easy_cleanup(http->curl);
	curl_slist_free_all(http->headers);
	free(http->url);
	free(http->parameters);
	free(http->answer);
}
