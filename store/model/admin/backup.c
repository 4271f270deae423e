#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/backups/backups.h"
#include "store/base/clock.h"
#include "store/base/place/place.h"
#include "store/base/volume/volume_posix.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/base/volume/volume_posix_partial.h"
#include "store/engine/run/backup.h"
#include "store/model/admin/backup_one.h"
#include "store/model/model.h"

/*
 * Backups in a directory of them: each is made under another name, and renamed
 * when it is whole. What the newest one has and the store has still is shared
 * with that one: files never change, and one that went never comes back, so
 * older backups have nothing that it lacks.
 */
/* Making one backup. */
struct making {
	struct backups *b;
	struct buf path;               /* owned: where it is made */
	struct volume *older;          /* owned: the newest backup, or NULL */
	struct backup_digests known;   /* owned: what it says of its files */
	struct manifest_root newest;   /* and its root; zeroed, if none */
	struct backup_digests brought; /* owned */
	char moment[BACKUP_MOMENT_SIZE];
};

static_assert(BACKUP_MOMENT_SIZE == BACKUPS_MOMENT_SIZE, "both are names");
static_assert(STORE_ID_TEXT_SIZE <= BACKUPS_STORE_MAX, "a marker holds an id");

/* Finds what the newest backup has. One that somebody has damaged is no help,
 * and no hindrance. */
static int find_newest(struct making *m)
{
	struct buf path = BUF_INIT;
	const char *newest;
	int at, err;

	if (m->b->count == 0)
		return 0;
	newest = m->b->moments[m->b->count - 1];
	at = backups_open_one(m->b, newest, false);
	err = backups_path(m->b, newest, false, &path);
	if (!err)
		err = volume_posix_open((const char *)path.data, false,
					&m->older);
	if (!err)
		err = backup_read_root(m->older, &m->newest);
	if (!err)
		err = at < 0 ? at
			     : backup_read_digests(at, (const char *)path.data,
						   &m->known);
	if (at >= 0)
		close(at);
	buf_release(&path);
	if (!err || err == -ENOMEM)
		return err;
	err_clear();
	if (m->older)
		m->older->ops->close(m->older);
	m->older = NULL;
	return 0;
}

/* As backup_how.accept: the directory is this store's, or nobody's as it has no
 * backup, and behind it. */
static int accept(void *context, const struct manifest_root *root)
{
	struct making *m = context;
	const struct identity *i = &root->identity, *newest;
	char store[STORE_ID_TEXT_SIZE];

	newest = &m->newest.identity;
	store_id_text(&i->parent, store);
	if (m->b->count == 0)
		return backups_claim(m->b, store);
	if (strcmp(m->b->store, store) != 0)
		return fail(ERR_foreign_backups,
			    "%s: holds backups of store %s, and this is store "
			    "%s; give it a directory of its own",
			    m->b->path, m->b->store, store);
	if (newest->parent_sequence > i->parent_sequence &&
	    store_id_equal(&newest->parent, &i->parent))
		return fail(ERR_foreign_backups,
			    "%s: has a backup, %s, of store %s at sequence "
			    "%llu, and the store is at %llu: it is an older "
			    "copy; give it a directory of its own",
			    m->b->path, m->b->moments[m->b->count - 1], store,
			    (unsigned long long)newest->parent_sequence,
			    (unsigned long long)i->parent_sequence);
	return 0;
}

/* The first of now or later that is later than all that there are, also if the
 * clock was set back: by names the newest is found. */
static int choose_moment(const struct backups *b,
			 char moment[BACKUP_MOMENT_SIZE])
{
	const char *newest = b->count > 0 ? b->moments[b->count - 1] : "";
	uint64_t now = clock_now(&clock_real), middle;
	uint64_t low = now < BACKUPS_MOMENT_MAX ? now : BACKUPS_MOMENT_MAX;
	uint64_t high = BACKUPS_MOMENT_MAX;

	backups_moment(low, moment);
	while (strcmp(moment, newest) <= 0 && low < high) {
		middle = low + (high - low) / 2;
		backups_moment(middle, moment);
		if (strcmp(moment, newest) > 0)
			high = middle;
		else
			low = middle + 1;
		backups_moment(low, moment);
	}
	return strcmp(moment, newest) > 0
		       ? 0
		       : fail(EOVERFLOW,
			      "%s/%s: no name is left behind this one, so no "
			      "backup could be the newest; move it away",
			      b->path, newest);
}

/* That there is no store yet, where the name alone does not tell it. */
static int check_empty(struct volume *to)
{
	struct buf root = BUF_INIT;
	uint64_t version;
	int err = to->ops->root_get(to, &version, &root);

	buf_release(&root);
	if (err == -ENOENT) {
		err_clear();
		return 0;
	}
	return err < 0 ? err : fail(EEXIST, "%s: is there already", to->path);
}

int backup_free_place(const char *where)
{
	struct volume *to;
	int err = volume_open(where, true, &to);

	if (err < 0)
		return err;
	err = check_empty(to);
	to->ops->close(to);
	return err;
}

/* Makes a place a store; a directory is the caller's to remove after a failure.
 * The lease of it is held meanwhile, so that nobody opens it half done. */
static int bring_into(const struct backup_source *from,
		      const struct backup_how *how, const char *where,
		      struct backup_result *result)
{
	struct volume *to;
	int err = volume_open(where, true, &to);

	if (err < 0)
		return err;
	err = to->ops->lease_take(to, "a backup under way", NULL, NULL);
	if (!err) {
		err = check_empty(to);
		if (!err)
			err = backup_bring(from, how, to, result);
		to->ops->lease_release(to);
	}
	to->ops->close(to);
	return err;
}

static void making_release(struct making *m)
{
	if (m->older)
		m->older->ops->close(m->older);
	backup_digests_release(&m->known);
	backup_digests_release(&m->brought);
	buf_release(&m->path);
}

static int write_digests(struct making *m)
{
	int at = backups_open_one(m->b, m->moment, true), err;

	if (at < 0)
		return at;
	err = backup_write_digests(at, (const char *)m->path.data, &m->brought);
	close(at);
	return err;
}

/* Adds a backup to a directory that is locked. */
static int add(struct backups *b, const struct backup_source *from,
	       const struct backup_options *o, struct backup_result *result)
{
	struct making m = { .b = b };
	struct backup_how how = { .accept = accept,
				  .context = &m,
				  .copies = !o->link,
				  .known = &m.known,
				  .brought = &m.brought };
	int err = find_newest(&m);

	how.older = m.older;
	if (!err)
		err = choose_moment(b, m.moment);
	if (!err)
		err = backups_path(b, m.moment, true, &m.path);
	if (!err) {
		const char *path = (const char *)m.path.data;

		err = bring_into(from, &how, path, result);
		if (!err)
			err = write_digests(&m);
		if (!err)
			err = backups_publish(b, m.moment,
					      &result->is_latest_taken);
		if (err)
			volume_posix_discard(path);
	}
	memcpy(result->moment, m.moment, sizeof(m.moment));
	making_release(&m);
	return err;
}

/* Whether nobody has written to v: 1 or 0, or an error. */
static int is_unwritten(struct volume *v)
{
	struct manifest_root root;
	int err = backup_read_root(v, &root);

	if (backup_is_none(err))
		return 1;
	return err ? err : store_id_is_none(&root.identity.id);
}

/* Whether a backup is one still, and nobody has it: 1 with *out, which holds
 * its lease and is NULL of what is no store, 0 if it is left alone,
 * -ERR_store_in_use, or an error. */
static int take_for_removal(const char *path, struct volume **out)
{
	int err = volume_posix_open(path, false, out), is;

	if (err)
		return backup_is_none(err) ? 1 : err;
	/* A store of its own is not touched; and what is none may have become
	 * one before its lease was taken. */
	is = is_unwritten(*out);
	if (is == 1) {
		err = (*out)->ops->lease_take(*out, "a backup being removed",
					      NULL, NULL);
		is = err ? err : is_unwritten(*out);
	}
	if (is == 1)
		return 1;
	(*out)->ops->close(*out);
	*out = NULL;
	return is;
}

/* Removes the i-th backup: 1, 0 if it is left alone, or an error. */
static int remove_one(struct backups *b, size_t i)
{
	char moment[BACKUP_MOMENT_SIZE];
	struct buf path = BUF_INIT;
	struct volume *v = NULL;
	int err, taken;

	memcpy(moment, b->moments[i], sizeof(moment));
	err = backups_path(b, moment, false, &path);
	taken = err ? err : take_for_removal((const char *)path.data, &v);
	if (taken > 0) {
		err = backups_remove(b, moment);
		if (v)
			v->ops->close(v);
	}
	buf_release(&path);
	return taken > 0 && err ? err : taken;
}

/* Whether the i-th is one still, and no store by itself. */
static bool is_backup(const struct backups *b, size_t i)
{
	struct manifest_root root;
	struct buf path = BUF_INIT;
	struct volume *v = NULL;
	int err = backups_path(b, b->moments[i], false, &path);

	if (!err)
		err = volume_posix_open((const char *)path.data, false, &v);
	if (!err)
		err = backup_read_root(v, &root);
	if (v)
		v->ops->close(v);
	buf_release(&path);
	return !err && store_id_is_none(&root.identity.id);
}

/* How many entries are older than those that are to be kept: the one that was
 * just made, and before it only what is a backup still. */
static size_t count_excess(const struct backups *b, const char *made,
			   unsigned int keep)
{
	unsigned int kept = 1;
	size_t i = b->count;

	while (i > 0 && strcmp(b->moments[i - 1], made) >= 0)
		i--;
	while (i > 0 && kept < keep)
		kept += is_backup(b, --i);
	err_clear(); /* what is none is no trouble */
	return i;
}

/* Removes the oldest beyond those that are to be kept. The backup is made: what
 * cannot be removed is counted. */
static void remove_old(struct backups *b, unsigned int keep,
		       struct backup_result *r)
{
	size_t i = 0, excess = count_excess(b, r->moment, keep);
	int err;

	for (; excess > 0 && i < b->count; excess--) {
		err = remove_one(b, i);
		r->removed_count += err > 0;
		/* What is left alone stays where it is in the list. */
		i += err <= 0;
		r->busy_count += err == -ERR_store_in_use;
		if (err >= 0 || err == -ERR_store_in_use)
			continue;
		if (r->stayed_count++ == 0)
			snprintf(r->stayed_why, sizeof(r->stayed_why), "%s",
				 err == -ENOMEM ? "no memory" : err_detail());
	}
	err_clear();
}

/* A place that is no directory takes one backup, which is there with its root,
 * the last to come. */
static int make_at(const struct backup_source *from, const char *where,
		   const struct backup_options *o, struct backup_result *result)
{
	struct backup_how how = { .copies = true };

	if (o->keep > 0 || o->link)
		return fail(EINVAL,
			    "%s: holds one backup: keep= and link= are for "
			    "directories",
			    where);
	return bring_into(from, &how, where, result);
}

int backup_make(const struct backup_source *from, const char *where,
		const struct backup_options *o, struct backup_result *result)
{
	const struct volume_kind *kind;
	const char *directory;
	char holder[64];
	struct backups *b;
	int err = volume_place(where, &kind, &directory);

	*result = (struct backup_result){ .size = 0 };
	if (err > 0)
		return make_at(from, where, o, result);
	if (err == 0)
		err = backups_open(directory, true, &b);
	if (err)
		return err;
	snprintf(holder, sizeof(holder), "tabletfs backup, pid %d",
		 (int)getpid());
	err = backups_lock(b, holder);
	if (!err)
		err = add(b, from, o, result);
	if (!err && o->keep > 0)
		remove_old(b, o->keep, result);
	backups_close(b);
	return err;
}

int store_backup(struct store *s, const char *directory,
		 const struct backup_options *o, struct backup_result *result)
{
	struct engine_source own;
	struct backup_source from = engine_source(s->engine, &own);

	return backup_make(&from, directory, o, result);
}

/* A pin is a version of the engine's, under another name. */
int store_pin(struct store *s, struct buf *contents, struct backup_pin **out)
{
	struct version *version;
	int err = engine_pin(s->engine, contents, &version);

	*out = (struct backup_pin *)version;
	return err;
}

void store_unpin(struct store *s, struct backup_pin *pin)
{
	engine_unpin(s->engine, (struct version *)pin);
}

/* The newest backup whose moment begins so. */
static int choose(const struct backups *b, const char *moment, struct buf *path)
{
	size_t i = b->count, n = strlen(moment);

	while (i > 0 && strncmp(b->moments[i - 1], moment, n) != 0)
		i--;
	if (i > 0)
		return backups_path(b, b->moments[i - 1], false, path);
	if (b->count == 0)
		return fail(ERR_no_backup, "%s: holds no backup yet", b->path);
	return fail(ERR_no_backup,
		    "%s: has no backup %s; they are from %s to %s", b->path,
		    moment, b->moments[0], b->moments[b->count - 1]);
}

/* One in a directory of them, or with no moment a directory that is one. */
static int find_in(const char *directory, const char *moment, struct buf *path)
{
	struct volume *v;
	struct backups *b;
	int err = volume_posix_open(directory, false, &v);

	if (!err)
		v->ops->close(v);
	if (!err && !*moment) {
		err = buf_add_string(path, directory);
		return err ? err : buf_terminate(path);
	}
	err_clear();
	err = backups_open(directory, false, &b);
	if (err)
		return err;
	err = choose(b, moment, path);
	backups_close(b);
	return err;
}

int backup_find(const char *from, struct buf *path)
{
	const char *at = strrchr(from, '@');
	char *directory;
	int err;

	buf_reset(path);
	if (!at || volume_posix_free_name(from) == -EEXIST)
		return find_in(from, "", path);
	directory = strndup(from, (size_t)(at - from));
	if (!directory)
		return -ENOMEM;
	err = find_in(directory, at + 1, path);
	free(directory);
	return err;
}

/* As backup_source.pin, of a backup that nobody writes. */
static int pin_files(void *context, struct buf *contents)
{
	return backup_contents(context, contents);
}

static int unpin_files(void *context)
{
	(void)context;
	return 0;
}

/* What the backup at path was when it was made. */
static int read_expected(const char *path, struct backup_digests *out)
{
	int at = backups_open_path(path), err;

	*out = (struct backup_digests){ 0 };
	if (at < 0)
		return at;
	err = backup_read_digests(at, path, out);
	close(at);
	return err;
}

/* Restores the backup at path to a directory that is made; check is that of
 * backup_restore. */
static int restore(const char *path, const char *directory, int (*check)(void),
		   struct backup_result *result)
{
	struct backup_digests expected;
	struct backup_source from = { NULL, pin_files, unpin_files, NULL };
	struct backup_how how = { .check = check, .copies = true };
	int err = read_expected(path, &expected);

	/* Backups of former releases have none. */
	if (!err) {
		how.expected = &expected;
	} else if (err == -ENOENT) {
		err_clear();
		err = 0;
	}
	if (!err)
		err = volume_posix_open(path, false, &from.volume);
	if (err)
		goto release;
	from.context = from.volume;
	err = from.volume->ops->lease_share(from.volume);
	if (!err)
		err = bring_into(&from, &how, directory, result);
	from.volume->ops->close(from.volume);
release:
	backup_digests_release(&expected);
	return err;
}

/* Opens the directory of backups in which path lies, if it is one. */
static struct backups *open_above(const char *path)
{
	size_t n = strlen(path);
	struct backups *b;
	char *above;

	while (n > 0 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	above = n > 0 ? strndup(path, n > 1 ? n - 1 : n) : strdup(".");
	if (!above || backups_open(above, false, &b))
		b = NULL;
	free(above);
	return b;
}

/* Adds to why the backup at path is none another that is one. */
static int name_other(const char *path, int err)
{
	struct backups *b;
	char why[512];
	size_t i;

	snprintf(why, sizeof(why), "%s", err_detail());
	b = open_above(path);
	i = b ? b->count : 0;
	while (i > 0 && !is_backup(b, i - 1))
		i--;
	if (i > 0)
		err = fail(-err, "%s; %s@%s is the newest that was not", why,
			   b->path, b->moments[i - 1]);
	else
		err = fail(-err, "%s", why);
	backups_close(b);
	return err;
}

/* A store that lies with backups would be taken for one. */
static int check_apart(const char *directory)
{
	struct backups *b = open_above(directory);
	int err = 0;

	if (b)
		err = fail(EINVAL,
			   "%s: lies in a directory of backups; name a store "
			   "elsewhere",
			   directory);
	else
		err_clear();
	backups_close(b);
	return err;
}

int backup_restore(const char *from, const char *directory, int (*check)(void),
		   struct backup_result *result)
{
	struct buf path = BUF_INIT;
	struct volume_partial p;
	int err = backup_find(from, &path);

	*result = (struct backup_result){ .size = 0 };
	if (!err)
		err = check_apart(directory);
	if (!err)
		err = volume_place_local(directory);
	if (!err)
		err = volume_partial_begin(directory, &p);
	if (!err) {
		err = restore((const char *)path.data,
			      (const char *)p.path.data, check, result);
		if (err == -EINVAL)
			err = name_other((const char *)path.data, err);
		if (err < 0)
			volume_partial_abandon(&p);
		else
			err = volume_partial_finish(&p);
	}
	buf_release(&path);
	return err;
}
