/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "bus.h"
#include "futex.h"
#include "hash.h"
#include "thread.h"

/* Longest wait for the lock: its holder may be in the loader. */
#define LOCK_MS 1000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool loaded_lock(void)
{
	const struct timespec until = deadline_in(CLOCK_REALTIME, LOCK_MS);

	return !pthread_mutex_timedlock(&lock, &until);
}

void loaded_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void loaded_reopen(bool held)
{
	if (held)
		pthread_mutex_unlock(&lock);
	else
		pthread_mutex_init(&lock, NULL);
}

struct module_search {
	uintptr_t address;
	struct module *out;
};

/* Hash of the GNU build id among the notes of a segment; 0 if there is none. */
static uint64_t build_id_in(const char *notes, size_t size)
{
	size_t at = 0;

	while (at + sizeof(ElfW(Nhdr)) <= size) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		size_t name = at + sizeof(*note), desc = name + ((note->n_namesz + 3u) & ~3u);

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4))
			return hash_finish(hash_bytes(0, notes + desc, note->n_descsz));
		at = desc + ((note->n_descsz + 3u) & ~3u);
	}
	return 0;
}

static int match_module(struct dl_phdr_info *info, size_t size, void *user)
{
	struct module_search *search = user;
	bool inside = false;
	uint64_t id = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && search->address - at < ph->p_memsz)
			inside = true;
		if (ph->p_type == PT_NOTE && !id)
			id = build_id_in((const char *)at, ph->p_memsz);
	}
	if (!inside)
		return 0;
	search->out->path =
		info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "(main program)";
	search->out->build_id =
		id ? id : hash_finish(hash_bytes(0, search->out->path, strlen(search->out->path)));
	search->out->offset = search->address - info->dlpi_addr;
	return 1;
}

struct module loaded_module(const void *code)
{
	struct module module = {0, 0, ""};
	struct module_search search = {(uintptr_t)code, &module};
	bool locked;

	if (!code)
		return module;
	bus_note_begin();
	thread_locked++;
	locked = loaded_lock();
	if (!dl_iterate_phdr(match_module, &search))
		module.offset = (uintptr_t)code; /* generated code: no better name for it */
	if (locked)
		loaded_unlock();
	thread_locked--;
	return module;
}
