#include "store/model/model.h"
#include "tests/fuzz/store.h"
#include "tests/sim/fake_call.h"

/* A row with something to read and to delete. */
static void fill(struct store *s)
{
	struct bytes f = BYTES_LITERAL("f"), q = BYTES_LITERAL("q");
	struct write *w;

	MUST(write_new(s, &w) == 0);
	MUST(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r")) == 0);
	MUST(write_set(w, f, q, 1000, f) == 0);
	MUST(write_set(w, f, q, 2000, q) == 0);
	MUST(write_set(w, BYTES_LITERAL("g"), f, 0, q) == 0);
	MUST(store_commit(s, w, false) == 0);
	write_free(w);
}

/* Any bytes as the request of any method: it is answered, or refused with a
 * reason and has changed nothing. The first byte chooses the method, the second
 * whether the peer is slow, others wait, time is short and memory is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct call c;
	struct service service;
	struct schema *before, *after;
	const struct route *route;
	size_t count = 0;
	uint64_t seq;

	if (size < 2 || size > 10000)
		return 0;
	while (routes[count].path)
		count++;
	service = (struct service){ .store = fuzz_store() };
	fill(service.store);
	seq = store_seq(service.store);
	before = store_schema(service.store);
	route = &routes[data[0] % count];
	c = (struct call){ .route = route,
			   .request = bytes_of(data + 2, size - 2),
			   .refuses = data[1] & 1,
			   .is_inline = data[1] & 2 && route->inline_max > 0,
			   .hurried = data[1] & 4,
			   .is_short = data[1] & 8 };
	fake_run(&c, &service);
	after = store_schema(service.store);
	MUST(c.status == CALL_OK || c.text[0]);
	MUST(c.status == CALL_OK || store_seq(service.store) == seq);
	MUST(c.status == CALL_OK || before == after);
	schema_put(before);
	schema_put(after);
	fake_release(&c);
	MUST(store_close(service.store) == 0);
	return 0;
}
