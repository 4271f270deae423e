#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/base/err.h"
#include "store/engine/core/history.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest_next.h"
#include "store/engine/files/manifest_whole.h"
#include "store/engine/follow/follower.h"

/* How often a look is begun anew before what it meets is taken for damage, and
 * after how many of these with nothing that was read before. */
#define TRIES 12
#define TRIES_ANEW 4
#define PAUSE_MS 2

/* The edits will be read from their start. */
static void forget_edits(struct follower *f)
{
	edit_release(&f->edits.files);
	f->edits.any = f->is_known = false;
	f->edits_place = (struct wal_place){ 0 };
	f->names->log_count = f->names->moment_count = 0;
	f->names->last_seq = f->names->given_seq = 0;
	f->names->gc_time_us = 0;
}

/* A store of another id has come to the place of what was shown. */
static int check_identity(const struct follower *f,
			  const struct manifest_root *root)
{
	const struct store_id *shown = &f->e->manifest->identity.id;

	return store_id_is_none(shown) ||
			       store_id_equal(shown, &root->identity.id)
		       ? 0
		       : fail(ERR_store_lost,
			      "%s: is another store by now; mount it again",
			      f->e->volume->path);
}

/* What the root says: whose edits are to be read, and whether former ones go
 * on. Another owner may have cut what the last one did not finish. */
static int read_root(struct follower *f)
{
	struct volume *v = f->e->volume;
	struct buf raw = BUF_INIT;
	struct manifest_root root;
	uint64_t version;
	int err = v->ops->root_get(v, &version, &raw);

	if (err == -ENOENT)
		err = manifest_no_root(v);
	if (err == 0)
		err = manifest_root_decode(v->path, buf_bytes(&raw), &root);
	buf_release(&raw);
	if (err == 0)
		err = check_identity(f, &root);
	if (err < 0)
		return err;
	if (!f->is_known || root.edits_id != f->edits_id) {
		forget_edits(f);
		if (root.epoch != f->names->epoch)
			follow_logs_anew(f);
	}
	f->edits_id = root.edits_id;
	f->names->epoch = root.epoch;
	f->names->identity = root.identity;
	f->names->root_version = version;
	f->names->edits_id = root.edits_id;
	f->is_known = true;
	return 0;
}

/* For wal_follow. */
static int take_edit(void *context, struct bytes record)
{
	struct follower *f = context;

	f->is_new = true;
	return manifest_replay_edit(&f->edits, record);
}

/* The edits since, as names and numbers, and then as a version. */
static int read_edits(struct follower *f)
{
	char name[VOLUME_NAME_MAX + 1], why[VERSION_WHY_SIZE];
	struct version *v;
	int err;

	manifest_name(f->edits_id, "edits", name);
	err = wal_follow(f->e->volume, name, f->edits_id, 0, take_edit, f,
			 &f->edits_place);
	if (err == 0 && !f->edits.any)
		err = fail(ERR_manifest_damaged, "%s/%s: holds no edit",
			   f->e->volume->path, name);
	if (err < 0) {
		/* One of them may be half applied. */
		forget_edits(f);
		f->is_new = true;
		return err;
	}
	if (!f->is_new)
		return 0;
	err = manifest_version_of(f->names, &f->edits.files, &v);
	if (err < 0)
		return err;
	version_put(f->names->current);
	f->names->current = v;
	if (!version_in_order(v, why))
		return fail(ERR_manifest_damaged, "%s: %s", f->e->volume->path,
			    why);
	f->is_new = false;
	f->schema = true;
	return 0;
}

/* In this order, see follow.h. */
static int look_once(struct follower *f)
{
	int err = read_root(f);

	if (err == 0)
		err = read_edits(f);
	if (err == 0)
		err = follow_logs(f);
	if (err == 0 && f->written_seq < atomic_load(&f->e->visible_seq))
		err = follow_fail_lost(f, f->written_seq);
	return err;
}

/* Whether it is worth another look: the owner may have been at it. */
static bool may_pass(int err)
{
	return err != 0 && err != -ENOMEM && err != -ERR_format_newer &&
	       err != -ERR_not_a_store;
}

/* Looks until what is read fits together. */
static int look(struct follower *f)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };
	int tries, err = look_once(f);

	for (tries = 1; may_pass(err) && tries < TRIES; tries++) {
		/* A step of the owner's is short, its next one soon. */
		if (tries > 1)
			nanosleep(&pause, NULL);
		if (tries >= TRIES_ANEW) {
			forget_edits(f);
			follow_logs_anew(f);
			f->is_new = true;
		}
		err = look_once(f);
	}
	if (err == FOLLOW_MOVED)
		err = fail(ERR_wal_damaged,
			   "%s: what follows commit %llu supposes what is not "
			   "there; see tabletfs check",
			   f->e->volume->path,
			   (unsigned long long)f->written_seq);
	if (err == -ERR_store_lost)
		snprintf(f->lost, sizeof(f->lost), "%s", err_detail());
	/* Nobody asks why it was begun anew. */
	if (err == 0 && tries > 1)
		err_clear();
	return err;
}

/* Why what is shown grows old, for engine_fresh; 0: it does not. */
static void tell(struct engine *e, int err)
{
	const char *detail = err_detail();

	pthread_mutex_lock(&e->lock);
	snprintf(e->trouble_text, sizeof(e->trouble_text), "%s",
		 err == 0  ? ""
		 : *detail ? detail
			   : err_text(err));
	pthread_mutex_unlock(&e->lock);
}

/* All that there is, as a snapshot. */
static int make_fresh(struct follower *f, struct engine_snapshot **out)
{
	struct engine_snapshot *s = calloc(1, sizeof(*s));
	int err;

	*out = s;
	if (!s)
		return -ENOMEM;
	s->seq = f->written_seq;
	s->gc_time_us = f->names->gc_time_us;
	err = view_new(f->names->current, f->tables, f->table_count, &s->view);
	if (err < 0) {
		free(s);
		*out = NULL;
	}
	return err;
}

/* Whether the last memtable is shown, and the version. */
static bool is_shown(const struct follower *f)
{
	const struct engine_view *v = f->e->view;

	return v && v->version == f->names->current &&
	       v->count == f->table_count &&
	       v->memtables[v->count - 1] == f->tables[f->table_count - 1] &&
	       f->written_seq == atomic_load(&f->e->visible_seq);
}

int follow_look(struct engine *e, struct engine_snapshot **fresh, bool *schema)
{
	struct follower *f = e->follower;
	uint64_t start_us = clock_now(&clock_steady);
	int err = *f->lost ? fail(ERR_store_lost, "%s", f->lost) : look(f);
	bool shown = err == 0 && is_shown(f);

	*fresh = NULL;
	*schema = f->schema;
	if (err == 0 && !shown)
		err = make_fresh(f, fresh);
	tell(e, err);
	if (err < 0)
		return err;
	if (shown)
		atomic_store(&e->as_of_us, start_us);
	else
		(*fresh)->as_of_us = start_us;
	return shown ? 0 : 1;
}

/* What other parts of the engine ask of the manifest. */
static int copy_names(const struct manifest *from, struct manifest *to)
{
	size_t size = from->log_count * sizeof(*from->logs);
	struct manifest_log *logs = malloc(size + 1);

	if (!logs)
		return -ENOMEM;
	if (size > 0)
		memcpy(logs, from->logs, size);
	free(to->logs);
	to->logs = logs;
	to->log_count = from->log_count;
	to->identity = from->identity;
	to->epoch = from->epoch;
	to->root_version = from->root_version;
	to->edits_id = from->edits_id;
	to->last_seq = from->last_seq;
	to->given_seq = from->given_seq;
	to->gc_time_us = from->gc_time_us;
	version_put(to->current);
	to->current = version_get(from->current);
	return 0;
}

/* What is shown until now, which goes without a lock. */
struct former {
	struct engine_view *view;
	struct version *version;
	struct memtable *tables[IMMUTABLES_MAX + 1];
	size_t table_count;
	struct moments *moments;
	struct gc_rules *rules;
};

static void put_former(struct former *o)
{
	while (o->table_count > 0)
		memtable_put(o->tables[--o->table_count]);
	version_put(o->version);
	view_put(o->view);
	moments_put(o->moments);
	gc_rules_put(o->rules);
}

/* Takes view, moments and, if they are not NULL, rules. Needs lock. */
static void change_places(struct engine *e, struct engine_snapshot *fresh,
			  struct moments *moments, struct gc_rules *rules,
			  struct former *old)
{
	const struct engine_view *v = fresh->view;
	const struct moment *last;
	uint64_t time_us = fresh->gc_time_us;
	size_t i;

	*old = (struct former){ e->view, e->version, .moments = e->moments };
	for (i = 0; i < e->immutable_count; i++)
		old->tables[old->table_count++] = e->immutables[i];
	if (e->memtable)
		old->tables[old->table_count++] = e->memtable;
	e->view = view_get(fresh->view);
	e->version = version_get(v->version);
	for (i = 0; i + 1 < v->count; i++)
		e->immutables[i] = memtable_get(v->memtables[i]);
	e->immutable_count = v->count - 1;
	e->memtable = memtable_get(v->memtables[v->count - 1]);
	e->moments = moments;
	last = moments->count > 0 ? &moments->items[moments->count - 1] : NULL;
	e->moment_flags = last && fresh->seq > last->seq ? MOMENT_AFTER_GAP : 0;
	if (last && last->time_us > time_us)
		time_us = last->time_us;
	if (time_us > atomic_load(&e->gc_time_us))
		atomic_store(&e->gc_time_us, time_us);
	if (rules) {
		old->rules = e->rules;
		e->rules = gc_rules_get(rules);
		gaps_set_rules(&e->gaps, rules);
		e->rules_turn++;
	}
	atomic_store(&e->visible_seq, fresh->seq);
}

/* Ids ascend, also from owner to owner. */
static uint64_t newest_log(const struct follower *f)
{
	uint64_t newest = f->shown_log;
	size_t i;

	for (i = 0; i < f->log_count; i++)
		if (f->logs[i].id > newest)
			newest = f->logs[i].id;
	return newest;
}

int follow_publish(struct engine *e, struct engine_snapshot *fresh,
		   struct gc_rules *rules)
{
	struct follower *f = e->follower;
	struct moments *moments;
	struct former old;
	int err = history_read(e, f->names, &moments);

	assert(fresh->view->count > 0);
	pthread_mutex_lock(&e->edits);
	if (err == 0)
		err = copy_names(f->names, e->manifest);
	if (err < 0) {
		pthread_mutex_unlock(&e->edits);
		moments_put(moments);
		follow_drop(e, fresh, err);
		return err;
	}
	gaps_note_any(&e->gaps, fresh->seq);
	pthread_mutex_lock(&e->lock);
	change_places(e, fresh, moments, rules, &old);
	pthread_mutex_unlock(&e->lock);
	pthread_mutex_unlock(&e->edits);
	/* Of the rest it is not known. */
	atomic_store(&e->synced_seq, f->names->last_seq);
	atomic_store(&e->flushed_seq, f->names->last_seq);
	atomic_store(&e->as_of_us, fresh->as_of_us);
	put_former(&old);
	view_put(fresh->view);
	free(fresh);
	f->schema = false;
	f->shown_log = newest_log(f);
	return 0;
}

void follow_drop(struct engine *e, struct engine_snapshot *fresh, int err)
{
	tell(e, err);
	view_put(fresh->view);
	free(fresh);
}

static int follower_new(struct engine *e, struct follower **out)
{
	struct follower *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	f->e = e;
	f->names = calloc(1, sizeof(*f->names));
	if (!f->names)
		return -ENOMEM;
	f->names->volume = e->volume;
	f->names->cache = e->cache;
	f->names->owner = &e->owner;
	f->edits.m = f->names;
	return version_new(&f->names->current);
}

int follow_begin(struct engine *e)
{
	struct engine_snapshot *fresh;
	bool schema;
	int err;

	assert(e->options.read_only && !e->follower);
	err = follower_new(e, &e->follower);
	if (err == 0) {
		e->manifest = calloc(1, sizeof(*e->manifest));
		err = e->manifest ? 0 : -ENOMEM;
	}
	if (err == 0)
		err = history_begin(e);
	if (err == 0)
		err = follow_look(e, &fresh, &schema);
	if (err < 0)
		return err;
	assert(err == 1);
	e->is_recovered = true;
	return follow_publish(e, fresh, NULL);
}

void follow_end(struct follower *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->table_count; i++)
		memtable_put(f->tables[i]);
	edit_release(&f->edits.files);
	manifest_close(f->names);
	free(f->logs);
	free(f);
}
