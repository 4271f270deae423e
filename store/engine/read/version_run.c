#include "store/base/coding.h"
#include "store/engine/read/version_run.h"

/* A step costs some 30 ns, a seek ten times that. */
#define STEPS_BEFORE_SEEK 8

void version_run_release(struct version_run *r)
{
	buf_release(&r->target);
}

/* Without memory it goes on step by step. */
bool version_run_pass(struct version_run *r, struct bytes key, uint64_t seq,
		      struct bytes *target)
{
	/* All writes have a smaller trailer, and a byte more is greater than
	 * any. */
	uint8_t trailer[KEY_TRAILER_SIZE + 1] = { 0xff, 0xff, 0xff, 0xff, 0xff,
						  0xff, 0xff, 0xff, 0 };
	size_t size = sizeof(trailer);

	if (r->steps == 0 || key_timestamp(key) != r->timestamp) {
		r->timestamp = key_timestamp(key);
		r->steps = 0;
	}
	if (++r->steps < STEPS_BEFORE_SEEK)
		return false;
	if (key_seq(key) > seq) {
		/* The first, of any kind, that has seq or less. */
		put_u64be(trailer, ~(seq << 8 | 0xff));
		size = KEY_TRAILER_SIZE;
	}
	if (buf_set(&r->target, key_version(key)) < 0 ||
	    buf_add(&r->target, trailer, size) < 0)
		return false;
	r->steps = 0;
	*target = buf_bytes(&r->target);
	return true;
}
