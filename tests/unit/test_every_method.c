#include "tests/sim/fake_call.h"
#include "tests/sim/rng.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/method_seeds.h"
#include "tests/unit/suite.h"

/* Every method that is served, with requests that are empty, of another method,
 * cut short anywhere, and damaged: each is answered, and what is answered with
 * an error has changed nothing. MutateRows has a status for each entry. */
static struct service service;
static unsigned int good; /* calls with status OK */

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

/* It may be there, or dropped by the method before. */
static void make_table(void)
{
	struct family_spec families[] = { { .name = str("f") } };
	int err =
		store_create_table(service.store, str("t"), true, families, 1);

	ck_assert(err == 0 || err == -ERR_table_exists);
}

static void setup(void)
{
	service.store = mem_store(NULL);
	make_table();
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(service.store), 0);
}

static uint64_t count_changes(void)
{
	struct schema *schema = store_schema(service.store);
	uint64_t count = schema->seq;

	schema_put(schema);
	return count + store_seq(service.store);
}

static void call(const struct route *r, struct bytes request)
{
	static struct call c;
	uint64_t before = count_changes();

	/* In memory of its own, so that reading behind it is seen. */
	uint8_t *copy = malloc(request.size + 1);

	ck_assert_ptr_nonnull(copy);
	if (request.size > 0)
		memcpy(copy, request.data, request.size);
	c = (struct call){ .route = r,
			   .request = bytes_of(copy, request.size),
			   .hurried = request.size % 2,
			   .is_short = request.size % 3 == 0 };
	fake_run(&c, &service);
	ck_assert(c.status == CALL_OK || c.text[0]);
	/* What is decoded is counted, and began anew. */
	ck_assert(!c.is_short || (c.granted > 0 && c.runs > 1));
	good += c.status == CALL_OK;
	ck_assert_msg(c.status == CALL_OK || count_changes() == before,
		      "%s has changed something: %s", r->path, c.text);
	fake_release(&c);
	free(copy);
}

START_TEST(wrong_requests_change_nothing)
{
	const char *seed_text = getenv("SEED");
	struct rng rng = { seed_text ? strtoull(seed_text, NULL, 10) : 1 };
	const struct route *r;
	struct buf damaged = BUF_INIT;
	size_t i, n, tries;

	for (r = routes; r->path; r++) {
		make_table();
		call(r, BYTES_NONE);
		call(r, BYTES_LITERAL("\xff\xff\xff\xff"));
		for (i = 0; i < sizeof(method_seeds) / sizeof(method_seeds[0]);
		     i++) {
			struct bytes seed = str(method_seeds[i]);

			for (n = 0; n <= seed.size; n++)
				call(r, bytes_of(seed.data, n));
			for (tries = 0; tries < 100; tries++) {
				ck_assert_int_eq(buf_set(&damaged, seed), 0);
				for (n = 1 + rng_below(&rng, 3); n > 0; n--)
					damaged.data[rng_below(
						&rng, (uint32_t)seed.size)] =
						(uint8_t)rng_below(&rng, 256);
				call(r, buf_bytes(&damaged));
			}
		}
	}
	buf_release(&damaged);
	/* Some were right, or the test looks at nothing but the decoder. */
	ck_assert_uint_gt(good, 500);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { wrong_requests_change_nothing };

	return run_suite("every method", setup, teardown, tests, 1);
}
