#include <assert.h>

#include "store/engine/compact/sieve.h"

/*
 * Entries come by column, then newest timestamp first, then newest write first:
 * what hides a write comes before it. So the sieve needs to remember one write,
 * hider_seq, and one count, the rank in gc.
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
	const struct gc_rules *rules = s->context->rules;
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
	if (s->context->history_count > 0)
		s->found_birth = gc_rules_birth(rules, key_table(column), name);
	s->birth_seq = find_birth(s, key_table(column), name);
	/* Deletions that are older than the rules may lie elsewhere: versions
	 * that they delete would be counted. Or a snapshot goes by other rules.
	 */
	if (s->family && (s->family->rules_seq > s->context->above_seq ||
			  s->family->rules_seq > s->context->rules_seq))
		s->family = NULL;
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
	if (err < 0)
		return err;
	if (s->family)
		gc_column_start(&s->gc, s->family, s->context->now_us,
				s->context->above_us);
	s->version_seen = false;
	s->open_reader = 0;
	return 0;
}

/* The oldest snapshot that may see seq, by bisection; 0 if only later ones
 * will: nobody can yet tell what will hide it from them. */
static uint64_t first_reader(const struct sieve *s, uint64_t seq)
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
	return low < s->context->snapshot_count ? snapshots[low] : 0;
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

/* Whether the family's rule lets the version be; it is asked once. */
static bool is_kept(struct sieve *s, struct bytes key)
{
	uint64_t timestamp = key_timestamp(key);

	if (!s->family)
		return true;
	if (!s->gc_asked)
		s->gc_keeps =
			key_seq(key) < s->context->above_seq
				? gc_column_keep(&s->gc, timestamp)
				: gc_column_keep_newest(&s->gc, timestamp);
	s->gc_asked = true;
	return s->gc_keeps;
}

/* Whether the entry goes on by itself. newer is the seq of the write of the
 * same version that hides it, UINT64_MAX if none; reader is first_reader of it.
 */
static bool passes(struct sieve *s, struct bytes key, uint64_t newer,
		   uint64_t reader)
{
	uint64_t seq = key_seq(key);

	if (reader == 0)
		return true;
	if (newer <= reader || sieve_cover(s, key, reader) > seq)
		return false;
	/* What follows would be seen by an older snapshot. */
	if (reader != s->context->snapshots[0])
		return true;
	if (key_kind_is_put(key_kind(key)))
		return is_kept(s, key);
	return !s->version || is_below(s, key);
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
		s->gc_asked = false;
		s->open_reader = 0;
	} else if (s->last_seq == seq) {
		return false;
	}
	s->last_seq = seq;
	return true;
}

int sieve_entry(struct sieve *s, struct bytes key)
{
	uint64_t reader, newer, open;
	enum key_kind kind;
	int err;

	err = follow_column(s, key);
	if (err < 0)
		return err;
	kind = key_kind(key);
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
	if (kind != KEY_MERGE)
		s->hider_seq = key_seq(key);
	reader = first_reader(s, key_seq(key));
	if (!passes(s, key, newer, reader))
		return SIEVE_DROP;
	/* In a family that is not of aggregates they stay apart, as a repair
	 * that lost its type leaves them: it may be given again. */
	if (kind == KEY_MERGE && s->family && s->family->merge)
		s->open_reader = reader;
	return reader != 0 && open == reader &&
			       (kind == KEY_MERGE || kind == KEY_PUT)
		       ? SIEVE_JOIN
		       : SIEVE_KEEP;
}

bool sieve_tombstone(const struct sieve *s, const struct tombstone *t,
		     uint64_t newer)
{
	uint64_t reader;
	unsigned int i;
	size_t at;

	if (newer != UINT64_MAX) {
		reader = first_reader(s, t->seq);
		if (reader > 0 && newer <= reader)
			return false;
	}

	/* In use by a snapshot, or there is no telling. */
	if (!s->version || t->seq > s->context->snapshots[0])
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
