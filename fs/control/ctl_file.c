#include "fs/control/ctl.h"
#include "fs/control/ctl_file.h"

/* What several control files do alike. */

int ctl_read_text(struct fs *fs, struct ctl_file *f, uint64_t offset,
		  size_t size, struct buf *out)
{
	(void)fs;
	if (offset >= f->out.size)
		return 0;
	if (size > f->out.size - offset)
		size = f->out.size - (size_t)offset;
	return buf_add(out, f->out.data + offset, size);
}

size_t ctl_take_lines(struct buf *partial, struct bytes data,
		      const struct ctl_lines *lines, int *err)
{
	size_t taken = 0;

	*err = 0;
	while (taken < data.size) {
		struct bytes rest = bytes_after(data, taken);
		const uint8_t *end = memchr(rest.data, '\n', rest.size);
		size_t before = partial->size;

		rest.size = end ? (size_t)(end - rest.data) : rest.size;
		if (rest.size > lines->size_max - before)
			*err = fail(lines->too_long,
				    "a line of more than %zu bytes",
				    lines->size_max);
		else
			*err = buf_add_bytes(partial, rest);
		if (!*err && end)
			*err = lines->each(lines->context, buf_bytes(partial));
		if (*err) {
			/* The next try meets the same line again. */
			partial->size = before;
			break;
		}
		if (end)
			buf_reset(partial);
		taken += rest.size + (end != NULL);
	}
	return taken;
}
