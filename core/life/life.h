/* SPDX-License-Identifier: MIT */
/* What the parts of this room offer each other: each is the file of its name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bus_settings;
struct host;

/* ---- start: the bus starts on the thread that registers the first stream, or makes a forked child's first event. */

/* Starts the bus if it was not yet, or again in a child. Any thread, no lock held. */
int start_bus(void);
/* The lock held meanwhile; recursive, as a subscriber's create may register a stream. False: timeout. */
bool start_lock(uint32_t timeout_ms);
void start_unlock(void);
/* Ends a process that RTL_STRICT does not let start. */
__attribute__((noreturn)) void start_refuse(void);
/* In a child: the thread that was starting the bus, and the bus's own, are not here. */
void start_forget(void);

/* ---- own_process: publishers and the host in one process: each is given what it needs of the other. */

/* This process as a source of events: adds it to the host. */
int own_process_add(struct host *host);

/* ---- settings: the RTL_ variables of the environment that concern the bus. */

/* Reads them; an invalid one is logged and its default used, or with RTL_STRICT the process ends. */
void settings_read(struct bus_settings *settings);

/* ---- fork: nobody is in the middle of the bus, and the child keeps only its parent's registries. A signal handler
 * that has interrupted rtl may fork a child that ends or execs, without a wait for what its thread holds. */

/* Prepares for forks before all handlers registered until now. At the first start; a constructor's handlers serve
 * until then. */
void fork_watch(void);

/* ---- consumer: the bus's own thread, `rtl-bus`, which delivers to the subscribers in this process. */

/* Starts it; RTL_ELIMIT, which has been said. While the bus starts. */
int consumer_start(void);
/* Drains all and finishes the subscribers; waits as long as it gets on, and RTL_EXIT_TIMEOUT longer. False: it
 * does not end, and may still use all. */
bool consumer_end(void);
/* How far it was, and when. */
struct patience {
	uint64_t progress, since_ns;
};
/* Whether it has got ahead within RTL_EXIT_TIMEOUT; `patience` begins with zeros. */
bool consumer_gets_ahead(struct patience *patience);
/* In a child: it is not here. */
void consumer_forget(void);

/* ---- pausing (consumer.c): `rtl start` and `rtl stop` for a process that drains itself write to the page in the
 * folder of RTL_CONTROL (format/folder.h). Threads: pause_join, pause_leave under the start lock; pause_is_on the
 * consumer's. */

/* Says why a page cannot be had: then nothing is recorded, as nobody could start it. */
void pause_join(void);
/* In a child after fork: forget it. */
void pause_leave(void);
/* Whether nothing is wanted for now. */
bool pause_is_on(void);

/* ---- finish: the end of the process, as far as it is one in order. */

/* Calls what rtl_at_finish has been given; afterwards the bus counts as finished. */
void finish_call(void);

/* ---- termination: a process that drains itself and is ended by SIGINT, SIGTERM, SIGHUP or SIGQUIT leaves complete
 * outputs. If the program has left a signal's default action, our handler waits until the consumer has finished the
 * subscribers, and then does it. A second signal, or some seconds without an end, do so at once. Threads: any. */

/* Takes the signals whose action is the default one. Once in a process, not after a fork. */
void termination_init(void);
/* Whether one has come; the consumer's. */
bool termination_requested(void);
/* The outputs are complete. */
void termination_done(void);
