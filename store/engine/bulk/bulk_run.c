#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/engine/compact/compact.h"
#include "store/engine/compact/read_back.h"
#include "store/engine/core/space.h"
#include "store/engine/bulk/bulk_run.h"

/* Room is asked for before so many bytes of a file are written. */
#define ADMITTED_SIZE (UINT64_C(1) << 20)

void runs_release(struct run *runs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		buf_release(&runs[i].smallest);
		buf_release(&runs[i].middle);
		buf_release(&runs[i].largest);
	}
	free(runs);
}

void runs_remove(struct engine *e, const struct run *runs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		engine_remove(e, runs[i].id, "sst");
}

/* Begins a file whose first key this is. It is built for the lowest level,
 * where it goes unless something there overlaps it. */
static int begin(struct run_writer *o, struct bytes version_key)
{
	struct sst_options options = {
		.level = LEVEL_COUNT - 1,
		.filter_bits = o->passing ? 0 : SST_FILTER_BITS_BOTTOM,
		.compress = !o->passing,
		.rows = o->passing ? ROW_DIRECTORY_NEVER : o->e->options.rows,
	};
	struct volume *v = o->e->volume;
	char name[VOLUME_NAME_MAX + 1];
	struct segment_writer *writer;
	int err;

	o->run.id = engine_new_id(o->e);
	o->admitted_size = 0;
	manifest_name(o->run.id, "sst", name);
	err = buf_set(&o->run.smallest, version_key);
	if (err == 0)
		err = v->ops->segment_create(v, name, &writer);
	if (err < 0)
		return err;
	return sst_build_new(writer, &options, &o->builder);
}

int run_writer_add(struct run_writer *o, struct bytes version_key,
		   enum key_kind kind, struct bytes value)
{
	int err = 0;

	if (!o->builder)
		err = begin(o, version_key);
	if (err == 0 && sst_build_size(o->builder) >= o->admitted_size) {
		err = engine_admit_data(o->e, ADMITTED_SIZE);
		o->admitted_size += ADMITTED_SIZE;
	}
	if (err == 0)
		err = buf_set(&o->key, version_key);
	/* Its sequence is known when it is published; see sst_set_seq. */
	if (err == 0)
		err = key_add_trailer(&o->key, 0, kind);
	if (err == 0)
		err = sst_build_add(o->builder, buf_bytes(&o->key), value);
	return err;
}

int run_writer_middle(struct run_writer *o, struct bytes version_key)
{
	return buf_set(&o->run.middle, version_key);
}

struct bytes run_writer_last(const struct run_writer *o)
{
	assert(o->key.size > KEY_TRAILER_SIZE);
	return bytes_of(o->key.data, o->key.size - KEY_TRAILER_SIZE);
}

static int read_again(void *context)
{
	struct run_writer *o = context;

	return compact_read_back(o->e->volume, o->ended.id, o->ended.digest,
				 &o->ended.size);
}

/* What went wrong beside is tried again here, so what is told is how it is
 * now. */
int run_writer_settle(struct run_writer *o, struct run *runs, size_t count)
{
	int err = task_wait(&o->reading);

	if (!o->is_unread)
		return 0;
	assert(count > 0 && runs[count - 1].id == o->ended.id);
	if (err < 0)
		err = read_again(o);
	if (err < 0)
		return err;
	o->is_unread = false;
	runs[count - 1].size = o->ended.size;
	return 0;
}

int run_writer_end(struct run_writer *o, struct run **runs, size_t *count)
{
	struct run *grown;
	int err;

	if (!o->builder)
		return 0;
	err = run_writer_settle(o, *runs, *count);
	if (err == 0)
		err = buf_set(&o->run.largest, run_writer_last(o));
	if (err < 0)
		return err;
	grown = realloc(*runs, (*count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*runs = grown;
	/* It ends the builder also on failure, which leaves no file. */
	err = sst_build_finish(o->builder, &o->ended.digest);
	o->builder = NULL;
	if (err < 0)
		return err;
	o->ended.id = o->run.id;
	o->is_unread = !o->passing;
	grown[(*count)++] = o->run;
	o->run = (struct run){ 0 };
	if (o->is_unread)
		task_start(&o->reading, o->beside, read_again, o);
	return 0;
}

void run_writer_drop(struct run_writer *o)
{
	if (o->builder)
		sst_build_abandon(o->builder);
	o->builder = NULL;
	buf_release(&o->run.smallest);
	buf_release(&o->run.middle);
	buf_release(&o->run.largest);
}

void run_writer_release(struct run_writer *o)
{
	(void)task_wait(&o->reading);
	run_writer_drop(o);
	buf_release(&o->key);
}
