#include <assert.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/base/coding.h"
#include "store/base/place/place.h"
#include "store/engine/core/position.h"
#include "store/engine/core/space.h"
#include "store/engine/core/trouble.h"
#include "store/engine/large/large.h"
#include "store/engine/read/moment.h"
#include "store/engine/read/statistics.h"
#include "store/engine/read/verify.h"
#include "store/engine/run/dead.h"
#include "store/engine/run/open.h"
#include "store/engine/run/room.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "store/engine/core/silence.h"
#include "store/model/model.h"
#include "store/model/schema_load.h"

/*
 * Opening and closing, and the calls that only pass on to the engine. A store
 * is opened from the inside out: volume, engine, schema, background; and ends
 * the other way round. The lease, which keeps a second process out, is the
 * engine's, and held from its opening to its closing.
 */

/* Of a memtable, in bytes. A larger one takes long to flush, and to replay. */
#define STORE_MEMTABLE_MAX ((size_t)256 << 20)

/* Of 144 MiB: two and a half memtables of 32 MiB and a cache of 64. */
void store_options_init(struct store_options *o)
{
	*o = (struct store_options){
		.background = true,
		.sync_interval_ms = 1000,
		.lease_wait_ms = 30000,
		.staleness_ms = STORE_STALENESS_MS,
		.memtable_size = 32 << 20,
		.cache_size = 64 << 20,
		.shared_size = STORE_MEMORY_SHARED,
		.file_size = 32 << 20,
		.events = EVENTS_MAIN,
		.events_fd = -1,
		.clock = &clock_real,
	};
}

/* Two and a half memtables, and twice the size of one for the cache: nine
 * parts, of which a memtable is two and the cache four. What a memtable may not
 * have more is the cache's. A place in a memtable has 32 bits. */
void store_options_memory(struct store_options *o, uint64_t size)
{
	o->memtable_size = size / 9 * 2;
	if (o->memtable_size > STORE_MEMTABLE_MAX)
		o->memtable_size = STORE_MEMTABLE_MAX;
	o->cache_size = size - o->memtable_size / 2 * 5;
}

/* What bg.h calls until there is nothing to do. */
static int background_step(void *context)
{
	struct store *s = context;
	int did = engine_step(s->engine);

	engine_write_events(s->engine);
	return did;
}

/* Every sync_interval_ms: what was committed without a sync becomes durable. A
 * failure makes the store read-only, which the next write tells. And room on a
 * full disk is looked for. */
static void background_tick(void *context)
{
	struct store *s = context;

	if (engine_sync(s->engine) < 0)
		err_clear();
	engine_room_tick(s->engine);
	engine_tick(s->engine);
	sample_tick(&s->sampler);
	engine_write_events(s->engine);
}

/* What the engine calls when there may be work. */
static void background_wake(void *context)
{
	struct store *s = context;

	bg_wake(s->bg);
}

/* For bg_start; there is nothing but looks. */
static int no_step(void *context)
{
	(void)context;
	return 0;
}

/* What failed is told to who reads when it is too old. */
static void look_tick(void *context)
{
	if (store_refresh(context) < 0)
		err_clear();
}

/* Nobody is told anything yet, so that what takes longer than it may be old is
 * no error; and then it is looked for what has come meanwhile. */
static int follow_schema(struct store *s, const struct store_options *o)
{
	int err;

	s->engine->options.staleness_ms = STORE_STALENESS_MAX_MS;
	err = schema_load(s);
	s->engine->options.staleness_ms = o->staleness_ms;
	if (err == 0 && store_is_behind(s) && store_refresh(s) < 0)
		err_clear();
	return err;
}

static int follow_start(struct store *s, const struct store_options *o)
{
	unsigned int interval_ms = o->staleness_ms / STORE_LOOKS;

	if (!o->background)
		return 0;
	return bg_start(no_step, look_tick, interval_ms > 0 ? interval_ms : 1,
			s, &s->bg);
}

/* Options of 0 are left as the engine has them. The background begins last,
 * when the schema is installed: compaction without rules would keep everything.
 */
static int open_engine(struct store *s, const struct store_options *o)
{
	struct engine_options options;
	int err;

	engine_options_init(&options);
	options.memtable_size = o->memtable_size;
	options.cache_size = o->cache_size;
	if (o->shared_size)
		options.shared_size = o->shared_size;
	options.file_size = o->file_size;
	options.rows = o->rows;
	options.gap_steps = o->gap_steps;
	options.events = o->events;
	options.events_fd = o->events_fd;
	options.beside = o->beside;
	if (o->blob_threshold)
		options.blob_threshold = o->blob_threshold;
	if (o->blob_chunk_size)
		options.blob_chunk_size = o->blob_chunk_size;
	if (o->blob_file_size)
		options.blob_file_size = o->blob_file_size;
	assert(options.blob_threshold > 0);
	s->large_size = options.blob_threshold;
	options.clock = &s->clock;
	if (s->clock.now != clock_real.now)
		options.steady = NULL;
	options.holder = o->holder;
	options.create = o->create;
	options.fresh = o->fresh;
	options.read_only = o->read_only || o->follow;
	options.follow = o->follow;
	options.staleness_ms = o->staleness_ms;
	options.reader_grace_us = o->reader_grace_us;
	err = engine_open(s->volume, &options, &s->engine);
	if (err < 0)
		return err;
	err = o->follow ? follow_schema(s, o) : schema_load(s);
	if (err == 0)
		err = sample_begin(&s->sampler, s->engine, s->volume, &s->clock,
				   options.read_only);
	if (err == 0 && o->follow)
		return follow_start(s, o);
	if (err < 0 || !o->background || o->read_only)
		return err;
	/* The thread finds all that it may use, since it begins after that. */
	engine_on_work(s->engine, background_wake, s);
	err = bg_start(background_step, background_tick, o->sync_interval_ms, s,
		       &s->bg);
	if (err < 0)
		engine_on_work(s->engine, NULL, NULL);
	return err;
}

/* On failure the engine is abandoned rather than closed, so that a store that
 * could not be opened is not written to. */
int store_open_volume(struct volume *v, const struct store_options *o,
		      struct store **out)
{
	struct store *s = calloc(1, sizeof(*s));
	int err;

	*out = NULL;
	if (!s) {
		v->ops->close(v);
		return -ENOMEM;
	}
	s->volume = v;
	s->clock = *o->clock;
	s->memtable_size = o->memtable_size;
	s->lease_wait_ms = o->lease_wait_ms;
	pthread_mutex_init(&s->looking, NULL);
	pthread_mutex_init(&s->scratch_lock, NULL);
	pthread_mutex_init(&s->writing, NULL);
	pthread_mutex_init(&s->refreshing, NULL);
	pthread_mutex_init(&s->schema_lock, NULL);
	err = open_engine(s, o);
	if (err < 0) {
		if (s->engine)
			engine_abandon(s->engine);
		s->engine = NULL;
		store_close(s);
		return err;
	}
	*out = s;
	return 0;
}

/* *out is NULL on failure. Of a directory that is not there, create makes one.
 */
int store_open(const char *where, const struct store_options *o,
	       struct store **out)
{
	struct volume *v;
	int err;

	*out = NULL;
	err = volume_open(where, o->create, &v);
	if (err < 0)
		return err;
	return store_open_volume(v, o, out);
}

/* The background ends first, as it uses the engine; the volume last. Also ends
 * a store whose opening has failed half-way. */
int store_close(struct store *s)
{
	int err = 0;

	bg_stop(s->bg);
	if (s->engine) {
		sample_end(&s->sampler);
		engine_on_work(s->engine, NULL, NULL);
		err = engine_close(s->engine);
	}
	schema_put(s->schema);
	pthread_mutex_destroy(&s->looking);
	pthread_mutex_destroy(&s->scratch_lock);
	free(s->scratch_users);
	pthread_mutex_destroy(&s->writing);
	pthread_mutex_destroy(&s->refreshing);
	pthread_mutex_destroy(&s->schema_lock);
	silence_end(s->silence);
	s->volume->ops->close(s->volume);
	free(s);
	return err;
}

/* Lives as long as s. */
const char *store_recovery_text(const struct store *s)
{
	return engine_recovery_text(s->engine);
}

/* The lease is the engine's; only its line is changed. */
int store_describe(struct store *s, const char *holder)
{
	return s->volume->ops->lease_describe(s->volume, holder);
}

/* Large values are the engine's. */
int store_large_new(struct store *s, struct large *base, uint64_t size,
		    struct large_writer **out)
{
	return large_writer_new(s->engine, base, size, out);
}

/* The same for as long as the store is open. */
size_t store_large_size(const struct store *s)
{
	return s->large_size;
}

/* The engine's, which counts its own part there. */
struct memory *store_memory(struct store *s)
{
	return engine_memory(s->engine);
}

static _Thread_local uint64_t scratch_user; /* and 1; 0: was never told */

void store_scratch_for(uint32_t user)
{
	scratch_user = (uint64_t)user + 1;
}

/* Room to note whose this descriptor is. With scratch_lock held. */
static int reserve_scratch(struct store *s, size_t fd)
{
	size_t room = 2 * fd + 16, i;
	uint64_t *users;

	if (fd < s->scratch_room)
		return 0;
	users = realloc(s->scratch_users, room * sizeof(*users));
	if (!users)
		return -ENOMEM;
	for (i = s->scratch_room; i < room; i++)
		users[i] = 0;
	s->scratch_users = users;
	s->scratch_room = room;
	return 0;
}

/* Whether user may have one more: 0 or -ERR_scratch_full. With scratch_lock
 * held. */
static int check_scratch(const struct store *s, uint64_t user)
{
	struct rlimit files = { 0, 0 };
	size_t all = 0, mine = 0, i;

	for (i = 0; i < s->scratch_room; i++) {
		all += s->scratch_users[i] != 0;
		mine += s->scratch_users[i] == user;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	if (mine >= files.rlim_cur / 4)
		return fail(ERR_scratch_full,
			    "user %llu has %zu files open that memory has no "
			    "room for, a quarter of what this process, not "
			    "yours, may open (ulimit -n): close some",
			    (unsigned long long)user - 1, mine);
	if (all >= files.rlim_cur / 2)
		return fail(ERR_scratch_full,
			    "%zu files are open that memory has no room for, "
			    "half of what this process, not yours, may open "
			    "(ulimit -n), %zu of them by user %llu: close some",
			    all, mine, (unsigned long long)user - 1);
	return 0;
}

/* It is the volume's kind of file. */
int store_scratch(struct store *s)
{
	uint64_t user = scratch_user ? scratch_user : (uint64_t)getuid() + 1;
	int err, fd = -1;

	pthread_mutex_lock(&s->scratch_lock);
	err = check_scratch(s, user);
	if (!err)
		fd = s->volume->ops->scratch(s->volume);
	if (fd >= 0)
		err = reserve_scratch(s, (size_t)fd);
	if (fd >= 0 && !err)
		s->scratch_users[fd] = user;
	pthread_mutex_unlock(&s->scratch_lock);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Closed with the lock held, or another would have its number before. */
void store_scratch_end(struct store *s, int fd)
{
	pthread_mutex_lock(&s->scratch_lock);
	assert((size_t)fd < s->scratch_room && s->scratch_users[fd]);
	s->scratch_users[fd] = 0;
	close(fd);
	pthread_mutex_unlock(&s->scratch_lock);
}

/* As of large values, which are written besides the log, too. */
int store_scratch_admit(struct store *s, uint64_t size)
{
	return engine_admit_data(s->engine, size);
}

/* Still the store's to close. */
struct volume *store_volume(struct store *s)
{
	return s->volume;
}

/* Waits for the disk, with no lock of the model held. */
int store_sync(struct store *s)
{
	return engine_sync(s->engine);
}

/* Snapshots of the store are the engine's, under another name. *out is NULL on
 * failure. */
int store_snapshot(struct store *s, struct snapshot **out)
{
	struct engine_snapshot *snapshot;
	int err = engine_snapshot(s->engine, &snapshot);

	*out = (struct snapshot *)snapshot;
	return err;
}

/* Its rules come from the schema as it was then, which is read with those of
 * now. */
static int open_moment(struct store *s, uint64_t time_us, bool known,
		       struct snapshot **out)
{
	struct engine_snapshot *moment;
	struct gc_rules *rules;
	int err = engine_moment(s->engine, time_us, known, &moment);

	*out = NULL;
	if (err < 0)
		return err;
	err = schema_load_at(s, moment, &rules);
	if (err < 0) {
		engine_snapshot_release(s->engine, moment);
		return err;
	}
	engine_moment_rules(moment, rules);
	*out = (struct snapshot *)moment;
	return 0;
}

int store_moment(struct store *s, uint64_t time_us, struct snapshot **out)
{
	return open_moment(s, time_us, true, out);
}

int store_last_moment(struct store *s, uint64_t time_us, struct snapshot **out)
{
	return open_moment(s, time_us, false, out);
}

int store_find_moment(struct store *s, uint64_t time_us, uint64_t *found_us)
{
	return engine_find_moment(s->engine, time_us, found_us);
}

uint64_t store_moment_time(const struct snapshot *moment)
{
	return engine_moment_time((const struct engine_snapshot *)moment);
}

uint64_t store_snapshot_seq(const struct snapshot *snapshot)
{
	return engine_snapshot_seq((const struct engine_snapshot *)snapshot);
}

void store_snapshot_release(struct store *s, struct snapshot *snapshot)
{
	engine_snapshot_release(s->engine, (struct engine_snapshot *)snapshot);
}

int store_check(struct store *s,
		void (*report)(void *context, const char *problem),
		void *context)
{
	return engine_verify(s->engine, report, context);
}

int store_strays(struct store *s,
		 int (*each)(void *context, const char *object), void *context)
{
	struct volume *v = s->volume;

	return v->ops->strays ? v->ops->strays(v, each, context) : 0;
}

/* The table is compacted by its id, so that it does not matter if it is renamed
 * meanwhile. */
int store_compact(struct store *s, struct bytes name)
{
	struct schema *schema;
	const struct table *table;
	uint8_t start[KEY_TABLE_SIZE], end[KEY_TABLE_SIZE];
	uint32_t id;

	if (name.size == 0)
		return engine_compact_range(s->engine, BYTES_NONE, BYTES_NONE);
	schema = store_schema(s);
	table = schema_table(schema, name);
	id = table ? table->id : 0;
	schema_put(schema);
	if (id == 0)
		return fail(ERR_no_table, "table \"%s\" not found",
			    err_name(name));
	put_u32be(start, id);
	put_u32be(end, id + 1);
	return engine_compact_range(s->engine, bytes_of(start, sizeof(start)),
				    bytes_of(end, sizeof(end)));
}

void store_want_room(struct store *s)
{
	engine_want_room(s->engine);
}

int store_on_silence(struct store *s, void (*silent)(void *context),
		     void *context)
{
	struct volume *v = s->volume;

	assert(!s->silence);
	return v->ops->lease_left(v) == UINT64_MAX
		       ? 0
		       : silence_begin(v, s->lease_wait_ms, silent, context,
				       &s->silence);
}

void store_on_wait(struct store *s, void (*about_to_wait)(void *context),
		   void *context)
{
	s->engine->about_to_wait = about_to_wait;
	s->engine->wait_context = context;
}

int store_wait_for_room(struct store *s, uint64_t size,
			int (*fits)(void *context), void *context)
{
	int result = engine_wait_for_room(s->engine, size, fits, context);

	if (result == 0)
		engine_want_room(s->engine);
	return result;
}

void store_set_quota(struct store *s, uint64_t bytes)
{
	atomic_store(&s->engine->quota, bytes);
}

/* What is told of a running store; most of it is the engine's. */
void store_stats(struct store *s, struct store_stats *out)
{
	engine_stats(s->engine, out);
	out->import_rows = atomic_load(&s->import_rows);
	out->import_bytes = atomic_load(&s->import_bytes);
	out->import_refused = atomic_load(&s->import_refused);
	if (!s->engine->follower)
		return;
	out->follow_staleness_us =
		(uint64_t)s->engine->options.staleness_ms * 1000;
	out->follow_age_us = engine_age_us(s->engine);
	out->follow_looks = atomic_load(&s->look_count);
}

const struct histogram *store_sync_times(struct store *s)
{
	return engine_sync_times(s->engine);
}

void store_note_import(struct store *s, uint64_t rows, uint64_t bytes,
		       uint64_t refused)
{
	atomic_fetch_add(&s->import_rows, rows);
	atomic_fetch_add(&s->import_bytes, bytes);
	atomic_fetch_add(&s->import_refused, refused);
}

uint64_t store_now(const struct store *s)
{
	return engine_now(s->engine);
}

uint64_t store_seq(struct store *s)
{
	return engine_visible_seq(s->engine);
}

static_assert(STORE_POSITION_SIZE == POSITION_TEXT_SIZE, "a position has room");

void store_position(struct store *s, char text[STORE_POSITION_SIZE])
{
	struct position p;

	engine_position(s->engine, &p);
	position_text(&p, text);
}

int store_health(struct store *s)
{
	return engine_health(s->engine);
}
