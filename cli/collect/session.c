/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "database.h"
#include "library.h"

#define DEFAULT_SUBSCRIBERS "libsqlite_sub.so"
#define MESSAGE_SIZE        8192

static const struct mode {
	const char *name;
	bool preload; /* the interceptors stand before the program's libraries */
} modes[] = {
	{"lite", false}, {"standard", false}, {"default", false}, {"hip", true}, {"full", true},
};

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; name && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(name, modes[i].name))
			return &modes[i];
	return NULL;
}

void session_fini(struct session *session)
{
	for (size_t i = 0; i < session->variable_count; i++) {
		free(session->variables[i].name);
		free(session->variables[i].value);
	}
	for (size_t i = 0; i < session->plugin_count; i++)
		rtl_plugin_close(session->plugins[i]);
	free(session->plugins);
	free(session->variables);
	free(session->list);
	free(session->no_rocm);
	free(session->database);
	free(session->database_glob);
	for (size_t i = 0; i < session->timeline_count; i++)
		free(session->timelines[i]);
	free(session->timelines);
	outputs_fini(&session->outputs);
}

void session_set(struct session *session, const char *name, const char *value)
{
	*CLI_ADD(session->variables, session->variable_count) = (struct session_variable){
		.name = cli_need(strdup(name)), .value = cli_need(strdup(value))};
}

/* ---- the runtime ---- */

/* Whether a list, separated by any of the characters, has that entry. */
static bool has_entry(const char *list, const char *separators, const char *entry)
{
	size_t length = strlen(entry);

	while (*list) {
		size_t part = strcspn(list, separators);
		if (part == length && !strncmp(list, entry, length))
			return true;
		list += part + (list[part] != '\0');
	}
	return false;
}

/* Sets a variable to what it is now and one more entry, before or behind it. The first of the
 * separators is put between them. */
static void add_entry(struct session *session, const char *name, const char *separators,
		      const char *entry, bool first)
{
	const char *now = getenv(name);
	char *value;

	if (!now || !*now || has_entry(now, separators, entry)) {
		session_set(session, name, now && *now ? now : entry);
		return;
	}
	value = cli_format("%s%c%s", first ? entry : now, *separators, first ? now : entry);
	session_set(session, name, value);
	free(value);
}

const char *session_mode(const struct session *session)
{
	const char *variable = getenv("RTL_MODE");

	return session->mode           ? session->mode
	       : variable && *variable ? variable
				       : session->default_mode;
}

/* Tools make their queues by whoever was loaded before, and rtl makes its own: so rtl must be first. */
static bool has_sdk(void)
{
	return strstr(cli_text(getenv("LD_PRELOAD")), "librocprofiler-sdk");
}

static bool wants_preload(const struct session *session)
{
	const struct mode *mode = find_mode(session_mode(session));
	const char *source = session_source(session);

	/* HIP is asked to report before its first call. */
	return (mode && mode->preload) || (source && strcmp(source, "queue") != 0) || has_sdk();
}

static void add_names(struct session *session, const char *tools, const char *preload)
{
	char *twice = NULL;

	/* PAPI takes a library that the variable names alone for rocprofiler's, and names its own in place of
	 * anything else; rtl's librocprofiler64 then loads the interceptors. They heed one OnLoad. */
	if (getenv("PAPI_ROCM_ROOT") && !*cli_text(getenv("HSA_TOOLS_LIB")))
		twice = cli_format("%s %s", tools, tools);
	add_entry(session, "HSA_TOOLS_LIB", " ", twice ? twice : tools, true);
	free(twice);

	if (!wants_preload(session))
		return;
	/* Else behind what is there: a sanitizer's runtime must be first. */
	add_entry(session, "LD_PRELOAD", ": ", preload, has_sdk());
	/* Else a program that was built with it, by gcc, ends because its runtime is not first. The
	 * interceptors stand before nothing that it intercepts. */
	add_entry(session, "ASAN_OPTIONS", ":", "verify_asan_link_order=0", false);
}

/* HSA_TOOLS_LIB separates with blanks, LD_PRELOAD with those and colons: a path that has some must
 * be found by name instead. */
static int add_tool(struct session *session, char *path)
{
	if (!strpbrk(path, wants_preload(session) ? " \t:" : " \t")) {
		add_names(session, path, path);
		return CLI_OK;
	}
	if (strpbrk(path, ":;"))
		return cli_failed("%s: the HSA runtime and the loader accept no folder with blanks "
				  "or colons in its name; install rtl elsewhere",
				  path);
	add_names(session, LIBRARY_ROCM, LIBRARY_ROCM);
	*strrchr(path, '/') = '\0';
	add_entry(session, "LD_LIBRARY_PATH", ":", path, true);
	return CLI_OK;
}

/* Without the interceptors there are the streams of the programs themselves. */
static int go_without_rocm(struct session *session, const char *path)
{
	const char *fallback = getenv("RTL_MODE_FALLBACK");

	session->no_rocm = cli_format("this rtl has no interceptors for ROCm, %s is missing; "
				      "only events published by programs can be recorded",
				      path);
	if (session->mode && !(fallback && !strcmp(fallback, "1")))
		return cli_failed("mode '%s' is not available: %s", session->mode,
				  session->no_rocm);
	return CLI_OK;
}

/* rocm-trace-lite has a tool of the name of our library. Both would intercept the same queues, and both read
 * RTL_MODE. */
static int refuse_other_rtl(const char *variable, const char *separators)
{
	const char *value = getenv(variable);
	char *copy = cli_need(strdup(cli_text(value))), *own = library_rtl(), *rest = copy, *part;
	int status = CLI_OK;

	while (!status && (part = strsep(&rest, separators))) {
		if (strncmp(cli_base_name(part), "librtl.so", 9) != 0 ||
		    (strchr(part, '/') && database_same_file(part, own)))
			continue;
		status = cli_failed("%s names %s, which is rocm-trace-lite's or another tool's, "
				    "not this rtl's; remove it there",
				    variable, part);
	}
	free(copy);
	free(own);
	return status;
}

int session_prepare_runtime(struct session *session)
{
	char *path = library_beside_rtl(LIBRARY_ROCM), *own = library_rtl();
	int status = refuse_other_rtl("HSA_TOOLS_LIB", " ");

	/* For stubs (<rtl/stub.h>) in programs where the loader would not find it. */
	session_set(session, "RTL_LIBRARY", own);
	free(own);
	if (!status)
		status = refuse_other_rtl("LD_PRELOAD", ": ");
	if (!status && !access(path, R_OK))
		status = add_tool(session, path);
	else if (!status && errno == ENOENT)
		status = go_without_rocm(session, path);
	else if (!status)
		status = cli_failed("the interceptors for ROCm, %s: %s", path, strerror(errno));
	free(path);
	/* Else AMD's builds from 6.1 on skip HSA_TOOLS_LIB silently. */
	if (!status && !session->no_rocm)
		session_set(session, "HSA_TOOLS_ROCPROFILER_V1_TOOLS", "1");
	return status;
}

/* ---- XPTI ---- */

/* The value that session_set has given it, or else that of our environment. */
static const char *value_now(const struct session *session, const char *name)
{
	const char *value = getenv(name);

	for (size_t i = 0; i < session->variable_count; i++)
		if (!strcmp(session->variables[i].name, name))
			value = session->variables[i].value;
	return value;
}

/* Plugins that link to upstream's framework find ours by the links' names. */
static void add_xpti_links(struct session *session, const char *library)
{
	const char *now = cli_text(value_now(session, "LD_LIBRARY_PATH"));
	char *value =
		cli_format("%.*s/" LIBRARY_XPTI_LINKS "%s%s",
			   (int)(strrchr(library, '/') - library), library, *now ? ":" : "", now);

	session_set(session, "LD_LIBRARY_PATH", value);
	free(value);
}

static int prepare_xpti(struct session *session)
{
	const char *mode = session_mode(session);
	char *path;
	int status = CLI_OK;

	if (!session->xpti && !(mode && !strcmp(mode, "full")))
		return CLI_OK;
	path = library_beside_rtl(LIBRARY_XPTI);
	if (!access(path, R_OK)) {
		session_set(session, "XPTI_FRAMEWORK_DISPATCHER", path);
		session_set(session, "XPTI_TRACE_ENABLE", "1");
		add_entry(session, "UR_ENABLE_LAYERS", ";", "UR_LAYER_TRACING", false);
		add_xpti_links(session, path);
	} else if (session->xpti) {
		status = cli_failed(
			"--xpti: rtl's XPTI framework, %s: %s; install it, or leave the option out",
			path, strerror(errno));
	}
	free(path);
	return status;
}

/* RCCL's one profiler plugin; ours passes on to the user's. */
static void prepare_rccl(struct session *session)
{
	static const char variable[] = "NCCL_PROFILER_PLUGIN";
	const struct mode *mode = find_mode(session_mode(session));
	const char *now = getenv(variable);
	char *path = library_beside_rtl(LIBRARY_RCCL);

	if (mode && mode->preload && !session->no_rocm && !access(path, R_OK)) {
		if (now && strcmp(cli_base_name(now), LIBRARY_RCCL) != 0)
			session_set(session, "RTL_RCCL_PLUGIN", now);
		session_set(session, variable, path);
	}
	free(path);
}

int session_prepare_programs(struct session *session, const char *id)
{
	int status = session_prepare_runtime(session);

	if (!status)
		status = prepare_xpti(session);
	if (!status)
		prepare_rccl(session);
	if (id)
		session_set(session, "RTL_SESSION", id);
	return status;
}

/* ---- the mode ---- */

int session_prepare_mode(struct session *session)
{
	const char *mode = session_mode(session);

	if (mode && !find_mode(mode))
		return cli_usage("unknown mode '%s'%s; the modes are " SESSION_MODES, mode,
				 session->mode ? "" : " in RTL_MODE");
	const char *output = getenv("RTL_OUTPUT");

	if (output && *output)
		cli_error("RTL_OUTPUT is not read by this rtl: name the file with -o");
	if (session->mode || (mode && mode == session->default_mode))
		session_set(session, "RTL_MODE", mode);
	/* Nobody has asked for this mode: a process that was started without the preload does with less. */
	if (!session->mode && mode && mode == session->default_mode && !session->for_shell &&
	    !getenv("RTL_MODE_FALLBACK"))
		session_set(session, "RTL_MODE_FALLBACK", "1");
	return session_prepare_source(session);
}

const char *session_source(const struct session *session)
{
	const char *variable = getenv("RTL_SOURCE");

	return session->source ? session->source : variable && *variable ? variable : NULL;
}

/* With HIP 7.2's way of today to run graphs, its reports lack some of their kernels, and it may crash. */
#define GRAPHS "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING"

int session_prepare_source(struct session *session)
{
	const char *asked = session_source(session), *source = asked ? asked : "queue";
	const bool is_runtime = !strcmp(source, "runtime");

	if (!is_runtime && strcmp(source, "queue") != 0 && strcmp(source, "auto") != 0)
		return cli_usage("unknown source '%s'%s; the sources are queue, runtime, auto",
				 source, session->source ? "" : " in RTL_SOURCE");
	if (session->source)
		session_set(session, "RTL_SOURCE", source);
	if (is_runtime && !getenv(GRAPHS))
		session_set(session, GRAPHS, "0");
	return CLI_OK;
}

/* ---- the output ---- */

char *session_absolute_path(const char *path)
{
	char *folder, *absolute;

	if (*path == '/')
		return cli_need(strdup(path));
	folder = getcwd(NULL, 0);
	absolute = folder ? cli_format("%s/%s", folder, path) : NULL;
	free(folder);
	return absolute;
}

/* Whether a file can be made there, or written if it is there; says why not. */
static int check_output(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		cli_need(slash == path ? strdup("/") : strndup(path, (size_t)(slash - path)));
	struct stat st;
	int status = CLI_OK;

	if (!slash[1] || (!stat(path, &st) && S_ISDIR(st.st_mode)))
		status = cli_failed("output %s is a folder; give the name of a file", path);
	else if (access(folder, W_OK | X_OK))
		status = cli_failed("output %s: cannot write to folder %s: %s; choose another file",
				    path, folder, strerror(errno));
	else if (!access(path, F_OK) && access(path, W_OK))
		status = cli_failed("output %s: %s; choose another file", path, strerror(errno));
	free(folder);
	return status;
}

/* A text of which %XX stands for what has a meaning in a list. */
static void write_encoded(FILE *stream, const char *text, const char *meaning)
{
	for (; *text; text++)
		if (strchr(meaning, *text))
			fprintf(stream, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, stream);
}

/* ---- the subscribers ---- */

/* The subscriber's setting `output`; NULL: it has none. */
static const struct rtl_setting *find_output(const struct rtl_plugin *plugin)
{
	size_t count;
	const struct rtl_setting *settings = rtl_plugin_settings(plugin, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rtl_setting_at(settings, i)->key, "output"))
			return rtl_setting_at(settings, i);
	return NULL;
}

/* Subscribers that come with rtl: their output= is the name of a file, with %p and its like. */
static bool is_own(const struct rtl_subscriber *subscriber)
{
	const char *name = subscriber->name;

	return !strcmp(name, "sqlite") || !strcmp(name, "json") || !strcmp(name, "stats");
}

/* An output that the user gave as a setting: what is wrong with it is said before a program starts,
 * even if the subscriber is to run there. */
static int check_setting(const struct rtl_plugin *plugin, const char *value)
{
	const char *slash = strrchr(value, '/');

	if (!*value || !is_own(rtl_plugin_subscriber(plugin)) || !strcmp(value, "stderr") ||
	    (slash && memchr(value, '%', (size_t)(slash - value))))
		return CLI_OK;
	char *absolute = session_absolute_path(value);
	int status = absolute ? check_output(absolute)
			      : cli_failed("working directory: %s", strerror(errno));
	free(absolute);
	return status;
}

/* What the user's setting makes of the database's name. */
static void note_database(struct session *session, const char *pattern)
{
	struct output_names_room room;
	const struct output_names names = output_names_here(&room);
	char *name;

	if (session->database || session->database_glob)
		return; /* the first one's */
	if (output_needs_process(pattern)) {
		session->database_glob = cli_need(output_glob(pattern, &names));
	} else if (!output_expand(pattern, &names, &name)) {
		session->database = session_absolute_path(name);
		free(name);
	} /* else the subscriber says what is wrong with it */
}

/* Notes a timeline, so that it can be found at the end. */
static void note_timeline(struct session *session, const char *pattern)
{
	struct output_names_room room;
	const struct output_names names = output_names_here(&room);

	*CLI_ADD(session->timelines, session->timeline_count) =
		cli_need(output_glob(pattern, &names));
}

/* What the subscriber writes to, by its pattern. */
static void note_output(struct session *session, const char *subscriber, const char *pattern)
{
	if (!strcmp(subscriber, "stats"))
		session->prints_statistics |= !strcmp(pattern, "stderr");
	if (!strcmp(subscriber, "sqlite"))
		note_database(session, pattern);
	if (!strcmp(subscriber, "json"))
		note_timeline(session, pattern);
}

/* A file for a subscriber: the user's next one, or the default name for a database or a timeline, which one subscriber
 * gets; NULL: the subscriber's own. To be freed. */
static char *next_output(struct session *session, const char *subscriber)
{
	struct outputs *outputs = &session->outputs;
	const char *name = session->default_output;
	const bool is_database = !strcmp(subscriber, "sqlite");
	bool *taken = is_database ? &session->has_default_database : &session->has_default_timeline;

	if (outputs->taken < outputs->count)
		return cli_need(strdup(outputs->names[outputs->taken++]));
	if (!name || *taken || (!is_database && strcmp(subscriber, "json") != 0))
		return NULL;
	*taken = true;
	return is_database ? cli_format("%s", name)
			   : cli_format("%.*s.json", (int)(strrchr(name, '.') - name), name);
}

/* Adds the output file to a subscriber's settings. */
static int write_output(struct session *session, const struct rtl_plugin *plugin, FILE *list,
			bool settings_begun)
{
	const struct rtl_subscriber *subscriber = rtl_plugin_subscriber(plugin);
	const struct rtl_setting *setting = find_output(plugin);
	char *path, *absolute, *pattern = NULL;
	int status;

	if (!setting)
		return CLI_OK;
	if (setting->given) {
		status = check_setting(plugin, setting->value);
		note_output(session, subscriber->name, setting->value);
		return status;
	}
	path = next_output(session, subscriber->name);
	if (!path) {
		if (!strcmp(subscriber->name, "stats"))
			note_output(session, subscriber->name, "stderr");
		return CLI_OK;
	}
	absolute = session_absolute_path(path);
	free(path);
	if (!absolute)
		return cli_failed("working directory: %s", strerror(errno));
	status = strcmp(subscriber->name, "sqlite") ? CLI_OK
						    : outputs_place(&session->outputs, &absolute);
	if (!status)
		status = check_output(absolute);
	if (!status && is_own(subscriber)) {
		status = outputs_pattern(absolute, &pattern);
		if (!status)
			note_output(session, subscriber->name, pattern);
	}
	fprintf(list, "%coutput=", settings_begun ? '&' : '?');
	write_encoded(list, pattern ? pattern : absolute, "%&:");
	free(pattern);
	free(absolute);
	return status;
}

/* The name to pass on: a path that holds wherever the program goes. */
static void write_name(const struct rtl_plugin *plugin, FILE *list)
{
	char *path = realpath(rtl_plugin_path(plugin), NULL);

	write_encoded(list, path ? path : rtl_plugin_path(plugin), "%:?");
	free(path);
}

/* Of a subscriber's file; who writes a name may forget any of them. */
static const char before[] = "lib", kind[] = "_sub", suffix[] = ".so";

static size_t without(const char *text, size_t length, const char *end)
{
	const size_t n = strlen(end);

	return length > n && !strncmp(text + length - n, end, n) ? length - n : length;
}

/* What tells a subscriber's file from others: NAME of libNAME_sub.so, or of what is written for that. */
static char *distinct_part(const char *name, size_t length)
{
	const size_t n = strlen(before);

	if (length > n && !strncmp(name, before, n)) {
		name += n;
		length -= n;
	}
	length = without(name, length, suffix);
	return cli_need(strndup(name, without(name, length, kind)));
}

static void look_at(void *nearest, const char *path)
{
	const char *file = cli_base_name(path);
	char *part = distinct_part(file, strlen(file));

	cli_nearest_look(nearest, part);
	free(part);
}

/* Says why rtl_plugin_open has failed with that message, or which name was probably meant; an exit status. */
static int refuse_subscriber(const char *spec, int error, const char *message)
{
	const int length = (int)strcspn(spec, "?");
	char *part = distinct_part(spec, (size_t)length);
	struct cli_nearest nearest = {.name = ""};

	if (error == RTL_ENOENT && strstr(message, "' not found in ")) {
		nearest = cli_nearest_to(part, strlen(part));
		rtl_plugin_list(look_at, &nearest);
	}
	if (*nearest.name)
		cli_error("subscriber '%.*s' not found; did you mean %s%s%s%s?", length, spec,
			  before, nearest.name, kind, suffix);
	else
		cli_error("%s", message);
	free(part);
	return error == RTL_EINVAL ? CLI_USAGE : CLI_FAILED;
}

/* Loads one subscriber, and appends it to the list with its settings. */
static int add_subscriber(struct session *session, const char *spec, FILE *list)
{
	const char *question = strchr(spec, '?');
	struct rtl_plugin *plugin;
	char message[MESSAGE_SIZE];
	int error = rtl_plugin_open(spec, &plugin, message, sizeof(message));

	if (error)
		return refuse_subscriber(spec, error, message);
	write_name(plugin, list);
	if (question && question[1])
		fputs(question, list);
	session->takes_operations |= is_own(rtl_plugin_subscriber(plugin)) ||
				     !strcmp(rtl_plugin_subscriber(plugin)->name, "clickhouse");
	*CLI_ADD(session->plugins, session->plugin_count) = plugin;
	return write_output(session, plugin, list, question && question[1]);
}

/* Each subscriber of the list in its turn. */
static int add_subscribers(struct session *session, char *specs, FILE *list)
{
	const struct outputs *outputs = &session->outputs;
	bool any = false;
	int status = CLI_OK;

	for (char *spec; !status && (spec = strsep(&specs, ":"));) {
		if (!*spec)
			continue;
		if (any)
			fputc(':', list);
		any = true;
		status = add_subscriber(session, spec, list);
	}
	if (!status && !any)
		return cli_usage(
			"the list of subscribers is empty; `rtl list-subscribers` lists them");
	if (!status && outputs->taken < outputs->count)
		return cli_usage("-o %s: no subscriber in the list takes a file, or each has its "
				 "output= already",
				 outputs->names[outputs->taken]);
	return status;
}

char *session_find_file(const char *pattern, bool (*is_it)(const char *path, void *user),
			void *user)
{
	char *path = NULL;
	glob_t found;

	if (!pattern || glob(pattern, 0, NULL, &found))
		return NULL;
	for (size_t i = 0; i < found.gl_pathc && !path; i++)
		if (is_it(found.gl_pathv[i], user))
			path = session_absolute_path(found.gl_pathv[i]);
	globfree(&found);
	return path;
}

/* The list as the user gave it, or who writes the files that he named. */
static char *subscriber_specs(const struct session *session, int *status)
{
	char *specs, *more;

	*status = CLI_OK;
	if (session->subscribers || !session->outputs.count)
		return cli_need(
			strdup(session->subscribers ? session->subscribers : DEFAULT_SUBSCRIBERS));
	specs = outputs_subscribers(&session->outputs, status);
	if (!specs || !session->summarizes || strstr(specs, DEFAULT_SUBSCRIBERS))
		return specs;
	more = cli_format("%s:libstats_sub.so?output=stderr&top=10", specs);
	free(specs);
	return more;
}

int session_prepare_subscribers(struct session *session)
{
	int status;
	char *specs = subscriber_specs(session, &status);
	size_t size;
	FILE *list;

	if (!specs)
		return status;
	list = cli_need(open_memstream(&session->list, &size));
	status = add_subscribers(session, specs, list);
	cli_need(fclose(list) ? NULL : session->list);
	free(specs);
	return status;
}
