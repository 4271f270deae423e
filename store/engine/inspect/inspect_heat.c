#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/inspect/inspect_heat.h"
#include "store/heat/heat_record.h"

/* Counts by kind. */
struct heat_look {
	struct inspect *i;
	uint64_t counts[HEAT_RECORD_EDITS + 1];
	uint64_t first_s, end_s; /* of the buckets */
};

static const char *const words[] = {
	[HEAT_RECORD_FENCES] = "fences",
	[HEAT_RECORD_BUCKET] = "bucket",
	[HEAT_RECORD_EDITS] = "edits",
};

/* A line for a record that begins at offset. */
static int show_record(struct heat_look *l, const struct heat_record *r,
		       uint64_t offset)
{
	int err;

	inspect_begin(l->i);
	err = inspect_add(l->i, "entry %llu %s table %u",
			  (unsigned long long)offset, words[r->kind], r->table);
	if (err == 0 && r->kind == HEAT_RECORD_BUCKET)
		err = inspect_add(l->i, " start %llu seconds %u ranges %zu",
				  (unsigned long long)r->bucket.start_s,
				  r->bucket.seconds, r->bucket.count);
	if (err == 0 && r->kind == HEAT_RECORD_FENCES) {
		err = inspect_add(l->i, " ranges %zu prefix ", r->fences.count);
		if (err == 0)
			err = l->i->options->quote(r->fences.prefix,
						   &l->i->line);
	}
	return err < 0 ? err : inspect_end(l->i);
}

static void count(struct heat_look *l, const struct heat_record *r)
{
	l->counts[r->kind]++;
	if (r->kind != HEAT_RECORD_BUCKET)
		return;
	if (r->bucket.start_s < l->first_s)
		l->first_s = r->bucket.start_s;
	if (r->bucket.start_s + r->bucket.seconds > l->end_s)
		l->end_s = r->bucket.start_s + r->bucket.seconds;
}

static int show_records(struct heat_look *l, struct bytes file,
			struct heat_record *r)
{
	struct bytes rest = file;
	uint64_t offset;
	int found = heat_take_header(&rest), err = 0;

	if (found < 0)
		return inspect_note(l->i, 0, file.size, "header",
				    inspect_reason(l->i));
	for (;;) {
		offset = file.size - rest.size;
		found = heat_take_record(&rest, r);
		if (found <= 0 || err < 0)
			break;
		count(l, r);
		if (inspect_wants(l->i))
			err = show_record(l, r, offset);
	}
	if (err == 0 && found < 0)
		err = inspect_note(l->i, offset, file.size, "record",
				   inspect_reason(l->i));
	return err;
}

int inspect_heat(struct inspect *i, struct reader *reader)
{
	struct heat_look l = { .i = i, .first_s = UINT64_MAX };
	struct heat_record *r = malloc(sizeof(*r));
	struct buf file = BUF_INIT;
	int err = r ? 0 : -ENOMEM;

	if (err == 0 && reader->size > VOLUME_HEAT_MAX)
		err = inspect_note(i, 0, reader->size, "file",
				   "is larger than a history of heat may be");
	else if (err == 0 && reader->size > 0)
		err = buf_reserve(&file, (size_t)reader->size);
	if (err == 0 && file.capacity > 0)
		err = reader->ops->pread(reader, 0, file.data,
					 (size_t)reader->size);
	if (err == 0 && file.capacity > 0)
		file.size = (size_t)reader->size;
	if (err == 0)
		err = show_records(&l, buf_bytes(&file), r);
	if (err == 0)
		err = inspect_line(
			i, "buckets %llu",
			(unsigned long long)l.counts[HEAT_RECORD_BUCKET]);
	if (err == 0 && l.counts[HEAT_RECORD_BUCKET] > 0)
		err = inspect_line(i, "seconds %llu to %llu",
				   (unsigned long long)l.first_s,
				   (unsigned long long)l.end_s);
	buf_release(&file);
	free(r);
	return err;
}
