/* SPDX-License-Identifier: MIT */
/* What the parts of this room offer each other: each is the file of its name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bus_settings;
struct host;

/* ---- start: the start of the bus: on the thread that registers the first stream, or makes the first event in
 * a child made by fork. */

/* Starts the bus if it was not yet, or again in a child. Any thread, no lock held. */
int start_bus(void);
/* The lock that is held meanwhile; recursive: a subscriber's create may register a stream. False:
 * it was not to be had so fast. */
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

/* Reads them; an invalid one is logged, and its default is used, or with
 * RTL_STRICT the process ends. */
void settings_read(struct bus_settings *settings);

/* ---- fork: what becomes of the bus when the process forks: nobody is in the middle of it, and the child
 * takes nothing of its parent's but the registries. A signal handler that has interrupted rtl may
 * fork for a child that ends or execs; it does not wait for what its own thread holds. */

/* From now on forks are prepared for before all that was registered for them until now. At the
 * first start; children inherit it. Until then a constructor's handlers do the same. */
void fork_watch(void);

/* ---- consumer: the bus's own thread, `rtl-bus`, which delivers to the subscribers in this process. */

/* Starts it; RTL_ELIMIT, which has been said. While the bus starts. */
int consumer_start(void);
/* Has it drain all and finish the subscribers, and waits for it as long as it gets on, and
 * RTL_EXIT_TIMEOUT longer. False: it does not end, and may still use all. */
bool consumer_end(void);
/* How far it was, and when. */
struct patience {
	uint64_t progress, since_ns;
};
/* Whether it has got ahead within RTL_EXIT_TIMEOUT; `patience` begins with zeros. */
bool consumer_gets_ahead(struct patience *patience);
/* In a child: it is not here. */
void consumer_forget(void);

/* ---- pausing (consumer.c): `rtl start` and `rtl stop` for a process that drains itself: RTL_CONTROL names the
 * folder of a page in which they write whether it records (format/folder.h). Without it, it does.
 *
 * Threads: pause_join and pause_leave under the start lock, pause_is_on the consumer's. */

/* A page that cannot be had is said: nothing is recorded then, as nobody could start it. */
void pause_join(void);
/* In a child after fork: forget it. */
void pause_leave(void);
/* Whether nothing is wanted for now. */
bool pause_is_on(void);

/* ---- finish: the end of the process, as far as it is one in order. */

/* Calls what rtl_at_finish has been given; afterwards the bus counts as finished. */
void finish_call(void);

/* ---- termination: a process that drains itself and is ended by SIGINT, SIGTERM, SIGHUP or SIGQUIT leaves complete
 * outputs. Only where the program has not decided about the signal itself: a handler of ours stands
 * in for the default action, waits until the consumer has finished the subscribers, and then lets
 * the signal do what it does. A second signal, or some seconds without an end, do so at once.
 *
 * Threads: the handler runs on any; the consumer asks termination_signal and says when it is done. */

/* Takes the signals whose action is the default one. Once in a process, not after a fork. */
void termination_init(void);
/* Whether one has come; the consumer's. */
bool termination_requested(void);
/* The outputs are complete. */
void termination_done(void);
