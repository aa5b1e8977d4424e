/* SPDX-License-Identifier: MIT */
/* rtl check-subscriber: runs a subscriber through its life cycle on synthetic streams and reports mistakes:
 * check_subscriber.sh, which calls the command again for each scenario. All of these run in children. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtl/collector.h>
#include <rtl/describe.h>
#include <rtl/plugin.h>
#include <rtl/rtl.h>

#include "cli.h"
#include "embed.h"

EMBED(check_subscriber_sh, RTL_CLI "/check/check_subscriber.sh");

/* The exit status of a scenario that came to its end. */
#define CHECK_DONE 77
/* With what stands behind it on standard error, a scenario says what the subscriber does wrong. */
#define CHECK_SAYS "rtl: check: "

#define EVENTS     2000u
#define LIVE_MS    50
#define SLEEP_MS   5u
#define FULL_BYTES 4096u

/* ---- the synthetic streams ---- */

/* F(type, array, name, kind, unit, description, what it is in the n-th event) */
#define KINDS(F)                                                                                   \
	F(uint64_t, , u64, UINT, "bytes", "any number", number(n))                                 \
	F(uint64_t, , address, ADDRESS, "", "any address", number(n + 1))                          \
	F(uint64_t, , time_ns, TIME, "ns", "any time", number(n + 2))                              \
	F(uint64_t, , string, STRING, "", "an interned string, or an id that names none",          \
	  n % 5 ? string : number(n))                                                              \
	F(uint64_t, , uid, UID, "", "a tracepoint, or an id that names none",                      \
	  n % 7 ? uid : number(n))                                                                 \
	F(int64_t, , i64, INT, "", "any number", (int64_t)number(n + 3))                           \
	F(double, , f64, FLOAT, "", "any number, or none", reals[n % 6])                           \
	F(float, , f32, FLOAT, "", "any number, or none", (float)reals[n % 6])                     \
	F(uint32_t, , u32, UINT, "count", "any number", (uint32_t)number(n))                       \
	F(int32_t, , i32, INT, "", "any number", (int32_t)number(n))                               \
	F(uint16_t, , u16, UINT, "", "any number", (uint16_t)number(n))                            \
	F(int16_t, , i16, INT, "", "any number", (int16_t)number(n))                               \
	F(uint8_t, , u8, UINT, "", "any number", (uint8_t)number(n))                               \
	F(uint8_t, , yes, BOOL, "", "any byte", (uint8_t)n)                                        \
	F(int8_t, , i8, INT, "", "any number", (int8_t)number(n))                                  \
	F(uint8_t, [9], bytes, BYTES, "", "any bytes", "\0\xff'\"\n")                              \
	F(struct rtl_text, , text, TEXT, "", "any bytes, up to what an event can hold",            \
	  {(uint32_t)(sizeof(*k) + sizeof(*arg)), text})                                           \
	F(struct rtl_text, , args, ARGS, "", "named values",                                       \
	  {(uint32_t)sizeof(*k), (uint32_t)sizeof(*arg)})

#define MEMBER(type, array, name, ...) type name array;
struct kinds {
	KINDS(MEMBER)
};

#define FIELD(type, array, name, kind, unit, description, ...)                                     \
	RTL_FIELD(struct kinds, name, RTL_KIND_##kind, unit, description),
static const struct rtl_field kind_fields[] = {KINDS(FIELD)};

static const struct rtl_type_info kind_types[] = {
	RTL_TYPE_INFO(RTL_TASK_BEGIN, "task_begin", struct kinds, kind_fields, "begins"),
	RTL_TYPE_INFO(RTL_TASK_END, "task_end", struct kinds, kind_fields, "ends"),
	RTL_TYPE_INFO(RTL_SIGNAL, "signal", struct kinds, kind_fields, "happens"),
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct kinds, kind_fields, "describes"),
};

static const struct rtl_stream_info kinds_stream =
	RTL_STREAM_INFO("check.kinds", 1, 0, kind_types, "fields of all kinds");
static const struct rtl_stream_info late_stream =
	RTL_STREAM_INFO("check.late", 2, 7, kind_types, "a stream that comes late");

static const char *const strings[] = {
	"plain", "",         "'; DROP TABLE x; --", "a,b\t\"c\"\\\n\r", "\xff\xfe no UTF-8",
	"%s%n",  "</script>"};
#define STRINGS (sizeof(strings) / sizeof(*strings))

/* Numbers at the ends of their ranges, too. */
static uint64_t number(unsigned n)
{
	static const uint64_t edges[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, 255};

	return n % 3 ? n * 0x9e3779b97f4a7c15ull : edges[n / 3 % 6];
}

static void fill(struct kinds *k, unsigned n, uint64_t string, uint64_t uid, uint32_t text)
{
	const double reals[] = {0.0, -1.5, 1e308 * 10, -1e308 * 10, __builtin_nan(""), 5e-324};
	struct rtl_arg *arg = (struct rtl_arg *)(k + 1);
	char *bytes = (char *)(arg + 1);

#define VALUE(type, array, name, kind, unit, description, ...) .name = __VA_ARGS__,
	*k = (struct kinds){KINDS(VALUE)};
	*arg = (struct rtl_arg){.name = string, .value.number = number(n), .kind = RTL_KIND_UINT};
	for (uint32_t i = 0; i < text; i++)
		bytes[i] = (char)(n + i);
}

static void publish(struct rtl_stream *stream, unsigned n, uint64_t string, uint64_t uid)
{
	const uint32_t fixed = (uint32_t)(sizeof(struct kinds) + sizeof(struct rtl_arg));
	const uint32_t text = n % 97 ? n % 40 : RTL_PAYLOAD_MAX - fixed;
	const struct rtl_type_info *type = &kind_types[n % 4];
	struct rtl_record *record = rtl_reserve(stream, type->type, fixed + text);

	if (!record)
		return;
	record->uid = n % 7 ? uid : 0;
	record->instance = n / 2 + 1;
	record->correlation = n % 3;
	fill(rtl_record_payload(record), n, string, uid, text);
	rtl_commit(record);
}

/* Publishes that many events on streams with fields of all kinds; half of them on a stream that comes late. */
static void check_publish(unsigned count)
{
	struct rtl_stream *stream = &rtl_stream_none;
	uint64_t string[STRINGS] = {0}, uid[STRINGS] = {0};

	rtl_stream_register(&kinds_stream, &stream);
	for (size_t i = 0; i < STRINGS; i++) {
		const struct rtl_tracepoint_desc place = {.struct_size = sizeof(place),
							  .kind = "check",
							  .name = strings[i],
							  .source = strings[STRINGS - 1 - i],
							  .line = (uint32_t)i};

		rtl_string_intern(strings[i], &string[i]);
		if (!rtl_tracepoint_register(&place, &uid[i]))
			rtl_tracepoint_set(uid[i], strings[i], strings[STRINGS - 1 - i]);
	}
	for (unsigned i = 0; i < count; i++) {
		if (i == count / 2) {
			stream = &rtl_stream_none;
			rtl_stream_register(&late_stream, &stream);
		}
		publish(stream, i, string[i % STRINGS], uid[i % STRINGS]);
	}
}

/* ---- collectors ---- */

static int count_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static struct rtl_collector *create(uint32_t kind, const char *list, const char *recording)
{
	const struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = kind,
		.subscribers = list,
		.folder = kind == RTL_REPLAY ? recording : getenv("RTL_SPOOL"),
		.output = kind == RTL_RECORD ? recording : NULL,
	};
	struct rtl_collector *collector = NULL;
	char message[4096] = "";

	if (rtl_collector_create(&options, &collector, message, sizeof(message)))
		fprintf(stderr, "rtl: error: %s\n", message);
	return collector;
}

static void finish(struct rtl_collector *collector)
{
	uint32_t left;

	if (!collector)
		return;
	rtl_collector_finish(collector, &left);
	if (rtl_collector_failure(collector))
		fprintf(stderr, "rtl: error: %s\n", rtl_collector_failure(collector));
	rtl_collector_destroy(collector);
}

static void replay_once(const char *recording, const char *list)
{
	finish(create(RTL_REPLAY, list, recording));
}

/* A process whose events the collector gets; one that `stays` is to be killed. It never outlives us. */
static pid_t start_publisher(const struct rtl_collector *collector, bool stays)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
	check_publish(EVENTS);
	for (; stays; stays = true)
		pause();
	_exit(0);
}

/* Drains until the processes have ended; kills the second of them after a while. */
static void drain(struct rtl_collector *collector, pid_t first, pid_t killed)
{
	for (int ms = 0; first > 0 || killed > 0; ms += (int)SLEEP_MS) {
		rtl_collector_poll(collector, SLEEP_MS);
		if (killed > 0 && ms >= LIVE_MS) {
			kill(killed, SIGKILL);
			waitpid(killed, NULL, 0);
			killed = 0;
		}
		if (first > 0 && waitpid(first, NULL, WNOHANG))
			first = 0;
	}
}

static void record(const char *recording, const char *list)
{
	struct rtl_collector *collector = create(RTL_RECORD, NULL, recording);
	pid_t first, second;

	if (!collector)
		_exit(1);
	first = start_publisher(collector, false);
	second = start_publisher(collector, true);
	drain(collector, first, second);
	finish(collector);
	if (first < 0 || second < 0)
		_exit(1);
}

/* ---- the scenarios ---- */

static void *do_nothing(void *unused)
{
	return unused;
}

/* What the C library or a sanitizer makes with the first thread is there before it is counted. */
static void make_a_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, do_nothing, NULL))
		pthread_join(thread, NULL);
}

static void replay_thrice(const char *recording, const char *list)
{
	int files, threads;

	make_a_thread();
	files = count_entries("/proc/self/fd");
	threads = count_entries("/proc/self/task");
	for (int i = 0; i < 3; i++)
		replay_once(recording, list);
	files = count_entries("/proc/self/fd") - files;
	threads = count_entries("/proc/self/task") - threads;
	if (threads > 0)
		fprintf(stderr, CHECK_SAYS "leaves %d threads behind after destroy\n", threads);
	if (files > 0)
		fprintf(stderr, CHECK_SAYS "leaves %d file descriptors open after destroy\n",
			files);
}

static void live(const char *recording, const char *list)
{
	struct rtl_collector *collector = create(RTL_COLLECT, list, NULL);

	if (!collector)
		return;
	drain(collector, start_publisher(collector, false), start_publisher(collector, true));
	finish(collector);
}

static void nothing(const char *recording, const char *list)
{
	finish(create(RTL_COLLECT, list, NULL));
}

/* What `finish` would have said never comes. */
static void give_up(const char *recording, const char *list)
{
	struct rtl_collector *collector = create(RTL_REPLAY, list, recording);

	if (!collector)
		return;
	rtl_collector_poll(collector, 0);
	rtl_collector_destroy(collector);
}

static void full_disk(const char *recording, const char *list)
{
	const struct rlimit limit = {FULL_BYTES, FULL_BYTES};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	replay_once(recording, list);
}

/* The bus of this process hosts it. */
static void in_process(const char *recording, const char *list)
{
	setenv("RTL_SUBSCRIBERS", list, 1);
	check_publish(EVENTS);
	exit(CHECK_DONE); /* what comes now is the bus's: it has the subscriber finish */
}

/* An entry of a list, which may stand with others in it. */
static void print_entry(const struct rtl_plugin *plugin, const char *spec,
			const struct rtl_setting *output, const char *name)
{
	const char *question = strchr(spec, '?'), *dot = NULL;
	char *path = realpath(rtl_plugin_path(plugin), NULL);

	printf("entry ");
	for (const char *at = path ? path : rtl_plugin_path(plugin); *at; at++)
		printf(strchr(":?%", *at) ? "%%%02X" : "%c", (unsigned char)*at);
	printf("%s", question ? question : "");
	if (output && !output->given) {
		dot = output->value ? strrchr(output->value, '.') : NULL;
		printf("%coutput=%s%s", question ? '&' : '?', name, dot ? dot : "");
	}
	putchar('\n');
	free(path);
}

/* Prints one or two entries for a list; no second one where both would write the same output. */
static void load(const char *recording, const char *spec)
{
	const struct rtl_setting *settings, *output = NULL;
	struct rtl_plugin *plugin;
	char message[4096];
	size_t count;

	if (rtl_plugin_open(spec, &plugin, message, sizeof(message)))
		exit(cli_failed("%s", message));
	settings = rtl_plugin_settings(plugin, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rtl_setting_at(settings, i)->key, "output"))
			output = rtl_setting_at(settings, i);
	print_entry(plugin, spec, output, "first");
	if (!output || !output->given)
		print_entry(plugin, spec, output, "second");
	rtl_plugin_close(plugin);
}

static const struct {
	const char *name;
	void (*run)(const char *recording, const char *list);
} scenarios[] = {
	{"load", load},
	{"record", record},
	{"replay", replay_thrice},
	{"twins", replay_once},
	{"live", live},
	{"nothing", nothing},
	{"in-process", in_process},
	{"give-up", give_up},
	{"full-disk", full_disk},
};

/* Becomes that scenario, in the working directory, beside which is the recording that `record` makes: of two
 * processes, one of them killed. */
_Noreturn static void be_scenario(const char *name, const char *list)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		if (!strcmp(scenarios[i].name, name))
			scenarios[i].run("../recording", list);
	fflush(NULL);
	_exit(CHECK_DONE);
}

/* ---- the command ---- */

#define TIMEOUT_S 30u
/* Names the scenario, where the script calls. */
#define SCENARIO "RTL_CHECK_SCENARIO"

struct check {
	struct cli_operands names;
	unsigned timeout_s;
};

static const struct cli_option options[] = {
	CLI_NUMBER(0, "timeout", "SECONDS", offsetof(struct check, timeout_s),
		   "a number of seconds, at least 1",
		   "time after which a step counts as hung (default: 30)"),
};

static int run(void *request)
{
	const struct check *check = request;
	char seconds[16], self[PATH_MAX];

	if (!check->timeout_s || check->timeout_s > 3600)
		return cli_usage("check-subscriber: --timeout takes 1 to 3600 seconds");
	if (getenv(SCENARIO))
		be_scenario(getenv(SCENARIO), check->names.list[0]);
	cli_need(realpath("/proc/self/exe", self));
	setenv("self", self, 1);
	snprintf(seconds, sizeof(seconds), "%u", check->timeout_s);
	execl("/bin/sh", "sh", "-c", check_subscriber_sh, "rtl", check->names.list[0], seconds,
	      NULL);
	return cli_failed("cannot run /bin/sh: %s", strerror(errno));
}

const struct cli_command cmd_check_subscriber = {
	.name = "check-subscriber",
	.operands = "NAME[?key=value&...]",
	.purpose = "Runs a subscriber through its life cycle and reports its mistakes",
	.details = "Gives it synthetic streams, live and replayed, in processes of their own.\n"
		   "Exit status 0: no mistake; 1: mistakes, one line each.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct check, names, 1, "one subscriber at a time"),
	.missing = "give a subscriber",
	.request = &(const struct check){.timeout_s = TIMEOUT_S},
	.run = run,
};
