#include <assert.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest.h"
#include "store/format/key.h"

/*
 * An edit is a sequence of fields: varint tag, then varints, as many as the tag
 * takes, and of a history file its bounds and blob files behind them. A field
 * that is 0 is left out where 0 means "as is". Fields may come in any order;
 * encoding writes files first, then numbers. A tag that is not known cannot be
 * passed over, since it might remove a file: it refuses the edit.
 */
#define NUMBERS_MAX 5 /* of a field */

/* Written to files: append, never renumber. */
enum edit_tag {
	TAG_ADDED = 1,      /* level, id, size */
	TAG_REMOVED = 2,    /* level, id */
	TAG_LOG = 3,        /* id, final size */
	TAG_OLDEST_LOG = 4, /* id */
	TAG_LAST_SEQ = 5,   /* seq */
	TAG_GC_TIME = 6,    /* microseconds */
	TAG_LOADED = 7,     /* level, id, size, seq */
	TAG_BLOB = 8,       /* id, final size */
	TAG_NO_BLOB = 9,    /* id */
	TAG_GIVEN_SEQ = 10, /* seq */
	TAG_MOMENT = 11,    /* microseconds, seq, size */
	TAG_NO_MOMENT = 12, /* seq */
	TAG_PAST = 13,      /* id, size, seq, visible seq, largest is exclusive;
			       see add_past */
	TAG_NO_PAST = 14,   /* id */
	TAG_FLAGGED = 15,   /* as TAG_MOMENT, flags */
	TAG_QUIET = 16,     /* microseconds, seq */
};

/* How many numbers follow each tag. */
static const uint8_t number_counts[] = { 0, 3, 2, 2, 1, 1, 1, 4, 2,
					 1, 1, 3, 1, 5, 1, 4, 2 };
#define TAG_COUNT (sizeof(number_counts) / sizeof(number_counts[0]))

static_assert(TAG_COUNT == TAG_QUIET + 1, "each tag has its count");

/* One more element each time: edits have a few files, and the first one of an
 * edit log, which has all, is made once in many. */
static int add_file(struct manifest_file **files, size_t *count,
		    struct manifest_file file)
{
	struct manifest_file *grown =
		realloc(*files, (*count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*files = grown;
	grown[(*count)++] = file;
	return 0;
}

int edit_add_file(struct edit *e, uint32_t level, uint64_t id, uint64_t size)
{
	return edit_add_loaded(e, level, id, size, 0);
}

int edit_add_loaded(struct edit *e, uint32_t level, uint64_t id, uint64_t size,
		    uint64_t seq)
{
	assert(level < LEVEL_COUNT);
	return add_file(&e->added, &e->added_count,
			(struct manifest_file){ level, id, size, seq });
}

int edit_remove_file(struct edit *e, uint32_t level, uint64_t id)
{
	assert(level < LEVEL_COUNT);
	return add_file(&e->removed, &e->removed_count,
			(struct manifest_file){ level, id, 0, 0 });
}

/* Logs and blob files are told of in the same way: begun, then finished. */
static int add_log(struct manifest_log **logs, size_t *count, uint64_t id,
		   uint64_t final_size)
{
	struct manifest_log *grown =
		realloc(*logs, (*count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*logs = grown;
	grown[(*count)++] = (struct manifest_log){ id, final_size };
	return 0;
}

int edit_add_log(struct edit *e, uint64_t id, uint64_t final_size)
{
	return add_log(&e->logs, &e->log_count, id, final_size);
}

int edit_add_blob(struct edit *e, uint64_t id, uint64_t final_size)
{
	return add_log(&e->blobs, &e->blob_count, id, final_size);
}

static int add_id(uint64_t **ids, size_t *count, uint64_t id)
{
	uint64_t *grown = realloc(*ids, (*count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*ids = grown;
	grown[(*count)++] = id;
	return 0;
}

int edit_drop_blob(struct edit *e, uint64_t id)
{
	return add_id(&e->dropped_blobs, &e->dropped_count, id);
}

int edit_add_moment(struct edit *e, const struct moment *moment)
{
	struct moment *grown =
		realloc(e->moments, (e->moment_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	e->moments = grown;
	grown[e->moment_count++] = *moment;
	return 0;
}

int edit_end_moment(struct edit *e, uint64_t seq)
{
	return add_id(&e->ended, &e->ended_count, seq);
}

int edit_add_quiet(struct edit *e, uint64_t seq, uint64_t until_us)
{
	struct quiet *grown =
		realloc(e->quiets, (e->quiet_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	e->quiets = grown;
	grown[e->quiet_count++] = (struct quiet){ seq, until_us };
	return 0;
}

int edit_add_past(struct edit *e, const struct past_facts *facts)
{
	struct past_facts **grown =
		realloc(e->pasts, (e->past_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	e->pasts = grown;
	grown[e->past_count] = past_facts_copy(facts);
	if (!grown[e->past_count])
		return -ENOMEM;
	e->past_count++;
	return 0;
}

int edit_drop_past(struct edit *e, uint64_t id)
{
	return add_id(&e->dropped_pasts, &e->dropped_past_count, id);
}

void edit_release(struct edit *e)
{
	while (e->past_count > 0)
		past_facts_free(e->pasts[--e->past_count]);
	free(e->pasts);
	free(e->dropped_pasts);
	free(e->moments);
	free(e->ended);
	free(e->quiets);
	free(e->added);
	free(e->removed);
	free(e->logs);
	free(e->blobs);
	free(e->dropped_blobs);
	*e = (struct edit)EDIT_INIT;
}

bool edit_removes(const struct edit *e, unsigned int level, uint64_t id)
{
	size_t i;

	for (i = 0; i < e->removed_count; i++)
		if (e->removed[i].id == id && e->removed[i].level == level)
			return true;
	return false;
}

static bool has_id(const uint64_t *ids, size_t count, uint64_t id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

bool edit_drops_blob(const struct edit *e, uint64_t id)
{
	return has_id(e->dropped_blobs, e->dropped_count, id);
}

bool edit_drops_past(const struct edit *e, uint64_t id)
{
	return has_id(e->dropped_pasts, e->dropped_past_count, id);
}

const struct past_facts *edit_past(const struct edit *e, uint64_t id)
{
	size_t i;

	for (i = 0; i < e->past_count; i++)
		if (e->pasts[i]->id == id)
			return e->pasts[i];
	return NULL;
}

bool edit_ends_moment(const struct edit *e, uint64_t seq)
{
	return has_id(e->ended, e->ended_count, seq);
}

/* A tag and its numbers. */
static int add_field(struct buf *out, enum edit_tag tag, const uint64_t *values)
{
	unsigned int i;
	int err = buf_add_varint(out, tag);

	for (i = 0; i < number_counts[tag] && err == 0; i++)
		err = buf_add_varint(out, values[i]);
	return err;
}

static int add_number(struct buf *out, enum edit_tag tag, uint64_t value)
{
	assert(number_counts[tag] == 1);
	return value ? add_field(out, tag, &value) : 0;
}

/* What a history file is said to be: its numbers, then sized smallest and
 * largest, varint count and for each blob file its id and the bytes of it. */
static int add_past(struct buf *out, const struct past_facts *f)
{
	const uint64_t values[] = { f->id, f->size, f->seq, f->visible_seq,
				    f->largest_exclusive };
	size_t i;
	int err = add_field(out, TAG_PAST, values);

	if (err == 0)
		err = buf_add_sized(out, f->smallest);
	if (err == 0)
		err = buf_add_sized(out, f->largest);
	if (err == 0)
		err = buf_add_varint(out, f->blob_count);
	for (i = 0; i < f->blob_count && err == 0; i++) {
		err = buf_add_varint(out, f->blobs[i].file);
		if (err == 0)
			err = buf_add_varint(out, f->blobs[i].size);
	}
	return err;
}

/* What e says of the recent past. */
static int add_history(struct buf *out, const struct edit *e)
{
	size_t i;
	int err = 0;

	for (i = 0; i < e->moment_count && err == 0; i++) {
		const struct moment *m = &e->moments[i];
		uint64_t values[] = { m->time_us, m->seq, m->size, m->flags };

		/* The latter takes the first three of them. */
		err = add_field(out, m->flags ? TAG_FLAGGED : TAG_MOMENT,
				values);
	}
	for (i = 0; i < e->ended_count && err == 0; i++)
		err = add_field(out, TAG_NO_MOMENT, &e->ended[i]);
	for (i = 0; i < e->quiet_count && err == 0; i++) {
		uint64_t values[] = { e->quiets[i].until_us, e->quiets[i].seq };

		err = add_field(out, TAG_QUIET, values);
	}
	for (i = 0; i < e->past_count && err == 0; i++)
		err = add_past(out, e->pasts[i]);
	for (i = 0; i < e->dropped_past_count && err == 0; i++)
		err = add_field(out, TAG_NO_PAST, &e->dropped_pasts[i]);
	return err;
}

int edit_encode(const struct edit *e, struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; i < e->added_count && err == 0; i++) {
		const struct manifest_file *f = &e->added[i];
		uint64_t values[] = { f->level, f->id, f->size, f->seq };

		/* The latter takes the first three of them. */
		err = add_field(out, f->seq ? TAG_LOADED : TAG_ADDED, values);
	}
	for (i = 0; i < e->removed_count && err == 0; i++) {
		const struct manifest_file *f = &e->removed[i];
		uint64_t values[] = { f->level, f->id };

		err = add_field(out, TAG_REMOVED, values);
	}
	for (i = 0; i < e->log_count && err == 0; i++) {
		uint64_t values[] = { e->logs[i].id, e->logs[i].final_size };

		err = add_field(out, TAG_LOG, values);
	}
	for (i = 0; i < e->blob_count && err == 0; i++) {
		uint64_t values[] = { e->blobs[i].id, e->blobs[i].final_size };

		err = add_field(out, TAG_BLOB, values);
	}
	for (i = 0; i < e->dropped_count && err == 0; i++)
		err = add_field(out, TAG_NO_BLOB, &e->dropped_blobs[i]);
	if (err == 0)
		err = add_history(out, e);
	if (err == 0)
		err = add_number(out, TAG_OLDEST_LOG, e->oldest_log);
	if (err == 0)
		err = add_number(out, TAG_LAST_SEQ, e->last_seq);
	if (err == 0)
		err = add_number(out, TAG_GC_TIME, e->gc_time_us);
	if (err == 0)
		err = add_number(out, TAG_GIVEN_SEQ, e->given_seq);
	return err;
}

/* False if in is cut off. */
static bool take_numbers(struct bytes *in, unsigned int count, uint64_t *values)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!take_varint(in, &values[i]))
			return false;
	return true;
}

static int cut_off(void)
{
	return fail(ERR_manifest_damaged, "manifest edit is cut off");
}

/* Takes what add_past has put behind the numbers, and adds the file to e. */
static int take_past(struct bytes *in, struct edit *e, const uint64_t *v)
{
	struct past_facts f = { .id = v[0],
				.size = v[1],
				.seq = v[2],
				.visible_seq = v[3],
				.largest_exclusive = v[4] };
	struct blob_share *shares;
	uint64_t count;
	size_t i;
	int err = 0;

	if (!take_sized(in, &f.smallest) || !take_sized(in, &f.largest) ||
	    !take_varint(in, &count) || count > in->size)
		return cut_off();
	/* One more, since malloc(0) may be NULL. */
	shares = malloc((count + 1) * sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	for (i = 0; i < count && err == 0; i++)
		if (!take_varint(in, &shares[i].file) ||
		    !take_varint(in, &shares[i].size))
			err = cut_off();
	f.blobs = shares;
	f.blob_count = (size_t)count;
	if (err == 0)
		err = edit_add_past(e, &f);
	free(shares);
	return err;
}

/* Adds to e what a field says that is known and whole. in goes on behind its
 * numbers. */
static int take_field(struct bytes *in, struct edit *e, enum edit_tag tag,
		      const uint64_t *v)
{
	switch (tag) {
	case TAG_ADDED:
		return edit_add_file(e, (uint32_t)v[0], v[1], v[2]);
	case TAG_LOADED:
		return edit_add_loaded(e, (uint32_t)v[0], v[1], v[2], v[3]);
	case TAG_REMOVED:
		return edit_remove_file(e, (uint32_t)v[0], v[1]);
	case TAG_LOG:
		return edit_add_log(e, v[0], v[1]);
	case TAG_BLOB:
		return edit_add_blob(e, v[0], v[1]);
	case TAG_NO_BLOB:
		return edit_drop_blob(e, v[0]);
	case TAG_OLDEST_LOG:
		e->oldest_log = v[0];
		break;
	case TAG_LAST_SEQ:
		e->last_seq = v[0];
		break;
	case TAG_GC_TIME:
		e->gc_time_us = v[0];
		break;
	case TAG_GIVEN_SEQ:
		e->given_seq = v[0];
		break;
	case TAG_MOMENT:
		return edit_add_moment(
			e, &(struct moment){ v[0], v[1], v[2], 0, 0 });
	case TAG_FLAGGED:
		return edit_add_moment(
			e, &(struct moment){ v[0], v[1], v[2], v[3], 0 });
	case TAG_NO_MOMENT:
		return edit_end_moment(e, v[0]);
	case TAG_QUIET:
		return edit_add_quiet(e, v[1], v[0]);
	case TAG_PAST:
		return take_past(in, e, v);
	case TAG_NO_PAST:
		return edit_drop_past(e, v[0]);
	}
	return 0;
}

/* Takes the numbers of a field with this tag from in, judges and adds them. */
static int decode_field(struct bytes *in, uint64_t tag, struct edit *e)
{
	uint64_t v[NUMBERS_MAX], seq;

	if (tag == 0 || tag >= TAG_COUNT)
		return fail(ERR_format_newer,
			    "manifest edit has field %llu, of a newer format; "
			    "this program knows 1 to %d",
			    (unsigned long long)tag, (int)TAG_COUNT - 1);
	assert(number_counts[tag] <= NUMBERS_MAX);
	if (!take_numbers(in, number_counts[tag], v))
		return cut_off();
	if ((tag == TAG_ADDED || tag == TAG_REMOVED || tag == TAG_LOADED) &&
	    v[0] >= LEVEL_COUNT)
		return fail(ERR_manifest_damaged,
			    "manifest edit names level %llu",
			    (unsigned long long)v[0]);
	if (tag == TAG_FLAGGED && (v[3] & ~(uint64_t)MOMENT_FLAGS) != 0)
		return fail(ERR_format_newer,
			    "manifest edit has a moment with flags %llu, of a "
			    "newer format",
			    (unsigned long long)v[3]);
	seq = tag == TAG_LOADED || tag == TAG_PAST          ? v[3]
	      : tag == TAG_LAST_SEQ || tag == TAG_GIVEN_SEQ ? v[0]
	      : tag == TAG_MOMENT || tag == TAG_FLAGGED || tag == TAG_QUIET
		      ? v[1]
		      : 0;
	if (tag == TAG_PAST && v[2] > seq)
		seq = v[2];
	if (seq > KEY_SEQ_MAX || (tag == TAG_LOADED && seq == 0))
		return fail(ERR_manifest_damaged,
			    "manifest edit names sequence %llu",
			    (unsigned long long)seq);
	return take_field(in, e, (enum edit_tag)tag, v);
}

int edit_decode(struct bytes in, struct edit *e)
{
	uint64_t tag;
	int err = 0;

	*e = (struct edit)EDIT_INIT;
	while (in.size > 0 && err == 0) {
		if (!take_varint(&in, &tag))
			err = cut_off();
		else
			err = decode_field(&in, tag, e);
	}
	if (err < 0)
		edit_release(e);
	return err;
}
