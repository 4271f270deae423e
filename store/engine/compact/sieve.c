#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/engine/compact/sieve.h"

/*
 * Entries come by column, then newest timestamp first, then newest write first:
 * what hides a write comes before it. So the sieve needs to remember one write,
 * hider_seq, and one count for each snapshot.
 *
 * A deletion goes on until nothing older lies below: then there is nothing left
 * for it to hide. In a flush nothing is known of what lies below, and it stays.
 */

void sieve_init(struct sieve *s, const struct merge_context *context,
		const struct tombstone_list *tombstones,
		const struct version *version, unsigned int output_level)
{
	assert(context->snapshot_count > 0 && output_level < LEVEL_COUNT);
	*s = (struct sieve){ .context = context,
			     .tombstones = tombstones,
			     .version = version,
			     .output_level = output_level };
}

void sieve_release(struct sieve *s)
{
	buf_release(&s->column);
	buf_release(&s->scratch);
	free(s->ranks);
}

/* The least birth by the rules of now and of the live snapshots: what is older
 * is of no moment that anybody can look at. */
static uint64_t find_birth(const struct sieve *s, uint32_t table,
			   struct bytes family)
{
	const struct merge_context *c = s->context;
	uint64_t birth = gc_rules_birth(c->rules, table, family), other;
	size_t i;

	for (i = 0; i < c->moment_count; i++) {
		other = gc_rules_birth(c->moments[i], table, family);
		if (other < birth)
			birth = other;
	}
	return birth;
}

/* Finds what is to be known of the column's table and family. */
static int find_family(struct sieve *s)
{
	const struct merge_context *c = s->context;
	const struct gc_rules *rules = c->rules;
	struct bytes column = buf_bytes(&s->column), name;
	const struct gc_table *table;
	size_t end;
	int err;

	s->family = s->found = NULL;
	s->birth_seq = 0;
	if (!rules)
		return 0;
	err = key_part(column, s->parts.row_end, &s->scratch, &name, &end);
	if (err < 0)
		return err;
	table = gc_rules_table(rules, key_table(column));
	if (table)
		s->family = gc_table_family(table, name);
	s->found = s->family;
	if (c->history_count > 0)
		s->found_birth = gc_rules_birth(rules, key_table(column), name);
	s->birth_seq = find_birth(s, key_table(column), name);
	/* Deletions that are older than the rules may lie elsewhere: versions
	 * that they delete would be counted. */
	if (s->family && s->family->rules_seq > c->above_seq)
		s->family = NULL;
	/* Where the oldest goes by others, only the last is known not to. */
	s->asked_from = s->family && s->family->rules_seq > c->rules_seq
				? c->snapshot_count - 1
				: 0;
	return 0;
}

/* Nothing of the column has been counted. 0 or -ENOMEM. */
static int clear_ranks(struct sieve *s)
{
	size_t count = s->context->snapshot_count;

	if (!s->ranks)
		s->ranks = malloc(count * sizeof(*s->ranks));
	if (!s->ranks)
		return -ENOMEM;
	memset(s->ranks, 0, count * sizeof(*s->ranks));
	return 0;
}

/* Most columns are of the family of the one before: then only the parts of the
 * key that differ are looked at. */
static int begin_column(struct sieve *s, struct bytes key)
{
	size_t shared = bytes_shared(key, buf_bytes(&s->column));
	bool same_family = s->column.size > 0 && shared >= s->parts.family_end;
	int err = key_split_after(key, shared, &s->parts);

	if (!err)
		err = buf_set(&s->column,
			      bytes_of(key.data, s->parts.column_end));
	if (!err && !same_family)
		err = find_family(s);
	if (!err)
		err = clear_ranks(s);
	s->version_seen = false;
	s->open_reader = 0;
	return err;
}

/* The oldest snapshot that may see seq, by bisection. */
static size_t first_reader(const struct sieve *s, uint64_t seq)
{
	const uint64_t *snapshots = s->context->snapshots;
	size_t low = 0, high = s->context->snapshot_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snapshots[middle] < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The answer holds for a span, and keys ascend, so mostly it is known. */
uint64_t sieve_cover(struct sieve *s, struct bytes key, uint64_t visible)
{
	if (s->tombstones->count == 0)
		return 0;
	if (!s->span_known || s->span_seq != visible ||
	    (s->span.end.size > 0 && bytes_compare(key, s->span.end) >= 0)) {
		tombstone_cover(s->tombstones, key, visible, &s->span);
		s->span_seq = visible;
		s->span_known = true;
	}
	return s->span.seq;
}

/* Whether a file below the output may hold the version that key deletes. Files
 * are never cut inside a version, so looking at the first one is enough. */
static bool is_below(const struct sieve *s, struct bytes key)
{
	unsigned int i;

	assert(s->version);
	for (i = s->output_level + 1; i < LEVEL_COUNT; i++) {
		const struct level *level = &s->version->levels[i];
		size_t at = level_find(level, key);
		struct bytes smallest;

		if (at == level->count)
			continue;
		smallest = level->files[at]->smallest;
		if (bytes_compare(smallest, key) <= 0 ||
		    bytes_starts_with(smallest, key_version(key)))
			return true;
	}
	return false;
}

/* The first snapshot, from reader on, from which a range tombstone hides the
 * entry, by bisection: from later ones it does, too. Mostly there is none. */
static size_t covered_from(struct sieve *s, struct bytes key, size_t reader)
{
	const uint64_t *snapshots = s->context->snapshots;
	size_t low = reader, high = s->context->snapshot_count, at = high - 1;

	while (low < high) {
		if (sieve_cover(s, key, snapshots[at]) <= key_seq(key))
			low = at + 1;
		else
			high = at;
		at = low + (high - low) / 2;
	}
	return low;
}

/* Whether the family's rule lets a version be for its reader, who sees no newer
 * write of it. */
static bool ask_rule(const struct sieve *s, struct bytes key, size_t reader)
{
	const struct merge_context *c = s->context;
	uint64_t us = c->snapshot_us[reader];
	struct gc_column gc;

	if (reader < s->asked_from)
		return true;
	gc_column_start(&gc, s->family, us,
			c->above_us < us ? c->above_us : us);
	gc.rank = s->ranks[reader];
	return key_seq(key) < c->above_seq
		       ? gc_column_keep(&gc, key_timestamp(key))
		       : gc_column_keep_newest(&gc, key_timestamp(key));
}

/* As ask_rule of a put, which is seen up to the snapshot end and counted for
 * these, if it is seen by no other write of its version. */
static bool is_kept(struct sieve *s, struct bytes key, size_t reader,
		    size_t end)
{
	size_t i;

	if (!s->family || !s->family->policy)
		return true;
	/* The parts of an aggregate are one version. */
	if (reader >= s->seen_from)
		return s->gc_keeps;
	s->gc_keeps = ask_rule(s, key, reader);
	if (!s->gc_keeps || key_seq(key) >= s->context->above_seq)
		return s->gc_keeps;
	if (end > s->seen_from)
		end = s->seen_from;
	for (i = reader; i < end; i++)
		s->ranks[i]++;
	return true;
}

/* Whether the entry goes on by itself. newer is the seq of the write of the
 * same version that hides it, UINT64_MAX if none; reader is first_reader of it.
 */
static bool passes(struct sieve *s, struct bytes key, uint64_t newer,
		   size_t reader)
{
	const struct merge_context *c = s->context;
	size_t end;

	if (reader == c->snapshot_count)
		return true;
	if (newer <= c->snapshots[reader])
		return false;
	end = covered_from(s, key, reader);
	if (end == reader)
		return false;
	if (key_kind_is_put(key_kind(key)))
		return is_kept(s, key, reader, end);
	/* What it hides may be there for an older one. */
	return reader > 0 || !s->version || is_below(s, key);
}

/* Begins key's column unless it is under way already. */
static int follow_column(struct sieve *s, struct bytes key)
{
	size_t tail = KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE;

	if (key.size < tail || key.size - tail != s->column.size ||
	    memcmp(key.data, s->column.data, s->column.size) != 0)
		return begin_column(s, key);
	return 0;
}

/* Follows the versions of the column. False if the entry was there before: the
 * inputs and the output of one merge are both here. */
static bool follow_version(struct sieve *s, uint64_t timestamp, uint64_t seq)
{
	if (!s->version_seen || s->last_timestamp != timestamp) {
		s->version_seen = true;
		s->last_timestamp = timestamp;
		s->hider_seq = UINT64_MAX;
		s->seen_from = s->context->snapshot_count;
		s->open_reader = 0;
	} else if (s->last_seq == seq) {
		return false;
	}
	s->last_seq = seq;
	return true;
}

/* As sieve_entry of an entry that was not there before. newer is as in passes,
 * open the open_reader before it. */
static int judge(struct sieve *s, struct bytes key, uint64_t newer,
		 uint64_t open)
{
	size_t reader = first_reader(s, key_seq(key));
	enum key_kind kind = key_kind(key);
	bool goes_on = passes(s, key, newer, reader);

	if (reader < s->seen_from)
		s->seen_from = reader;
	if (!goes_on)
		return SIEVE_DROP;
	if (reader == s->context->snapshot_count)
		return SIEVE_KEEP;
	/* In a family that is not of aggregates they stay apart, as a repair
	 * that lost its type leaves them: it may be given again. Nor are they
	 * joined while a snapshot goes by other rules. */
	if (kind == KEY_MERGE && s->family && s->family->merge &&
	    s->asked_from == 0)
		s->open_reader = s->context->snapshots[reader];
	return open == s->context->snapshots[reader] &&
			       (kind == KEY_MERGE || kind == KEY_PUT)
		       ? SIEVE_JOIN
		       : SIEVE_KEEP;
}

int sieve_entry(struct sieve *s, struct bytes key)
{
	uint64_t newer, open;
	int err;

	err = follow_column(s, key);
	if (err < 0)
		return err;
	if (key_seq(key) < s->birth_seq) {
		s->open_reader = 0;
		return SIEVE_DROP;
	}
	if (!follow_version(s, key_timestamp(key), key_seq(key)))
		return SIEVE_DROP;
	newer = s->hider_seq;
	open = s->open_reader;
	s->open_reader = 0;
	/* A part of an aggregate adds to what is older, and hides nothing. */
	if (key_kind(key) != KEY_MERGE)
		s->hider_seq = key_seq(key);
	return judge(s, key, newer, open);
}

bool sieve_tombstone(const struct sieve *s, const struct tombstone *t,
		     uint64_t newer)
{
	const uint64_t *snapshots = s->context->snapshots;
	unsigned int i;
	size_t at;

	if (newer != UINT64_MAX) {
		at = first_reader(s, t->seq);
		if (at < s->context->snapshot_count && newer <= snapshots[at])
			return false;
	}

	/* In use by a snapshot, or there is no telling. */
	if (!s->version || t->seq > snapshots[0])
		return true;
	for (i = s->output_level + 1; i < LEVEL_COUNT; i++) {
		const struct level *level = &s->version->levels[i];

		at = level_find(level, t->start);
		for (; at < level->count; at++) {
			const struct sst_file *f = level->files[at];

			if (bytes_compare(f->smallest, t->end) >= 0)
				break;
			if (f->smallest_seq < t->seq)
				return true;
		}
	}
	return false;
}
