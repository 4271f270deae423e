#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/volume.h"

#define COPY_SIZE (1 << 20)

int volume_copy(struct reader *r, uint64_t from, uint64_t to,
		struct segment_writer *w)
{
	uint8_t *part = malloc(COPY_SIZE);
	size_t n;
	int err = part ? 0 : -ENOMEM;

	for (; err == 0 && from < to; from += n) {
		n = to - from < COPY_SIZE ? (size_t)(to - from) : COPY_SIZE;
		err = r->ops->pread(r, from, part, n);
		if (err == 0)
			err = w->ops->segment_append(w, bytes_of(part, n));
	}
	free(part);
	return err;
}

static int copy_file(struct volume *from, const char *name, uint64_t size,
		     struct volume *to)
{
	struct segment_writer *w;
	struct reader *r;
	int err = from->ops->open(from, name, &r);

	if (err < 0)
		return err;
	err = to->ops->segment_create(to, name, &w);
	if (err == 0) {
		err = volume_copy(r, 0, size, w);
		if (err == 0)
			err = to->ops->segment_finish(w);
		else
			to->ops->segment_abandon(w);
	}
	from->ops->reader_close(r);
	return err;
}

int volume_bring(struct volume *from, const char *name, uint64_t size,
		 struct volume *to)
{
	int err = from->ops->link(from, name, to);

	if (err != -EXDEV)
		return err < 0 ? err : 1;
	err_clear();
	return copy_file(from, name, size, to);
}
