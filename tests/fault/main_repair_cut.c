#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/log/wal_chunk.h"
#include "tests/sim/ruin.h"

/*
 * The sweep of repairs of what a crash leaves: a store is killed, or its power
 * cut, at every n-th change to its volume, and repaired. The new store must
 * have what opening the old one gives; after a power cut it may have more.
 * Then so with a manifest that lacks its last edits: nothing may be missing
 * that is there without, and no sum may count a part twice. What was deleted
 * may be back if files that were of no use any more were still there; it has to
 * be told. Of a store that was closed there are none, so nothing may be back.
 *
 * Opening such a store, to read or to write, gives all that was there or is
 * refused, and then a repair still finds as much. It is not refused if no edit
 * was cut off. After a power cut only this is asked of it.
 *
 *   main_repair_cut [every-n-th-change [first]]
 */
#define CUTS 4 /* how many edits are cut off, at most */

struct sweep {
	struct rng rng;
	unsigned long every, change;
	unsigned long passed, failed, cuts, refused;
	bool closed;
	unsigned int told;
	bool load_left; /* so the repair said */
};

static void must(int err, const char *what)
{
	if (err >= 0)
		return;
	printf("%s: %s: %s\n", what, err_detail(), err_text(err));
	exit(EXIT_FAILURE);
}

struct content {
	unsigned int missing, back;
	const char *problem;
};

/* What a store has; ends its volume. */
static struct content look(struct volume *v)
{
	struct content c = { RUIN_CELLS, 0, NULL };

	c.problem = ruin_look_at(v, &c.missing, &c.back);
	return c;
}

static void tell(void *context, const char *text)
{
	struct sweep *w = context;

	w->told++;
	w->load_left |= strstr(text, "a bulk load that did not end") != NULL;
	if (getenv("VERBOSE"))
		printf("    %s\n", text);
}

/* What a repair makes of it; ends it. */
static struct content repair(struct sweep *w, struct volume *from)
{
	struct content c = { RUIN_CELLS, 0, NULL };
	struct repair_result result;
	struct volume *to;
	int err;

	must(volume_mem_new(&to), "volume");
	volume_mem_keep(to);
	w->told = 0;
	w->load_left = false;
	err = store_repair_volume(from, to, tell, w, &result);
	from->ops->close(from);
	if (err == 0)
		return look(to);
	to->ops->close(to);
	c.problem = err_text(err);
	return c;
}

static void judge(struct sweep *w, const char *what, unsigned int edits,
		  struct content is, struct content should, bool equal)
{
	const char *problem = is.problem;

	/* What only an edit told that is lost, and no file, is not known. */
	if (w->load_left && edits > 0 && !w->closed)
		should.missing += RUIN_LOADED;
	if (!problem && is.missing > should.missing)
		problem = "something is missing";
	if (!problem && is.back > should.back && (equal || w->told == 0))
		problem = "something deleted is back";
	if (!problem) {
		w->passed++;
		return;
	}
	w->failed++;
	printf("%s at change %lu, %u edits cut: %s: %s: %u missing, not %u; "
	       "%u back, not %u; %u told\n",
	       what, w->change, edits, problem, err_detail(), is.missing,
	       should.missing, is.back, should.back, w->told);
}

struct edits {
	char name[VOLUME_NAME_MAX + 1];
	size_t ends[1000]; /* of each edit */
	size_t count;
};

static int find_edits(void *context, const char *name)
{
	struct edits *e = context;

	if (strstr(name, ".edits") && strcmp(name, e->name) > 0)
		snprintf(e->name, sizeof(e->name), "%s", name);
	return 0;
}

/* Where the edits of the last edit log end; they are less than a block. */
static struct edits list_edits(struct volume *v)
{
	struct edits e = { .count = 0 };
	struct bytes log;
	size_t at = 0;

	must(v->ops->list(v, find_edits, &e), "list");
	log = volume_mem_file(v, e.name);
	while (at + WAL_HEADER_SIZE <= log.size && e.count < 1000 &&
	       log.data[at + WAL_AT_TYPE]) {
		bool head = log.data[at + WAL_AT_TYPE] == CHUNK_HEAD;

		at += WAL_HEADER_SIZE + get_u16le(log.data + at + WAL_AT_SIZE);
		if (at <= log.size && !head)
			e.ends[e.count++] = at;
	}
	return e;
}

/* Opens it, to read or to write, and ends it. What was refused is repaired. */
static void open_cut(struct sweep *w, const char *what, struct volume *v,
		     unsigned int edits, struct content should, bool read_only)
{
	struct content c = { RUIN_CELLS, 0, NULL };
	struct store_options o;
	struct store *s;

	ruin_options(&o);
	o.create = false;
	o.read_only = read_only;
	volume_mem_keep(v);
	if (store_open_volume(v, &o, &s) < 0) {
		w->refused++;
		c = repair(w, v);
		if (edits == 0)
			c.problem = "it is not opened, though nothing is cut";
	} else {
		c.problem = ruin_look(s, &c.missing, &c.back);
		must(store_close(s), "close");
		v->ops->close(v);
		w->told = 0;
		w->load_left = true;
	}
	judge(w, what, edits, c, should, w->closed);
}

static struct volume *clone_cut(struct volume *v, const struct edits *e,
				size_t cut)
{
	struct volume *clone;

	must(volume_mem_kill_clone(v, &clone), "clone");
	volume_mem_truncate(clone, e->name, e->ends[e->count - 1 - cut]);
	return clone;
}

/* Repairs and opens clones of v with its last edits cut off, from none on. */
static void cut_edits(struct sweep *w, const char *what, struct volume *v,
		      size_t most, struct content should)
{
	bool killed = strcmp(what, "kill") == 0;
	struct edits e = list_edits(v);
	unsigned int i;

	for (i = 0; i <= most && i < e.count; i++) {
		judge(w, what, i, repair(w, clone_cut(v, &e, i)), should,
		      w->closed || (i == 0 && killed));
		w->cuts++;
		/* After a power cut a log may be back that was removed, and
		 * hide that its successors are not. */
		if (i > 0 && !w->closed && !killed)
			continue;
		open_cut(w, what, clone_cut(v, &e, i), i, should, true);
		open_cut(w, what, clone_cut(v, &e, i), i, should, false);
	}
}

static void crash(void *context, struct volume *v)
{
	struct sweep *w = context;
	struct volume *killed, *cut, *clone;

	w->change++;
	if (w->every == 0 || w->change % w->every != 0)
		return;
	must(volume_mem_kill_clone(v, &killed), "clone");
	must(volume_mem_kill_clone(v, &clone), "clone");
	if (volume_mem_file(v, "root").size > 0)
		cut_edits(w, "kill", killed, CUTS, look(clone));
	else
		clone->ops->close(clone);
	killed->ops->close(killed);
	must(volume_mem_crash_clone(v, &w->rng, &cut), "clone");
	must(volume_mem_kill_clone(cut, &clone), "clone");
	if (volume_mem_file(v, "root").size > 0)
		cut_edits(w, "power cut", cut, CUTS, look(clone));
	else
		clone->ops->close(clone);
	cut->ops->close(cut);
}

int main(int argc, char **argv)
{
	struct sweep w = { .rng = { 1 }, .every = 41 };
	struct content whole = { 0, 0, NULL };
	struct volume *v;

	if (argc > 1)
		w.every = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		w.rng.state = w.change = strtoul(argv[2], NULL, 0);
	v = ruin_build_watched(crash, &w);
	w.closed = true;
	cut_edits(&w, "close", v, SIZE_MAX, whole);
	v->ops->close(v);
	printf("%lu changes, %lu manifests, %lu refused\n", w.change, w.cuts,
	       w.refused);
	printf("%lu passed, %lu failed, 0 skipped\n", w.passed, w.failed);
	return w.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
