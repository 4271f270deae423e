#include <stdlib.h>

#include "store/backup.h"
#include "store/base/err.h"
#include "tools/admin/maintain.h"

/* Verbs that look after the store: each is a call of it, and figures of that as
 * lines for people and scripts. */

/* A problem that store_check found: a line. */
static void report(void *context, const char *problem)
{
	struct verb_call *c = context;

	fprintf(c->out, "%s\n", problem);
}

/* Told, but no problem. */
static int tell_stray(void *context, const char *object)
{
	struct verb_call *c = context;

	fprintf(c->out, "%s: belongs to no file, and can be removed\n",
		err_name(bytes_string(object)));
	return 0;
}

/* On a mounted store it reads beside whoever writes. A problem is a line of
 * output, not of errors: it is what was asked for. */
int verb_check(struct verb_call *c)
{
	int err, failed = 0;

	if (c->argc != 1)
		return verb_usage(c);
	err = store_check(c->store, report, c);
	if (err < 0)
		failed = verb_failed(c, "Checking", err);
	err = store_check_backup(c->store, report, c);
	if (err < 0)
		failed = verb_failed(c, "Checking", err);
	err = store_strays(c->store, tell_stray, c);
	if (err < 0)
		failed = verb_failed(c, "Looking for what is of no use", err);
	if (failed)
		return failed;
	/* Said, since reading a large store takes long and no word might be a
	 * hang. */
	fputs("no problem found\n", c->out);
	return 0;
}

/* The store takes "" for all tables. */
int verb_compact(struct verb_call *c)
{
	int err;

	if (c->argc > 2)
		return verb_usage(c);
	err = store_compact(c->store,
			    bytes_string(c->argc > 1 ? c->argv[1] : ""));
	return err < 0 ? verb_failed(c, "Compacting", err) : 0;
}

int verb_sync(struct verb_call *c)
{
	int err;

	if (c->argc != 1)
		return verb_usage(c);
	err = store_sync(c->store);
	return err < 0 ? verb_failed(c, "Syncing", err) : 0;
}

/* There is one copy, so what was written is wherever it will be, and then
 * durable. */
int verb_waitforreplication(struct verb_call *c)
{
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	err = store_sync(c->store);
	return err < 0 ? verb_failed(c, "Waiting for replication", err) : 0;
}

/* What store_repair lost or left out: a line. */
static void tell(void *context, const char *text)
{
	struct verb_call *c = context;

	fprintf(c->out, "%s\n", text);
}

/* Runs without a store, for that is damaged and may not open; main.c puts its
 * name into the environment. */
int verb_repair(struct verb_call *c)
{
	const char *directory = getenv("TABLETFS_STORE");
	struct repair_result r = { 0 };
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	if (!directory)
		return verb_wrong(c, "which store? Say tabletfs -store DIR "
				     "repair <dir>");
	err = store_repair(directory, c->argv[1], tell, c, &r);
	if (err < 0)
		return verb_failed(c, "Repairing", err);
	fprintf(c->out,
		"%llu files linked, %llu copied, %llu written anew, %llu left "
		"out, %llu losses\n",
		(unsigned long long)r.linked_count,
		(unsigned long long)r.copied_count,
		(unsigned long long)r.rewritten_count,
		(unsigned long long)r.left_count,
		(unsigned long long)r.lost_count);
	return 0;
}

/* How many tables there are, and what each level of the engine holds. */
static void print_levels(struct verb_call *c, const struct store_stats *s)
{
	struct schema *schema = store_schema(c->store);
	size_t i;

	fprintf(c->out, "tables %zu\n", schema->table_count);
	schema_put(schema);
	for (i = 0; i < sizeof(s->sst_count) / sizeof(s->sst_count[0]); i++)
		fprintf(c->out,
			"level%zu_files %llu\n"
			"level%zu_bytes %llu\n",
			i, (unsigned long long)s->sst_count[i], i,
			(unsigned long long)s->sst_size[i]);
}

/* Scripts read the names of lines: they stay what they are. */
int verb_stats(struct verb_call *c)
{
	struct store_stats s;
	int err;

	if (c->argc != 1)
		return verb_usage(c);
	store_stats(c->store, &s);
	print_levels(c, &s);
#define PUT(name, value) \
	fprintf(c->out, name " %llu\n", (unsigned long long)(value))
	PUT("blob_files", s.blob_count);
	PUT("blob_bytes", s.blob_size);
	PUT("blob_garbage_bytes", s.blob_garbage);
	PUT("obsolete_bytes", s.obsolete_size);
	PUT("memtables", s.memtable_count);
	PUT("memtable_bytes", s.memtable_used);
	PUT("log_bytes", s.log_size);
	PUT("cache_bytes", s.cache_used);
	PUT("cache_hits", s.cache_hits);
	PUT("cache_misses", s.cache_misses);
	PUT("flushes", s.flush_count);
	PUT("compactions", s.compaction_count);
	PUT("compacted_bytes", s.compacted_size);
	PUT("written_bytes", s.written_size);
	PUT("writes", s.write_count);
	PUT("syncs", s.sync_count);
	PUT("sequence", s.visible_seq);
#undef PUT
	/* Last, and only if there is trouble: the reason may be any text. */
	/* A store with trouble answers all the same: this is where one looks
	 * for it. */
	err = store_health(c->store);
	if (err < 0)
		fprintf(c->out, "trouble %s: %s\n", err_detail(),
			err_text(err));
	return 0;
}
