/* SPDX-License-Identifier: MIT */
/*
 * A framework as libsycl and the loader of Unified Runtime find it: the library that
 * XPTI_FRAMEWORK_DISPATCHER names, loaded lazily and privately, of which all names are looked up;
 * where one is missing, it is closed and there is no framework. C and C++.
 */
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "xpti/xpti.h"

/* clang-format off */
#define PROXY_NAMES(X)                                                                                       \
	X(FrameworkInitialize)                                                                               \
	X(FrameworkFinalize) X(Initialize) X(Finalize) X(GetUniqueId) X(GetUniversalId) X(                   \
		SetUniversalId) X(StashTuple) X(GetStashedTuple) X(UnstashTuple) X(RegisterString)           \
		X(LookupString) X(RegisterObject) X(LookupObject) X(RegisterPayload) X(                      \
			QueryPayload) X(QueryPayloadByUID) X(LookupPayload) X(LookupEvent) X(MakeEvent)      \
			X(FindEvent) X(ReleaseEvent) X(CreateTracepoint) X(DeleteTracepoint) X(              \
				RegisterTracepointScope) X(GetTracepointScopeData) X(SetTracepointScopeData) \
				X(UnsetTracepointScopeData) X(EnableTracepointScopeNotification) X(          \
					CheckTracepointScopeNotification) X(GetDefaultStreamID)              \
					X(SetDefaultStreamID) X(GetDefaultEventType) X(                      \
						SetDefaultEventType) X(GetDefaultTraceType)                  \
						X(SetDefaultTraceType) X(RegisterStream) X(                  \
							UnregisterStream) X(RegisterUserDefinedTracePoint)   \
							X(RegisterUserDefinedEventType) X(                   \
								RegisterCallback) X(UnregisterCallback)      \
								X(NotifySubscribers) X(                      \
									AddMetadata) X(QueryMetadata)        \
									X(TraceEnabled) X(                   \
										CheckTraceEnabled)           \
										X(ForceSetTraceEnabled)
/* clang-format on */

struct proxy {
#define PROXY_MEMBER(name) __typeof__(&xpti##name) name;
	PROXY_NAMES(PROXY_MEMBER)
};

/* Whether there is a framework. */
static inline bool proxy_open(struct proxy *proxy)
{
	const char *path = getenv("XPTI_FRAMEWORK_DISPATCHER");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	bool all = library != NULL;

#define PROXY_TAKE(name)                                                                           \
	{                                                                                          \
		void *symbol = library ? dlsym(library, "xpti" #name) : NULL;                      \
		all = all && symbol;                                                               \
		memcpy((void *)&proxy->name, &symbol, sizeof(symbol));                             \
	}
	PROXY_NAMES(PROXY_TAKE)
	if (library && !all)
		dlclose(library);
	return all;
}
