#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/engine/files/runs.h"
#include "store/format/key.h"

bool files_are_apart(const struct sst_file *a, const struct sst_file *b)
{
	int order = bytes_compare(a->largest, b->smallest);
	size_t column_end;

	if (order > 0 || (order == 0 && !a->largest_exclusive))
		return false;
	column_end = key_column_end(b->smallest);
	return column_end == 0 ||
	       !bytes_starts_with(a->largest,
				  bytes_of(b->smallest.data, column_end));
}

void version_drop_runs(struct version *v)
{
	size_t i;

	for (i = 0; i < v->run_count; i++) {
		free(v->runs[i].files);
		free(v->runs[i].heads);
	}
	free(v->runs);
	v->runs = NULL;
	v->run_count = 0;
}

/* Whether f fits between two files of the run; *at is where. */
static bool fits(const struct level *run, const struct sst_file *f, size_t *at)
{
	size_t low = 0, high = run->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (files_are_apart(run->files[middle], f))
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return low == run->count || files_are_apart(f, run->files[low]);
}

static int add_run(struct version *v)
{
	struct level *grown =
		realloc(v->runs, (v->run_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	v->runs = grown;
	v->runs[v->run_count++] = (struct level){ 0 };
	return 0;
}

static int insert(struct level *run, size_t at, struct sst_file *f)
{
	struct sst_file **grown =
		realloc(run->files, (run->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	run->files = grown;
	memmove(grown + at + 1, grown + at, (run->count - at) * sizeof(*grown));
	grown[at] = f;
	run->count++;
	run->size += f->size;
	return 0;
}

/* Files come newest first, and each goes into the run behind the last one that
 * has something of its place. */
int version_make_runs(struct version *v)
{
	size_t i, run, at, found;
	int err = 0;

	version_drop_runs(v);
	for (i = 0; i < v->levels[0].count && err == 0; i++) {
		struct sst_file *f = v->levels[0].files[i];

		at = 0;
		for (run = v->run_count; run > 0; run--) {
			if (!fits(&v->runs[run - 1], f, &found))
				break;
			at = found;
		}
		if (run == v->run_count)
			err = add_run(v);
		if (err == 0)
			err = insert(&v->runs[run], at, f);
	}
	for (i = 0; i < v->run_count && err == 0; i++)
		err = level_index(&v->runs[i]);
	return err;
}
