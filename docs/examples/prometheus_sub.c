/* SPDX-License-Identifier: MIT */
/*
 * A subscriber that counts events, and serves the counts as Prometheus text while the program runs.
 *
 *     cc -shared -fPIC -pthread prometheus_sub.c -o libprometheus_sub.so $(pkg-config --cflags rtl)
 *
 *     rtl trace -s './libprometheus_sub.so?listen=9464' ./app &
 *     curl http://127.0.0.1:9464/metrics
 *
 * Only this machine can connect: to a port of 127.0.0.1, or to a Unix socket if there is a slash in
 * listen=. With RTL_SUBSCRIBERS each process needs an address of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rtl/subscriber.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTEN };
static const struct rtl_setting_info settings[] = {
	[LISTEN] = RTL_TEXT_SETTING("listen", "9464", 1, 100, "port of 127.0.0.1, or path of a socket"),
};

/* One line of the answer. */
struct counter {
	struct counter *next; /* as it was when this became the first */
	const struct rtl_stream_info *stream;
	const char *type;
	uint64_t count; /* atomic, relaxed: it stands for nothing else */
};

struct prometheus {
	const struct rtl_host *host;
	struct counter *counters; /* atomic: release in stream, acquire in the thread that serves */
	pthread_t thread;
	int listener, stop; /* stop: an eventfd */
	bool runs;
	char path[101]; /* of the Unix socket; "" of a port */
};

static int complain(const struct rtl_host *host, const char *what, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s", what, why);
	host->report(host, RTL_LEVEL_ERROR, text);
	return RTL_EIO;
}

/* Names of streams and types have no character that would have to be escaped. */
static void write_counts(struct prometheus *p, FILE *out)
{
	const struct rtl_stream_info *last = NULL;
	struct counter *first = __atomic_load_n(&p->counters, __ATOMIC_ACQUIRE);

	fprintf(out, "# HELP rtl_events_total Events delivered.\n# TYPE rtl_events_total counter\n");
	for (struct counter *c = first; c; c = c->next)
		fprintf(out, "rtl_events_total{stream=\"%s\",type=\"%s\"} %" PRIu64 "\n",
			c->stream->name, c->type, __atomic_load_n(&c->count, __ATOMIC_RELAXED));
	fprintf(out, "# HELP rtl_events_lost_total Events that nobody got.\n"
		     "# TYPE rtl_events_lost_total counter\n");
	for (struct counter *c = first; c; last = c->stream, c = c->next) {
		struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

		if (c->stream != last && !p->host->ledger(p->host, NULL, c->stream, &ledger))
			fprintf(out, "rtl_events_lost_total{stream=\"%s\"} %" PRIu64 "\n",
				c->stream->name, ledger.discarded + ledger.abandoned + ledger.missed);
	}
}

static void send_all(int to, const char *text, size_t size)
{
	for (ssize_t n; size && (n = send(to, text, size, MSG_NOSIGNAL)) > 0; size -= (size_t)n)
		text += n;
}

/* Any request is answered with the counts. A client has a second to ask and to read. */
static void answer(struct prometheus *p, int client)
{
	struct timeval second = {.tv_sec = 1};
	char request[4096], head[160], *body = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&body, &size);

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	if (out && recv(client, request, sizeof(request), 0) > 0) {
		write_counts(p, out);
		if (!fflush(out)) {
			snprintf(head, sizeof(head),
				 "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
				 "Content-Length: %zu\r\n\r\n", size);
			send_all(client, head, strlen(head));
			send_all(client, body, size);
		}
	}
	if (out)
		fclose(out);
	free(body);
	close(client);
}

static void *serve(void *instance)
{
	struct prometheus *p = instance;
	struct pollfd fds[] = {{.fd = p->stop, .events = POLLIN}, {.fd = p->listener, .events = POLLIN}};

	for (;;) {
		int client;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		if (fds[1].revents && (client = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
			answer(p, client);
	}
	return NULL;
}

/* The socket that listens, or -1 with errno. */
static int listen_at(const char *where, char *path)
{
	struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	bool is_path = strchr(where, '/') != NULL;
	int yes = 1, fd, error;
	char *end;
	unsigned long number = strtoul(where, &end, 10);

	if (!is_path && (*end || !number || number > 65535)) {
		errno = EINVAL;
		return -1;
	}
	port.sin_port = htons((uint16_t)number);
	strcpy(local.sun_path, where); /* at most 100 bytes, as the setting says */
	fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (is_path ? bind(fd, (struct sockaddr *)&local, sizeof(local))
		    : bind(fd, (struct sockaddr *)&port, sizeof(port)))
		goto fail;
	if (is_path)
		strcpy(path, where);
	if (!listen(fd, 8))
		return fd;
fail:
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* After finish, or without one; nothing happens the second time. */
static void stop(struct prometheus *p)
{
	uint64_t one = 1;

	if (p->runs && write(p->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(p->thread, NULL);
	p->runs = false;
	if (p->listener >= 0)
		close(p->listener);
	if (p->stop >= 0)
		close(p->stop);
	p->listener = p->stop = -1;
	if (*p->path)
		unlink(p->path);
	*p->path = 0;
}

static void destroy(void *instance)
{
	struct prometheus *p = instance;

	stop(p);
	while (p->counters) {
		struct counter *next = p->counters->next;

		free(p->counters);
		p->counters = next;
	}
	free(p);
}

static int create(const struct rtl_host *host, const struct rtl_setting *s, size_t n, void **out)
{
	const char *where = rtl_setting_at(s, LISTEN)->value;
	struct prometheus *p = calloc(1, sizeof(*p));
	sigset_t all, before;
	int error;

	(void)n;
	if (!p)
		return RTL_ENOMEM;
	p->host = host;
	p->stop = eventfd(0, EFD_CLOEXEC);
	p->listener = listen_at(where, p->path);
	if (p->stop < 0 || p->listener < 0) {
		error = complain(host, where, errno == EINVAL ? "give a port from 1 to 65535, or a path"
							      : strerror(errno));
		destroy(p);
		return error;
	}
	/* signals are the program's: a thread inherits what its maker blocks */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&p->thread, NULL, serve, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		error = complain(host, "no thread to serve the counts", strerror(error));
		destroy(p);
		return error;
	}
	p->runs = true;
	*out = p;
	return 0;
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counter *c = user; /* of the one type that was subscribed to with it */

	(void)events;
	__atomic_fetch_add(&c->count, count, __ATOMIC_RELAXED);
}

/* Streams of calls have a twin with the same calls and their arguments: not counted twice. */
static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct prometheus *p = instance;
	size_t length = strlen(info->name);
	int error = 0;

	if (length > 6 && !strcmp(info->name + length - 6, ".debug"))
		return 0;
	for (uint32_t i = 0; i < info->type_count && !error; i++) {
		const struct rtl_type_info *type = rtl_stream_type(info, i);
		struct counter *c = calloc(1, sizeof(*c));

		if (!c)
			return RTL_ENOMEM;
		c->stream = info;
		c->type = type->name;
		c->next = p->counters;
		__atomic_store_n(&p->counters, c, __ATOMIC_RELEASE);
		error = p->host->subscribe(p->host, info, type->type, RTL_BUFFERED, on_events, c, NULL);
	}
	return error;
}

static int finish(void *instance)
{
	stop(instance);
	return 0;
}

RTL_EXPORT_SUBSCRIBER = {.abi_version = RTL_ABI_VERSION, .struct_size = sizeof(rtl_subscriber),
			 .name = "prometheus", .version = "1", .description = "serves counts of events",
			 .settings = settings, .setting_count = sizeof(settings) / sizeof(*settings),
			 .create = create, .stream = stream, .finish = finish, .destroy = destroy};
