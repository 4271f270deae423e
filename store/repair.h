#ifndef STORE_REPAIR_H
#define STORE_REPAIR_H

#include "store/base/volume/volume.h"

/*
 * Repair: makes a new store of all that can be read of a damaged one, which is
 * left as it is; nobody may have it open for writing. Files that are whole are
 * linked where that is possible, others copied or rewritten without what is
 * lost.
 */
struct repair_result {
	uint64_t linked_count, copied_count; /* files */
	uint64_t rewritten_count;            /* ssts and logs */
	uint64_t left_count;                 /* files that were left out */
	uint64_t lost_count;                 /* what was told of */
};

/*
 * tell is given a sentence about each loss. 0 however little was left; -EEXIST,
 * -ERR_store_in_use, -ERR_not_a_store if there is nothing of one,
 * -ERR_check_failed. The new store is TO.partial/store until it is whole; a
 * failure leaves nothing of it, unless it is that of the check.
 */
int store_repair(const char *directory, const char *to,
		 void (*tell)(void *context, const char *text), void *context,
		 struct repair_result *result);

/* store_repair from one volume to another, which is empty; to passes to it and
 * is closed in every case. */
int store_repair_volume(struct volume *from, struct volume *to,
			void (*tell)(void *context, const char *text),
			void *context, struct repair_result *result);

#endif
