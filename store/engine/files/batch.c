#include <assert.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/files/batch.h"

/* Seven bits a byte. */
static_assert(KEY_SEQ_MAX < UINT64_C(1) << 56 && BATCH_RECORDS_MAX < 1 << 21 &&
		      BATCH_HEADER_SIZE >= 8 + 3,
	      "the header holds a sequence and a count");
static_assert(BATCH_RANGE != KEY_DELETE && BATCH_RANGE != KEY_PUT &&
		      BATCH_RANGE != KEY_BLOB && BATCH_RANGE != KEY_MERGE,
	      "a range is told from a key by its kind");
/* So that sizes of records, which are varints, add up without overflow. */
static_assert(BATCH_SIZE_MAX <= UINT32_MAX / 2, "sizes fit into 32 bits");

void batch_release(struct batch *b)
{
	buf_release(&b->data);
	batch_reset(b);
}

void batch_reset(struct batch *b)
{
	buf_reset(&b->data);
	b->count = 0;
	b->range_count = 0;
	b->blob_count = 0;
}

/* Adds one record. All room is reserved before anything is written, so that
 * after an error b is as before. */
static int add(struct batch *b, uint8_t kind, struct bytes key,
	       struct bytes value)
{
	static const uint8_t header[BATCH_HEADER_SIZE];
	size_t need = sizeof(header) + 1 + 2 * VARINT_MAX_SIZE;
	uint8_t *p;
	int err;

	if (b->count == BATCH_RECORDS_MAX)
		return fail(ERR_batch_too_large, "more than %d changes",
			    BATCH_RECORDS_MAX);
	/* Each on its own first, since their sum might overflow. */
	if (key.size > BATCH_SIZE_MAX || value.size > BATCH_SIZE_MAX ||
	    b->data.size + need + key.size + value.size > BATCH_SIZE_MAX)
		return fail(ERR_batch_too_large, "more than %u bytes",
			    BATCH_SIZE_MAX);
	err = buf_reserve(&b->data, need + key.size + value.size);
	if (err < 0)
		return err;

	/* The header is filled in by batch_seal. */
	if (b->data.size == 0)
		buf_add(&b->data, header, sizeof(header));
	b->start = sizeof(header);
	p = b->data.data + b->data.size;
	*p++ = kind;
	p = put_varint(p, key.size);
	if (key.size > 0)
		memcpy(p, key.data, key.size);
	p = put_varint(p + key.size, value.size);
	if (value.size > 0)
		memcpy(p, value.data, value.size);
	b->data.size = (size_t)(p + value.size - b->data.data);
	assert(b->data.size <= b->data.capacity);
	b->count++;
	b->range_count += kind == BATCH_RANGE;
	b->blob_count += kind == KEY_BLOB;
	return 0;
}

int batch_put(struct batch *b, struct bytes version_key, struct bytes value)
{
	return add(b, KEY_PUT, version_key, value);
}

int batch_put_blob(struct batch *b, struct bytes version_key, struct bytes list)
{
	return add(b, KEY_BLOB, version_key, list);
}

int batch_merge(struct batch *b, struct bytes version_key, struct bytes state)
{
	return add(b, KEY_MERGE, version_key, state);
}

int batch_delete(struct batch *b, struct bytes version_key)
{
	return add(b, KEY_DELETE, version_key, BYTES_NONE);
}

int batch_delete_range(struct batch *b, struct bytes start, struct bytes end)
{
	if (bytes_compare(start, end) >= 0)
		return fail(ERR_bad_argument, "range to delete is empty");
	return add(b, BATCH_RANGE, start, end);
}

/* Table 0 is the schema's own, and none of its records is of an empty family.
 */
/* key is empty before, and is to be released, also after an error. */
static int mark_key(struct buf *key)
{
	int err = key_add_table(key, 0), i;

	for (i = 0; i < 3 && err == 0; i++)
		err = key_add_part(key, BYTES_NONE);
	return err < 0 ? err : key_add_timestamp(key, 0);
}

int batch_mark(struct batch *b)
{
	struct buf key = BUF_INIT;
	int err = mark_key(&key);

	if (err == 0)
		err = batch_delete(b, buf_bytes(&key));
	buf_release(&key);
	return err;
}

int batch_is_mark(const struct batch *b)
{
	struct buf key = BUF_INIT;
	struct batch_record r;
	size_t position = 0;
	int err;

	if (b->count != 1 || !batch_next(b, &position, &r))
		return 0;
	err = mark_key(&key);
	if (err == 0)
		err = bytes_equal(r.key, buf_bytes(&key));
	buf_release(&key);
	return err;
}

int batch_append(struct batch *b, const struct batch *other)
{
	struct batch_record record;
	size_t position = 0;
	int err = 0;

	assert(b != other);
	while (err == 0 && batch_next(other, &position, &record))
		err = add(b, record.kind, record.key, record.value);
	return err;
}

struct bytes batch_seal(struct batch *b, uint64_t seq)
{
	size_t size = varint_size(seq) + varint_size(b->count);

	assert(b->start == BATCH_HEADER_SIZE && size <= BATCH_HEADER_SIZE);
	assert(b->data.size > BATCH_HEADER_SIZE);
	assert(seq > 0);
	/* Right before the first of them. */
	put_varint(put_varint(b->data.data + b->start - size, seq), b->count);
	return bytes_after(buf_bytes(&b->data), b->start - size);
}

/* Takes a record from the front of in; false if it is cut off. */
static bool take_record(struct bytes *in, struct batch_record *record)
{
	struct bytes kind;

	if (!take_bytes(in, 1, &kind))
		return false;
	record->kind = kind.data[0];
	return take_sized(in, &record->key) && take_sized(in, &record->value);
}

/* Whether key is one in form: a table, three terminated parts, a timestamp. */
static bool is_version_key(struct bytes key)
{
	unsigned int part;

	if (key.size > KEY_SIZE_MAX - KEY_TRAILER_SIZE)
		return false;
	for (part = 0; part < 3; part++) {
		size_t end = key_row_end(key);

		if (!end)
			return false;
		/* The next part, where key_row_end looks for it. */
		key = bytes_after(key, end - KEY_TABLE_SIZE);
	}
	return key.size == KEY_TABLE_SIZE + KEY_TIMESTAMP_SIZE;
}

/* Whether a record that was read may be applied. Keys are compared and split by
 * everything that follows without another look. */
static bool is_sound(const struct batch_record *r)
{
	switch (r->kind) {
	case KEY_PUT:
	case KEY_MERGE:
		return is_version_key(r->key);
	case KEY_BLOB:
		return is_version_key(r->key) &&
		       blob_list_value_size(r->value) > 0;
	case KEY_DELETE:
		return is_version_key(r->key) && r->value.size == 0;
	case BATCH_RANGE:
		return r->key.size >= KEY_TABLE_SIZE &&
		       r->key.size <= KEY_SIZE_MAX &&
		       r->value.size <= KEY_SIZE_MAX &&
		       bytes_compare(r->key, r->value) < 0;
	default:
		return false;
	}
}

/* Takes what comes before the records; false if it is cut off. */
static bool take_header(struct bytes *in, bool is_old, uint64_t *seq,
			uint64_t *count)
{
	uint32_t old_count = 0;

	if (!is_old)
		return take_varint(in, seq) && take_varint(in, count);
	if (!take_u64le(in, seq) || !take_u32le(in, &old_count))
		return false;
	*count = old_count;
	return true;
}

int batch_parse(struct bytes record, bool is_old, struct batch *b,
		uint64_t *seq)
{
	struct bytes rest = record;
	struct batch_record r;
	uint64_t count;
	uint32_t i;

	*b = (struct batch)BATCH_INIT;
	if (!take_header(&rest, is_old, seq, &count))
		return fail(ERR_wal_malformed, "batch of %zu bytes",
			    record.size);
	b->start = record.size - rest.size;
	if (count == 0 || count > BATCH_RECORDS_MAX || *seq == 0 ||
	    *seq > KEY_SEQ_MAX - count)
		return fail(ERR_wal_malformed, "batch of %llu at sequence %llu",
			    (unsigned long long)count,
			    (unsigned long long)*seq);
	for (i = 0; i < count; i++) {
		size_t offset = record.size - rest.size;

		if (!take_record(&rest, &r) || !is_sound(&r))
			return fail(ERR_wal_malformed,
				    "batch at sequence %llu: change %u of %u, "
				    "offset %zu, is malformed",
				    (unsigned long long)*seq, i,
				    (uint32_t)count, offset);
		b->range_count += r.kind == BATCH_RANGE;
		b->blob_count += r.kind == KEY_BLOB;
	}
	if (rest.size > 0)
		return fail(ERR_wal_malformed,
			    "batch at sequence %llu: %zu bytes too many",
			    (unsigned long long)*seq, rest.size);
	b->count = (uint32_t)count;
	/* Never written to: a batch that is parsed is only stepped through. */
	b->data.data = (uint8_t *)(uintptr_t)record.data;
	b->data.size = record.size;
	return 0;
}

bool batch_next(const struct batch *b, size_t *position,
		struct batch_record *record)
{
	struct bytes rest = buf_bytes(&b->data);

	if (*position == 0)
		*position = b->start;
	if (*position >= rest.size)
		return false;
	assert(*position >= b->start);
	rest = bytes_after(rest, *position);
	if (!take_record(&rest, record))
		return false;
	*position = b->data.size - rest.size;
	return true;
}

int batch_each_large(const struct batch *b,
		     int (*each)(void *context, const struct blob_list *list),
		     void *context)
{
	struct batch_record r;
	struct blob_list list;
	size_t position = 0;
	int err = 0;

	while (err == 0 && b->blob_count > 0 && batch_next(b, &position, &r)) {
		if (r.kind != KEY_BLOB)
			continue;
		err = blob_list_decode(r.value, &list);
		if (err < 0)
			break;
		err = each(context, &list);
		blob_list_release(&list);
	}
	return err;
}
