#ifndef STORE_BASE_RADOS_OBJECT_POOL_REGISTRY_H
#define STORE_BASE_RADOS_OBJECT_POOL_REGISTRY_H

#include "store/base/rados/object/pool_volume.h"

/*
 * The registry: which files there are, in the omap of the root. A key is a
 * file's name, its value a line
 *
 *   segment NONCE SIZE      finished
 *   log NONCE               grows: as long as its parts are
 *   final NONCE SIZE        a log that grows no more
 *
 * or, what is to be removed, "~NONCE FILE" with
 *
 *   garbage NONCE PARTS     so many parts, or all that there are: 0
 *
 * which is a segment that is not finished as well: whoever takes the lease
 * removes it. A part is the object FILE.NONCE.PART.
 */
enum pool_state {
	POOL_SEGMENT,
	POOL_LOG,
	POOL_FINAL,
	POOL_GARBAGE,
};

/* Bytes of a part. */
#define POOL_SEGMENT_PART (UINT64_C(4) << 20)
#define POOL_LOG_PART (UINT64_C(16) << 20)

struct pool_entry {
	enum pool_state state;
	uint64_t nonce;
	uint64_t size; /* of garbage its parts */
};

/* A value and a NUL; a key and a NUL; the name of a part and a NUL. */
#define POOL_VALUE_SIZE 64
#define POOL_KEY_SIZE (VOLUME_NAME_MAX + 24)
#define POOL_PART_NAME_SIZE (VOLUME_NAME_MAX + 48)

void pool_value(const struct pool_entry *e, char *value);
bool pool_value_parse(struct bytes value, struct pool_entry *out);
void pool_garbage_key(const char *name, uint64_t nonce, char *key);
void pool_part_name(const char *name, uint64_t nonce, uint64_t part, char *oid);

static inline uint64_t pool_part_size(enum pool_state state)
{
	return state == POOL_SEGMENT ? POOL_SEGMENT_PART : POOL_LOG_PART;
}

/* A nonce that no other file has. 0 or an error. */
int pool_nonce(uint64_t *out);

/* 0, or -EINVAL of what is no name of a file. */
int pool_check_name(const struct pool_volume *v, const char *name);

/* pool_guard and pool_check_name. */
int pool_check_change(const struct pool_volume *v, const char *name);

/* The entry of a file: -ENOENT if there is none. */
int pool_find(struct pool_volume *v, const char *name, struct pool_entry *out);

/* Calls each with every entry, in the order of keys; a negative result ends it
 * and is returned. */
int pool_each(struct pool_volume *v,
	      int (*each)(void *context, const char *key,
			  const struct pool_entry *e),
	      void *context);

/*
 * These change the registry, as long as v has the lease: 0, -ERR_store_lost, or
 * another error, told.
 *
 * What name has becomes to; -EEXIST if it has not from, of which NULL is
 * nothing. */
int pool_register(struct pool_volume *v, const char *name,
		  const struct pool_entry *from, const struct pool_entry *to);

/* A segment on its way: its parts are garbage, until it is registered. */
int pool_begin(struct pool_volume *v, const char *name, uint64_t nonce);
/* name is the segment of this entry, and its parts are garbage no more. -EEXIST
 * if there is something of this name. */
int pool_finish(struct pool_volume *v, const char *name,
		const struct pool_entry *e);
/* What e, the entry of name, refers to is garbage, and the name is free. */
int pool_discard(struct pool_volume *v, const char *name,
		 const struct pool_entry *e);
/* Garbage is gone. */
int pool_forget(struct pool_volume *v, const char *key);

#endif
