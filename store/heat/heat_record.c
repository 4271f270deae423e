#include <math.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/heat/heat_record.h"

#define MAGIC "tfs-heat"
#define VERSION 1
#define HEAD_SIZE 8 /* of a record: crc, size */

/* Codes are this often the logarithm: 6 in each doubling, so that what is read
 * is within six in a hundred of what was counted. */
#define STEPS 6.0

uint8_t heat_code(uint64_t n)
{
	double code = STEPS * log2(1 + (double)n) + 0.5;

	return code > 255 ? 255 : (uint8_t)code;
}

uint64_t heat_value(uint8_t code)
{
	return (uint64_t)(exp2(code / STEPS) - 0.5);
}

int heat_add_header(struct buf *out)
{
	size_t start = out->size;
	int err = buf_add(out, MAGIC, strlen(MAGIC));

	if (err == 0)
		err = buf_add_u32le(out, VERSION);
	return err < 0 ? err
		       : buf_add_u32le(
				 out,
				 crc32c(0, bytes_after(buf_bytes(out), start)));
}

int heat_take_header(struct bytes *in)
{
	struct bytes file = *in;

	if (file.size < HEAT_HEADER_SIZE ||
	    memcmp(file.data, MAGIC, strlen(MAGIC)) != 0 ||
	    get_u32le(file.data + 12) != crc32c(0, bytes_of(file.data, 12)))
		return fail(ERR_heat_damaged, "it does not begin as a history");
	if (get_u32le(file.data + 8) != VERSION)
		return fail(ERR_format_newer,
			    "the history of heat has version %u, and this "
			    "program reads %d",
			    get_u32le(file.data + 8), VERSION);
	*in = bytes_after(file, HEAT_HEADER_SIZE);
	return 0;
}

/* Begins a record, whose start is told. */
static int begin(struct buf *out, uint8_t kind, size_t *start)
{
	*start = out->size;
	return buf_add(out, (uint8_t[HEAD_SIZE + 1]){ [HEAD_SIZE] = kind },
		       HEAD_SIZE + 1);
}

/* Ends what began at start. */
static void end(struct buf *out, size_t start)
{
	uint8_t *head = out->data + start;
	size_t size = out->size - start - HEAD_SIZE;

	put_u32le(head + 4, (uint32_t)size);
	put_u32le(head, crc32c(0, bytes_of(head + 4, size + 4)));
}

int heat_add_fences(struct buf *out, const struct heat_fences *f)
{
	struct bytes last = BYTES_NONE;
	size_t start, i;
	int err = begin(out, HEAT_RECORD_FENCES, &start);

	assert(f->count > 0 && f->count <= HEAT_FENCES);
	if (err == 0)
		err = buf_add_varint(out, f->table);
	if (err == 0)
		err = buf_add_sized(out, f->prefix);
	if (err == 0)
		err = buf_add_varint(out, f->count);
	for (i = 0; i < f->count && err == 0; i++) {
		size_t shared = bytes_shared(last, f->fences[i]);

		last = f->fences[i];
		err = buf_add_varint(out, shared);
		if (err == 0)
			err = buf_add_sized(out, bytes_after(last, shared));
	}
	if (err == 0)
		end(out, start);
	return err;
}

/* One counter of all ranges: codes, where 0 has how many more there are. */
static int add_plane(struct buf *out, const uint64_t *values, size_t count)
{
	size_t i = 0, zeros;
	int err = 0;

	while (i < count && err == 0) {
		for (zeros = 0; i + zeros < count && values[i + zeros] == 0;)
			zeros++;
		if (zeros == 0) {
			err = buf_add_byte(out, heat_code(values[i++]));
			continue;
		}
		err = buf_add_byte(out, 0);
		if (err == 0)
			err = buf_add_byte(out, (uint8_t)(zeros - 1));
		i += zeros;
	}
	return err;
}

int heat_add_bucket(struct buf *out, const struct heat_bucket *b)
{
	size_t start;
	int err = begin(out, HEAT_RECORD_BUCKET, &start), i;

	assert(b->count > 0 && b->count <= HEAT_FENCES);
	if (err == 0)
		err = buf_add_varint(out, b->table);
	if (err == 0)
		err = buf_add_varint(out, b->start_s);
	if (err == 0)
		err = buf_add_varint(out, b->seconds);
	if (err == 0)
		err = buf_add_varint(out, b->count);
	for (i = 0; i < HEAT_METRICS && err == 0; i++)
		err = add_plane(out, b->values[i], b->count);
	if (err == 0)
		end(out, start);
	return err;
}

int heat_add_edits(struct buf *out, uint32_t table, struct bytes edits)
{
	size_t start;
	int err = begin(out, HEAT_RECORD_EDITS, &start);

	if (err == 0)
		err = buf_add_varint(out, table);
	if (err == 0)
		err = buf_add_bytes(out, edits);
	if (err == 0)
		end(out, start);
	return err;
}

uint8_t *heat_put_edit(uint8_t *p, size_t index, const struct bytes *fence)
{
	p = put_varint(p, index << 1 | (fence != NULL));
	if (!fence)
		return p;
	*p++ = (uint8_t)fence->size;
	if (fence->size > 0)
		memcpy(p, fence->data, fence->size);
	return p + fence->size;
}

/* Does one edit; fences point into its bytes. */
static bool take_edit(struct bytes *in, struct heat_fences *f)
{
	struct bytes fence;
	uint64_t code;
	size_t index;

	if (!take_varint(in, &code) || code >> 1 == 0 || code >> 1 > f->count)
		return false;
	index = (size_t)(code >> 1);
	if ((code & 1) == 0) {
		if (index == f->count)
			return false;
		f->count--;
		memmove(f->fences + index, f->fences + index + 1,
			(f->count - index) * sizeof(*f->fences));
		return true;
	}
	if (f->count == HEAT_FENCES || !take_sized(in, &fence) ||
	    fence.size > HEAT_FENCE_SIZE)
		return false;
	memmove(f->fences + index + 1, f->fences + index,
		(f->count - index) * sizeof(*f->fences));
	f->fences[index] = fence;
	f->count++;
	return true;
}

int heat_apply_edits(const struct heat_fences *old, struct bytes edits,
		     struct heat_record *out)
{
	struct heat_fences *f = &out->fences;
	uint8_t *to = out->memory;
	size_t i;

	out->kind = HEAT_RECORD_FENCES;
	*f = *old;
	while (edits.size > 0)
		if (!take_edit(&edits, f))
			return fail(ERR_heat_damaged,
				    "an edit of fences is malformed");
	for (i = 1; i < f->count; i++) {
		if (bytes_compare(f->fences[i - 1], f->fences[i]) >= 0)
			return fail(ERR_heat_damaged,
				    "edited fences are in no order");
		memcpy(to, f->fences[i].data, f->fences[i].size);
		f->fences[i].data = to;
		to += f->fences[i].size;
	}
	return 0;
}

/* As take_varint, of what is within the limits. */
static bool take_number(struct bytes *in, uint64_t min, uint64_t max,
			uint64_t *out)
{
	return take_varint(in, out) && *out >= min && *out <= max;
}

static bool take_fences(struct bytes *in, struct heat_record *r)
{
	struct heat_fences *f = &r->fences;
	struct bytes last = BYTES_NONE, rest;
	uint8_t *to = r->memory;
	uint64_t count, shared;
	size_t i;

	if (!take_sized(in, &f->prefix) || f->prefix.size > HEAT_PREFIX_MAX ||
	    !take_number(in, 1, HEAT_FENCES, &count))
		return false;
	f->table = r->table;
	f->count = (size_t)count;
	for (i = 0; i < f->count; i++) {
		if (!take_number(in, 0, last.size, &shared) ||
		    !take_sized(in, &rest) ||
		    rest.size > HEAT_FENCE_SIZE - shared)
			return false;
		if (shared > 0)
			memcpy(to, last.data, shared);
		if (rest.size > 0)
			memcpy(to + shared, rest.data, rest.size);
		f->fences[i] = bytes_of(to, shared + rest.size);
		if (i == 0 ? f->fences[i].size > 0
			   : bytes_compare(last, f->fences[i]) >= 0)
			return false;
		last = f->fences[i];
		to += last.size;
	}
	return in->size == 0;
}

static bool take_plane(struct bytes *in, uint64_t *values, size_t count)
{
	size_t i = 0, zeros;

	while (i < count) {
		if (in->size == 0)
			return false;
		if (in->data[0] > 0) {
			values[i++] = heat_value(in->data[0]);
			*in = bytes_after(*in, 1);
			continue;
		}
		if (in->size < 2 || in->data[1] >= count - i)
			return false;
		for (zeros = in->data[1] + (size_t)1; zeros > 0; zeros--)
			values[i++] = 0;
		*in = bytes_after(*in, 2);
	}
	return true;
}

static bool take_bucket(struct bytes *in, struct heat_record *r)
{
	struct heat_bucket *b = &r->bucket;
	uint64_t seconds, count;
	int i;

	if (!take_number(in, 0, HEAT_TIME_MAX, &b->start_s) ||
	    !take_number(in, 1, HEAT_BUCKET_MAX, &seconds) ||
	    !take_number(in, 1, HEAT_FENCES, &count))
		return false;
	b->table = r->table;
	b->seconds = (uint32_t)seconds;
	b->count = (size_t)count;
	for (i = 0; i < HEAT_METRICS; i++)
		if (!take_plane(in, b->values[i], b->count))
			return false;
	return in->size == 0;
}

static bool take_payload(struct bytes *in, struct heat_record *r)
{
	uint64_t kind, table;

	if (!take_number(in, HEAT_RECORD_FENCES, HEAT_RECORD_EDITS, &kind) ||
	    !take_number(in, 1, UINT32_MAX, &table))
		return false;
	r->kind = (enum heat_record_kind)kind;
	r->table = (uint32_t)table;
	if (r->kind == HEAT_RECORD_FENCES)
		return take_fences(in, r);
	if (r->kind == HEAT_RECORD_BUCKET)
		return take_bucket(in, r);
	r->edits = *in;
	return true;
}

int heat_take_record(struct bytes *in, struct heat_record *out)
{
	struct bytes rest = *in, payload;
	uint32_t crc, size;

	if (rest.size == 0)
		return 0;
	if (!take_u32le(&rest, &crc) || !take_u32le(&rest, &size) ||
	    size == 0 || !take_bytes(&rest, size, &payload))
		return fail(ERR_heat_damaged, "a record is cut off");
	if (crc != crc32c(0, bytes_of(in->data + 4, size + (size_t)4)))
		return fail(ERR_heat_damaged, "a record's checksum is wrong");
	if (!take_payload(&payload, out))
		return fail(ERR_heat_damaged, "a record is malformed");
	*in = rest;
	return 1;
}

bool heat_fits(const struct heat_fences *f, const struct heat_bucket *b)
{
	return f->table == b->table && f->count == b->count;
}
