#ifndef TESTS_UNIT_VOLUME_KIND_H
#define TESTS_UNIT_VOLUME_KIND_H

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/lease/holder.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"

/*
 * A kind of volumes that the contract of volume.h is tested with: a new one is
 * one more row of kinds[], see volume_kinds.h. What only one of them has, such
 * as files in a directory, is tested in a suite of its own.
 */
struct kind {
	const char *name;
	/* Of any volume, and another one; the first is its owner. */
	struct volume *(*open)(void);
	struct volume *(*open_again)(struct volume *v);
	/* Has the lease taken by who is dead then. */
	void (*die_with_lease)(struct volume *v);
	/* Who has the lease, of this process, is past its time; NULL: as long
	 * as it lives, it has it. */
	void (*expire)(struct volume *v);
	void (*silence)(struct volume *v, bool silent); /* or NULL */
	struct volume *(*elsewhere)(void); /* one that is another's */
	void (*set_up)(void);
	bool threads; /* may be used by several */
};

static const struct kind *kind;

#endif
