#ifndef FS_KERNEL_HEAP_H
#define FS_KERNEL_HEAP_H

#include "store/store.h"

/*
 * The process' heap and descriptors, as a mount needs them: what was freed goes
 * back to the system, and what is spilled has files.
 */

/* For the process, before it has threads or much memory. */
void heap_init(void);

/* From now on, a second or two after much of what s counts was given back, the
 * heap's pages that hold nothing go back to the system. Without memory or a
 * thread for that they stay. heap_unwatch ends it, before s is closed; NULL is
 * allowed. */
struct heap_watch;
struct heap_watch *heap_watch(struct store *s);
void heap_unwatch(struct heap_watch *w);

#endif
