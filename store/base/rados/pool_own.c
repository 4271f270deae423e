#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/pool_own.h"

#define FORMAT "1"
/* Bytes that are read of an object at once. */
#define READ_SIZE 65536

static const char *const own[] = { VOLUME_NOTES, VOLUME_NOTES_OLD,
				   VOLUME_HEAT };
#define OWN_COUNT (sizeof(own) / sizeof(own[0]))

/* The root comes last: where it is, the others are. */
int pool_make(struct pool_volume *v)
{
	char none[POOL_NUMBER_SIZE];
	rados_write_op_t op;
	int err = 0;
	size_t i;

	pool_number(0, none);
	for (i = 0; i < OWN_COUNT && err == 0; i++) {
		op = rados_create_write_op();
		rados_write_op_create(op, LIBRADOS_CREATE_IDEMPOTENT, NULL);
		err = pool_write(v, op, own[i], 0);
	}
	if (err < 0)
		return pool_fail(v, own[i - 1], err, "cannot create");
	op = rados_create_write_op();
	rados_write_op_create(op, LIBRADOS_CREATE_EXCLUSIVE, NULL);
	rados_write_op_setxattr(op, POOL_FORMAT, FORMAT, strlen(FORMAT));
	rados_write_op_setxattr(op, POOL_FENCE, none, strlen(none));
	rados_write_op_setxattr(op, POOL_VERSION, none, strlen(none));
	/* So that a pool that has no omap is told here. */
	rados_write_op_omap_rm_keys(op, &own[0], 1);
	err = pool_write(v, op, POOL_ROOT, 0);
	if (err < 0 && err != -EEXIST)
		return pool_fail(v, POOL_ROOT, err, "cannot create");
	return 0;
}

/* Where a namespace has no root, it is not a store, and may become one. */
int pool_check_format(struct pool_volume *v)
{
	char format[16];
	int err = pool_xattr(v, POOL_ROOT, POOL_FORMAT, format, sizeof(format));

	if (err == -ENOENT)
		return fail(ENOENT, "%s: there is no store", v->path);
	if (err == -ENODATA)
		return fail(ERR_not_a_store,
			    "%s: its object " POOL_ROOT " is of another "
			    "program",
			    v->path);
	if (err < 0)
		return pool_fail(v, "", err, "cannot open");
	return strcmp(format, FORMAT) == 0
		       ? 0
		       : fail(ERR_format_newer,
			      "%s: not a format that is known here", v->path);
}

int pool_stamp_own(struct pool_volume *v)
{
	int err = 0;
	size_t i;

	for (i = 0; i < OWN_COUNT && err == 0; i++) {
		err = pool_stamp(v, own[i]);
		/* Others may remove them; then there are no notes. */
		err = err == -ENOENT ? 0 : err;
	}
	if (err == -ECANCELED)
		err = pool_check_fence(v);
	return err < 0 ? pool_fail(v, own[i - 1], err, "cannot be taken") : 0;
}

/* All of an object, behind what is in out: 0 or a raw error. */
static int read_all(struct pool_volume *v, const char *oid, struct buf *out)
{
	uint64_t offset = 0;
	ssize_t got = READ_SIZE;

	while (got == READ_SIZE) {
		if (buf_reserve(out, READ_SIZE) < 0)
			return -ENOMEM;
		got = pool_bytes(v, oid, offset, out->data + out->size,
				 READ_SIZE);
		if (got > 0) {
			out->size += (size_t)got;
			offset += (size_t)got;
		}
	}
	return got < 0 ? (int)got : 0;
}

/* The version stands before the content, so that both are of one moment. */
int pool_root_get(struct volume *volume, uint64_t *version, struct buf *out)
{
	struct pool_volume *v = pool(volume);
	struct bytes all;
	uint32_t crc;
	int err;

	buf_reset(out);
	err = read_all(v, POOL_ROOT, out);
	if (err < 0)
		return pool_fail(v, POOL_ROOT, err, "cannot read");
	if (out->size == 0)
		return fail(ENOENT, "%s/" POOL_ROOT ": is empty", v->path);
	all = buf_bytes(out);
	if (all.size < 12)
		return fail(ERR_manifest_damaged, "%s/" POOL_ROOT ": %zu bytes",
			    v->path, all.size);
	crc = get_u32le(all.data + all.size - 4);
	all.size -= 4;
	if (crc32c(0, all) != crc)
		return fail(ERR_manifest_damaged,
			    "%s/" POOL_ROOT ": its checksum does not match",
			    v->path);
	*version = get_u64le(all.data);
	memmove(out->data, out->data + 8, all.size - 8);
	out->size = all.size - 8;
	return 0;
}

/* After a swap that was refused: it may have been done before. */
static int look_at_swap(struct pool_volume *v, uint64_t expected,
			struct bytes content)
{
	struct buf now = BUF_INIT;
	uint64_t version = 0;
	int err;

	do {
		err = pool_root_get(&v->volume, &version, &now);
	} while (err == -EIO);
	if (err == 0 && version == expected + 1 &&
	    bytes_equal(buf_bytes(&now), content))
		err = 0;
	else if (err == 0 || err == -ENOENT)
		err = fail(ERR_volume_conflict,
			   "%s/" POOL_ROOT ": version %" PRIu64
			   ", expected %" PRIu64,
			   v->path, version, expected);
	buf_release(&now);
	return err;
}

/* The xattr is what is compared; the same number in front of the content is
 * what is read, for xattrs and content are not read at once here. */
int pool_root_swap(struct volume *volume, uint64_t expected,
		   struct bytes content)
{
	struct pool_volume *v = pool(volume);
	char from[POOL_NUMBER_SIZE], to[POOL_NUMBER_SIZE];
	struct buf data = BUF_INIT;
	rados_write_op_t op;
	int err = pool_guard(v);

	if (err == 0)
		err = buf_add_u64le(&data, expected + 1);
	if (err == 0)
		err = buf_add_bytes(&data, content);
	if (err == 0)
		err = buf_add_u32le(&data, crc32c(0, buf_bytes(&data)));
	if (err < 0)
		goto release;
	pool_number(expected, from);
	pool_number(expected + 1, to);
	op = pool_guarded(v);
	rados_write_op_cmpxattr(op, POOL_VERSION, LIBRADOS_CMPXATTR_OP_EQ, from,
				strlen(from));
	rados_write_op_setxattr(op, POOL_VERSION, to, strlen(to));
	rados_write_op_write_full(op, (const char *)data.data, data.size);
	err = pool_change_root(v, op);
	if (err == -ECANCELED)
		err = look_at_swap(v, expected, content);
	else if (err < 0)
		err = pool_fail(v, POOL_ROOT, err, "cannot swap");
release:
	buf_release(&data);
	return err;
}

/* Changes notes or heat, by who has the lease. 0 or an error. */
static int change_own(struct pool_volume *v, const char *oid,
		      void (*add)(rados_write_op_t op, struct bytes data,
				  uint64_t offset),
		      struct bytes data, uint64_t offset)
{
	rados_write_op_t op = rados_create_write_op();
	int err;

	rados_write_op_assert_exists(op);
	rados_write_op_cmpxattr(op, POOL_FENCE, LIBRADOS_CMPXATTR_OP_EQ,
				v->fence, POOL_NUMBER_SIZE - 1);
	add(op, data, offset);
	err = pool_write(v, op, oid, 0);
	if (err == -ECANCELED) {
		err = pool_check_fence(v);
		err = err < 0 ? err : -EPERM;
	}
	return err < 0 ? pool_fail(v, oid, err, "cannot write") : 0;
}

/* Both are an add of change_own. */
static void add_write(rados_write_op_t op, struct bytes data, uint64_t offset)
{
	rados_write_op_write(op, (const char *)data.data, data.size, offset);
}

static void add_full(rados_write_op_t op, struct bytes data, uint64_t offset)
{
	(void)offset;
	rados_write_op_write_full(op, (const char *)data.data, data.size);
}

/* 0, -ERR_store_lost, or -EINVAL of who never had the lease. */
static int check_holder(struct pool_volume *v)
{
	int err = pool_guard(v);

	if (err == 0 && atomic_load(&v->lease) != POOL_WRITES)
		err = fail(EINVAL, "%s: lease is not held", v->path);
	return err;
}

/* Old notes are copied, as objects have no other names; who is killed between
 * has them twice. */
int pool_note(struct volume *volume, struct bytes lines, uint64_t size_max)
{
	struct pool_volume *v = pool(volume);
	struct buf old = BUF_INIT;
	uint64_t size = 0;
	int err = check_holder(v);

	if (err < 0)
		return err;
	err = pool_size(v, VOLUME_NOTES, &size);
	if (err < 0)
		return pool_fail(v, VOLUME_NOTES, err, "events are not logged");
	if (size == 0 || size + lines.size <= size_max)
		return lines.size > 0 ? change_own(v, VOLUME_NOTES, add_write,
						   lines, size)
				      : 0;
	err = read_all(v, VOLUME_NOTES, &old);
	if (err < 0)
		err = pool_fail(v, VOLUME_NOTES, err, "cannot read");
	else
		err = change_own(v, VOLUME_NOTES_OLD, add_full, buf_bytes(&old),
				 0);
	if (err == 0)
		err = change_own(v, VOLUME_NOTES, add_full, lines, 0);
	buf_release(&old);
	return err;
}

int pool_heat_read(struct volume *volume, struct buf *out)
{
	struct pool_volume *v = pool(volume);
	uint64_t size = 0;
	int err = pool_size(v, VOLUME_HEAT, &size);

	if (err == -ENOENT || (err == 0 && size > VOLUME_HEAT_MAX))
		return 0;
	if (err == 0)
		err = read_all(v, VOLUME_HEAT, out);
	return err < 0 ? pool_fail(v, VOLUME_HEAT, err, "cannot read") : 0;
}

/* Of one holder there is one call at a time, so the size stays. */
int pool_heat_append(struct volume *volume, uint64_t size, struct bytes data)
{
	struct pool_volume *v = pool(volume);
	uint64_t now = 0;
	int err = check_holder(v);

	if (err < 0)
		return err;
	err = pool_size(v, VOLUME_HEAT, &now);
	if (err < 0)
		return pool_fail(v, VOLUME_HEAT, err, "cannot write");
	if (now != size)
		return fail(ESTALE,
			    "%s/" VOLUME_HEAT ": has %" PRIu64
			    " bytes, not %" PRIu64,
			    v->path, now, size);
	return change_own(v, VOLUME_HEAT, add_write, data, size);
}

int pool_heat_replace(struct volume *volume, struct bytes content)
{
	struct pool_volume *v = pool(volume);
	int err = check_holder(v);

	return err < 0 ? err : change_own(v, VOLUME_HEAT, add_full, content, 0);
}

/* It is of this machine, not of the pool. */
int pool_scratch(struct volume *volume)
{
	const char *base = getenv("TMPDIR");
	int fd;

	(void)volume;
	base = base && *base ? base : "/var/tmp";
	fd = open(base, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? fail(errno, "%s: cannot make a file there", base) : fd;
}
