#include <pthread.h>
#include <stdio.h>

#include "tools/serve/admin/records.h"
#include "tools/serve/method/attributes.h"

/* Each with what its attributes begin with, and a word for sentences. */
static const struct {
	const char *prefix, *word;
	const struct proto_type *type;
} kinds[] = {
	[RECORD_INSTANCE] = { RECORD_INSTANCES, "instance",
			      &proto_instance_type },
	[RECORD_CLUSTER] = { RECORD_CLUSTERS, "cluster", &proto_cluster_type },
	[RECORD_PROFILE] = { RECORD_PROFILES, "app profile",
			     &proto_app_profile_type },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void records_lock(void)
{
	pthread_mutex_lock(&lock);
}

void records_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static bool is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

/* Letters of the service: small ones, digits and -, with a letter first. */
static int check_letters(const char *word, struct bytes id, size_t size_max)
{
	size_t i;

	for (i = 0; i < id.size; i++)
		if (!is_lower(id.data[i]) &&
		    (i == 0 || (id.data[i] != '-' &&
				(id.data[i] < '0' || id.data[i] > '9'))))
			break;
	if (id.size > 0 && id.size <= size_max && i == id.size &&
	    id.data[id.size - 1] != '-')
		return 0;
	return fail(ERR_bad_argument,
		    "%s id \"%s\" must match [a-z][-a-z0-9]*[a-z0-9] and "
		    "have up to %zu bytes",
		    word, err_name(id), size_max);
}

int record_check_instance(struct bytes id)
{
	return check_letters("instance", id, STORE_INSTANCE_NAME_MAX);
}

int record_check_id(enum record_kind kind, struct bytes id)
{
	size_t i;

	if (kind == RECORD_CLUSTER)
		return check_letters("cluster", id, 30);
	for (i = 0; i < id.size; i++) {
		uint8_t c = id.data[i];

		if (!is_lower(c) && (c < 'A' || c > 'Z') &&
		    (c < '0' || c > '9') && c != '_' &&
		    (i == 0 || (c != '-' && c != '.')))
			break;
	}
	if (id.size > 0 && id.size <= 50 && i == id.size)
		return 0;
	return fail(ERR_bad_argument,
		    "app profile id \"%s\" must match "
		    "[_a-zA-Z0-9][-_.a-zA-Z0-9]* and have up to 50 bytes",
		    err_name(id));
}

static int add_name(struct admin_call *a, const struct record *r,
		    struct bytes *out)
{
	return admin_print(a, out, "%s%.*s%s%.*s", kinds[r->kind].prefix,
			   (int)r->instance.size,
			   (const char *)r->instance.data,
			   r->kind == RECORD_INSTANCE ? "" : "/",
			   (int)r->id.size, (const char *)r->id.data);
}

/* The message of a value that belongs to a schema. */
static int decode(struct admin_call *a, struct bytes value, struct record *r)
{
	int err = 0;
	uint8_t *copy = proto_alloc(&a->arena, value.size + 1, &err);

	if (!copy)
		return err;
	if (value.size > 0)
		memcpy(copy, value.data, value.size);
	return proto_decode(kinds[r->kind].type, bytes_of(copy, value.size),
			    &a->arena, &r->message);
}

int record_read(struct admin_call *a, struct record *r)
{
	struct bytes name, value;
	struct schema *schema;
	int err = add_name(a, r, &name);
	bool found;

	if (err < 0)
		return err;
	schema = store_schema(a->service->store);
	found = schema_attribute(schema, BYTES_NONE, name, &value);
	if (found)
		err = decode(a, value, r);
	schema_put(schema);
	return err < 0 ? err : found;
}

int records_write(struct admin_call *a, const struct record *records,
		  size_t count)
{
	struct attribute *changes;
	struct buf value = BUF_INIT;
	size_t i;
	int err = 0;

	changes = proto_alloc(&a->arena, (count + 1) * sizeof(*changes), &err);
	if (!changes)
		return err;
	for (i = 0; i < count && !err; i++) {
		const struct record *r = &records[i];
		uint8_t *copy;

		err = add_name(a, r, &changes[i].name);
		if (err < 0 || !r->message)
			continue;
		buf_reset(&value);
		err = proto_encode(kinds[r->kind].type, r->message, &value);
		copy = proto_alloc(&a->arena, value.size + 1, &err);
		if (!copy)
			continue;
		if (value.size > 0)
			memcpy(copy, value.data, value.size);
		changes[i].value = bytes_of(copy, value.size);
	}
	buf_release(&value);
	if (!err) {
		err = store_set_attributes(a->service->store, BYTES_NONE,
					   changes, count);
		method_changed(a->c, a->service, err);
	}
	return err;
}

/* Takes an attribute's name apart behind its prefix. The bytes are the
 * arena's. */
static int take_name(struct admin_call *a, struct bytes name, struct record *r)
{
	const uint8_t *slash;
	int err = admin_print(a, &r->instance, "%.*s", (int)name.size,
			      (const char *)name.data);

	if (err < 0)
		return err;
	slash = memchr(r->instance.data, '/', r->instance.size);
	if (!slash)
		return 0;
	r->id = bytes_after(r->instance,
			    (size_t)(slash + 1 - r->instance.data));
	r->instance.size = (size_t)(slash - r->instance.data);
	return 0;
}

int records_list(struct admin_call *a, enum record_kind kind,
		 struct bytes instance, struct record **out, size_t *count)
{
	struct bytes prefix, kept = bytes_string(kinds[kind].prefix);
	const struct attributes *all;
	struct schema *schema;
	size_t i, end;
	int err = admin_print(a, &prefix, "%s%.*s%s", kinds[kind].prefix,
			      (int)instance.size, (const char *)instance.data,
			      instance.size > 0 ? "/" : "");

	*out = NULL;
	*count = 0;
	if (err < 0)
		return err;
	schema = store_schema(a->service->store);
	all = schema_attributes(schema, BYTES_NONE);
	i = end = attributes_from(all, prefix);
	while (end < all->count &&
	       bytes_starts_with(all->items[end].name, prefix))
		end++;
	*out = proto_alloc(&a->arena, (end - i + 1) * sizeof(**out), &err);
	for (; i < end && !err; i++) {
		struct record *r = &(*out)[(*count)++];

		r->kind = kind;
		err = take_name(a, bytes_after(all->items[i].name, kept.size),
				r);
		if (!err)
			err = decode(a, all->items[i].value, r);
	}
	schema_put(schema);
	return err;
}

static int say(int code, const struct record *r, const char *what)
{
	struct bytes id = r->kind == RECORD_INSTANCE ? r->instance : r->id;

	return fail(code, "%s \"%s\" %s", kinds[r->kind].word, err_name(id),
		    what);
}

int record_missing(const struct record *r)
{
	return say(ERR_no_table, r, "not found");
}

int record_exists(const struct record *r)
{
	return say(ERR_table_exists, r, "exists already");
}

int record_stays(const struct record *r)
{
	return say(EPERM, r,
		   r->kind == RECORD_INSTANCE
			   ? "is that of every store, and stays as it is"
			   : "is that of every instance, and stays");
}

int records_create(struct admin_call *a, const struct record *records,
		   size_t count, bool is_default)
{
	struct record old = records[0];
	int err = record_read(a, &old);

	if (err > 0 || is_default)
		return record_exists(records);
	return err < 0 ? err : records_write(a, records, count);
}

int record_remove(struct admin_call *a, const struct record *r)
{
	struct record gone = *r;

	if (!r->message)
		return record_stays(r);
	gone.message = NULL;
	return records_write(a, &gone, 1);
}
