#ifndef TESTS_UNIT_VOLUME_KINDS_H
#define TESTS_UNIT_VOLUME_KINDS_H

#include "tests/sim/volume_mem.h"
#include "tests/unit/volume_kind.h"

static inline struct volume *again_posix(struct volume *v)
{
	(void)v;
	return open_volume();
}

static inline void die_posix(struct volume *v)
{
	pid_t pid = fork();

	if (pid == 0) {
		v = open_volume();
		_exit(v->ops->lease_take(v, "the dead", NULL, NULL) != 0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &(int){ 0 }, 0), pid);
}

static inline struct volume *open_memory(void)
{
	struct volume *v;

	ck_assert_int_eq(volume_mem_new(&v), 0);
	return v;
}

static inline struct volume *again_memory(struct volume *v)
{
	struct volume *other;

	ck_assert_int_eq(volume_mem_other(v, &other), 0);
	return other;
}

static inline void die_memory(struct volume *v)
{
	struct holder who;
	pid_t pid;

	ck_assert_int_eq(v->ops->lease_take(v, "the dead", NULL, NULL), 0);
	holder_self(&who);
	pid = fork();
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	who.pid = pid;
	volume_mem_held_by(v, &who);
}

static inline struct volume *elsewhere_posix(void)
{
	char path[160];
	struct volume *to;

	snprintf(path, sizeof(path), "%s/elsewhere", top);
	ck_assert_int_eq(volume_posix_open(path, true, &to), 0);
	return to;
}

static inline void set_up_posix(void);
static inline void set_up_memory(void);

/* The kinds of volumes that the contract of volume.h is tested with. */
#ifdef KIND_RADOS
#include "tests/ceph/kind_rados.h"
#else
static const struct kind kinds[] = {
	{ "posix", open_volume, again_posix, die_posix, NULL, NULL,
	  elsewhere_posix, set_up_posix, true },
	{ "memory", open_memory, again_memory, die_memory, volume_mem_expire,
	  volume_mem_silence, open_memory, set_up_memory, false },
};
#endif

static inline void set_up_posix(void)
{
	kind = &kinds[0];
	set_up();
}

static inline void set_up_memory(void)
{
	kind = &kinds[1];
	set_up();
}

/* Runs all tests with each kind that can, and tells how many it left out. */
static inline int run_kinds(const char *name, const TTest *const *tests,
			    size_t count,
			    bool (*can)(const struct kind *k, const TTest *t))
{
	Suite *suite = suite_create(name);
	SRunner *runner = srunner_create(suite);
	int failed, run, skipped = 0;
	size_t i, j;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		TCase *tcase = tcase_create(kinds[i].name);

		suite_add_tcase(suite, tcase);
		tcase_set_timeout(tcase, 600);
		tcase_add_checked_fixture(tcase, kinds[i].set_up, tear_down);
		for (j = 0; j < count; j++)
			if (can(&kinds[i], tests[j]))
				tcase_add_test(tcase, tests[j]);
			else
				skipped++;
	}
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	run = srunner_ntests_run(runner);
	printf("%d passed, %d failed, %d skipped\n", run - failed, failed,
	       skipped);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline void end(struct volume *other, struct volume *v)
{
	if (other)
		other->ops->close(other);
	v->ops->close(v);
}

static inline void write_segment(struct volume *v, const char *name,
				 const char *text)
{
	struct segment_writer *w;

	ck_assert_int_eq(v->ops->segment_create(v, name, &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string(text)), 0);
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
}

static inline struct log *make_log(struct volume *v, const char *name,
				   const char *text)
{
	struct log *l;

	ck_assert_int_eq(v->ops->log_create(v, name, &l), 0);
	ck_assert_int_eq(v->ops->log_append(l, bytes_string(text)), 0);
	return l;
}

static inline void check_content(struct volume *v, const char *name,
				 const char *want)
{
	char text[64] = "";
	struct reader *r;

	ck_assert_int_eq(v->ops->open(v, name, &r), 0);
	ck_assert_uint_eq(r->size, strlen(want));
	ck_assert_int_eq(v->ops->pread(r, 0, text, r->size), 0);
	ck_assert_str_eq(text, want);
	v->ops->reader_close(r);
}

static inline void check_absent(struct volume *v, const char *name)
{
	struct reader *r;

	ck_assert_int_eq(v->ops->open(v, name, &r), -ENOENT);
	ck_assert_ptr_null(r);
	ck_assert_ptr_nonnull(strstr(err_detail(), name));
}

static inline void check_root(struct volume *v, uint64_t want,
			      const char *content)
{
	struct buf root = BUF_INIT;
	uint64_t version = 0;

	ck_assert_int_eq(v->ops->root_get(v, &version, &root), 0);
	ck_assert_uint_eq(version, want);
	ck_assert(bytes_equal(buf_bytes(&root), bytes_string(content)));
	buf_release(&root);
}

static inline void take(struct volume *v, const char *holder)
{
	ck_assert_int_eq(v->ops->lease_take(v, holder, NULL, NULL), 0);
}

/* A volume of the same kind, with other.sst. */
static inline struct volume *elsewhere(void)
{
	struct volume *to = kind->elsewhere();

	write_segment(to, "other.sst", "other");
	return to;
}

#endif
