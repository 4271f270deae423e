#include <assert.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/model/attributes.h"
#include "store/model/schema.h"
#include "store/model/schema_record.h"

/*
 * A table's record:
 *
 *   u8 version (4) | varint id | varint birth | u8 millis |
 *   varint family count | family* |
 *   varint mode + 1 | varint uid + 1 | varint gid + 1; 0 is unset |
 *   varint attribute count | (sized name | sized value)*, names ascending
 *   family = sized name | u8 type | varint birth | varint rules |
 *            policy (gc_policy.c)
 *
 * A birth of 0 is the record's own sequence, and so are rules, since when the
 * family has its policy. Versions 1 to 3, which are only read, have no rules,
 * for which the record's own sequence stands; 1 and 2 have no attributes, 1 no
 * access.
 *
 * The record of an attribute of the store's own is
 *
 *   u8 version (3) | value
 *
 * as those of format 1 are.
 */
#define RECORD_VERSION_ACCESS 2
#define RECORD_VERSION_ATTRIBUTES 3
#define RECORD_VERSION 4

static_assert(TABLE_ACCESS_UNSET + UINT32_C(1) == 0, "unset is stored as 0");

/* Each plus one, in 32 bits: unset is the greatest number, and becomes 0. */
static int encode_access(const struct table_access *a, struct buf *out)
{
	int err = buf_add_varint(out, (uint32_t)(a->mode + 1));

	if (err == 0)
		err = buf_add_varint(out, (uint32_t)(a->uid + 1));
	if (err == 0)
		err = buf_add_varint(out, (uint32_t)(a->gid + 1));
	return err;
}

/* As attributes_decode reads them, behind their count. */
static int encode_attributes(const struct attributes *a, struct buf *out)
{
	size_t i;
	int err = buf_add_varint(out, a->count);

	for (i = 0; i < a->count && err == 0; i++) {
		err = buf_add_sized(out, a->items[i].name);
		if (err == 0)
			err = buf_add_sized(out, a->items[i].value);
	}
	return err;
}

/* One family; births and rules of those that have none yet are written as 0. */
static int encode_family(const struct family *f, struct buf *out)
{
	int err;

	err = buf_add_sized(out, f->name);
	if (err == 0)
		err = buf_add_byte(out, (uint8_t)f->type);
	if (err == 0)
		err = buf_add_varint(out, f->birth_seq);
	if (err == 0)
		err = buf_add_varint(out, f->rules_seq);
	return err < 0 ? err : gc_policy_encode(f->gc, out);
}

/* Families are in the order of their names, but table_decode takes any. */
int table_encode(const struct table *table, struct buf *out)
{
	size_t i;
	int err;

	assert(table->id != SCHEMA_TABLE_ID);
	err = buf_add_byte(out, RECORD_VERSION);
	if (err == 0)
		err = buf_add_varint(out, table->id);
	if (err == 0)
		err = buf_add_varint(out, table->birth_seq);
	if (err == 0)
		err = buf_add_byte(out, table->millis);
	if (err == 0)
		err = buf_add_varint(out, table->family_count);
	for (i = 0; i < table->family_count && err == 0; i++)
		err = encode_family(&table->families[i], out);
	if (err == 0)
		err = encode_access(&table->access, out);
	if (err == 0)
		err = encode_attributes(&table->attributes, out);
	return err;
}

/* The record lies in a block whose checksum was right, so this is no damage of
 * the disk as a rule: the table is named to find out. */
static int malformed(struct bytes table, const char *what)
{
	return fail(ERR_schema_malformed, "table \"%s\": %s", err_name(table),
		    what);
}

/* Takes a family off in and adds it. A type that is greater than those known is
 * a newer program's. The policy is decoded into the family itself, which frees
 * it with the schema if something fails later. */
static int decode_family(uint8_t version, struct table *t, uint64_t seq,
			 struct bytes *in)
{
	struct family_spec spec = { .gc = NULL };
	struct bytes type;
	struct family *f;
	uint64_t birth, rules = 0;
	int err;

	if (!take_sized(in, &spec.name) || !take_bytes(in, 1, &type) ||
	    !take_varint(in, &birth) ||
	    (version >= RECORD_VERSION && !take_varint(in, &rules)))
		return malformed(t->name, "family is cut off");
	if (type.data[0] > FAMILY_INTHLL)
		return fail(ERR_format_newer, "table \"%s\": family type %u",
			    err_name(t->name), type.data[0]);
	spec.type = type.data[0];
	if (table_find_family(t, spec.name))
		return malformed(t->name, "family occurs twice");
	err = table_add_family(t, &spec, &f);
	if (err < 0)
		return err;
	f->birth_seq = birth ? birth : seq;
	f->rules_seq = rules ? rules : seq;
	return gc_policy_decode(in, &f->gc);
}

/* One number of the access; 0 becomes the greatest, which is unset. */
static bool take_access(struct bytes *in, uint32_t *value)
{
	uint64_t n;

	if (!take_varint(in, &n) || n > UINT32_MAX)
		return false;
	*value = (uint32_t)n - 1;
	return true;
}

/* A limit of their sum may be another one some day, so that is not refused
 * here; the record bounds it. */
int attributes_decode(struct bytes table, uint64_t count, struct bytes *in,
		      struct attributes *out)
{
	struct attribute *items, *a;
	uint64_t i;
	int err = 0;

	/* Each has two lengths and a byte. */
	if (count > in->size / 3)
		return malformed(table, "attributes are cut off");
	items = calloc((size_t)count + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	for (i = 0; i < count && err == 0; i++) {
		a = &items[i];
		if (!take_sized(in, &a->name) || !take_sized(in, &a->value))
			err = malformed(table, "attribute is cut off");
		else if (a->name.size == 0 ||
			 a->name.size > STORE_ATTRIBUTE_NAME_MAX ||
			 a->value.size > STORE_ATTRIBUTE_VALUE_MAX)
			err = malformed(table, "attribute has another length "
					       "than any may have");
		else if (i > 0 && bytes_compare(a[-1].name, a->name) >= 0)
			err = malformed(table, "attributes do not ascend");
	}
	if (err == 0)
		err = attributes_new(items, (size_t)count, out);
	free(items);
	return err;
}

/* What comes after the families. */
static int decode_rest(uint8_t version, struct table *t, struct bytes *in)
{
	uint64_t count;

	if (version >= RECORD_VERSION_ACCESS &&
	    (!take_access(in, &t->access.mode) ||
	     !take_access(in, &t->access.uid) ||
	     !take_access(in, &t->access.gid)))
		return malformed(t->name, "record is cut off");
	if (version < RECORD_VERSION_ATTRIBUTES)
		return 0;
	if (!take_varint(in, &count))
		return malformed(t->name, "record is cut off");
	return attributes_decode(t->name, count, in, &t->attributes);
}

/* Nothing is trusted but the name, which is a row's key. An id of 0 would be
 * the schema's own table. */
int table_decode(struct schema *schema, struct bytes name, uint64_t seq,
		 struct bytes in)
{
	struct bytes version, millis;
	uint64_t id, birth, count, i;
	struct table *t;
	int err;

	if (!take_bytes(&in, 1, &version))
		return malformed(name, "record is empty");
	if (version.data[0] == 0 || version.data[0] > RECORD_VERSION)
		return fail(ERR_format_newer,
			    "table \"%s\": schema record version %u",
			    err_name(name), version.data[0]);
	if (!take_varint(&in, &id) || id == 0 || id > UINT32_MAX ||
	    !take_varint(&in, &birth) || !take_bytes(&in, 1, &millis) ||
	    !take_varint(&in, &count) || count > STORE_FAMILIES_MAX)
		return malformed(name, "record is cut off");
	err = schema_add_table(schema, name, &t);
	if (err < 0)
		return err;
	t->id = (uint32_t)id;
	t->birth_seq = birth ? birth : seq;
	t->record_seq = seq;
	t->millis = millis.data[0] != 0;
	for (i = 0; i < count && err == 0; i++)
		err = decode_family(version.data[0], t, seq, &in);
	if (err == 0)
		err = decode_rest(version.data[0], t, &in);
	if (err < 0)
		return err;
	return in.size == 0 ? 0 : malformed(name, "bytes after the record");
}

int attribute_encode(struct bytes value, struct buf *out)
{
	int err = buf_add_byte(out, RECORD_VERSION_ATTRIBUTES);

	return err < 0 ? err : buf_add_bytes(out, value);
}

int attribute_decode(struct bytes name, struct bytes record,
		     struct bytes *value)
{
	if (record.size == 0)
		return fail(ERR_schema_malformed,
			    "attribute \"%s\": record is empty",
			    err_name(name));
	if (record.data[0] != RECORD_VERSION_ATTRIBUTES)
		return fail(ERR_format_newer,
			    "attribute \"%s\": record version %u",
			    err_name(name), record.data[0]);
	*value = bytes_after(record, 1);
	return 0;
}

int schema_record_key(struct bytes row, struct bytes family,
		      struct bytes qualifier, struct buf *key)
{
	int err;

	buf_reset(key);
	err = key_add_table(key, SCHEMA_TABLE_ID);
	if (err == 0)
		err = key_add_part(key, row);
	if (err == 0)
		err = key_add_part(key, family);
	if (err == 0)
		err = key_add_part(key, qualifier);
	if (err == 0)
		err = key_add_timestamp(key, 0);
	return err;
}
