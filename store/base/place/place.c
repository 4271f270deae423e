#include <assert.h>
#include <errno.h>

#include "store/base/err.h"
#include "store/base/place/place.h"
#include "store/base/volume/volume_posix.h"
#include "store/base/volume/volume_posix_lease.h"

static const struct volume_kind *kinds[VOLUME_KINDS_MAX];
static size_t kind_count;

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

int volume_register(const struct volume_kind *kind)
{
	assert(kind->open && kind->holder);
	if (find(bytes_string(kind->name)))
		return fail(EEXIST, "%s: is a kind of volume already",
			    kind->name);
	if (kind_count == VOLUME_KINDS_MAX)
		return fail(ENOSPC, "%s: there are too many kinds of volumes",
			    kind->name);
	kinds[kind_count++] = kind;
	return 0;
}

int volume_place(const char *where, const struct volume_kind **kind,
		 const char **place)
{
	size_t size = kind_size(where);

	*kind = size ? find(bytes_of(where, size)) : NULL;
	*place = size ? where + size + 1 : where;
	if (size && !*kind)
		return fail(ERR_no_such_kind,
			    "%s: this program knows no stores of the kind "
			    "%.*s; a directory of that name is ./%s",
			    where, (int)size, where, where);
	return size > 0;
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
