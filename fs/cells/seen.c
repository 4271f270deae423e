#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/seen.h"

/*
 * The names lie one after the other in one buffer: table, row, and of each
 * column its family and qualifier. Only their sizes are kept beside it, so that
 * beginning anew costs no allocation, and each look walks from the start.
 */
#define COLUMNS_MAX 32

struct column {
	size_t family_size, qualifier_size;
	struct cell_info info;
};

struct seen {
	pthread_mutex_t lock; /* guards what follows; only ever tried */
	uint64_t seq;         /* the last write that was seen; 0: nothing is
				 known */
	struct buf names;     /* table, row, and those of the columns */
	size_t table_size, row_size;
	struct column columns[COLUMNS_MAX]; /* in the order of the scan */
	size_t count;                       /* of columns */
	bool fits; /* what was added so far; else it is not all */
	/* The row is missing, if it is known. Also read without the lock: who
	 * asks for rows that are there pays for no more. */
	_Atomic bool is_missing;
	/* Of the cell that was missing: its path's parts, one after the other,
	 * and when. */
	struct buf none;
	size_t none_sizes[3]; /* of table, row and family */
	uint64_t none_seq;    /* 0: nothing is known */
};

int seen_new(struct seen **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? -pthread_mutex_init(&(*out)->lock, NULL) : -ENOMEM;
}

void seen_free(struct seen *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	buf_release(&s->names);
	buf_release(&s->none);
	free(s);
}

/* Without memory it does not fit. */
static void add_name(struct seen *s, struct bytes name)
{
	if (buf_add_bytes(&s->names, name))
		s->fits = false;
}

bool seen_begin(struct seen *s, const struct path *path)
{
	if (pthread_mutex_trylock(&s->lock))
		return false;
	/* Nothing is known before it ends. */
	s->seq = 0;
	s->count = 0;
	s->is_missing = false;
	s->fits = true;
	buf_reset(&s->names);
	add_name(s, path->table);
	add_name(s, path->row);
	s->table_size = path->table.size;
	s->row_size = path->row.size;
	return true;
}

void seen_add(struct seen *s, const struct cell *cell,
	      const struct cell_info *info)
{
	assert(s->seq == 0 && s->count <= COLUMNS_MAX);
	if (s->count == COLUMNS_MAX)
		s->fits = false;
	if (!s->fits)
		return;
	add_name(s, cell->family);
	add_name(s, cell->qualifier);
	s->columns[s->count++] = (struct column){ cell->family.size,
						  cell->qualifier.size, *info };
}

void seen_end(struct seen *s, uint64_t seq)
{
	assert(s->seq == 0);
	if (s->fits)
		s->seq = seq;
	s->is_missing = s->seq > 0 && s->count == 0;
	pthread_mutex_unlock(&s->lock);
}

/* The first part of *names, which has this size and leaves it. */
static struct bytes take(struct bytes *names, size_t size)
{
	struct bytes name = bytes_of(names->data, size);

	assert(size <= names->size);
	*names = bytes_after(*names, size);
	return name;
}

/* Whether path leads into the row, if nothing was written after seq; *names are
 * those of its columns then. */
static bool is_row(const struct seen *s, const struct path *path, uint64_t seq,
		   struct bytes *names)
{
	*names = buf_bytes(&s->names);
	return s->seq == seq && seq > 0 &&
	       bytes_equal(take(names, s->table_size), path->table) &&
	       bytes_equal(take(names, s->row_size), path->row);
}

void seen_none(struct seen *s, const struct path *path, uint64_t seq)
{
	if (pthread_mutex_trylock(&s->lock))
		return;
	s->none_seq = 0;
	s->none_sizes[0] = path->table.size;
	s->none_sizes[1] = path->row.size;
	s->none_sizes[2] = path->family.size;
	if (!buf_set(&s->none, path->table) &&
	    !buf_add_bytes(&s->none, path->row) &&
	    !buf_add_bytes(&s->none, path->family) &&
	    !buf_add_bytes(&s->none, path->qualifier))
		s->none_seq = seq;
	pthread_mutex_unlock(&s->lock);
}

/* Whether path is that of the cell that was missing, if nothing was written
 * after seq. */
static bool is_none(const struct seen *s, const struct path *path, uint64_t seq)
{
	struct bytes names = buf_bytes(&s->none);

	return s->none_seq == seq && seq > 0 &&
	       bytes_equal(take(&names, s->none_sizes[0]), path->table) &&
	       bytes_equal(take(&names, s->none_sizes[1]), path->row) &&
	       bytes_equal(take(&names, s->none_sizes[2]), path->family) &&
	       bytes_equal(names, path->qualifier);
}

/* As seen_find, of a row that is known; names are those of its columns. All are
 * looked at, as a family's newest column may be any. */
static int find(const struct seen *s, struct bytes names,
		const struct path *path, enum node_kind kind,
		struct cell_info *info)
{
	int found = 0;
	size_t i;

	for (i = 0; i < s->count; i++) {
		const struct column *c = &s->columns[i];
		struct bytes family = take(&names, c->family_size);
		struct bytes qualifier = take(&names, c->qualifier_size);

		if (!bytes_equal(family, path->family) ||
		    (kind == NODE_CELL &&
		     !bytes_equal(qualifier, path->qualifier)))
			continue;
		/* The first of a family, but as new as its newest. */
		if (!found)
			*info = c->info;
		if (c->info.timestamp_us > info->timestamp_us)
			info->timestamp_us = c->info.timestamp_us;
		found = 1;
	}
	return found;
}

int seen_find(struct seen *s, const struct path *path, enum node_kind kind,
	      uint64_t seq, struct cell_info *info)
{
	struct bytes names;
	int found = -1;

	assert(kind >= NODE_ROW && kind <= NODE_CELL);
	if ((kind == NODE_ROW && !s->is_missing) ||
	    pthread_mutex_trylock(&s->lock))
		return -1;
	if (is_row(s, path, seq, &names))
		found = find(s, names, path, kind, info);
	else if (kind == NODE_CELL && is_none(s, path, seq))
		found = 0;
	pthread_mutex_unlock(&s->lock);
	return found;
}

int seen_add_names(struct seen *s, const struct path *path, enum node_kind kind,
		   uint64_t seq, struct names *out)
{
	struct bytes names;
	size_t i;
	int err = 0, known;

	assert(kind == NODE_ROW || kind == NODE_FAMILY);
	if (pthread_mutex_trylock(&s->lock))
		return 0;
	known = is_row(s, path, seq, &names);
	for (i = 0; known && i < s->count && !err; i++) {
		const struct column *c = &s->columns[i];
		struct bytes family = take(&names, c->family_size);
		struct bytes qualifier = take(&names, c->qualifier_size);

		if (kind == NODE_ROW)
			err = names_add(out, family);
		else if (bytes_equal(family, path->family))
			err = names_add(out, qualifier);
	}
	pthread_mutex_unlock(&s->lock);
	return err ? err : known;
}
