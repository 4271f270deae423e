#include "store/text/value/gcpolicy.h"
#include "tests/fuzz/target.h"

/* A policy that is accepted reads again from its own words. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gc_policy *policy, *again;
	struct buf words = BUF_INIT;

	if (gc_policy_parse(bytes_of(data, size), &policy) < 0)
		return 0;
	MUST(gc_policy_print_words(policy, &words) == 0);
	MUST(gc_policy_parse(buf_bytes(&words), &again) == 0);
	MUST(gc_policy_equal(policy, again));
	gc_policy_free(policy);
	gc_policy_free(again);
	buf_release(&words);
	return 0;
}
