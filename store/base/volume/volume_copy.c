#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/base/volume/volume.h"
#include "store/base/volume/volume_copy.h"

/* Bytes read and written at once. */
#define COPY_SIZE (1 << 20)
/* What a disk reads as a whole or not at all, and a page cache fills. */
#define SECTOR_SIZE 4096

void volume_read_damaged(struct reader *r, uint64_t offset, uint8_t *data,
			 size_t size)
{
	size_t n;

	/* Of a sound file one read is all. */
	if (r->ops->pread(r, offset, data, size) == 0)
		return;
	for (; size > 0; offset += n, data += n, size -= n) {
		n = SECTOR_SIZE - (size_t)(offset % SECTOR_SIZE);
		n = n < size ? n : size;
		if (r->ops->pread(r, offset, data, n) < 0)
			memset(data, 0, n);
	}
}

/* Reads the first size bytes of r: appends them to w, unless it is NULL, and
 * takes their digest. */
static int read_through(struct reader *r, uint64_t size,
			struct segment_writer *w, struct digest *out)
{
	XXH3_state_t *hash = XXH3_createState();
	uint8_t *part = malloc(COPY_SIZE);
	XXH128_canonical_t sum;
	uint64_t at = 0;
	size_t n;
	int err = part && hash ? 0 : -ENOMEM;

	if (err == 0)
		XXH3_128bits_reset(hash);
	for (; err == 0 && at < size; at += n) {
		n = size - at < COPY_SIZE ? (size_t)(size - at) : COPY_SIZE;
		err = r->ops->pread(r, at, part, n);
		if (err == 0 && w)
			err = w->ops->segment_append(w, bytes_of(part, n));
		if (err == 0)
			XXH3_128bits_update(hash, part, n);
	}
	if (err == 0) {
		XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(hash));
		memcpy(out->bytes, sum.digest, DIGEST_SIZE);
	}
	XXH3_freeState(hash);
	free(part);
	return err;
}

int volume_digest(struct volume *v, const char *name, uint64_t size,
		  struct digest *out)
{
	struct reader *r;
	int err = v->ops->open(v, name, &r);

	if (err < 0)
		return err;
	err = read_through(r, size, NULL, out);
	v->ops->reader_close(r);
	return err;
}

/* As a segment, so that to has all of it or nothing. */
static int copy_file(struct volume *from, const char *name, uint64_t size,
		     struct volume *to, struct digest *out)
{
	struct segment_writer *w;
	struct reader *r;
	int err = from->ops->open(from, name, &r);

	if (err < 0)
		return err;
	err = to->ops->segment_create(to, name, &w);
	if (err == 0) {
		err = read_through(r, size, w, out);
		if (err == 0)
			err = to->ops->segment_finish(w);
		else
			to->ops->segment_abandon(w);
	}
	from->ops->reader_close(r);
	return err;
}

int volume_copy(struct volume *from, const char *name, uint64_t size,
		struct volume *to, struct digest *out)
{
	struct digest written;
	int err = copy_file(from, name, size, to, out);

	if (err < 0)
		return err;
	err = volume_digest(to, name, size, &written);
	if (err == 0 && memcmp(&written, out, sizeof(written)) != 0)
		err = fail(EIO, "%s/%s: reads other bytes than were written",
			   to->path, name);
	if (err < 0)
		to->ops->remove(to, name);
	return err;
}

int volume_bring(struct volume *from, const char *name, uint64_t size,
		 struct volume *to)
{
	int err = from->ops->link(from, name, to);
	struct digest digest;

	if (err != -EXDEV)
		return err < 0 ? err : 1;
	err_clear(); /* that it cannot be linked is no trouble */
	return copy_file(from, name, size, to, &digest);
}
