#include <assert.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/large/blob_verify.h"
#include "store/engine/read/sources.h"
#include "store/engine/read/verify.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_verify.h"

/*
 * A check goes on after a problem, so errors are not returned from step to step
 * but told and counted. The first that is no damage is kept with its text,
 * since it is what engine_verify returns in the end, and later problems replace
 * the thread's text.
 */
struct verification {
	void (*report)(void *context, const char *problem);
	void *context;
	size_t problem_count;
	int error; /* the first that is no damage, such as -EIO; 0 */
	char error_detail[600]; /* of error; cut off where it is longer */
};

/* Reports err, whose text is the thread's at this moment. context is the
 * verification; blob_verify calls this as well. */
static void tell(void *context, int err)
{
	struct verification *v = context;
	char problem[1200];

	assert(err < 0);
	v->problem_count++;
	/* A plain errno is of the system; the store's own codes are damage. */
	if (v->error == 0 && -err < ERR_BASE) {
		v->error = err;
		snprintf(v->error_detail, sizeof(v->error_detail), "%s",
			 err_detail());
	}
	snprintf(problem, sizeof(problem), "%s: %s", err_detail(),
		 err_text(err));
	v->report(v->context, problem);
}

/* Checks the large values that the entries of it refer to, and closes it. err
 * is that of making it: if it failed, that is told instead. */
static void verify_large(struct verification *v, const struct version *version,
			 int err, struct iter *it)
{
	if (err == 0) {
		err = blob_verify(version, it, tell, v);
		iter_close(it);
	}
	if (err < 0)
		tell(v, err);
}

/* The large values of an sst that is not whole itself are not looked for: its
 * iterator would stop at the damage that was just told. */
static void verify_file(struct verification *v, const struct version *version,
			struct sst *t)
{
	struct iter *it = NULL;
	int err = sst_verify(t);

	if (err < 0)
		tell(v, err);
	if (err < 0 || sst_properties(t)->blob_count == 0)
		return;
	err = sst_iter_new(t, false, &it);
	verify_large(v, version, err, it);
}

/* They are opened for that, and stay so. */
static void verify_pasts(struct verification *v, const struct version *version)
{
	struct sst *t;
	size_t i;
	int err;

	for (i = 0; i < version->past_count; i++) {
		err = past_file_open(version->pasts[i], &t);
		if (err < 0)
			tell(v, err);
		else
			verify_file(v, version, t);
	}
}

/* Large values of what is not in an sst yet. Its entries themselves are only in
 * memory, which nothing checks; the log's copy is checked when it is opened. */
static void verify_memtables(struct verification *v, struct engine *e)
{
	struct sources s;
	struct iter *it = NULL;
	size_t i;
	int err;

	sources_take(e, NULL, &s);
	for (i = 0; i < s.memtable_count; i++) {
		err = memtable_iter_new(s.memtables[i], &it);
		verify_large(v, s.version, err, it);
	}
	sources_close(&s);
}

/* Tells if right, the file after left on a sorted level, begins before left
 * ends: only then a lookup may ask one file of a level. The bounds are what the
 * files say of themselves, so this is no matter for an assertion. */
static void verify_order(struct verification *v, const struct volume *volume,
			 unsigned int level, const struct sst_file *left,
			 const struct sst_file *right)
{
	int order = bytes_compare(left->largest, right->smallest);

	if (order > 0 || (order == 0 && !left->largest_exclusive))
		tell(v, fail(ERR_manifest_damaged,
			     "%s: level %u: sst %016llx overlaps %016llx",
			     volume->path, level, (unsigned long long)left->id,
			     (unsigned long long)right->id));
}

int engine_verify(struct engine *e,
		  void (*report)(void *context, const char *problem),
		  void *context)
{
	struct verification v = { .report = report, .context = context };
	struct version *version;
	unsigned int i;
	size_t j;

	assert(report);
	pthread_mutex_lock(&e->lock);
	version = version_get(e->version);
	pthread_mutex_unlock(&e->lock);
	/* The reference keeps the files while they are read, even of a version
	 * that is replaced meanwhile. */
	for (i = 0; i < LEVEL_COUNT; i++) {
		const struct level *level = &version->levels[i];

		for (j = 0; j < level->count; j++) {
			verify_file(&v, version, level->files[j]->sst);
			if (i > 0 && j > 0)
				verify_order(&v, e->volume, i,
					     level->files[j - 1],
					     level->files[j]);
		}
	}
	verify_pasts(&v, version);
	version_put(version);
	verify_memtables(&v, e);
	if (v.error < 0)
		return fail(-v.error, "%s", v.error_detail);
	if (v.problem_count > 0)
		return fail(ERR_check_failed, "%s: %zu problems",
			    e->volume->path, v.problem_count);
	return 0;
}
