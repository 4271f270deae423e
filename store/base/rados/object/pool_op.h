#ifndef STORE_BASE_RADOS_OBJECT_POOL_OP_H
#define STORE_BASE_RADOS_OBJECT_POOL_OP_H

#include "store/base/rados/object/pool_volume.h"

/*
 * Single operations on objects. An operation on one object is atomic, whatever
 * it consists of; a condition in it that does not hold is -ECANCELED, and
 * nothing has changed. librados sends it again until it is answered, so
 * -ECANCELED and -EEXIST may be of what it has done before: who gets them looks
 * whether what it wanted is there.
 */

/* By a clock that also goes while the machine sleeps. */
uint64_t pool_now_ms(void);

/* text has POOL_NUMBER_SIZE bytes. */
void pool_number(uint64_t number, char *text);

/* Runs op on an object and ends it: 0 or the raw error. It waits for the
 * cluster as long as it takes. flags are LIBRADOS_OPERATION_*. */
int pool_write(struct pool_volume *v, rados_write_op_t op, const char *oid,
	       int flags);

/* A read under way: it stays where it is from begin to end. */
struct pool_call {
	rados_read_op_t op;
	rados_completion_t completion;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended; /* protected by lock */
};

/* Begins op on an object. 0, or the raw error, and op has ended. */
int pool_call_begin(struct pool_volume *v, rados_read_op_t op, const char *oid,
		    struct pool_call *call);
/* Whether pool_call_end will not wait. */
bool pool_call_has_ended(struct pool_call *call);
/* Waits for its end and ends op: 0 or the raw error, -ETIMEDOUT after
 * POOL_PATIENCE_MS or, with give_up, at once. Its memory is the caller's again
 * in each case. */
int pool_call_end(struct pool_volume *v, struct pool_call *call, bool give_up);

/* Both at once. */
int pool_read(struct pool_volume *v, rados_read_op_t op, const char *oid);

/* A new operation on the root that only has an effect while the fence is v's,
 * if v ever had the lease. */
rados_write_op_t pool_guarded(struct pool_volume *v);

/* Runs one of pool_guarded, even if the pool is full: 0, -ERR_store_lost, or
 * the raw error; -ECANCELED is of another condition then. */
int pool_change_root(struct pool_volume *v, rados_write_op_t op);

/* The value of an xattr, at most size - 1 bytes and a NUL: 0 or the raw
 * error. */
int pool_xattr(struct pool_volume *v, const char *oid, const char *name,
	       char *value, size_t size);

/* The size of an object: 0 or the raw error. */
int pool_size(struct pool_volume *v, const char *oid, uint64_t *size);

/* Bytes of an object into a buffer: how many were there, or the raw error. */
ssize_t pool_bytes(struct pool_volume *v, const char *oid, uint64_t offset,
		   void *data, size_t size);

/* Writes v's fence to an object, for others to be refused: 0; -ENOENT; or
 * -ECANCELED if a greater one is there. */
int pool_stamp(struct pool_volume *v, const char *oid);

/* Records why err happened to what, such as "cannot read", of a file, "" for
 * the store: the error as volume.h has it. */
int pool_fail(const struct pool_volume *v, const char *name, int err,
	      const char *what);

/* 0, or -ERR_store_lost if it is known that v had the lease and has it no
 * more. */
int pool_guard(const struct pool_volume *v);

/* Looks whether the fence is v's still: 0, -ERR_store_lost, of which who holds
 * v is told once, or another error. */
int pool_check_fence(struct pool_volume *v);

#endif
