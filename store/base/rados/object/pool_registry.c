#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/object/pool_registry.h"

/* Entries that are read at once. */
#define ENTRIES_MAX 1000

static const char *const words[] = {
	[POOL_SEGMENT] = "segment",
	[POOL_LOG] = "log",
	[POOL_FINAL] = "final",
	[POOL_GARBAGE] = "garbage",
};

/* As people can read it, by rados listomapvals. */
void pool_value(const struct pool_entry *e, char *value)
{
	snprintf(value, POOL_VALUE_SIZE, "%s %016" PRIx64 " %" PRIu64,
		 words[e->state], e->nonce, e->size);
}

bool pool_value_parse(struct bytes value, struct pool_entry *out)
{
	char text[POOL_VALUE_SIZE] = "", word[16];
	size_t i;

	*out = (struct pool_entry){ .state = POOL_GARBAGE };
	if (value.size >= sizeof(text))
		return false;
	memcpy(text, value.data, value.size);
	if (sscanf(text, "%15s %" SCNx64 " %" SCNu64, word, &out->nonce,
		   &out->size) != 3)
		return false;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0) {
			out->state = (enum pool_state)i;
			return true;
		}
	return false;
}

/* The nonce comes first, for a name of a file may be taken again while the
 * parts of a former one are removed. */
void pool_garbage_key(const char *name, uint64_t nonce, char *key)
{
	snprintf(key, POOL_KEY_SIZE, "~%016" PRIx64 " %s", nonce, name);
}

void pool_part_name(const char *name, uint64_t nonce, uint64_t part, char *oid)
{
	snprintf(oid, POOL_PART_NAME_SIZE, "%s.%016" PRIx64 ".%04" PRIx64, name,
		 nonce, part);
}

int pool_nonce(uint64_t *out)
{
	return getrandom(out, sizeof(*out), 0) == sizeof(*out)
		       ? 0
		       : fail(errno, "no random number is to be had");
}

int pool_check_name(const struct pool_volume *v, const char *name)
{
	size_t n = strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz.-");

	if (n > 0 && n <= VOLUME_NAME_MAX && !name[n] && name[0] != '.' &&
	    strcmp(name, POOL_ROOT) != 0)
		return 0;
	return fail(EINVAL, "%s/%s: not a name for a file of a store", v->path,
		    name);
}

int pool_check_change(const struct pool_volume *v, const char *name)
{
	int err = pool_guard(v);

	return err < 0 ? err : pool_check_name(v, name);
}

/* What follows in the registry: reads it into an entry. */
static int take_entry(struct pool_volume *v, const char *key, const char *value,
		      size_t size, struct pool_entry *out)
{
	if (pool_value_parse(bytes_of(value, size), out))
		return 0;
	return fail(ERR_manifest_damaged,
		    "%s/%s: its entry in the registry is not one", v->path,
		    key);
}

int pool_find(struct pool_volume *v, const char *name, struct pool_entry *out)
{
	rados_read_op_t op = rados_create_read_op();
	rados_omap_iter_t it = NULL;
	int err, result = 0;
	char *key, *value;
	size_t size;

	rados_read_op_omap_get_vals_by_keys(op, &name, 1, &it, &result);
	err = pool_read(v, op, POOL_ROOT);
	if (err == 0)
		err = result;
	if (err < 0) {
		err = pool_fail(v, name, err, "cannot look for it");
	} else {
		err = rados_omap_get_next(it, &key, &value, &size);
		if (err == 0 && !key)
			err = fail(ENOENT, "%s/%s: there is none", v->path,
				   name);
		else if (err == 0)
			err = take_entry(v, name, value, size, out);
	}
	if (it)
		rados_omap_get_end(it);
	return err;
}

/* As pool_each, of those behind last, which becomes the last one of them. 1 if
 * there are more. */
static int each_some(struct pool_volume *v, char *last,
		     int (*each)(void *context, const char *key,
				 const struct pool_entry *e),
		     void *context)
{
	rados_read_op_t op = rados_create_read_op();
	rados_omap_iter_t it = NULL;
	unsigned char more = 0;
	struct pool_entry entry;
	char *key, *value;
	int err, result = 0;
	size_t size;

	rados_read_op_omap_get_vals2(op, last, "", ENTRIES_MAX, &it, &more,
				     &result);
	err = pool_read(v, op, POOL_ROOT);
	if (err == 0)
		err = result;
	if (err < 0)
		err = pool_fail(v, "", err, "cannot read its registry");
	while (err >= 0) {
		err = rados_omap_get_next(it, &key, &value, &size);
		if (err < 0 || !key)
			break;
		snprintf(last, POOL_KEY_SIZE, "%s", key);
		err = take_entry(v, key, value, size, &entry);
		if (err == 0)
			err = each(context, key, &entry);
	}
	if (it)
		rados_omap_get_end(it);
	return err < 0 ? err : more;
}

int pool_each(struct pool_volume *v,
	      int (*each)(void *context, const char *key,
			  const struct pool_entry *e),
	      void *context)
{
	char last[POOL_KEY_SIZE] = "";
	int more;

	do {
		more = each_some(v, last, each, context);
	} while (more > 0);
	return more;
}

/* Sets a key of the registry within op. */
static void set_key(rados_write_op_t op, const char *key, const char *value)
{
	size_t size = strlen(value);

	rados_write_op_omap_set(op, &key, &value, &size, 1);
}

/* A step of a name in the registry, and of a key of garbage. */
struct step {
	const char *name;
	const struct pool_entry *from, *to; /* NULL: nothing is there */
	const char *key;                    /* of garbage, or NULL */
	const struct pool_entry *garbage;   /* what is set; NULL: it goes */
};

static rados_write_op_t build(struct pool_volume *v, const struct step *s)
{
	char from[POOL_VALUE_SIZE] = "", value[POOL_VALUE_SIZE];
	rados_write_op_t op = pool_guarded(v);

	if (s->from)
		pool_value(s->from, from);
	/* A key that is not there compares as if it were empty. */
	rados_write_op_omap_cmp(op, s->name, LIBRADOS_CMPXATTR_OP_EQ, from,
				strlen(from), NULL);
	if (s->to) {
		pool_value(s->to, value);
		set_key(op, s->name, value);
	} else if (s->from) {
		rados_write_op_omap_rm_keys(op, &s->name, 1);
	}
	if (s->garbage) {
		pool_value(s->garbage, value);
		set_key(op, s->key, value);
	} else if (s->key) {
		rados_write_op_omap_rm_keys(op, &s->key, 1);
	}
	return op;
}

/* Whether name has what the step was to make of it: then it was done before.
 * Asked until it is answered, for parts go by that. */
static bool is_done(struct pool_volume *v, const struct step *s)
{
	struct pool_entry now;
	int err;

	do {
		err = pool_find(v, s->name, &now);
	} while (err == -EIO);
	if (!s->to)
		return err == -ENOENT && s->from;
	return err == 0 && now.state == s->to->state &&
	       now.nonce == s->to->nonce && now.size == s->to->size;
}

static int take_step(struct pool_volume *v, const struct step *s)
{
	int err = pool_change_root(v, build(v, s));

	if (err == -ECANCELED)
		err = is_done(v, s) ? 0 : -EEXIST;
	if (err < 0)
		return pool_fail(v, s->name, err, "cannot be registered");
	return 0;
}

int pool_register(struct pool_volume *v, const char *name,
		  const struct pool_entry *from, const struct pool_entry *to)
{
	const struct step s = { .name = name, .from = from, .to = to };

	return take_step(v, &s);
}

/* Before the first part is written, so that no part is without an entry. */
int pool_begin(struct pool_volume *v, const char *name, uint64_t nonce)
{
	const struct pool_entry garbage = { POOL_GARBAGE, nonce, 0 };
	char key[POOL_KEY_SIZE];
	const struct step s = { .name = name, .key = key, .garbage = &garbage };

	pool_garbage_key(name, nonce, key);
	return take_step(v, &s);
}

/* One step: the segment is there whole, or what was written of it is garbage
 * still. */
int pool_finish(struct pool_volume *v, const char *name,
		const struct pool_entry *e)
{
	char key[POOL_KEY_SIZE];
	const struct step s = { .name = name, .to = e, .key = key };

	pool_garbage_key(name, e->nonce, key);
	return take_step(v, &s);
}

int pool_discard(struct pool_volume *v, const char *name,
		 const struct pool_entry *e)
{
	struct pool_entry garbage = { POOL_GARBAGE, e->nonce, 0 };
	char key[POOL_KEY_SIZE];
	const struct step s = {
		.name = name, .from = e, .key = key, .garbage = &garbage
	};

	/* Of a log there is one part more, which sealed it. */
	if (e->state != POOL_LOG)
		garbage.size = e->size / pool_part_size(e->state) + 2;
	pool_garbage_key(name, e->nonce, key);
	return take_step(v, &s);
}

int pool_forget(struct pool_volume *v, const char *key)
{
	rados_write_op_t op = pool_guarded(v);
	int err;

	rados_write_op_omap_rm_keys(op, &key, 1);
	err = pool_change_root(v, op);
	return err < 0 ? pool_fail(v, "", err, "cannot clean its registry") : 0;
}
