#ifndef TESTS_UNIT_BACKUPS_DIRECTORY_H
#define TESTS_UNIT_BACKUPS_DIRECTORY_H

#include "store/backup.h"
#include "store/base/err.h"
#include "store/model/model.h"
#include "tests/unit/small_store.h"
#include "tests/unit/volume_directory.h"

/* A store in a directory, and a directory of its backups, new for each test. */
static struct store_options options;
static struct store *store; /* at directory */
static char backups[96];    /* a directory, which is not there yet */

static inline void open_store(void)
{
	small_store_options(&options);
	options.create = true;
	ck_assert_int_eq(store_open(directory, &options, &store), 0);
}

static inline void begin(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	set_up();
	snprintf(backups, sizeof(backups), "%s/backups", top);
	open_store();
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
}

static inline void end(void)
{
	ck_assert_int_eq(store_close(store), 0);
	tear_down();
}

/* Sets a row to a value of so many of this byte. */
static inline void put(const char *row, int byte, size_t size)
{
	uint8_t value[4000];
	struct write *w;

	memset(value, byte, size);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"), 1,
				   bytes_of(value, size)),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static inline struct backup_result back_up(unsigned int keep, bool link)
{
	struct backup_options o = { keep, link };
	struct backup_result r;
	int err = store_backup(store, backups, &o, &r);

	ck_assert_msg(err == 0, "%s", err_detail());
	return r;
}

static inline void refuse_backup(int wanted, const char *why)
{
	struct backup_options o = { 0, false };
	struct backup_result r;

	ck_assert_int_eq(store_backup(store, backups, &o, &r), wanted);
	ck_assert_msg(strstr(err_detail(), why), "%s", err_detail());
}

/* How many rows the store at a path has, each with this byte; it is sound. */
static inline unsigned int rows_at(const char *path, uint8_t byte)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct store_options o = options;
	unsigned int rows = 0;
	struct store *copy;
	struct scan *scan;
	struct cell cell;

	o.read_only = true;
	ck_assert_msg(store_open(path, &o, &copy) == 0, "%s", err_detail());
	ck_assert_int_eq(scan_open(copy, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_ROW, &cell) == 1) {
		rows++;
		ck_assert(cell.value.size == 0 || cell.value.data[0] == byte);
	}
	scan_close(scan);
	ck_assert_int_eq(store_close(copy), 0);
	return rows;
}

static inline unsigned int rows_of(const char *moment, uint8_t byte)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", backups, moment);
	return rows_at(path, byte);
}

struct listed {
	struct backup_info items[8];
	size_t count;
};

static inline int add(void *context, const struct backup_info *info)
{
	struct listed *l = context;

	ck_assert_uint_lt(l->count, 8);
	l->items[l->count++] = *info;
	return 0;
}

static inline struct listed list_as(bool verify)
{
	struct listed l = { .count = 0 };

	ck_assert_msg(backup_list(backups, verify, add, &l) == 0, "%s",
		      err_detail());
	return l;
}

static inline struct listed list(void)
{
	return list_as(false);
}

/* Runs a command of the shell, with the paths of the store and the backups. */
static inline void shell(const char *format)
{
	char command[400];

	snprintf(command, sizeof(command), "s=%s b=%s; set -e; %s", directory,
		 backups, format);
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* As backup_source.pin; context is where the pin goes. */
static inline int pin(void *context, struct buf *contents)
{
	return store_pin(store, contents, context);
}

#endif
