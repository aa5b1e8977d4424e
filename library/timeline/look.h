/* SPDX-License-Identifier: MIT */
/* look.h: what is at the path of a timeline: whether it may be replaced, or continued. Any thread.
 */
#ifndef RTL_TIMELINE_LOOK_H
#define RTL_TIMELINE_LOOK_H

#include "timeline.h"

enum look {
	LOOK_NOTHING,
	LOOK_OLD,        /**< a timeline of rtl's, complete, or an empty file */
	LOOK_UNFINISHED, /**< one whose writer has died */
	LOOK_SESSION,    /**< one of this session */
	LOOK_LIVE,       /**< one that somebody is writing */
	LOOK_FOREIGN,    /**< something else: hands off */
};

/** `session`: of this run; NULL or "": none. `state`: what is beside it, or NULL. */
enum look timeline_look(const char *path, enum timeline_format format, const char *session,
			struct state *state);

#endif
