#ifndef TESTS_CEPH_KIND_RADOS_H
#define TESTS_CEPH_KIND_RADOS_H

/*
 * The volume of a pool as one of the kinds of tests/unit/volume_kinds.h, which
 * includes this. Each test has a store of its own in the pool that
 * TABLETFS_TEST_POOL names.
 */
#include "store/base/rados/pool_lease.h"
#include "store/base/rados/pool_open.h"
#include "tests/unit/volume_kind.h"

static char place[160];

static inline struct volume *open_place(const char *suffix)
{
	char name[200];
	struct volume *v;
	int err;

	snprintf(name, sizeof(name), "%s%s", place, suffix);
	err = volume_rados_open(name, true, &v);
	ck_assert_msg(err == 0, "%s", err_detail());
	return v;
}

static inline struct volume *open_rados(void)
{
	return open_place("");
}

static inline struct volume *again_rados(struct volume *v)
{
	(void)v;
	return open_place("");
}

static inline struct volume *elsewhere_rados(void)
{
	return open_place(".elsewhere");
}

/* A program of its own: librados does not go on in a child. */
static inline void die_rados(struct volume *v)
{
	pid_t pid = fork();

	(void)v;
	if (pid == 0) {
		execl("/proc/self/exe", "die", place, (char *)NULL);
		_exit(1);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &(int){ 0 }, 0), pid);
}

static inline void set_up_rados(void);

static const struct kind kinds[] = {
	{ "rados", open_rados, again_rados, die_rados, pool_lease_expire,
	  pool_lease_still, elsewhere_rados, set_up_rados, true },
};

static inline void set_up_rados(void)
{
	const char *pool = getenv("TABLETFS_TEST_POOL");

	kind = &kinds[0];
	set_up();
	snprintf(place, sizeof(place), "%s/%s", pool ? pool : "test",
		 top + strlen("/tmp/"));
}

/* In the program that die_rados begins. */
__attribute__((constructor)) static void die(void)
{
	char name[sizeof(place) + 16], text[sizeof(place) + 16];
	struct volume *v;
	FILE *f = fopen("/proc/self/cmdline", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = 0;
	if (n < 5 || strcmp(text, "die") != 0)
		return;
	snprintf(name, sizeof(name), "%s", text + 4);
	_exit(volume_rados_open(name, true, &v) ||
	      v->ops->lease_take(v, "the dead", NULL, NULL));
}

#endif
