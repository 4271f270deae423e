#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/threads/mutex.h"
#include "store/heat/heat.h"
#include "store/heat/heat_map.h"

_Thread_local uint32_t heat_left;

/* Of this thread: what its places are drawn by, and how many operations of the
 * present HEAT_EVERY come behind the one that is sampled. */
static _Thread_local uint32_t drawn, behind;
/* Threads begin in different places, or the first operations of many that end
 * soon would be sampled all, or none. */
static _Atomic uint32_t threads;

/* What came longer ago does not come just now. */
#define NOW_S 10

/* Seconds of one minute, in recent. */
struct heat_seconds {
	uint64_t minute;  /* since 1970 */
	uint64_t start_s; /* of the first */
	size_t offset;    /* in recent */
};

/* All under the heat's lock. */
struct heat_table {
	uint32_t id;
	uint32_t recent_version; /* of the fences last put there; 0: none */
	uint32_t file_version;
	uint64_t second_s;       /* the present one */
	uint64_t minute_start_s; /* its first second with anything in it */
	uint64_t used_s;
	uint64_t totals[HEAT_METRICS]; /* since it is sampled */
	struct heat_map map;
	struct buf recent;                             /* records of seconds */
	struct heat_seconds minutes[HEAT_MINUTES + 1]; /* of recent */
	size_t minute_count;
};

/* What one takes, at most. */
#define TABLE_SIZE (sizeof(struct heat_table) + HEAT_RECENT_MAX)

int heat_new(const struct clock *clock, struct memory *memory,
	     struct heat_file *file, struct heat **out)
{
	struct heat *h = calloc(1, sizeof(*h));

	*out = NULL;
	if (h)
		h->scratch = malloc(sizeof(*h->scratch));
	if (!h || !h->scratch) {
		free(h);
		heat_file_free(file);
		return -ENOMEM;
	}
	h->clock = clock;
	h->memory = memory;
	h->file = file;
	atomic_init(&h->every, 1);
	pthread_mutex_init(&h->writing, NULL);
	pthread_mutex_init(&h->lock, NULL);
	*out = h;
	return 0;
}

/* Table i, whose place the last one takes. */
static void forget(struct heat *h, size_t i)
{
	struct heat_table *t = h->tables[i];

	h->tables[i] = h->tables[--h->count];
	buf_release(&t->recent);
	free(t);
	memory_give(h->memory, MEMORY_HEAT, TABLE_SIZE);
}

void heat_free(struct heat *h)
{
	if (!h)
		return;
	while (h->count > 0)
		forget(h, h->count - 1);
	buf_release(&h->waiting);
	pthread_mutex_destroy(&h->lock);
	pthread_mutex_destroy(&h->writing);
	heat_file_free(h->file);
	free(h->scratch);
	free(h);
}

/* One of each HEAT_EVERY operations, at any place among them: so the samples
 * stand for as many as there were, whatever is drawn. */
static void draw_place(void)
{
	uint32_t place;

	drawn = drawn * 1664525 + 1013904223;
	place = 1 + (drawn >> 16) % HEAT_EVERY;
	heat_left = behind + place;
	behind = HEAT_EVERY - place;
}

bool heat_draw(struct heat *h)
{
	if (atomic_load_explicit(&h->every, memory_order_relaxed) == 1)
		return true;
	if (heat_left == 0) {
		drawn = atomic_fetch_add(&threads, 1) * UINT32_C(0x9E3779B9);
		draw_place();
	}
	if (heat_left > 1) {
		heat_left--;
		return false;
	}
	draw_place();
	return true;
}

/* The records of the oldest minute's seconds go. */
static void drop_minute(struct heat_table *t)
{
	size_t cut = t->minute_count > 1 ? t->minutes[1].offset
					 : t->recent.size,
	       i;

	t->recent.size -= cut;
	memmove(t->recent.data, t->recent.data + cut, t->recent.size);
	t->minute_count--;
	for (i = 0; i < t->minute_count; i++) {
		t->minutes[i] = t->minutes[i + 1];
		t->minutes[i].offset -= cut;
	}
}

/* The seconds of each minute begin with their fences, so that those before it
 * can go. */
static void begin_minute(struct heat_table *t)
{
	uint64_t minute = t->second_s / 60;

	if (t->minute_count > 0 &&
	    t->minutes[t->minute_count - 1].minute == minute)
		return;
	if (t->minute_count > HEAT_MINUTES)
		drop_minute(t);
	t->minutes[t->minute_count++] =
		(struct heat_seconds){ minute, t->second_s, t->recent.size };
	t->recent_version = 0;
}

/* Appends to out the fences, if *version, which is of those in out, is another:
 * as edits of these, if they are known and it is for seconds. */
static int add_fences(struct heat *h, struct heat_table *t, struct buf *out,
		      uint32_t *version, bool as_edits)
{
	int err;

	if (*version == t->map.version)
		return 0;
	if (as_edits && *version != 0 && t->map.edits_size < HEAT_EDITS_MAX) {
		err = heat_add_edits(out, t->id,
				     bytes_of(t->map.edits, t->map.edits_size));
	} else {
		heat_map_fences(&t->map, &h->scratch->fences);
		h->scratch->fences.table = t->id;
		err = heat_add_fences(out, &h->scratch->fences);
	}
	*version = t->map.version;
	return err;
}

/* Appends what scratch has, of so many seconds. */
static int add_bucket(struct heat *h, struct heat_table *t, struct buf *out,
		      uint64_t start_s, uint32_t seconds)
{
	struct heat_bucket *b = &h->scratch->bucket;

	b->table = t->id;
	b->start_s = start_s;
	b->seconds = seconds;
	return heat_add_bucket(out, b);
}

/* Keeps the present second, and for lack of room none before it; or not even
 * that, as the minute has it. */
static void keep_second(struct heat *h, struct heat_table *t)
{
	size_t before;
	int err;

	begin_minute(t);
	before = t->recent.size;
	err = add_fences(h, t, &t->recent, &t->recent_version, true);
	heat_map_second(&t->map, &h->scratch->bucket);
	if (err == 0)
		err = add_bucket(h, t, &t->recent, t->second_s, 1);
	if (err < 0) {
		t->recent.size = before;
		t->recent_version = 0;
	}
	t->map.edits_size = 0;
	while (t->minute_count > 0 && t->recent.size > HEAT_RECENT_MAX)
		drop_minute(t);
}

/* Puts the minute that has ended, with the present second, to what waits for
 * the file. A clock that was set back makes it short. */
static void keep_minute(struct heat *h, struct heat_table *t)
{
	uint64_t start_s = t->minute_start_s, last_s = t->second_s;
	uint32_t seconds = last_s < start_s || last_s >= start_s + 60
				   ? 1
				   : (uint32_t)(last_s + 1 - start_s);
	size_t before = h->waiting.size;
	int err = before < HEAT_WAITING_MAX ? 0 : -ENOMEM;

	t->minute_start_s = UINT64_MAX;
	if (!h->file || !heat_file_writes(h->file))
		err = -EROFS;
	if (err == 0)
		err = add_fences(h, t, &h->waiting, &t->file_version, false);
	heat_map_minute(&t->map, &h->scratch->bucket);
	if (err == 0)
		err = add_bucket(h, t, &h->waiting, start_s, seconds);
	if (err < 0) {
		h->waiting.size = before;
		t->file_version = 0;
	}
}

/* Ends the table's present second, and its minute if now is in another one. */
static void end_second(struct heat *h, struct heat_table *t, uint64_t now_s)
{
	if (t->map.is_warm) {
		if (t->minute_start_s == UINT64_MAX)
			t->minute_start_s = t->second_s;
		heat_map_end(&t->map);
		keep_second(h, t);
		heat_map_begin(&t->map);
	}
	if (t->minute_start_s != UINT64_MAX &&
	    t->minute_start_s / 60 != now_s / 60)
		keep_minute(h, t);
	t->second_s = now_s;
}

/* A new table, in the place of the one that was idle longest if there are too
 * many; NULL: there is no memory. */
static struct heat_table *begin_table(struct heat *h, uint32_t id,
				      uint64_t now_s)
{
	struct heat_table *t;
	size_t i, oldest = 0;

	if (h->count == HEAT_TABLES_MAX) {
		for (i = 1; i < h->count; i++)
			if (h->tables[i]->used_s < h->tables[oldest]->used_s)
				oldest = i;
		end_second(h, h->tables[oldest], UINT64_MAX);
		forget(h, oldest);
	}
	if (!memory_take(h->memory, MEMORY_HEAT, TABLE_SIZE, 0))
		return NULL;
	t = malloc(sizeof(*t));
	if (!t) {
		memory_give(h->memory, MEMORY_HEAT, TABLE_SIZE);
		return NULL;
	}
	t->id = id;
	t->recent_version = t->file_version = 0;
	memset(t->totals, 0, sizeof(t->totals));
	t->second_s = now_s;
	t->minute_start_s = UINT64_MAX;
	t->recent = (struct buf)BUF_INIT;
	t->minute_count = 0;
	heat_map_init(&t->map);
	h->tables[h->count++] = t;
	return t;
}

static struct heat_table *find_table(struct heat *h, uint32_t id)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		if (h->tables[i]->id == id)
			return h->tables[i];
	return NULL;
}

/* Each second begins with what is counted one by one. */
static uint32_t count_sample(struct heat *h, uint64_t now_s)
{
	uint32_t every = atomic_load_explicit(&h->every, memory_order_relaxed);

	if (h->second_s != now_s) {
		h->second_s = now_s;
		h->sampled = 0;
		atomic_store(&h->every, 1);
	} else if (++h->sampled == HEAT_EACH) {
		atomic_store(&h->every, HEAT_EVERY);
	}
	return every;
}

void heat_note(struct heat *h, uint32_t table, struct bytes row,
	       enum heat_metric metric, uint64_t bytes)
{
	uint64_t now_s = clock_coarse(h->clock) / 1000000;
	uint64_t counts[HEAT_METRICS] = { 0 };
	struct heat_table *t;
	uint32_t every;

	mutex_lock_spinning(&h->lock);
	every = count_sample(h, now_s);
	t = find_table(h, table);
	if (!t)
		t = begin_table(h, table, now_s);
	if (t) {
		if (t->second_s != now_s)
			end_second(h, t, now_s);
		t->used_s = now_s;
		counts[metric] = every;
		counts[HEAT_BYTES] = bytes * every;
		t->totals[metric] += every;
		t->totals[HEAT_BYTES] += bytes * every;
		heat_map_add(&t->map, row, counts);
	}
	pthread_mutex_unlock(&h->lock);
}

bool heat_counts(struct heat *h, uint32_t table, uint64_t counts[HEAT_METRICS])
{
	struct heat_table *t;

	pthread_mutex_lock(&h->lock);
	t = find_table(h, table);
	if (t)
		memcpy(counts, t->totals, sizeof(t->totals));
	pthread_mutex_unlock(&h->lock);
	return t != NULL;
}

int heat_hottest(struct heat *h, uint32_t table, struct buf *start,
		 struct buf *end, double *share)
{
	uint64_t now_s = clock_now(h->clock) / 1000000;
	struct heat_table *t;
	int err = 0;

	pthread_mutex_lock(&h->lock);
	t = find_table(h, table);
	if (t && t->map.count > 0 && t->used_s + NOW_S >= now_s)
		err = heat_map_hottest(&t->map, start, end, share);
	pthread_mutex_unlock(&h->lock);
	return err;
}

/* Takes what waits for the file to out. Needs lock. */
static void take_waiting(struct heat *h, struct buf *out)
{
	*out = h->waiting;
	h->waiting = (struct buf)BUF_INIT;
}

/* Writes what waited. With anew, the next minutes bring their fences along. */
static int write_out(struct heat *h, struct bytes records, uint64_t now_s)
{
	bool anew;
	int err = heat_file_append(h->file, records, now_s, &anew);
	size_t i;

	if (err == 0 && !anew)
		return 0;
	pthread_mutex_lock(&h->lock);
	for (i = 0; i < h->count; i++)
		h->tables[i]->file_version = 0;
	pthread_mutex_unlock(&h->lock);
	return err;
}

int heat_tick(struct heat *h, bool at_end)
{
	uint64_t now_s = clock_now(h->clock) / 1000000;
	struct buf records;
	size_t i;
	int err = 0;

	pthread_mutex_lock(&h->writing);
	pthread_mutex_lock(&h->lock);
	for (i = h->count; i > 0; i--) {
		struct heat_table *t = h->tables[i - 1];

		if (t->second_s != now_s || at_end)
			end_second(h, t, at_end ? UINT64_MAX : now_s);
		if (now_s > t->used_s + HEAT_IDLE_S)
			forget(h, i - 1);
	}
	take_waiting(h, &records);
	pthread_mutex_unlock(&h->lock);
	if (records.size > 0)
		err = write_out(h, buf_bytes(&records), now_s);
	buf_release(&records);
	pthread_mutex_unlock(&h->writing);
	return err;
}

/* What waits is taken for part of the file. */
int heat_collect(struct heat *h, uint32_t table, struct buf *file,
		 struct buf *recent, uint64_t *recent_s)
{
	uint64_t now_s = clock_now(h->clock) / 1000000;
	struct heat_table *t;
	int err = 0;

	*recent_s = UINT64_MAX;
	pthread_mutex_lock(&h->writing);
	if (h->file)
		err = heat_file_read(h->file, file);
	pthread_mutex_lock(&h->lock);
	t = find_table(h, table);
	if (t && t->second_s != now_s)
		end_second(h, t, now_s);
	if (err == 0)
		err = buf_add_bytes(file, buf_bytes(&h->waiting));
	if (t && t->minute_count > 0)
		*recent_s = t->minutes[0].start_s;
	if (err == 0 && t)
		err = buf_add_bytes(recent, buf_bytes(&t->recent));
	pthread_mutex_unlock(&h->lock);
	pthread_mutex_unlock(&h->writing);
	return err;
}

/* What waits may have the table, too: it takes the way to the file that leaves
 * that out. */
int heat_erase(struct heat *h, uint32_t table)
{
	struct buf records;
	size_t i;
	int err = 0;

	pthread_mutex_lock(&h->writing);
	pthread_mutex_lock(&h->lock);
	for (i = h->count; i > 0; i--) {
		h->tables[i - 1]->file_version = 0;
		if (h->tables[i - 1]->id == table)
			forget(h, i - 1);
	}
	take_waiting(h, &records);
	pthread_mutex_unlock(&h->lock);
	if (h->file && heat_file_writes(h->file))
		err = heat_file_erase(h->file, buf_bytes(&records), table);
	buf_release(&records);
	pthread_mutex_unlock(&h->writing);
	return err;
}
