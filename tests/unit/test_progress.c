#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"
#include "tools/import/progress.h"

/* What an import tells of how far it is, and when. */

/* What is told at so many milliseconds, of which 0 ends the list. */
static void check(bool is_terminal, uint64_t total, struct progress_now now,
		  const uint64_t *ms, const char *want)
{
	struct progress p;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	progress_begin(&p, out, total);
	ck_assert(!p.is_terminal);
	p.is_terminal = is_terminal;
	for (; *ms; ms++)
		progress_update_at(&p, &now, *ms);
	progress_end(&p);
	fclose(out);
	ck_assert_str_eq(text, want);
	free(text);
}

START_TEST(lines)
{
	static const uint64_t seldom[] = { 200, 9999, 10001, 20000, 20001, 0 };
	static const uint64_t once[] = { 10000, 0 };

	check(false, 40000000,
	      (struct progress_now){ 10000000, true, 500000, 3 }, seldom,
	      "25 %, 0:30 left, 10.0 MB, 1.0 MB/s, 500000 rows, 49995 rows/s, "
	      "3 refused\n"
	      "25 %, 1:00 left, 10.0 MB, 0.5 MB/s, 500000 rows, 24999 rows/s, "
	      "3 refused\n");
	/* Of a pipe, of nothing, of more than there was, of all. */
	check(false, 0, (struct progress_now){ .bytes = 5000000 }, once,
	      "5.0 MB, 0.5 MB/s\n");
	check(false, 10, (struct progress_now){ .bytes = 0 }, once,
	      "0.0 MB, 0.0 MB/s\n");
	check(false, 10, (struct progress_now){ .bytes = 11 }, once,
	      "0.0 MB, 0.0 MB/s\n");
	check(false, 10, (struct progress_now){ .bytes = 10 }, once,
	      "100 %, 0:00 left, 0.0 MB, 0.0 MB/s\n");
}
END_TEST

START_TEST(bar)
{
	static const uint64_t often[] = { 100, 199, 200, 399, 400, 0 };
	static const uint64_t never[] = { 199, 0 };

	check(true, 4000000, (struct progress_now){ 1000000, true, 5, 0 },
	      often,
	      "\r[#####---------------] 25 %, 0:00 left, 1.0 MB, 5.0 MB/s, 5 "
	      "rows, 25 rows/s, 0 refused\033[K"
	      "\r[#####---------------] 25 %, 0:01 left, 1.0 MB, 2.5 MB/s, 5 "
	      "rows, 12 rows/s, 0 refused\033[K"
	      "\r\033[K");
	check(true, 4, (struct progress_now){ .bytes = 1 }, never, "");
}
END_TEST

START_TEST(quiet)
{
	struct progress_now now = { .bytes = 1 };
	struct progress p;

	progress_begin(&p, NULL, 10);
	progress_update_at(&p, &now, 1000000);
	progress_end(&p);
	ck_assert(!p.is_drawn);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { lines, bar, quiet };

	return run_suite("progress", NULL, NULL, tests, 3);
}
