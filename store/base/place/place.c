#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/place/place.h"
#include "store/base/volume/volume_posix.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_own.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static const struct volume_kind *kinds[VOLUME_KINDS_MAX];
static size_t kind_count;

/* Needs lock. */
static const struct volume_kind *find(struct bytes name)
{
	size_t i;

	for (i = 0; i < kind_count; i++)
		if (bytes_equal(bytes_string(kinds[i]->name), name))
			return kinds[i];
	return NULL;
}

/* Bytes of the kind in front of a colon; 0: it is a directory. */
static size_t kind_size(const char *where)
{
	size_t n = strspn(where, "abcdefghijklmnopqrstuvwxyz0123456789");

	return n >= 2 && where[n] == ':' && where[0] > '9' ? n : 0;
}

/* Needs lock. */
static int add(const struct volume_kind *kind)
{
	assert(kind->open && kind->holder && kind->marked);
	if (find(bytes_string(kind->name)))
		return fail(EEXIST, "%s: is a kind of volume already",
			    kind->name);
	if (kind_count == VOLUME_KINDS_MAX)
		return fail(ENOSPC, "%s: there are too many kinds of volumes",
			    kind->name);
	kinds[kind_count++] = kind;
	return 0;
}

int volume_register(const struct volume_kind *kind)
{
	int err;

	pthread_mutex_lock(&lock);
	err = add(kind);
	pthread_mutex_unlock(&lock);
	return err;
}

/* Sets path, to be freed, to a file that is there: 0, or -ENOENT or -ENOMEM. */
static int find_plugin(struct bytes name, char **path)
{
	const char *given = getenv("TABLETFS_PLUGINS");
	char program[4096];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *middle[] = { "", "/../lib/tabletfs" };
	size_t i;

	program[n > 0 ? n : 0] = 0;
	if (strrchr(program, '/'))
		*strrchr(program, '/') = 0;
	for (i = 0; i < sizeof(middle) / sizeof(*middle); i++) {
		if (asprintf(path, "%s%s/tabletfs-%.*s.so",
			     given ? given : program, middle[i], (int)name.size,
			     (const char *)name.data) < 0)
			return -ENOMEM;
		if (access(*path, F_OK) == 0)
			return 0;
		free(*path);
	}
	return -ENOENT;
}

/* Loads a kind from its plugin, which stays: 0; -ENOENT if there is none; or an
 * error. Needs lock. */
static int load(struct bytes name)
{
	const struct volume_plugin *plugin;
	char *path;
	void *handle;
	int err = find_plugin(name, &path);

	if (err < 0)
		return err;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	plugin = handle ? dlsym(handle, "volume_plugin") : NULL;
	if (!plugin)
		err = fail(ERR_no_such_kind,
			   "%s: cannot be loaded; the package that has what is "
			   "missing makes it work: %s",
			   path, dlerror());
	else if (strcmp(plugin->version, TABLETFS_VERSION) != 0)
		err = fail(ERR_no_such_kind,
			   "%s: is of version %s and this program of %s; "
			   "install both of one",
			   path, plugin->version, TABLETFS_VERSION);
	else
		err = add(plugin->kind);
	if (err < 0 && handle)
		dlclose(handle);
	free(path);
	return err;
}

int volume_place(const char *where, const struct volume_kind **kind,
		 const char **place)
{
	size_t size = kind_size(where);
	struct bytes name = bytes_of(where, size);
	int err = 0;

	*kind = NULL;
	*place = size ? where + size + 1 : where;
	if (!size)
		return 0;
	pthread_mutex_lock(&lock);
	*kind = find(name);
	if (!*kind) {
		err = load(name);
		*kind = find(name);
	}
	pthread_mutex_unlock(&lock);
	if (err == -ENOENT)
		return fail(ERR_no_such_kind,
			    "%s: this program knows no stores of the kind "
			    "%.*s, and has no tabletfs-%.*s.so; a directory of "
			    "that name is ./%s",
			    where, (int)size, where, (int)size, where, where);
	return err < 0 ? err : 1;
}

int volume_place_local(const char *where)
{
	const struct volume_kind *kind;
	const char *place;
	int err = volume_place(where, &kind, &place);

	return err <= 0
		       ? err
		       : fail(EINVAL,
			      "%s: this makes a store in a directory; tabletfs "
			      "-store DIRECTORY backup %s copies it there",
			      where, where);
}

int volume_open(const char *where, bool create, struct volume **out)
{
	const struct volume_kind *kind;
	const char *place;
	int err = volume_place(where, &kind, &place);

	*out = NULL;
	if (err < 0)
		return err;
	return kind ? kind->open(place, create, out)
		    : volume_posix_open(place, create, out);
}

int volume_holder(const char *where, struct buf *line, bool *here)
{
	const struct volume_kind *kind;
	const char *place;
	int err = volume_place(where, &kind, &place);

	*here = false;
	if (err < 0)
		return err;
	return kind ? kind->holder(place, line, here)
		    : volume_posix_holder(place, line, here);
}

int volume_marked(const char *where, struct volume_mark *out)
{
	const struct volume_kind *kind;
	const char *place;
	int err = volume_place(where, &kind, &place);

	*out = (struct volume_mark){ 0, 0 };
	if (err < 0)
		return err;
	return kind ? kind->marked(place, out)
		    : volume_posix_marked(place, out);
}
