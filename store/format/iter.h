#ifndef STORE_FORMAT_ITER_H
#define STORE_FORMAT_ITER_H

#include "store/aggregate.h"

/*
 * An iterator over encoded keys in memcmp order: of a memtable, an sst, or what
 * merges several. seek, next, skip and before return 1 at an entry, 0 at the
 * end, negative on error; after an error only close is allowed. key and value
 * stay valid until the next call on the same iterator. After before, only seek,
 * before and close are allowed; before the first seek or before, no step is.
 * One thread uses an iterator at a time; it holds what it reads from.
 */
struct iter;

struct iter_ops {
	int (*seek)(struct iter *it, struct bytes key); /* first >= key */
	int (*next)(struct iter *it);                   /* from an entry */
	/* First entry >= key, where key lies past the current row and the
	 * iterator is at an entry. Optional: NULL means seek. */
	int (*skip)(struct iter *it, struct bytes key);
	int (*before)(struct iter *it, struct bytes key); /* last < key */
	/* Before the first step: entries with a smaller timestamp may be left
	 * out from now on. Optional. */
	void (*since)(struct iter *it, uint64_t timestamp_us);
	/* See iter_merge. Optional. */
	int (*merge)(struct iter *it, uint64_t floor_seq, struct aggregate *to);
	void (*close)(struct iter *it);
};

/* Embed as the first member of the real iterator. */
struct iter {
	const struct iter_ops *ops;
	struct bytes key; /* encoded, see key.h; good only at an entry */
	struct bytes value;
};

static inline int iter_seek(struct iter *it, struct bytes key)
{
	return it->ops->seek(it, key);
}

static inline int iter_next(struct iter *it)
{
	return it->ops->next(it);
}

static inline int iter_skip(struct iter *it, struct bytes key)
{
	return it->ops->skip ? it->ops->skip(it, key) : it->ops->seek(it, key);
}

static inline int iter_before(struct iter *it, struct bytes key)
{
	return it->ops->before(it, key);
}

static inline void iter_since(struct iter *it, uint64_t timestamp_us)
{
	if (it->ops->since)
		it->ops->since(it, timestamp_us);
}

/*
 * From an entry that is a merge (KEY_MERGE), adds its value to to, maybe with
 * those of the merges right behind it of the same version, if these are not
 * older than floor_seq and whoever sees the entry sees them; and goes to the
 * entry behind what was added. As next, or -ENOMEM.
 */
static inline int iter_merge(struct iter *it, uint64_t floor_seq,
			     struct aggregate *to)
{
	int err;

	if (it->ops->merge)
		return it->ops->merge(it, floor_seq, to);
	err = aggregate_add(to, it->value);
	return err < 0 ? err : iter_next(it);
}

/* NULL is allowed. */
static inline void iter_close(struct iter *it)
{
	if (it)
		it->ops->close(it);
}

#endif
