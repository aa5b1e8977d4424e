/* SPDX-License-Identifier: MIT */
/*
 * A tool library (ROCP_TOOL_LIB): counts the waves of each dispatch, and what else it is told of, and writes
 * lines to the file TOOL_OUTPUT; without that does nothing. TOOL_OPT_MODE sets
 * opt_mode; TOOL_MEMCOPY: it asks for what is not told; TOOL_SLOW: its handlers sleep before they read. TOOL_WITHOUT_UNLOAD of the build: one that is no tool.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocprofiler/rocprofiler.h>

#define API __attribute__((visibility("default")))

static FILE *output;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int told[6];

struct work {
	rocprofiler_feature_t feature;
	const char *name;
	const rocprofiler_dispatch_record_t *record;
};

static bool on_group(rocprofiler_group_t group, void *arg)
{
	struct work *work = arg;
	bool times = work->record && work->record->begin < work->record->end &&
		     work->record->dispatch <= work->record->begin;

	if (getenv("TOOL_SLOW"))
		usleep(20000);
	rocprofiler_group_get_data(&group);
	pthread_mutex_lock(&lock);
	if (output) /* else the process ends, while work is under way */
		fprintf(output, "dispatch waves=%llu times=%d name=%s\n",
			(unsigned long long)work->feature.data.result_int64, times, work->name);
	pthread_mutex_unlock(&lock);
	rocprofiler_close(group.context);
	free((void *)(uintptr_t)work->record); /* the tool's, as with the original */
	free(work);
	return true;
}

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *user,
				rocprofiler_group_t *group)
{
	struct work *work = calloc(1, sizeof(*work));
	rocprofiler_properties_t properties = {.handler = on_group, .handler_arg = work};
	rocprofiler_t *context;

	work->feature.name = "SQ_WAVES";
	work->name = data->kernel_name ? data->kernel_name : "unknown";
	work->record = data->record;
	if (rocprofiler_open(data->agent, &work->feature, 1, &context, 0, &properties) ||
	    rocprofiler_get_group(context, 0, group))
		return HSA_STATUS_ERROR;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_call(rocprofiler_hsa_cb_id_t id, const rocprofiler_hsa_callback_data_t *data,
			    void *arg)
{
	atomic_fetch_add(&told[id], 1);
	if (id == ROCPROFILER_HSA_CB_ID_KSYMBOL && !data->ksymbol.unload && data->ksymbol.object &&
	    strlen(data->ksymbol.name) == data->ksymbol.name_length) {
		pthread_mutex_lock(&lock);
		if (output)
			fprintf(output, "symbol %s\n", data->ksymbol.name);
		pthread_mutex_unlock(&lock);
		free((void *)(uintptr_t)data->ksymbol.name); /* the tool's */
	}
	return HSA_STATUS_SUCCESS;
}

API void OnLoadToolProp(rocprofiler_settings_t *settings);
API void OnLoadToolProp(rocprofiler_settings_t *settings)
{
	const rocprofiler_queue_callbacks_t callbacks = {on_dispatch, NULL, NULL};
	const rocprofiler_hsa_callbacks_t calls = {
		.memcopy = getenv("TOOL_MEMCOPY") ? on_call : NULL,
		.ksymbol = on_call,
		.codeobj = on_call,
	};

	if (!getenv("TOOL_OUTPUT"))
		return;                             /* a tool that intercepts nothing */
	output = fopen(getenv("TOOL_OUTPUT"), "a"); /* processes may share it */
	if (!output)
		abort();
	setvbuf(output, NULL, _IOLBF, BUFSIZ);
	fprintf(output, "settings intercept=%u code=%u trace=%u local=%u timeout=%llx times=%u\n",
		settings->intercept_mode, settings->code_obj_tracking, settings->trace_size,
		settings->trace_local, (unsigned long long)settings->timeout,
		settings->timestamp_on);
	settings->hsa_intercepting = 1;
	settings->timestamp_on = 1;
	settings->opt_mode = getenv("TOOL_OPT_MODE") != NULL;
	rocprofiler_set_queue_callbacks(callbacks, NULL);
	rocprofiler_set_hsa_callbacks(calls, NULL);
}

/* HIP never ends the HSA runtime: then the process's end tells. */
static void end(const char *how)
{
	pthread_mutex_lock(&lock);
	if (!output)
		goto out;
	fprintf(output, "told ksymbol=%d codeobj=%d\n", told[ROCPROFILER_HSA_CB_ID_KSYMBOL],
		told[ROCPROFILER_HSA_CB_ID_CODEOBJ]);
	fprintf(output, "end %s\n", how);
	fclose(output);
	output = NULL;
out:
	pthread_mutex_unlock(&lock);
}

static void __attribute__((destructor)) at_exit(void)
{
	end("exit");
}

#ifndef TOOL_WITHOUT_UNLOAD
API void OnUnloadTool(void);
API void OnUnloadTool(void)
{
	rocprofiler_remove_queue_callbacks();
	end("unload");
}
#endif
