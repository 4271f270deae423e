#ifndef TESTS_UNIT_VOLUME_DIRECTORY_H
#define TESTS_UNIT_VOLUME_DIRECTORY_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/buf.h"
#include "store/base/volume/volume_posix.h"
#include "tests/unit/suite.h"

/* A directory for a volume, new for each test: directory, which is not there
 * yet, in top, which is gone after it. */
static char top[64];
static char directory[96];

static inline void set_up(void)
{
	snprintf(top, sizeof(top), "/tmp/test-volume-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(directory, sizeof(directory), "%s/store", top);
}

static inline void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

static inline struct volume *open_volume(void)
{
	struct volume *v;

	ck_assert_int_eq(volume_posix_open(directory, true, &v), 0);
	return v;
}

static inline void make_file(const char *name, const char *content)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(content, f);
	fclose(f);
}

static inline bool exists(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

static inline int append_name(void *context, const char *name)
{
	return buf_printf(context, "%s ", name);
}

static inline void check_list(struct volume *v, const char *want)
{
	struct buf names = BUF_INIT;

	ck_assert_int_eq(v->ops->list(v, append_name, &names), 0);
	ck_assert_int_eq(buf_terminate(&names), 0);
	ck_assert_str_eq((char *)names.data, want);
	buf_release(&names);
}

#endif
