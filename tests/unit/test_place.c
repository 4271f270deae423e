#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/base/err.h"
#include "store/base/place/place.h"
#include "store/repair.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"

static char asked[100];

static int open_memory(const char *place, bool create, struct volume **out)
{
	(void)create;
	snprintf(asked, sizeof(asked), "%s", place);
	return volume_mem_new(out);
}

static int hold_memory(const char *place, struct buf *line, bool *here)
{
	*here = false;
	return buf_set(line, bytes_string(place));
}

static int mark_memory(const char *place, struct volume_mark *out)
{
	*out = (struct volume_mark){ strlen(place), 7 };
	return 0;
}

static const struct volume_kind memory = { "memory", open_memory, hold_memory,
					   mark_memory };

START_TEST(a_directory)
{
	static const char *const directories[] = {
		"store", "/a:b", "./ab:c", "a:b",    "C:x",   "1a:b",
		"",      ":",    "ab",     "ab/c:d", "a b:c",
	};
	const struct volume_kind *kind;
	struct volume_mark mark;
	const char *place;
	struct volume *v;
	size_t i;

	for (i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		ck_assert_int_eq(volume_place(directories[i], &kind, &place),
				 0);
		ck_assert_ptr_null(kind);
		ck_assert_ptr_eq(place, directories[i]);
	}
	ck_assert_int_eq(volume_open(directory, true, &v), 0);
	ck_assert_str_eq(v->path, directory);
	ck_assert_int_eq(volume_marked(directory, &mark), 0);
	ck_assert_uint_eq(mark.place, v->mark.place);
	ck_assert_uint_eq(mark.holder, v->mark.holder);
	v->ops->close(v);
}
END_TEST

START_TEST(a_kind)
{
	struct buf line = BUF_INIT;
	struct volume_mark mark;
	bool here = true;
	struct volume *v;

	ck_assert_int_eq(volume_open("memory:a/b:c", false, &v),
			 -ERR_no_such_kind);
	ck_assert_ptr_null(v);
	ck_assert_str_eq(err_detail(),
			 "memory:a/b:c: this program knows no stores of the "
			 "kind memory, and has no tabletfs-memory.so; a "
			 "directory of that name is ./memory:a/b:c");
	ck_assert_int_eq(volume_holder("memory:x", &line, &here),
			 -ERR_no_such_kind);
	ck_assert(!here);
	ck_assert_int_eq(volume_register(&memory), 0);
	ck_assert_int_eq(volume_register(&memory), -EEXIST);
	ck_assert_int_eq(volume_open("memory:a/b:c", false, &v), 0);
	ck_assert_str_eq(asked, "a/b:c");
	v->ops->close(v);
	ck_assert_int_eq(volume_place_local("memory:xy"), -EINVAL);
	ck_assert_int_eq(volume_place_local("./memory:xy"), 0);
	ck_assert_int_eq(volume_marked("memory:xy", &mark), 0);
	ck_assert_uint_eq(mark.place, 2);
	ck_assert_int_eq(volume_holder("memory:x", &line, &here), 0);
	ck_assert(bytes_equal(buf_bytes(&line), BYTES_LITERAL("x")));
	buf_release(&line);
}
END_TEST

START_TEST(a_holder)
{
	struct volume *v = open_volume();
	struct buf line = BUF_INIT;
	bool here = false;

	ck_assert_int_eq(volume_holder(directory, &line, &here), -ENOENT);
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(volume_holder(directory, &line, &here), 0);
	ck_assert(bytes_equal(buf_bytes(&line), BYTES_LITERAL("me")));
	ck_assert(here);
	/* As another container would write it, and a former program. */
	make_file("lock", "me\n00000000-0000-0000-0000-000000000000 1 2 3 4\n");
	ck_assert_int_eq(volume_holder(directory, &line, &here), 0);
	ck_assert(!here);
	make_file("lock", "me\n");
	ck_assert_int_eq(volume_holder(directory, &line, &here), 0);
	ck_assert(here);
	buf_release(&line);
	v->ops->close(v);
}
END_TEST

/* A plugin that is none is told by its path, and is looked for each time. */
START_TEST(a_plugin_that_cannot_be_loaded)
{
	struct volume *v;

	ck_assert_int_eq(mkdir(directory, 0700), 0);
	ck_assert_int_eq(setenv("TABLETFS_PLUGINS", directory, 1), 0);
	ck_assert_int_eq(volume_open("plugged:x", true, &v), -ERR_no_such_kind);
	ck_assert_ptr_nonnull(strstr(err_detail(), "./plugged:x"));
	make_file("tabletfs-plugged.so", "no library\n");
	ck_assert_int_eq(volume_open("plugged:x", true, &v), -ERR_no_such_kind);
	ck_assert_ptr_null(v);
	ck_assert_ptr_nonnull(strstr(err_detail(), directory));
	ck_assert_ptr_nonnull(strstr(err_detail(), "tabletfs-plugged.so"));
}
END_TEST

/* A kind whose places are one, which stays. */
static struct volume *kept;

static int open_kept(const char *place, bool create, struct volume **out)
{
	(void)place;
	(void)create;
	return volume_mem_other(kept, out);
}

static const struct volume_kind kept_kind = { "kept", open_kept, hold_memory,
					      mark_memory };

static void set_up_kept(void)
{
	ck_assert_int_eq(volume_mem_new(&kept), 0);
	ck_assert_int_eq(volume_register(&kept_kind), 0);
}

static int open_store(const char *where, bool fresh)
{
	struct store_options o;
	struct store *s;
	int err;

	store_options_init(&o);
	o.create = true;
	o.fresh = fresh;
	o.background = false;
	err = store_open(where, &o, &s);
	return err < 0 ? err : store_close(s);
}

START_TEST(a_store_is_made_once)
{
	set_up_kept();
	ck_assert_int_eq(open_store("kept:x", true), 0);
	ck_assert_int_eq(open_store("kept:x", true), -ERR_store_exists);
	ck_assert_ptr_nonnull(strstr(err_detail(), "holds a store already"));
	ck_assert_int_eq(open_store("kept:x", false), 0);
	kept->ops->close(kept);
}
END_TEST

static void tell(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static uint64_t root_version(void)
{
	struct buf root = BUF_INIT;
	uint64_t version = 0;

	if (kept->ops->root_get(kept, &version, &root) < 0)
		version = 0;
	buf_release(&root);
	return version;
}

/* By one swap of the root, its last; and never over another store. */
START_TEST(a_repair_is_there_when_it_is_whole)
{
	struct repair_result result;

	set_up_kept();
	ck_assert_int_eq(setenv("TMPDIR", top, 1), 0);
	ck_assert_int_eq(open_store(directory, true), 0);
	ck_assert_int_eq(store_repair(directory, "kept:x", tell, NULL, &result),
			 0);
	ck_assert_uint_eq(root_version(), 1);
	ck_assert_int_eq(store_repair(directory, "kept:x", tell, NULL, &result),
			 -EEXIST);
	ck_assert_uint_eq(root_version(), 1);
	ck_assert_int_eq(open_store("kept:x", false), 0);
	kept->ops->close(kept);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_directory,
				 a_kind,
				 a_holder,
				 a_plugin_that_cannot_be_loaded,
				 a_store_is_made_once,
				 a_repair_is_there_when_it_is_whole };

	return run_suite("place", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
