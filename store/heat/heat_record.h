#ifndef STORE_HEAT_HEAT_RECORD_H
#define STORE_HEAT_HEAT_RECORD_H

#include "store/base/buf.h"
#include "store/heat.h"

/*
 * The bytes of the heat's history, as store/README.md has them: a header, then
 * records, each under a checksum. Fences of a table stand before the buckets
 * that go by them. Pure functions; those that read trust nothing.
 */
#define HEAT_FENCES 256
#define HEAT_FENCE_SIZE 47 /* bytes of one, without the shared prefix */
#define HEAT_PREFIX_MAX 4096
#define HEAT_HEADER_SIZE 16
#define HEAT_BUCKET_MAX 900               /* seconds of a bucket */
#define HEAT_TIME_MAX (UINT64_C(1) << 40) /* seconds since 1970 */

/* How a table's row keys are parted. */
struct heat_fences {
	uint32_t table;
	size_t count;                     /* at least 1 */
	struct bytes prefix;              /* before each fence but the first */
	struct bytes fences[HEAT_FENCES]; /* ascending; the first is empty and
					     stands for no bound */
};

/* What came to each range in some time. */
struct heat_bucket {
	uint32_t table;
	uint64_t start_s; /* since 1970 */
	uint32_t seconds; /* 1 to HEAT_BUCKET_MAX */
	size_t count;     /* of ranges */
	uint64_t values[HEAT_METRICS][HEAT_FENCES];
};

enum heat_record_kind {
	HEAT_RECORD_FENCES = 1,
	HEAT_RECORD_BUCKET = 2,
	HEAT_RECORD_EDITS = 3, /* of the fences before them */
};

/* A record that was read. */
struct heat_record {
	enum heat_record_kind kind;
	uint32_t table;
	union {
		struct heat_fences fences;
		struct heat_bucket bucket;
		struct bytes edits;
	};
	uint8_t memory[HEAT_FENCES * HEAT_FENCE_SIZE]; /* of fences */
};

/* Each appends to out. 0, or -ENOMEM, after which a part may be there. */
int heat_add_header(struct buf *out);
int heat_add_fences(struct buf *out, const struct heat_fences *f);
int heat_add_bucket(struct buf *out, const struct heat_bucket *b);

/* As the others; edits are such as heat_put_edit has made one after another. */
int heat_add_edits(struct buf *out, uint32_t table, struct bytes edits);

/* Writes to p, which has room for HEAT_EDIT_SIZE bytes, that the fence at index
 * comes to be there, or if it is NULL, goes: the end. */
#define HEAT_EDIT_SIZE (2 + 1 + HEAT_FENCE_SIZE)
uint8_t *heat_put_edit(uint8_t *p, size_t index, const struct bytes *fence);

/* Sets out to a record of the fences that edits make of old: 0, or
 * -ERR_heat_damaged if they cannot be. */
int heat_apply_edits(const struct heat_fences *old, struct bytes edits,
		     struct heat_record *out);

/* Takes the header off the front: 0 or -ERR_heat_damaged; -ERR_format_newer if
 * it is of a version that is not known. */
int heat_take_header(struct bytes *in);

/* Takes the next record: 1, 0 at the end, or -ERR_heat_damaged, and *in is as
 * it was. Bytes in *out are borrowed from in's and from *out. */
int heat_take_record(struct bytes *in, struct heat_record *out);

/* Whether the bucket can go by these fences. */
bool heat_fits(const struct heat_fences *f, const struct heat_bucket *b);

/* A count in eight bits, and about the count that it was. */
uint8_t heat_code(uint64_t n);
uint64_t heat_value(uint8_t code);

#endif
