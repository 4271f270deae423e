#include "store/engine/sieve.h"

void sieve_init(struct sieve *s, const struct merge_context *context,
		const struct tombstone_list *tombstones,
		const struct version *version, unsigned int output_level)
{
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

/* Finds what is to be known of the column's table and family. */
static int find_family(struct sieve *s)
{
	const struct gc_rules *rules = s->context->rules;
	struct bytes column = buf_bytes(&s->column), name;
	const struct gc_table *table;
	size_t end;
	int err;

	s->family = NULL;
	s->birth_seq = 0;
	if (!rules)
		return 0;
	table = gc_rules_table(rules, key_table(column));
	if (table) {
		err = key_part(column, s->parts.row_end, &s->scratch, &name,
			       &end);
		if (err < 0)
			return err;
		s->family = gc_table_family(table, name);
	}
	if (!s->family)
		s->birth_seq = UINT64_MAX;
	else
		s->birth_seq = table->birth_seq > s->family->birth_seq
				       ? table->birth_seq
				       : s->family->birth_seq;
	if (table && table->rules_seq > s->context->above_seq)
		s->family = NULL;
	return 0;
}

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
		gc_column_start(&s->gc, s->family, s->context->now_us);
	s->version_seen = false;
	return 0;
}

/* The oldest snapshot that may see seq; 0 if only later ones will. */
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

/* The seq of the range tombstone that a reader at seq visible meets. */
static uint64_t cover(struct sieve *s, struct bytes key, uint64_t visible)
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

int sieve_entry(struct sieve *s, struct bytes key)
{
	size_t tail = KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE;
	uint64_t seq, timestamp, reader, newer = UINT64_MAX;
	int err;

	if (key.size < tail || key.size - tail != s->column.size ||
	    memcmp(key.data, s->column.data, s->column.size) != 0) {
		err = begin_column(s, key);
		if (err < 0)
			return err;
	}
	seq = key_seq(key);
	timestamp = key_timestamp(key);
	if (seq < s->birth_seq)
		return 0;
	if (s->version_seen && s->last_timestamp == timestamp)
		newer = s->last_seq;
	s->version_seen = true;
	s->last_timestamp = timestamp;
	s->last_seq = seq;

	reader = first_reader(s, seq);
	if (reader == 0)
		return 1;
	if (newer <= reader || cover(s, key, reader) > seq)
		return 0;
	if (reader != s->context->snapshots[0])
		return 1;
	if (key_kind_is_put(key_kind(key)))
		return !s->family || gc_column_keep(&s->gc, timestamp);
	return !s->version || is_below(s, key);
}

bool sieve_tombstone(const struct sieve *s, const struct tombstone *t)
{
	unsigned int i;
	size_t at;

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
