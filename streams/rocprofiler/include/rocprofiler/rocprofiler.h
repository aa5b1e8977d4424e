/* SPDX-License-Identifier: MIT */
/* The rocprofiler API, version 8.0: the ABI of the librocprofiler64.so.1 that ROCm 5.2 to 7.0 have shipped,
 * written anew for rtl's library of that name. docs/rocprofiler.md tells where it differs.
 *
 * Threads: any, for different contexts and pools; a context's functions on one thread at a time. All functions return
 * an hsa_status_t; after a failure rocprofiler_error_string has a line on that thread. */
#ifndef RTL_ROCPROFILER_H
#define RTL_ROCPROFILER_H

#include <hsa/amd_hsa_kernel_code.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCPROFILER_VERSION_MAJOR 8
#define ROCPROFILER_VERSION_MINOR 0

#ifdef __cplusplus
extern "C" {
#endif

uint32_t rocprofiler_version_major(void);
uint32_t rocprofiler_version_minor(void);

/** What OnLoadToolProp of the library in ROCP_TOOL_LIB may change. */
typedef struct {
	uint32_t intercept_mode;
	uint32_t code_obj_tracking;
	uint32_t memcopy_tracking;
	uint32_t trace_size;
	uint32_t trace_local;
	uint64_t timeout;
	uint32_t timestamp_on;
	uint32_t hsa_intercepting;
	uint32_t k_concurrent;
	uint32_t opt_mode;
	uint32_t obj_dumping;
} rocprofiler_settings_t;

/** The line of the last failure on this thread; valid until its next. */
hsa_status_t rocprofiler_error_string(const char **text);

/* ---- features: what is asked for, and its value ---- */

typedef enum {
	ROCPROFILER_FEATURE_KIND_METRIC = 0,
	ROCPROFILER_FEATURE_KIND_TRACE = 1, /**< refused */
	ROCPROFILER_FEATURE_KIND_SPM_MOD = 2,
	ROCPROFILER_FEATURE_KIND_PCSMP_MOD = 4
} rocprofiler_feature_kind_t;

/** aqlprofile's: {name, value}. */
typedef struct {
	uint32_t parameter_name;
	uint32_t value;
} rocprofiler_parameter_t;

typedef enum {
	ROCPROFILER_DATA_KIND_UNINIT = 0,
	ROCPROFILER_DATA_KIND_INT32 = 1,
	ROCPROFILER_DATA_KIND_INT64 = 2,
	ROCPROFILER_DATA_KIND_FLOAT = 3,
	ROCPROFILER_DATA_KIND_DOUBLE = 4,
	ROCPROFILER_DATA_KIND_BYTES = 5
} rocprofiler_data_kind_t;

typedef struct {
	rocprofiler_data_kind_t kind;
	union {
		uint32_t result_int32;
		uint64_t result_int64; /**< of a counter */
		float result_float;
		double result_double; /**< of a metric */
		struct {
			void *ptr;
			uint32_t size;
			uint32_t instance_count;
			bool copy;
		} result_bytes;
	};
} rocprofiler_data_t;

typedef struct {
	rocprofiler_feature_kind_t kind;
	union {
		const char *name; /**< "SQ_WAVES", "TCC_HIT[3]", "TCC:20" */
		struct {
			const char *block;
			uint32_t event;
		} counter;
	};
	const rocprofiler_parameter_t *parameters;
	uint32_t parameter_count;
	rocprofiler_data_t data;
} rocprofiler_feature_t;

/* ---- contexts and their groups ---- */

typedef void rocprofiler_t;

/** Features that are counted together. */
typedef struct {
	unsigned index;
	rocprofiler_feature_t **features;
	uint32_t feature_count;
	rocprofiler_t *context;
} rocprofiler_group_t;

typedef enum {
	ROCPROFILER_MODE_STANDALONE = 1,  /**< on a queue: rocprofiler_start, _read, _stop */
	ROCPROFILER_MODE_CREATEQUEUE = 2, /**< which is made: the caller's, in the properties */
	ROCPROFILER_MODE_SINGLEGROUP = 4
} rocprofiler_mode_t;

/** Called when a dispatch's counts are there, on a thread of the library. */
typedef bool (*rocprofiler_handler_t)(rocprofiler_group_t group, void *arg);

typedef struct {
	hsa_queue_t *queue;
	uint32_t queue_depth;
	rocprofiler_handler_t handler;
	void *handler_arg;
} rocprofiler_properties_t;

/** The features stay the caller's; values are written to them. */
hsa_status_t rocprofiler_open(hsa_agent_t agent, rocprofiler_feature_t *features,
			      uint32_t feature_count, rocprofiler_t **context, uint32_t mode,
			      rocprofiler_properties_t *properties);
/** Waits for what the GPU still does for the context. */
hsa_status_t rocprofiler_close(rocprofiler_t *context);
/** A group may be used for a further dispatch. */
hsa_status_t rocprofiler_reset(rocprofiler_t *context, uint32_t group_index);
hsa_status_t rocprofiler_get_agent(rocprofiler_t *context, hsa_agent_t *agent);

hsa_status_t rocprofiler_group_count(const rocprofiler_t *context, uint32_t *group_count);
hsa_status_t rocprofiler_get_group(rocprofiler_t *context, uint32_t group_index,
				   rocprofiler_group_t *group);

/** Waits until the counters run, a second at most: what comes next is counted, on whatever queue. */
hsa_status_t rocprofiler_start(rocprofiler_t *context, uint32_t group_index);
/** Submit, and do not wait. */
hsa_status_t rocprofiler_stop(rocprofiler_t *context, uint32_t group_index);
hsa_status_t rocprofiler_read(rocprofiler_t *context, uint32_t group_index);
/** Waits for what was read last, and writes the counters' values (INT64). */
hsa_status_t rocprofiler_get_data(rocprofiler_t *context, uint32_t group_index);

hsa_status_t rocprofiler_group_start(rocprofiler_group_t *group);
hsa_status_t rocprofiler_group_stop(rocprofiler_group_t *group);
hsa_status_t rocprofiler_group_read(rocprofiler_group_t *group);
hsa_status_t rocprofiler_group_get_data(rocprofiler_group_t *group);

/** Writes the metrics' values (DOUBLE), from what rocprofiler_get_data has got. */
hsa_status_t rocprofiler_get_metrics(const rocprofiler_t *context);

/** Traces are refused, so there is no data: always an error. */
typedef hsa_status_t (*rocprofiler_trace_data_callback_t)(int info_type, void *info_data,
							  void *callback_data);
hsa_status_t rocprofiler_iterate_trace_data(rocprofiler_t *context,
					    rocprofiler_trace_data_callback_t callback, void *data);

/* ---- time ---- */

typedef enum {
	ROCPROFILER_TIME_ID_CLOCK_REALTIME = 0,
	ROCPROFILER_TIME_ID_CLOCK_REALTIME_COARSE = 1,
	ROCPROFILER_TIME_ID_CLOCK_MONOTONIC = 2,
	ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_COARSE = 3,
	ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_RAW = 4
} rocprofiler_time_id_t;

/** A time of the HSA system clock, ns, by another clock; either pointer may be NULL. */
hsa_status_t rocprofiler_get_time(rocprofiler_time_id_t time_id, uint64_t timestamp,
				  uint64_t *value_ns, uint64_t *error_ns);

/* ---- dispatches ---- */

/** ns of the HSA system clock. */
typedef struct {
	uint64_t dispatch;
	uint64_t begin;
	uint64_t end;
	uint64_t complete;
} rocprofiler_dispatch_record_t;

typedef struct {
	hsa_agent_t agent;
	uint32_t agent_index;
	const hsa_queue_t *queue;
	uint64_t queue_index;
	uint32_t queue_id;
	hsa_signal_t completion_signal;
	const hsa_kernel_dispatch_packet_t *packet;
	const char *kernel_name;
	uint64_t kernel_object;
	const amd_kernel_code_t *kernel_code;
	uint32_t thread_id;
	const rocprofiler_dispatch_record_t *record; /**< NULL without times; the tool's to free */
} rocprofiler_callback_data_t;

/** On the thread that rings the doorbell. Success and group->context set: the dispatch is counted. */
typedef hsa_status_t (*rocprofiler_callback_t)(const rocprofiler_callback_data_t *callback_data,
					       void *user_data, rocprofiler_group_t *group);

typedef struct {
	rocprofiler_callback_t dispatch;
	hsa_status_t (*create)(hsa_queue_t *queue, void *data);
	hsa_status_t (*destroy)(hsa_queue_t *queue, void *data);
} rocprofiler_queue_callbacks_t;

hsa_status_t rocprofiler_set_queue_callbacks(rocprofiler_queue_callbacks_t callbacks, void *data);
hsa_status_t rocprofiler_remove_queue_callbacks(void);
hsa_status_t rocprofiler_start_queue_callbacks(void);
hsa_status_t rocprofiler_stop_queue_callbacks(void);

hsa_status_t rocprofiler_queue_create_profiled(
	hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue);

/* ---- what there is ---- */

typedef enum {
	ROCPROFILER_INFO_KIND_METRIC = 0,
	ROCPROFILER_INFO_KIND_METRIC_COUNT = 1,
	ROCPROFILER_INFO_KIND_TRACE = 2,
	ROCPROFILER_INFO_KIND_TRACE_COUNT = 3,
	ROCPROFILER_INFO_KIND_TRACE_PARAMETER = 4,
	ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT = 5
} rocprofiler_info_kind_t;

typedef union {
	rocprofiler_info_kind_t info_kind;
	struct {
		const char *trace_name;
	} trace_parameter;
} rocprofiler_info_query_t;

/** Texts stay for ever. */
typedef struct {
	uint32_t agent_index;
	rocprofiler_info_kind_t kind;
	union {
		struct {
			const char *name;
			uint32_t instances; /**< above 1: the name wants an instance, NAME[0] */
			const char *expr;   /**< NULL: a counter */
			const char *description;
			const char *block_name;
			uint32_t block_counters;
		} metric;
		struct {
			const char *name;
			const char *description;
			uint32_t parameter_count;
		} trace;
		struct {
			uint32_t code;
			const char *trace_name;
			const char *parameter_name;
			const char *description;
		} trace_parameter;
	};
} rocprofiler_info_data_t;

/** METRIC_COUNT and TRACE_COUNT (0), uint32_t. agent NULL: of all GPUs together. */
hsa_status_t rocprofiler_get_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
				  void *data);
/** METRIC and TRACE (none). agent NULL: of all GPUs. */
hsa_status_t rocprofiler_iterate_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
				      hsa_status_t (*callback)(const rocprofiler_info_data_t info,
							       void *data),
				      void *data);
/** Never implemented by anybody: always an error. */
hsa_status_t rocprofiler_query_info(const hsa_agent_t *agent, rocprofiler_info_query_t query,
				    hsa_status_t (*callback)(const rocprofiler_info_data_t info,
							     void *data),
				    void *data);

/* ---- pools of contexts ---- */

typedef void rocprofiler_pool_t;

typedef struct {
	rocprofiler_t *context;
	void *payload;
} rocprofiler_pool_entry_t;

typedef bool (*rocprofiler_pool_handler_t)(const rocprofiler_pool_entry_t *entry, void *arg);

typedef struct {
	uint32_t num_entries;
	uint32_t payload_bytes;
	rocprofiler_pool_handler_t handler;
	void *handler_arg;
} rocprofiler_pool_properties_t;

hsa_status_t rocprofiler_pool_open(hsa_agent_t agent, rocprofiler_feature_t *features,
				   uint32_t feature_count, rocprofiler_pool_t **pool, uint32_t mode,
				   rocprofiler_pool_properties_t *properties);
hsa_status_t rocprofiler_pool_close(rocprofiler_pool_t *pool);
/** Waits while all entries are out. */
hsa_status_t rocprofiler_pool_fetch(rocprofiler_pool_t *pool, rocprofiler_pool_entry_t *entry);
/** Gives an entry back that was fetched and not used. An error while its dispatch is under way. */
hsa_status_t rocprofiler_pool_release(rocprofiler_pool_entry_t *entry);
hsa_status_t rocprofiler_pool_iterate(rocprofiler_pool_t *pool,
				      hsa_status_t (*callback)(rocprofiler_pool_entry_t *entry,
							       void *data),
				      void *data);
/** Waits until what was submitted has been handled. */
hsa_status_t rocprofiler_pool_flush(rocprofiler_pool_t *pool);

/* ---- what the program asks of HSA: KSYMBOL and CODEOBJ alone are told ---- */

typedef enum {
	ROCPROFILER_HSA_CB_ID_ALLOCATE = 0,
	ROCPROFILER_HSA_CB_ID_DEVICE = 1,
	ROCPROFILER_HSA_CB_ID_MEMCOPY = 2,
	ROCPROFILER_HSA_CB_ID_SUBMIT = 3,
	ROCPROFILER_HSA_CB_ID_KSYMBOL = 4,
	ROCPROFILER_HSA_CB_ID_CODEOBJ = 5
} rocprofiler_hsa_cb_id_t;

typedef struct {
	union {
		struct {
			const void *ptr;
			size_t size; /**< 0: it is freed */
			hsa_amd_segment_t segment;
			hsa_amd_memory_pool_global_flag_t global_flag;
			int is_code;
		} allocate;
		struct {
			hsa_device_type_t type;
			uint32_t id;
			hsa_agent_t agent;
			const void *ptr;
		} device;
		struct {
			const void *dst;
			const void *src;
			size_t size;
		} memcopy;
		struct {
			const void *packet;
			const char *kernel_name; /**< NULL: no dispatch */
			hsa_queue_t *queue;
			uint32_t device_type;
			uint32_t device_id;
		} submit;
		struct {
			uint64_t object;
			const char *name; /**< the callback's to free; NULL with unload */
			uint32_t name_length;
			int unload;
		} ksymbol;
		struct {
			uint32_t storage_type;
			int storage_file;
			uint64_t memory_base;
			uint64_t memory_size;
			uint64_t load_base;
			uint64_t load_size;
			uint64_t load_delta;
			uint32_t uri_length;
			char *uri;
			int unload;
		} codeobj;
	};
} rocprofiler_hsa_callback_data_t;

typedef hsa_status_t (*rocprofiler_hsa_callback_fun_t)(rocprofiler_hsa_cb_id_t id,
						       const rocprofiler_hsa_callback_data_t *data,
						       void *arg);

typedef struct {
	rocprofiler_hsa_callback_fun_t allocate;
	rocprofiler_hsa_callback_fun_t device;
	rocprofiler_hsa_callback_fun_t memcopy;
	rocprofiler_hsa_callback_fun_t submit;
	rocprofiler_hsa_callback_fun_t ksymbol;
	rocprofiler_hsa_callback_fun_t codeobj;
} rocprofiler_hsa_callbacks_t;

hsa_status_t rocprofiler_set_hsa_callbacks(const rocprofiler_hsa_callbacks_t callbacks, void *arg);

#ifdef __cplusplus
}
#endif

#endif
