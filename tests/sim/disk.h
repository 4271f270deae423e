#ifndef TESTS_SIM_DISK_H
#define TESTS_SIM_DISK_H

#include <stddef.h>

#include "tests/sim/rng.h"

/*
 * What the kernel promises of files, and no more: the system calls that
 * volume_posix makes go through here, by the linker's --wrap, and may fail, be
 * interrupted or do less than was asked; and of one directory it is known what
 * of it a power cut might leave. Only main_posix is linked so. One thread.
 *
 * Of a file survives what was synced, and anything of the rest; of a directory
 * what was when it was synced, and any of the changes made since, in or out of
 * order: names made, removed, renamed.
 */
enum disk_fault {
	DISK_ERROR,       /* fails with the error */
	DISK_INTERRUPTED, /* fails with EINTR */
	DISK_SHORT,       /* reads or writes half of what was asked */
};

/* Begins to watch this directory, which is empty. */
void disk_watch(const char *directory);
/* Forgets all. */
void disk_reset(void);
/* Files that are open. */
size_t disk_open_count(void);

/* The n-th call from now on that can fail like this (1: the next) does, and
 * with forever all after it. n 0 ends it. */
void disk_fail(uint64_t n, enum disk_fault fault, int error, bool forever);
/* Whether it has happened. */
bool disk_failed(void);

/* Calls hook before and after each change; not while it runs. */
void disk_hook(void (*hook)(void *context), void *context);
/* Writes into another directory, which is empty, what a power cut at this
 * moment might leave. */
void disk_crash(struct rng *rng, const char *directory);

#endif
