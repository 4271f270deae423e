#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/bg.h"
#include "store/engine/bulk/bulk_merge.h"
#include "store/engine/compact/merge.h"
#include "store/format/sst/sst_iter.h"

/* The rows from one on and before another, of all runs. */
struct part {
	struct engine *e;
	bool beside;       /* there may be a thread for its own work */
	struct sst **ssts; /* of the runs, the later the greater the sequence */
	size_t sst_count;
	struct bytes from, to; /* row prefixes, borrowed; to: empty is no end */
	struct run *runs;      /* what it made */
	size_t count;
};

/* Merges the part's runs into *out, to be closed. */
static int iterate(const struct part *p, struct iter **out)
{
	struct iter **iters = calloc(p->sst_count, sizeof(*iters));
	size_t i, count = 0;
	int err = 0;

	*out = NULL;
	if (!iters)
		return -ENOMEM;
	for (i = 0; i < p->sst_count && err == 0; i++) {
		err = sst_iter_new(p->ssts[i], false, &iters[i]);
		count += err == 0;
	}
	if (err == 0)
		err = merge_iter_new(iters, count, out);
	else
		for (i = 0; i < count; i++)
			iter_close(iters[i]);
	free(iters);
	return err;
}

/* Writes the newest of each version key as files of whole rows. */
static int write_files(struct part *p, struct iter *it)
{
	uint64_t file_size = p->e->options.file_size;
	struct run_writer o = { .e = p->e, .beside = p->beside };
	struct bytes key;
	int at = iter_seek(it, p->from), err = 0;

	for (; at > 0 && err == 0; at = iter_next(it)) {
		key = key_version(it->key);
		if (p->to.size > 0 && bytes_compare(key, p->to) >= 0)
			break;
		if (o.builder && bytes_equal(key, run_writer_last(&o)))
			continue;
		if (o.builder && sst_build_size(o.builder) >= file_size &&
		    !key_same_row(key, run_writer_last(&o)))
			err = run_writer_end(&o, &p->runs, &p->count);
		if (err == 0)
			err = run_writer_add(&o, key, key_kind(it->key),
					     it->value);
	}
	if (err == 0)
		err = at < 0 ? at : run_writer_end(&o, &p->runs, &p->count);
	if (err == 0)
		err = run_writer_settle(&o, p->runs, p->count);
	run_writer_release(&o);
	return err;
}

static int write_part(void *context)
{
	struct part *p = context;
	struct iter *it;
	int err = iterate(p, &it);

	if (err == 0)
		err = write_files(p, it);
	iter_close(it);
	return err;
}

static int open_run(struct engine *e, const struct run *run, uint64_t seq,
		    struct sst **out)
{
	struct volume *v = e->volume;
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	int err;

	manifest_name(run->id, "sst", name);
	err = v->ops->open(v, name, &reader);
	if (err < 0)
		return err;
	err = sst_open(reader, e->cache, run->id, out);
	if (err < 0)
		v->ops->reader_close(reader);
	else
		sst_set_seq(*out, seq);
	return err;
}

static int compare_bytes(const void *a, const void *b)
{
	return bytes_compare(*(const struct bytes *)a,
			     *(const struct bytes *)b);
}

/* The row that about half of the puts are before: where the runs' middles have
 * their own, so one that is sorted better than others does not decide. Borrowed
 * from the runs. */
static int find_middle(const struct run *runs, size_t count,
		       struct bytes *middle)
{
	struct bytes *middles = calloc(count, sizeof(*middles));
	size_t i;

	if (!middles)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		middles[i] = buf_bytes(&runs[i].middle);
	qsort(middles, count, sizeof(*middles), compare_bytes);
	*middle = middles[count / 2];
	middle->size = key_row_end(*middle);
	free(middles);
	return 0;
}

/* Both parts, the upper one beside this thread. */
static int write_parts(struct part *lower, struct part *upper)
{
	struct task task = TASK_INIT;
	int err, upper_err;

	task_start(&task, true, write_part, upper);
	err = write_part(lower);
	upper_err = task_wait(&task);
	return err < 0 ? err : upper_err;
}

/* The files of both, which have room in lower's list. */
static int join(struct part *lower, struct part *upper)
{
	size_t count = lower->count + upper->count;
	struct run *all = realloc(lower->runs, (count + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	if (upper->count > 0)
		memcpy(all + lower->count, upper->runs,
		       upper->count * sizeof(*all));
	free(upper->runs);
	lower->runs = all;
	lower->count = count;
	upper->runs = NULL;
	upper->count = 0;
	return 0;
}

static void drop(struct part *p)
{
	runs_remove(p->e, p->runs, p->count);
	runs_release(p->runs, p->count);
}

int runs_merge(struct engine *e, bool beside, struct run **runs, size_t *count)
{
	struct sst **ssts = calloc(*count, sizeof(*ssts));
	struct part lower = {
		.e = e, .beside = beside, .ssts = ssts, .sst_count = *count
	};
	struct part upper = lower;
	size_t i;
	int err = 0;

	assert(*count > 1);
	if (!ssts)
		return -ENOMEM;
	for (i = 0; i < *count && err == 0; i++)
		err = open_run(e, &(*runs)[i], i + 1, &ssts[i]);
	if (err == 0 && beside) {
		err = find_middle(*runs, *count, &lower.to);
		upper.from = lower.to;
		if (err == 0)
			err = write_parts(&lower, &upper);
		if (err == 0)
			err = join(&lower, &upper);
	} else if (err == 0) {
		err = write_part(&lower);
	}
	for (i = 0; i < *count; i++)
		sst_close(ssts[i]);
	free(ssts);
	if (err < 0) {
		drop(&lower);
		drop(&upper);
		return err;
	}
	runs_remove(e, *runs, *count);
	runs_release(*runs, *count);
	*runs = lower.runs;
	*count = lower.count;
	return 0;
}
