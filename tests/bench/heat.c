#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

/*
 * Operations for tests/bench/run-heat to count instructions of:
 *
 *	heat put|get DIR COUNT RATE
 *
 * makes a store at DIR and puts, or gets, COUNT cells of as many rows, one a
 * commit, in loop(). Its clock goes on by an operation's time, of which there
 * are RATE a second, however long it takes: which of them are sampled depends
 * on that.
 */
#define TABLE BYTES_LITERAL("bench")
#define FAMILY BYTES_LITERAL("f")
#define QUALIFIER BYTES_LITERAL("q")
#define ROWS 20000

static uint64_t operations, rate;

static uint64_t tell_time(void *context)
{
	(void)context;
	return UINT64_C(1700000000000000) + operations * 1000000 / rate;
}

static const struct clock by_operation = { tell_time, NULL };

static void must(int err)
{
	if (err >= 0)
		return;
	fprintf(stderr, "heat: %s\n", err_detail());
	exit(1);
}

/* Neither in order nor at random twice the same. */
static struct bytes row_of(uint64_t i, char *text, size_t size)
{
	snprintf(text, size, "row/%05u",
		 (unsigned int)(i * UINT64_C(7919) % ROWS));
	return bytes_string(text);
}

static void put(struct store *s, struct write *w, uint64_t i)
{
	static const char value[100] = "value";
	char text[32];

	must(write_row(w, TABLE, row_of(i, text, sizeof(text))));
	must(write_set(w, FAMILY, QUALIFIER, STORE_NOW,
		       bytes_of(value, sizeof(value))));
	must(store_commit(s, w, false));
}

static void get(struct store *s, struct buf *memory, uint64_t i)
{
	struct cell cell;
	char text[32];

	must(store_get(s, NULL, TABLE, row_of(i, text, sizeof(text)), FAMILY,
		       QUALIFIER, &cell, memory));
}

/* What is counted. */
__attribute__((noinline)) void loop(struct store *s, struct write *w,
				    struct buf *memory, uint64_t count,
				    bool puts);
void loop(struct store *s, struct write *w, struct buf *memory, uint64_t count,
	  bool puts)
{
	uint64_t i;

	for (i = 0; i < count; i++, operations++)
		if (puts)
			put(s, w, i);
		else
			get(s, memory, i);
}

int main(int argc, char **argv)
{
	const struct family_spec family = { .name = FAMILY };
	struct buf memory = BUF_INIT;
	struct store_options o;
	struct write *w;
	struct store *s;
	uint64_t count, i;
	bool puts;

	if (argc != 5) {
		fputs("usage: heat put|get DIR COUNT RATE\n", stderr);
		return 2;
	}
	puts = !strcmp(argv[1], "put");
	count = strtoull(argv[3], NULL, 10);
	rate = strtoull(argv[4], NULL, 10);
	store_options_init(&o);
	o.create = true;
	o.background = false;
	o.clock = &by_operation;
	must(rate > 0 ? store_open(argv[2], &o, &s) : -1);
	must(store_create_table(s, TABLE, false, &family, 1));
	must(write_new(s, &w));
	for (i = 0; !puts && i < ROWS; i++, operations++)
		put(s, w, i);
	/* Seconds that began before are over. */
	operations += 2 * rate;
	loop(s, w, &memory, count, puts);
	write_free(w);
	buf_release(&memory);
	must(store_close(s));
	return 0;
}
