#include "store/text/dump/load.h"
#include "tests/fuzz/store.h"

/* A store without tables. */
static struct store *empty_store(void)
{
	struct store *s = fuzz_store();

	MUST(store_drop_table(s, BYTES_LITERAL("t"), false) == 0);
	MUST(store_drop_table(s, BYTES_LITERAL("u"), false) == 0);
	return s;
}

/* Loads text into s, in pieces. */
static int load(struct store *s, struct bytes text, size_t piece)
{
	struct loader *l;
	int err = 0;

	MUST(loader_new(s, &l) == 0);
	while (err == 0 && text.size > 0) {
		size_t n = text.size < piece ? text.size : piece;

		err = loader_feed(l, bytes_of(text.data, n));
		text = bytes_after(text, n);
	}
	if (err == 0)
		err = loader_finish(l);
	MUST(err == 0 || err_detail()[0]);
	loader_free(l);
	return err;
}

static void dump(struct store *s, struct buf *out)
{
	struct text_stream *t;
	int err;

	MUST(dump_open(s, NULL, NULL, &t) == 0);
	while ((err = t->next(t, out)) > 0)
		;
	MUST(err == 0);
	t->close(t);
}

/* Bytes: the size of pieces, the text. In what pieces it comes makes no
 * difference; and whatever was taken, as a whole or up to what was wrong, is
 * dumped to a text that loads to the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT, pieces = BUF_INIT, again = BUF_INIT;
	struct store *s, *u, *v;
	struct bytes text;

	if (size < 1 || size > 20000)
		return 0;
	text = bytes_of(data + 1, size - 1);
	s = empty_store();
	u = empty_store();
	v = empty_store();
	MUST(load(s, text, SIZE_MAX) == load(u, text, 1 + data[0]));
	dump(s, &whole);
	dump(u, &pieces);
	MUST(bytes_equal(buf_bytes(&whole), buf_bytes(&pieces)));
	MUST(load(v, buf_bytes(&whole), 1 + data[0]) == 0);
	dump(v, &again);
	MUST(bytes_equal(buf_bytes(&whole), buf_bytes(&again)));
	MUST(store_close(s) == 0 && store_close(u) == 0 && store_close(v) == 0);
	buf_release(&whole);
	buf_release(&pieces);
	buf_release(&again);
	return 0;
}
