#ifndef STORE_BASE_RADOS_POOL_LOG_H
#define STORE_BASE_RADOS_POOL_LOG_H

#include "store/base/rados/object/pool_registry.h"

/*
 * Logs. What is appended is sent at once while nothing is under way, else with
 * what comes next, or by the next sync; so many appends become few writes, and
 * several syncs are under way at once.
 */

/* These are operations of the volume, see volume.h. */
int pool_log_create(struct volume *volume, const char *name, struct log **out);
int pool_log_from_spare(struct volume *volume, const char *name, uint64_t size,
			struct log **out);
int pool_log_append(struct log *log, struct bytes data);
int pool_log_sync(struct log *log);
int pool_log_hold(struct log *log, uint64_t size);
void pool_log_close(struct log *log);
int pool_log_keep(struct volume *volume, const char *name);

/* Sends what this volume's open log of this name, or with NULL all of them, was
 * handed, and waits for it, as far as it goes. */
void pool_log_settle(struct pool_volume *v, const char *name);

/* The bytes of a log that grows: 0 or an error. */
int pool_log_size(struct pool_volume *v, const char *name, uint64_t nonce,
		  uint64_t *size);

/* Ends a log that a former holder began: nothing it sends from then on has an
 * effect, and *size is final. For who takes the lease. */
int pool_log_seal(struct pool_volume *v, const char *name, uint64_t nonce,
		  uint64_t *size);

#endif
