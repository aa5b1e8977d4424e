/* SPDX-License-Identifier: MIT */
#include "fake_curl.h"

#include <curl/curl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

typedef size_t take_fn(char *from, size_t size, size_t count, void *user);

static struct input answers;
static struct {
	take_fn *write, *header;
	void *write_user, *header_user;
	long status;
} transfer;

void fake_curl_begin(const uint8_t *data, size_t size)
{
	answers = (struct input){data, size};
}

CURLcode curl_global_init(long flags)
{
	return CURLE_OK;
}

CURL *curl_easy_init(void)
{
	return (CURL *)&transfer;
}

void curl_easy_cleanup(CURL *curl)
{
}

CURLcode curl_easy_setopt(CURL *curl, CURLoption option, ...)
{
	va_list args;

	va_start(args, option);
	if (option == CURLOPT_WRITEFUNCTION)
		transfer.write = va_arg(args, take_fn *);
	else if (option == CURLOPT_WRITEDATA)
		transfer.write_user = va_arg(args, void *);
	else if (option == CURLOPT_HEADERFUNCTION)
		transfer.header = va_arg(args, take_fn *);
	else if (option == CURLOPT_HEADERDATA)
		transfer.header_user = va_arg(args, void *);
	va_end(args);
	return CURLE_OK;
}

/* In two parts, from memory of just that size. */
static bool give(take_fn *to, void *user, const uint8_t *data, size_t size)
{
	const size_t parts[] = {size / 2, size - size / 2};

	for (size_t i = 0; i < 2; data += parts[i++]) {
		char *copy = malloc(parts[i] ? parts[i] : 1);
		size_t taken;

		if (!copy)
			abort();
		memcpy(copy, data, parts[i]);
		taken = parts[i] ? to(copy, 1, parts[i], user) : 0;
		free(copy);
		if (taken != parts[i])
			return false;
	}
	return true;
}

CURLcode curl_easy_perform(CURL *curl)
{
	static const long statuses[] = {200, 200, 200, 200, 500, 401, 404, 200};
	const uint32_t how = input_number(&answers, 1);
	const uint8_t *begin = answers.at, *end;
	size_t length;

	end = answers.left ? memchr(begin, 255, answers.left) : NULL;
	length = end ? (size_t)(end - begin) : answers.left;
	answers.at += length + (end != NULL);
	answers.left -= length + (end != NULL);
	transfer.status = statuses[how % 8];
	if (how / 8 % 8 == 1)
		return CURLE_OPERATION_TIMEDOUT;
	if (how / 8 % 8 == 2 && !give(transfer.header, transfer.header_user, begin, length))
		return CURLE_WRITE_ERROR;
	return !length || give(transfer.write, transfer.write_user, begin, length)
		       ? CURLE_OK
		       : CURLE_WRITE_ERROR;
}

CURLcode curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
	va_list args;

	va_start(args, info);
	*va_arg(args, long *) = transfer.status;
	va_end(args);
	return CURLE_OK;
}

const char *curl_easy_strerror(CURLcode code)
{
	return "an error";
}

char *curl_easy_escape(CURL *curl, const char *text, int length)
{
	return strdup(text);
}

void curl_free(void *memory)
{
	free(memory);
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text)
{
	struct curl_slist *one = calloc(1, sizeof(*one));

	if (one)
		one->next = list;
	return one;
}

void curl_slist_free_all(struct curl_slist *list)
{
	while (list) {
		struct curl_slist *next = list->next;

		free(list);
		list = next;
	}
}
