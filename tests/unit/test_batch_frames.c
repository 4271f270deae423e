#include <stdio.h>

#include "fs/control/batch_frames.h"
#include "tests/unit/suite.h"

/* Frames in pieces of any size, and what is none. */

#define POSITION                                                      \
	"version 1\ntable 1\nline 7\noffset 24\nelements 0\ntime 9\n" \
	"format 1\nin_array 0\nhead_size 24\nhead_hash 5\nrecipe_hash 6\n"

/* All rows, with the line of each position behind them as "@7". */
static int take_all(const char *text, size_t piece, struct buf *out)
{
	struct bytes rest = bytes_string(text), data, rows;
	struct batch_frames b = { 0 };
	struct import_position upto;
	int got = 0;

	buf_reset(out);
	while (rest.size > 0 && got >= 0) {
		data = bytes_of(rest.data,
				piece < rest.size ? piece : rest.size);
		rest = bytes_after(rest, data.size);
		while ((got = batch_frames_take(&b, &data, &rows, &upto)) > 0)
			ck_assert_int_eq(got == BATCH_ROWS
						 ? buf_add_bytes(out, rows)
						 : buf_printf(out, "@%d",
							      (int)upto.line),
					 0);
	}
	batch_frames_release(&b);
	ck_assert_int_eq(buf_terminate(out), 0);
	return got;
}

START_TEST(frames)
{
	char text[1024];
	struct buf out = BUF_INIT;
	size_t piece;

	snprintf(text, sizeof(text),
		 "rows 4 %zu\na\nb\n" POSITION "rows 0 %zu\n" POSITION
		 "rows 3 9\nxyz",
		 sizeof(POSITION) - 1, sizeof(POSITION) - 1);
	for (piece = 1; piece < 400; piece++) {
		ck_assert_int_eq(take_all(text, piece, &out), 0);
		ck_assert_str_eq((char *)out.data, "a\nb\n@7@7xyz");
	}
	buf_release(&out);
}
END_TEST

START_TEST(wrong)
{
	static const char *const texts[] = {
		"nonsense\n",
		"\n",
		"rows 1\n",
		"rows 1 2 3\n",
		"rows 1 2 \n",
		"rows 0 0\n",
		"rows 0 1025\n",
		"rows 9223372036854775808 1\n",
		"rows 1                                                       "
		"                2\n",
		"rows 0 3\nabc",
	};
	struct buf out = BUF_INIT;
	size_t i, piece;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (piece = 1; piece < 100; piece += 7)
			ck_assert_msg(take_all(texts[i], piece, &out) ==
					      -ERR_bad_argument,
				      "%s", texts[i]);
	buf_release(&out);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { frames, wrong };

	return run_suite("batch_frames", NULL, NULL, tests, 2);
}
