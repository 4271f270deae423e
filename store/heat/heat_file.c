#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/heat/heat_file.h"
#include "store/heat/heat_grid.h"

/* Of the disk, as LOG. */
#define DISK_SHARE 256
/* It is written anew when it is twice as long as it was then, and this. */
#define GROWTH (128 << 10)

struct heat_file {
	struct volume *volume;
	bool writes;
	bool known;        /* what follows, of the present file */
	uint64_t size;     /* bytes */
	uint64_t size_due; /* from which on it is written anew */
	uint64_t size_max; /* 0: not known yet */
};

int heat_file_new(struct volume *volume, bool writes, struct heat_file **out)
{
	struct heat_file *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	f->volume = volume;
	f->writes = writes;
	return 0;
}

void heat_file_free(struct heat_file *f)
{
	free(f);
}

bool heat_file_writes(const struct heat_file *f)
{
	return f->writes;
}

static uint64_t size_max(struct heat_file *f)
{
	struct volume_space space;

	if (f->size_max > 0)
		return f->size_max;
	if (f->volume->ops->space(f->volume, &space) < 0)
		return HEAT_FILE_MIN;
	f->size_max = space.total_size / DISK_SHARE;
	if (f->size_max < HEAT_FILE_MIN)
		f->size_max = HEAT_FILE_MIN;
	if (f->size_max > HEAT_FILE_MAX)
		f->size_max = HEAT_FILE_MAX;
	return f->size_max;
}

/* The records of a file as far as they are whole. */
static int whole_records(struct bytes file, struct bytes *out)
{
	struct heat_record *record = malloc(sizeof(*record));
	struct bytes rest = file;

	*out = BYTES_NONE;
	if (!record)
		return -ENOMEM;
	if (heat_take_header(&rest) == 0) {
		*out = rest;
		while (heat_take_record(&rest, record) == 1)
			;
		out->size -= rest.size;
	}
	err_clear();
	free(record);
	return 0;
}

int heat_file_read(struct heat_file *f, struct buf *out)
{
	struct buf file = BUF_INIT;
	struct bytes records;
	int err = f->volume->ops->heat_read(f->volume, &file);

	if (err == 0)
		err = whole_records(buf_bytes(&file), &records);
	if (err == 0)
		err = buf_add_bytes(out, records);
	buf_release(&file);
	return err;
}

/* Writes the file anew, of a header and these records. */
static int replace(struct heat_file *f, struct bytes records)
{
	struct buf file = BUF_INIT;
	int err = heat_add_header(&file);

	if (err == 0)
		err = buf_add_bytes(&file, records);
	if (err == 0)
		err = f->volume->ops->heat_replace(f->volume, buf_bytes(&file));
	f->known = err == 0;
	f->size = file.size;
	f->size_due = 2 * f->size + GROWTH;
	buf_release(&file);
	return err;
}

/* A history that is written anew: what of a table is kept. */
struct pruning {
	struct bytes records; /* of all tables */
	struct buf *out;
	uint64_t oldest_s;   /* what is before that goes */
	uint64_t quarters_s; /* minutes before that become quarters */
	uint64_t quarter_s;  /* the last quarter that was made */
	unsigned int number; /* of the fences written last; 0: none */
};

/* The minutes of a quarter of an hour as one bucket. */
static int add_quarter(struct pruning *p, uint32_t table)
{
	struct heat_wanted wanted = { .table = table,
				      .from_s = p->quarter_s,
				      .column_s = HEAT_QUARTER_S,
				      .columns = 1,
				      .metrics = HEAT_METRICS,
				      .max = HEAT_FENCES };
	struct heat_source source = { p->records,
				      p->quarter_s + HEAT_QUARTER_S };
	struct heat_record *r = malloc(2 * sizeof(*r));
	struct heat_fences *f = &r->fences;
	struct heat_bucket *b = &(r + 1)->bucket;
	struct heat_grid grid;
	size_t i, m;
	int err;

	if (!r)
		return -ENOMEM;
	err = heat_grid_make(&source, 1, &wanted, &grid);
	f->table = b->table = table;
	f->count = b->count = grid.count;
	f->prefix = buf_bytes(&grid.prefix);
	b->start_s = p->quarter_s;
	b->seconds = HEAT_QUARTER_S;
	for (i = 0; i < grid.count && err == 0; i++) {
		f->fences[i] = heat_key_bytes(&grid.keys[i]);
		for (m = 0; m < HEAT_METRICS; m++)
			b->values[m][i] =
				(uint64_t)(grid.cells[m * grid.count + i] +
					   0.5);
	}
	if (err == 0 && grid.count > 0)
		err = heat_add_fences(p->out, f);
	if (err == 0 && grid.count > 0)
		err = heat_add_bucket(p->out, b);
	p->number = 0;
	heat_grid_release(&grid);
	free(r);
	return err;
}

static int prune_bucket(void *context, const struct heat_fences *f,
			unsigned int number, const struct heat_bucket *b)
{
	struct pruning *p = context;
	uint64_t quarter = b->start_s - b->start_s % HEAT_QUARTER_S;
	bool is_quarter = b->seconds == HEAT_QUARTER_S;
	int err = 0;

	if (b->start_s < p->oldest_s)
		return 0;
	if (!is_quarter && quarter + HEAT_QUARTER_S <= p->quarters_s) {
		if (quarter == p->quarter_s)
			return 0;
		p->quarter_s = quarter;
		return add_quarter(p, b->table);
	}
	if (number != p->number)
		err = heat_add_fences(p->out, f);
	p->number = number;
	return err < 0 ? err : heat_add_bucket(p->out, b);
}

/* Calls prune_bucket for the tables of records, one after another: each with
 * the first record that has its id. */
static int prune_tables(struct pruning *p)
{
	struct heat_source source = { p->records, UINT64_MAX };
	struct heat_record *record = malloc(sizeof(*record));
	struct bytes rest = p->records;
	struct buf seen = BUF_INIT;
	int err = record ? 0 : -ENOMEM;

	while (err == 0 && heat_take_record(&rest, record) == 1) {
		uint32_t id = record->table;
		size_t i;

		for (i = 0; i < seen.size; i += sizeof(id))
			if (memcmp(seen.data + i, &id, sizeof(id)) == 0)
				break;
		if (i < seen.size)
			continue;
		err = buf_add(&seen, &id, sizeof(id));
		p->number = 0;
		p->quarter_s = UINT64_MAX;
		if (err == 0)
			err = heat_walk(&source, id, prune_bucket, p);
	}
	buf_release(&seen);
	free(record);
	return err;
}

/* Writes it anew, with less of the past until it is short enough. */
static int prune(struct heat_file *f, uint64_t now_s)
{
	struct buf records = BUF_INIT, kept = BUF_INIT;
	uint64_t past = HEAT_QUARTERS_S;
	struct pruning p = { .out = &kept };
	int err = heat_file_read(f, &records);

	p.records = buf_bytes(&records);
	p.quarters_s = now_s > HEAT_MINUTES_S ? now_s - HEAT_MINUTES_S : 0;
	while (err == 0) {
		p.oldest_s = now_s > past ? now_s - past : 0;
		buf_reset(&kept);
		err = prune_tables(&p);
		past /= 2;
		if (kept.size <= size_max(f) / 2 || past == 0)
			break;
	}
	if (err == 0)
		err = replace(f, buf_bytes(&kept));
	buf_release(&records);
	buf_release(&kept);
	return err;
}

/* Looks at what is there, and cuts what is not whole. */
static int know(struct heat_file *f)
{
	struct buf file = BUF_INIT;
	struct bytes records = BYTES_NONE;
	int err = f->volume->ops->heat_read(f->volume, &file);

	if (err == 0)
		err = whole_records(buf_bytes(&file), &records);
	if (err == 0 &&
	    (records.size == 0 || records.size + HEAT_HEADER_SIZE != file.size))
		err = replace(f, records);
	f->known = err == 0;
	f->size = records.size + HEAT_HEADER_SIZE;
	f->size_due = 2 * f->size + GROWTH;
	buf_release(&file);
	return err;
}

/* -ESTALE: others have changed the file. It is looked at once more, as it is
 * now. */
int heat_file_append(struct heat_file *f, struct bytes records, uint64_t now_s,
		     bool *anew)
{
	int err = f->known ? 0 : know(f), tries;

	*anew = !f->known;
	for (tries = 0; tries < 2 && err == 0; tries++) {
		err = f->volume->ops->heat_append(f->volume, f->size, records);
		if (err != -ESTALE)
			break;
		*anew = true;
		err = know(f);
	}
	if (err < 0) {
		f->known = false;
		return err;
	}
	f->size += records.size;
	if (f->size < f->size_due && f->size < size_max(f))
		return 0;
	*anew = true;
	return prune(f, now_s);
}

/* Appends those of records, which are whole, that are of other tables. */
static int add_others(struct bytes records, uint32_t table, struct buf *out)
{
	struct heat_record *record = malloc(sizeof(*record));
	struct bytes rest = records;
	const uint8_t *start;
	int err = record ? 0 : -ENOMEM;

	while (err == 0) {
		start = rest.data;
		if (heat_take_record(&rest, record) != 1)
			break;
		if (record->table != table)
			err = buf_add(out, start, (size_t)(rest.data - start));
	}
	free(record);
	return err;
}

/* What is there is written anew also if it has nothing of the table, since
 * bytes behind the last whole record may. */
int heat_file_erase(struct heat_file *f, struct bytes records, uint32_t table)
{
	struct buf file = BUF_INIT, kept = BUF_INIT;
	struct bytes whole = BYTES_NONE;
	int err = f->volume->ops->heat_read(f->volume, &file);

	if (err == 0)
		err = whole_records(buf_bytes(&file), &whole);
	if (err == 0)
		err = add_others(whole, table, &kept);
	if (err == 0)
		err = add_others(records, table, &kept);
	if (err == 0 && file.size + kept.size > 0)
		err = replace(f, buf_bytes(&kept));
	buf_release(&file);
	buf_release(&kept);
	return err;
}
