#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/inspect/inspect_directory.h"

/* Who replaces the root and removes the edit log that it named does so rarely;
 * three times in a row is something else. */
#define TRIES 3

struct directory_look {
	struct inspect *i;
	struct volume *volume;
	struct inspect_manifest manifest;
	char **names; /* of all files; owned, as they are */
	size_t count;
	uint64_t file_count, size; /* of those that were shown */
	bool has_marker, has_root;
};

int inspect_manifest_read(struct volume *v, struct inspect_manifest *m)
{
	int tries, err = -EIO;

	*m = (struct inspect_manifest){ .is_known = false };
	for (tries = 0; tries < TRIES && err < 0 && err != -ENOMEM; tries++) {
		edit_release(&m->history.state);
		err = manifest_read(v, &m->history);
	}
	m->is_known = err == 0;
	return err == -ENOMEM ? err : 0;
}

void inspect_manifest_release(struct inspect_manifest *m)
{
	edit_release(&m->history.state);
}

static const struct manifest_log *find_log(const struct manifest_log *logs,
					   size_t count, uint64_t id)
{
	size_t n;

	for (n = 0; n < count; n++)
		if (logs[n].id == id)
			return &logs[n];
	return NULL;
}

static const struct manifest_file *find_sst(const struct edit *e, uint64_t id)
{
	size_t n;

	for (n = 0; n < e->added_count; n++)
		if (e->added[n].id == id)
			return &e->added[n];
	return NULL;
}

struct inspect_facts inspect_manifest_facts(const struct inspect_manifest *m,
					    enum inspect_kind kind,
					    const uint64_t *id)
{
	struct inspect_facts facts = { .has_manifest = m->is_known };
	const struct edit *e = &m->history.state;
	const struct manifest_log *log = NULL;
	const struct manifest_file *sst;
	const struct past_facts *past;

	if (!m->is_known || !id)
		return facts;
	if (kind == INSPECT_SST) {
		sst = find_sst(e, *id);
		past = edit_past(e, *id);
		facts.is_named = sst || past;
		facts.size = sst ? sst->size : past ? past->size : 0;
		return facts;
	}
	if (kind == INSPECT_LOG)
		log = find_log(e->logs, e->log_count, *id);
	else if (kind == INSPECT_BLOB)
		log = find_log(e->blobs, e->blob_count, *id);
	facts.is_named =
		log || (kind == INSPECT_EDITS && *id == m->history.edits_id);
	facts.size = log ? log->final_size : 0;
	return facts;
}

const char *inspect_manifest_role(const struct inspect_manifest *m,
				  enum inspect_kind kind, const uint64_t *id,
				  char *buffer)
{
	struct inspect_facts facts = inspect_manifest_facts(m, kind, id);
	const struct manifest_file *sst;

	if (!m->is_known || kind > INSPECT_BLOB)
		return "";
	if (!facts.is_named)
		return " left-over";
	if (kind == INSPECT_EDITS)
		return " current";
	if (kind != INSPECT_SST)
		return facts.size ? " finished" : " live";
	sst = find_sst(&m->history.state, *id);
	if (!sst)
		return " history";
	if (sst->seq)
		snprintf(buffer, 64, " level %u loaded at seq %llu", sst->level,
			 (unsigned long long)sst->seq);
	else
		snprintf(buffer, 64, " level %u", sst->level);
	return buffer;
}

static int add_name(void *context, const char *name)
{
	struct directory_look *l = context;
	char **grown = realloc(l->names, (l->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	l->names = grown;
	grown[l->count] = strdup(name);
	return grown[l->count] ? (l->count++, 0) : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A line for a file, before what is wrong with it. */
static int show_name(struct directory_look *l, const char *name,
		     enum inspect_kind kind, const uint64_t *id, uint64_t size)
{
	char role[64];
	int err;

	inspect_begin(l->i);
	err = inspect_add(l->i, "file ");
	if (err == 0)
		err = buf_add_visible(&l->i->line, bytes_string(name));
	if (err == 0)
		err = inspect_add(
			l->i, " %s %llu%s", inspect_kind_word(kind),
			(unsigned long long)size,
			inspect_manifest_role(&l->manifest, kind, id, role));
	return err < 0 ? err : inspect_end(l->i);
}

/* A file that cannot be opened. What was removed since the listing is none, nor
 * is a directory, unless it has the name of a file of a store. */
static int tell_unopened(struct directory_look *l, const char *name,
			 enum inspect_kind kind, int err)
{
	char *path;

	if (err == -ENOENT || err == -ENOMEM)
		return err == -ENOMEM ? err : 0;
	if (kind == INSPECT_OTHER)
		return show_name(l, name, kind, NULL, 0);
	if (asprintf(&path, "%s/%s", l->volume->path, name) < 0)
		return -ENOMEM;
	l->i->path = path;
	err = inspect_problem(l->i, 0, 0, "file", inspect_reason(l->i));
	free(path);
	return err;
}

static int show_file(struct directory_look *l, const char *name)
{
	struct inspect_facts facts;
	enum inspect_kind kind;
	struct reader *reader;
	const uint64_t *known;
	uint64_t id;
	bool has_id;
	int err;

	kind = inspect_kind_of_name(name, &id, &has_id);
	known = has_id ? &id : NULL;
	l->has_marker |= kind == INSPECT_MARKER;
	l->has_root |= kind == INSPECT_ROOT;
	err = l->volume->ops->open(l->volume, name, &reader);
	if (err < 0)
		return tell_unopened(l, name, kind, err);
	l->file_count++;
	l->size += reader->size;
	facts = inspect_manifest_facts(&l->manifest, kind, known);
	l->i->path = reader->path;
	l->i->is_useless =
		kind == INSPECT_SPARE_ROOT ||
		(kind <= INSPECT_BLOB && facts.has_manifest && !facts.is_named);
	err = show_name(l, name, kind, known, reader->size);
	if (err == 0)
		err = inspect_file(l->i, reader, kind, known, &facts);
	l->i->is_useless = false;
	l->volume->ops->reader_close(reader);
	return err;
}

/* A file that the manifest names. Who writes the store may have dropped it
 * since then: the manifest of now is asked. */
static int look_for(struct directory_look *l, enum inspect_kind kind,
		    uint64_t id, uint64_t size)
{
	struct inspect_manifest now;
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	char *path;
	int err;

	manifest_name(id, inspect_kind_word(kind), name);
	err = l->volume->ops->open(l->volume, name, &reader);
	if (err == 0)
		l->volume->ops->reader_close(reader);
	if (err != -ENOENT)
		return err == -ENOMEM ? err : 0;
	err = inspect_manifest_read(l->volume, &now);
	if (err < 0 || !inspect_manifest_facts(&now, kind, &id).is_named) {
		inspect_manifest_release(&now);
		return err;
	}
	inspect_manifest_release(&now);
	if (asprintf(&path, "%s/%s", l->volume->path, name) < 0)
		return -ENOMEM;
	l->i->path = path;
	err = inspect_problem(l->i, 0, size, "file",
			      "is missing, but the manifest names it");
	free(path);
	return err;
}

/* What should be there and is not. */
static int show_missing(struct directory_look *l)
{
	const struct edit *e = &l->manifest.history.state;
	size_t n;
	int err = 0;

	l->i->path = l->volume->path;
	if (!l->has_marker)
		err = inspect_problem(l->i, 0, 0, "directory",
				      "there is no file tabletfs, which says "
				      "that it is a store");
	if (err == 0 && !l->has_root)
		err = inspect_problem(l->i, 0, 0, "directory",
				      "there is no file root");
	if (!l->manifest.is_known)
		return err;
	for (n = 0; n < e->added_count && err == 0; n++)
		err = look_for(l, INSPECT_SST, e->added[n].id,
			       e->added[n].size);
	for (n = 0; n < e->past_count && err == 0; n++)
		err = look_for(l, INSPECT_SST, e->pasts[n]->id,
			       e->pasts[n]->size);
	for (n = 0; n < e->log_count && err == 0; n++)
		err = look_for(l, INSPECT_LOG, e->logs[n].id,
			       e->logs[n].final_size);
	for (n = 0; n < e->blob_count && err == 0; n++)
		err = look_for(l, INSPECT_BLOB, e->blobs[n].id,
			       e->blobs[n].final_size);
	return err;
}

/* The files were listed before the manifest is read, so that one that is made
 * meanwhile is not taken for left over. */
static int look(struct directory_look *l)
{
	struct inspect *i = l->i;
	size_t n;
	int err = inspect_manifest_read(l->volume, &l->manifest);

	i->path = l->volume->path;
	if (err == 0 && !l->manifest.is_known)
		err = inspect_problem(i, 0, 0, "manifest", inspect_reason(i));
	i->is_brief = true;
	for (n = 0; n < l->count && err == 0; n++)
		err = show_file(l, l->names[n]);
	if (err == 0)
		err = show_missing(l);
	i->is_brief = false;
	if (err == 0)
		err = inspect_line(i, "files %llu",
				   (unsigned long long)l->file_count);
	return err < 0 ? err
		       : inspect_line(i, "bytes %llu",
				      (unsigned long long)l->size);
}

int inspect_directory(struct inspect *i, struct volume *v)
{
	struct directory_look l = { .i = i, .volume = v };
	int err = v->ops->list(v, add_name, &l);

	if (err == 0 && l.count > 0)
		qsort(l.names, l.count, sizeof(*l.names), by_name);
	if (err == 0)
		err = look(&l);
	inspect_manifest_release(&l.manifest);
	while (l.count > 0)
		free(l.names[--l.count]);
	free(l.names);
	return err;
}
