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

/* As seen_find, of a row that is known; names are those of its columns. All are
 * looked at, as a family's newest column may be any. */
static int find(const struct seen *s, struct bytes names,
		const struct path *path, bool is_cell, struct cell_info *info)
{
	int found = 0;
	size_t i;

	for (i = 0; i < s->count; i++) {
		const struct column *c = &s->columns[i];
		struct bytes family = take(&names, c->family_size);
		struct bytes qualifier = take(&names, c->qualifier_size);

		if (!bytes_equal(family, path->family) ||
		    (is_cell && !bytes_equal(qualifier, path->qualifier)))
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

int seen_find(struct seen *s, const struct path *path, bool is_cell,
	      uint64_t seq, struct cell_info *info)
{
	struct bytes names;
	int found = -1;

	if (pthread_mutex_trylock(&s->lock))
		return -1;
	if (is_row(s, path, seq, &names))
		found = find(s, names, path, is_cell, info);
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
