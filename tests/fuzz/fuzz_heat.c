#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/heat/heat_grid.h"
#include "tests/fuzz/target.h"

/* A history of heat: each record that is taken is written as the same, and its
 * buckets are drawn without losing anything. */
static double drawn(const struct heat_grid *g, size_t columns)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < columns * g->count; i++)
		sum += g->cells[i];
	return sum;
}

static int add(void *context, const struct heat_fences *fences,
	       unsigned int number, const struct heat_bucket *b)
{
	size_t i;

	(void)number;
	MUST(fences->count == b->count);
	for (i = 0; i < b->count; i++)
		*(double *)context += (double)b->values[HEAT_READS][i];
	return 0;
}

static void draw(struct bytes records, uint32_t table)
{
	const struct heat_source source = { records, UINT64_MAX };
	const struct heat_wanted wanted = { .table = table,
					    .column_s = HEAT_TIME_MAX,
					    .columns = 2,
					    .metrics = 1,
					    .max = 16 };
	struct heat_grid g;
	double sum = 0;

	MUST(heat_walk(&source, table, add, &sum) == 0);
	MUST(heat_grid_make(&source, 1, &wanted, &g) == 0);
	MUST(drawn(&g, 2) >= sum * 0.999 - 1);
	MUST(drawn(&g, 2) <= sum * 1.001 + 1);
	heat_grid_release(&g);
}

/* Puts the checksums right, as a file that is not damaged has them. */
static void mend(uint8_t *data, size_t size)
{
	size_t at = HEAT_HEADER_SIZE;

	if (size < at)
		return;
	put_u32le(data + 12, crc32c(0, bytes_of(data, 12)));
	while (size - at > 8 && get_u32le(data + at + 4) <= size - at - 8) {
		uint32_t n = get_u32le(data + at + 4);

		put_u32le(data + at, crc32c(0, bytes_of(data + at + 4, n + 4)));
		at += 8 + (size_t)n;
	}
}

/* The last byte says whether checksums are put right. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = BUF_INIT;
	struct heat_record *r = malloc(2 * sizeof(*r));
	struct bytes rest, records;
	struct buf again = BUF_INIT;
	uint32_t table = 0;
	int err;

	MUST(r && buf_add(&file, data, size) == 0);
	if (size > 0)
		file.size--;
	if (size > 0 && data[size - 1] % 2)
		mend(file.data, file.size);
	rest = buf_bytes(&file);
	if (heat_take_header(&rest) < 0)
		MUST(err_detail()[0]);
	records = rest;
	while ((err = heat_take_record(&rest, r)) == 1) {
		struct bytes copy;

		buf_reset(&again);
		if (r->kind == HEAT_RECORD_FENCES)
			MUST(heat_add_fences(&again, &r->fences) == 0);
		else if (r->kind == HEAT_RECORD_BUCKET)
			MUST(heat_add_bucket(&again, &r->bucket) == 0);
		else
			MUST(heat_add_edits(&again, r->table, r->edits) == 0);
		copy = buf_bytes(&again);
		MUST(heat_take_record(&copy, r + 1) == 1 && copy.size == 0);
		MUST(r[1].kind == r->kind && r[1].table == r->table);
		table = r->table;
	}
	MUST(err == 0 || err_detail()[0]);
	records.size -= rest.size;
	draw(records, table);
	buf_release(&again);
	buf_release(&file);
	free(r);
	return 0;
}
