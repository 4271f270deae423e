#include <assert.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/compact/past.h"
#include "store/engine/compact/read_back.h"
#include "store/engine/files/edit.h"
#include "store/format/sst/sst_read_back.h"

void past_init(struct past *p, const struct merge_context *context,
	       struct sieve *sieve, struct edit *edit, unsigned int level)
{
	assert(context->history_count > 0);
	*p = (struct past){
		.context = context, .sieve = sieve, .edit = edit, .level = level
	};
}

static int begin_output(struct past *p)
{
	struct sst_options options = {
		.level = p->level,
		.filter_bits = SST_FILTER_BITS_BOTTOM,
		.compress = true,
		.rows = p->context->rows,
	};
	struct volume *v = p->context->volume;
	struct segment_writer *writer;
	char name[VOLUME_NAME_MAX + 1];
	int err;

	if (p->context->no_room)
		return fail(ENOSPC, "%s: space is too short for history",
			    v->path);
	p->id = p->context->new_id(p->context->new_id_context);
	manifest_name(p->id, "sst", name);
	err = v->ops->segment_create(v, name, &writer);
	if (err == 0)
		err = sst_build_new(writer, &options, &p->builder);
	if (err == 0)
		sst_build_past(p->builder);
	return err;
}

/* Reads the output again and adds it to the edit. */
static int add_output(struct past *p, uint64_t digest)
{
	const struct merge_context *c = p->context;
	uint64_t visible = c->snapshots[c->snapshot_count - 1];
	struct past_facts facts;
	struct sst *sst;
	uint64_t size;
	int err = compact_open(c->volume, p->id, &size, &sst);

	if (err < 0)
		return err;
	err = sst_read_back(sst, digest);
	past_facts_of(sst, p->id, size, 0, visible, &facts);
	if (err == 0)
		err = edit_add_past(p->edit, &facts);
	sst_close(sst);
	return err;
}

static int end_output(struct past *p)
{
	struct sst_builder *builder = p->builder;
	char name[VOLUME_NAME_MAX + 1];
	uint64_t digest;
	int err;

	if (!builder)
		return 0;
	p->builder = NULL;
	err = sst_build_finish(builder, &digest);
	if (err < 0)
		return err;
	err = add_output(p, digest);
	if (err < 0) {
		/* As in a merge: the next open removes what stays. */
		manifest_name(p->id, "sst", name);
		p->context->volume->ops->remove(p->context->volume, name);
	}
	return err;
}

static int write_entry(struct past *p, struct bytes key, struct bytes value)
{
	int err = p->builder ? 0 : begin_output(p);

	return err < 0 ? err : sst_build_add(p->builder, key, value);
}

/* Lets the part that is held back go. */
static int write_held(struct past *p)
{
	struct bytes key = buf_bytes(&p->held_key);
	int err = 0;

	if (key.size == 0)
		return 0;
	buf_reset(&p->value);
	if (key_kind(key) == KEY_MERGE)
		err = buf_add_varint(&p->value, p->held_until);
	if (err == 0)
		err = buf_add_bytes(&p->value, buf_bytes(&p->held.state));
	if (err == 0)
		err = write_entry(p, key, buf_bytes(&p->value));
	p->held_key.size = 0;
	return err;
}

static const struct moment *first_moment(const struct past *p, uint64_t seq)
{
	return moment_from(p->context->history, p->context->history_count, seq);
}

/* Versions that are newer than the present one and there for who looks at x:
 * no more than there are, and not itself. */
static uint64_t rank_at(const struct past *p, uint64_t x)
{
	uint64_t rank = 0;
	size_t i;

	for (i = 0; i < p->newer_count; i++)
		rank += p->versions[i].from <= x && x < p->versions[i].until;
	return rank;
}

/* Whether the policy hides at x, the first moment that sees the entry, what is
 * a put. */
static bool is_hidden(const struct past *p, struct bytes key,
		      const struct moment *x)
{
	const struct gc_family *f = p->sieve->found;

	return f && f->policy && key_kind(key) != KEY_DELETE &&
	       f->rules_seq <= x->seq && x->seq < p->context->above_seq &&
	       !gc_keep(f->policy, rank_at(p, x->seq), key_timestamp(key),
			x->time_us);
}

/* The first moment that sees the entry, which no later write of its version
 * hides until newer; NULL if none does. */
static const struct moment *find_reader(struct past *p, struct bytes key,
					uint64_t newer)
{
	uint64_t seq = key_seq(key);
	const struct moment *x = first_moment(p, seq);

	/* A family of that name which was made later does not have it. */
	if (!x || newer <= x->seq ||
	    (p->sieve->found && seq < p->sieve->found_birth &&
	     x->seq >= p->sieve->found_birth) ||
	    sieve_cover(p->sieve, key, x->seq) > seq || is_hidden(p, key, x))
		return NULL;
	return x;
}

/* Notes since when the put is there, for the rank of older versions. What a
 * tombstone covers is not noted, though it was there for a while: a rank that
 * is too small keeps more. */
static void note_version(struct past *p, struct bytes key, uint64_t newer,
			 bool same_version)
{
	struct past_version *last = p->versions + p->version_count - 1;
	uint64_t seq = key_seq(key);

	if (!p->sieve->found || !p->sieve->found->policy ||
	    key_kind(key) == KEY_DELETE || seq < p->sieve->found_birth ||
	    sieve_cover(p->sieve, key, UINT64_MAX) > seq)
		return;
	/* The parts of an aggregate are one version. */
	if (same_version && p->version_count > p->newer_count &&
	    last->until == newer)
		last->from = seq;
	else if (p->version_count < PAST_VERSIONS)
		p->versions[p->version_count++] =
			(struct past_version){ seq, newer };
}

/* Begins another column or version if key is of one: false if the entry was
 * there before. */
static bool follow(struct past *p, struct bytes key, bool *same_version)
{
	struct bytes last = buf_bytes(&p->last);
	size_t tail = KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE;
	bool same_column = last.size == key.size &&
			   memcmp(last.data, key.data, key.size - tail) == 0;

	*same_version =
		same_column && key_timestamp(last) == key_timestamp(key);
	if (*same_version && key_seq(last) == key_seq(key))
		return false;
	if (!same_column)
		p->version_count = 0;
	if (!*same_version) {
		p->hider_seq = UINT64_MAX;
		p->newer_count = p->version_count;
	}
	return true;
}

/* A part of an aggregate that nobody sees by itself who sees the merge that it
 * was joined into, but who looks at x. */
static int take_part(struct past *p, struct bytes key, struct bytes value,
		     uint64_t until, const struct moment *x)
{
	struct buf *held = &p->held_key;
	bool joins =
		held->size > 0 && p->held_until == until &&
		p->held_reader == x->seq &&
		bytes_equal(key_version(buf_bytes(held)), key_version(key)) &&
		key_kind(buf_bytes(held)) == KEY_MERGE;
	int err = 0;

	/* Under a put nothing counts any more, so with one it is a put. */
	if (joins && key_kind(key) == KEY_PUT)
		put_u64be(held->data + held->size - KEY_TRAILER_SIZE,
			  ~(key_seq(buf_bytes(held)) << 8 | KEY_PUT));
	if (!joins) {
		err = write_held(p);
		if (err == 0)
			err = buf_set(held, key);
		aggregate_start(&p->held, p->sieve->family->merge);
		p->held_until = until;
		p->held_reader = x->seq;
	}
	return err < 0 ? err : aggregate_add(&p->held, value);
}

/* Writes what is no part that was joined. */
static int take_entry(struct past *p, struct bytes key, struct bytes value)
{
	int err = write_held(p);

	if (err < 0 || key_kind(key) != KEY_MERGE)
		return err < 0 ? err : write_entry(p, key, value);
	buf_reset(&p->value);
	err = buf_add_varint(&p->value, 0);
	if (err == 0)
		err = buf_add_bytes(&p->value, value);
	return err < 0 ? err : write_entry(p, key, buf_bytes(&p->value));
}

/* Whether the output is large enough to end before key. */
static bool is_full(const struct past *p, struct bytes key)
{
	return p->builder &&
	       sst_build_size(p->builder) >= p->context->file_size &&
	       !key_same_row(key, buf_bytes(&p->last));
}

int past_entry(struct past *p, struct bytes key, struct bytes value,
	       int verdict)
{
	const struct moment *x = NULL;
	bool same_version;
	uint64_t newer;
	int err = 0;

	if (p->last.size > 0 && is_full(p, key)) {
		err = write_held(p);
		if (err == 0)
			err = end_output(p);
	}
	if (err < 0 || !follow(p, key, &same_version))
		return err;
	newer = p->hider_seq;
	if (key_kind(key) != KEY_MERGE)
		p->hider_seq = key_seq(key);
	if (verdict == SIEVE_KEEP)
		p->joined_seq = key_seq(key);
	else
		x = find_reader(p, key, newer);
	note_version(p, key, newer, same_version);
	if (x && verdict == SIEVE_DROP)
		err = take_entry(p, key, value);
	else if (x && x->seq < p->joined_seq)
		err = take_part(p, key, value, p->joined_seq, x);
	return err < 0 ? err : buf_set(&p->last, key);
}

int past_tombstone(struct past *p, const struct tombstone *t, uint64_t newer)
{
	const struct moment *x = first_moment(p, t->seq);
	int err;

	if (!x || newer <= x->seq)
		return 0;
	err = p->builder ? 0 : begin_output(p);
	return err < 0 ? err : sst_build_tombstone(p->builder, t);
}

int past_finish(struct past *p)
{
	int err = write_held(p);

	return err < 0 ? err : end_output(p);
}

void past_release(struct past *p)
{
	sst_build_abandon(p->builder);
	buf_release(&p->last);
	buf_release(&p->held_key);
	buf_release(&p->value);
	aggregate_release(&p->held);
}
