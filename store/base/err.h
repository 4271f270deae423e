#ifndef STORE_BASE_ERR_H
#define STORE_BASE_ERR_H

#include <errno.h>

#include "store/base/bytes.h"

/*
 * Errors are negative ints. Plain errno values travel as -EIO, -ENOMEM, ...;
 * errors of our own start at ERR_BASE and each names one cause, with the errno
 * that a file operation should report. Numbers are written to logs: append,
 * never renumber.
 *
 * Who finds an error says where and why by fail(); who passes it on adds
 * nothing. The message is kept by thread, so a caller reads err_detail() in the
 * thread that made the call. It is not cleared by success, and -ENOMEM mostly
 * comes without one: clear it before a call whose message is to be shown.
 */
#define ERR_BASE 2048
/* clang-format off */
#define ERR_LIST(x) \
	x(block_checksum, 0, EIO, "block checksum does not match") \
	x(block_malformed, 1, EIO, "block is malformed") \
	x(sst_malformed, 2, EIO, "file is not a readable sst") \
	x(wal_damaged, 3, EIO, "log is damaged before its synced end") \
	x(store_readonly, 4, EROFS, "store is read-only after an error") \
	x(key_malformed, 5, EIO, "encoded key is malformed") \
	x(manifest_damaged, 6, EIO, "manifest is damaged") \
	x(format_newer, 7, EPROTONOSUPPORT, "written by a newer version") \
	x(store_in_use, 8, EBUSY, "store is in use") \
	x(not_a_store, 9, EINVAL, "directory is not a TabletFS store") \
	x(no_table, 10, ENOENT, "table not found") \
	x(no_family, 11, ENOENT, "unknown family") \
	x(table_exists, 12, EEXIST, "table already exists") \
	x(family_exists, 13, EEXIST, "family already exists") \
	x(bad_name, 14, EINVAL, "name is not allowed") \
	x(row_key_empty, 15, EINVAL, "Row keys must be non-empty") \
	x(row_key_too_long, 16, ENAMETOOLONG, "row key is too long") \
	x(qualifier_too_long, 17, ENAMETOOLONG, "qualifier is too long") \
	x(value_too_large, 18, EFBIG, "value is too large") \
	x(batch_too_large, 19, EFBIG, "request is too large") \
	x(bad_timestamp, 20, EINVAL, "invalid timestamp") \
	x(too_many_tables, 21, ENOSPC, "instance has its 1000 tables") \
	x(too_many_families, 22, ENOSPC, "table has its 1000 families") \
	x(bad_gc_policy, 23, EINVAL, "invalid GC policy") \
	x(type_mismatch, 24, EINVAL, "Column family type mismatch") \
	x(type_immutable, 25, EINVAL, "aggregate type cannot be changed") \
	x(schema_malformed, 26, EIO, "schema record is malformed") \
	x(volume_conflict, 27, EIO, "another process changed the manifest") \
	x(check_failed, 28, EIO, "store has damage") \
	x(bad_line, 29, EINVAL, "line is malformed") \
	x(no_such_type, 30, EINVAL, "unknown type") \
	x(wal_malformed, 31, EIO, "log record is malformed") \
	x(mount_point, 32, EINVAL, "mount point cannot be used") \
	x(table_not_empty, 33, ENOTEMPTY, "table is not empty") \
	x(bad_argument, 34, EINVAL, "bad argument") \
	x(not_a_number, 35, EINVAL, "increment on non-64-bit value") \
	x(condition_failed, 36, EINVAL, "condition does not hold") \
	x(blob_damaged, 37, EIO, "large value is damaged") \
	x(name_too_long, 38, ENAMETOOLONG, "name is too long") \
	x(invariant, 39, EIO, "store would not be sound any more") \
	x(family_not_empty, 40, ENOTEMPTY, "family is not empty") \
	x(attribute_too_large, 41, EFBIG, "attribute is too large") \
	x(attributes_full, 42, ENOSPC, "attributes have no room for more") \
	x(no_recipe, 43, ENOENT, "recipe not found") \
	x(heat_damaged, 44, EIO, "history of heat is damaged") \
	x(foreign_position, 45, ESTALE, "position is not of this store") \
	x(store_lost, 46, EROFS, "another holder has taken the store") \
	x(no_such_kind, 47, EINVAL, "no such kind of place for a store") \
	x(store_exists, 48, EEXIST, "there is a store already") \
	x(not_backups, 49, EINVAL, "directory is not one of backups") \
	x(foreign_backups, 50, ESTALE, "backups are of another store") \
	x(no_backup, 51, ENOENT, "backup not found") \
	x(no_moment, 52, ENOENT, "the history that is kept begins later") \
	x(moment_gone, 53, ESTALE, "history was given up for its space") \
	x(scratch_full, 54, ENOBUFS, "too much is open that is not in memory")
/* clang-format on */

/* Each x(name, number, errno, text) of the list makes an ERR_name. */
enum {
#define x(name, nr, errno_, text) ERR_##name = ERR_BASE + (nr),
	ERR_LIST(x)
#undef x
};

/* What a file operation reports for err, of either sign: always > 0, and EIO if
 * err is none that is known. */
int err_errno(int err);

/* "block checksum does not match"; for an errno its strerror text. Not to be
 * freed; good until the thread's next call. */
const char *err_text(int err);

/* The last message recorded by fail() in this thread; "" when there is none.
 * Valid until the thread's next fail() or err_clear(). */
const char *err_detail(void);

/* Makes the message empty. */
void err_clear(void);

/* Records where and why in this thread's message, and returns -code; code is
 * positive. The message is one sentence that names the file and the offset; it
 * is cut after 1,023 bytes. An argument may be err_detail(). */
__attribute__((format(printf, 2, 3))) int fail(int code, const char *fmt, ...);

/* A name for such a message: what cannot be shown, as NUL, is \x00, and what is
 * long ends with "...". Valid until the thread's fourth next call. */
const char *err_name(struct bytes name);

#endif
