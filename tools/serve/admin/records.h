#ifndef TOOLS_SERVE_ADMIN_RECORDS_H
#define TOOLS_SERVE_ADMIN_RECORDS_H

#include "tools/serve/admin/admin_call.h"

/*
 * What is kept of instances, clusters and app profiles (method/attributes.h).
 * Changes exclude one another by records_lock, from what they look at first to
 * what they write last.
 */
enum record_kind { RECORD_INSTANCE, RECORD_CLUSTER, RECORD_PROFILE };

struct record {
	enum record_kind kind;
	struct bytes instance, id; /* no id of an instance */
	void *message; /* the arena's, to be written or as it was read */
};

void records_lock(void);
void records_unlock(void);

/* Rules of ids: 0 or -ERR_bad_argument. */
int record_check_instance(struct bytes id);
int record_check_id(enum record_kind kind, struct bytes id);

/* Fills message: 1, 0 if there is no such record, or an error. */
int record_read(struct admin_call *a, struct record *r);

/* Writes records, or removes those without a message, all or none, and tells
 * who has to hear of it. */
int records_write(struct admin_call *a, const struct record *records,
		  size_t count);

/* As records_write, if the first is not there yet: by is_default it is in any
 * case. -ERR_table_exists. */
int records_create(struct admin_call *a, const struct record *records,
		   size_t count, bool is_default);

/* Removes r, which was read; without a message it is what every instance has,
 * and stays: -EPERM. */
int record_remove(struct admin_call *a, const struct record *r);

/* All of a kind, of an instance or of all if that is empty, in the order of
 * their names: *out is the arena's. */
int records_list(struct admin_call *a, enum record_kind kind,
		 struct bytes instance, struct record **out, size_t *count);

/* -ERR_no_table or -ERR_table_exists, the codes that stand for NOT_FOUND and
 * ALREADY_EXISTS, with the sentence. */
int record_missing(const struct record *r);
int record_exists(const struct record *r);

/* -EPERM, FAILED_PRECONDITION: it was never made, and nobody removes it. */
int record_stays(const struct record *r);

#endif
