#include <stdio.h>

#include "tests/sim/rng.h"
#include "tests/unit/suite.h"
#include "tools/serve/data/wire_row.h"
#include "tools/serve/proto/messages.h"

/* The row that is made where its values are, beside the one that is made of a
 * message. */

enum { CELLS_MAX = 40 };

static struct buf memory;
static struct cell cells[CELLS_MAX];
static char names[CELLS_MAX][8];

/* Cells of some families, with values of all sizes, 0 among them. */
static void draw(struct rng *rng, size_t count)
{
	size_t i, k, family = 0;

	buf_reset(&memory);
	for (i = 0; i < count; i++) {
		size_t size = rng_below(rng, 4) ? rng_below(rng, 300)
						: rng_below(rng, 40000);

		family += rng_below(rng, 3) == 0;
		snprintf(names[i], sizeof(names[i]), "%02zu%02zu", family, i);
		cells[i] = (struct cell){
			.family = bytes_of(names[i], 2),
			.qualifier = bytes_of(names[i], rng_below(rng, 5)),
			.timestamp_us = rng_below(rng, 3) * 123456789012,
			.value = bytes_of(NULL, size),
		};
		ck_assert_int_eq(buf_reserve(&memory, size), 0);
		for (k = 0; k < size; k++)
			memory.data[memory.size++] = (uint8_t)rng_next(rng);
	}
}

/* The same as a message of its own. */
static void encode(struct bytes key, size_t count, struct buf *out)
{
	struct proto_family families[CELLS_MAX] = { 0 }, *f = NULL;
	struct proto_column columns[CELLS_MAX] = { 0 };
	struct proto_cell values[CELLS_MAX] = { 0 };
	struct proto_row row = { .key = key, .families.at = families };
	struct proto_read_modify_write_row_answer answer = { .row = &row };
	size_t i, at = 0;

	for (i = 0; i < count; i++) {
		values[i].timestamp_micros = (int64_t)cells[i].timestamp_us;
		values[i].value =
			bytes_of(memory.data + at, cells[i].value.size);
		at += cells[i].value.size;
		columns[i].qualifier = cells[i].qualifier;
		columns[i].cells.at = &values[i];
		columns[i].cells.count = 1;
		if (!f || !bytes_equal(f->name, cells[i].family)) {
			f = &families[row.families.count++];
			f->name = cells[i].family;
			f->columns.at = &columns[i];
		}
		f->columns.count++;
	}
	ck_assert_int_eq(proto_encode(&proto_read_modify_write_row_answer_type,
				      &answer, out),
			 0);
}

START_TEST(a_row_is_as_a_message)
{
	struct rng rng = { 7 };
	struct buf want = BUF_INIT;
	size_t i;

	for (i = 0; i < 500; i++) {
		size_t count = 1 + rng_below(&rng, CELLS_MAX), values;
		struct bytes key = bytes_of("row key", rng_below(&rng, 8));

		draw(&rng, count);
		values = memory.size;
		buf_reset(&want);
		encode(key, count, &want);
		ck_assert_int_eq(wire_row(key, cells, count, &memory), 0);
		ck_assert(bytes_equal(buf_bytes(&memory), buf_bytes(&want)));
		ck_assert_uint_le(memory.size, values + key.size +
						       WIRE_ROW_EXTRA +
						       count * (48 + 6));
	}
	buf_release(&want);
	buf_release(&memory);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_row_is_as_a_message };

	return run_suite("wire row", NULL, NULL, tests, 1);
}
