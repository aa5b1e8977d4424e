/* SPDX-License-Identifier: MIT */
/*
 * Ends without a word: _exit, _Exit, quick_exit and the exec functions run nothing of ours that is
 * called when a process ends. So where this library is preloaded it stands before these
 * (quick_exit: everywhere), and has the harvester publish first what has finished. Where
 * subscribers run in the process, their outputs are finished, too; but not before an exec, whose
 * program goes on as before if it fails.
 *
 * Threads: any; also a signal handler, and the child of a vfork or fork, where nothing is done.
 */
#ifndef STREAMS_HSA_ENDS_H
#define STREAMS_HSA_ENDS_H

/* Once in a process: for quick_exit. */
void ends_init(void);

#endif
