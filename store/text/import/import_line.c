#include <assert.h>

#include "store/text/import/import_line.h"
#include "store/text/import/import_raw.h"
#include "store/text/import/import_state.h"

int import_advance(struct importer *im, size_t size)
{
	int err;

	assert(size <= im->input.size - im->start);
	assert(im->line_next > im->line);
	err = import_raw_pass(im, size, true);
	if (err < 0)
		return err;
	im->start += size;
	im->resume.dropped = 0;
	im->at = 0;
	im->result.line_count = im->by.line_base + im->line_next - 1;
	im->line = im->line_next;
	return 1;
}

int import_take_line(struct importer *im, bool final, struct bytes *line)
{
	const uint8_t *from = im->input.data + im->start;
	size_t size = im->input.size - im->start;
	const uint8_t *end = NULL;

	if (size > im->at)
		end = memchr(from + im->at, '\n', size - im->at);
	im->at = size;
	/* All of it was looked at: the next call goes on behind. */
	if (!end && (!final || size == 0))
		return 0;
	if (end)
		im->at = size = (size_t)(end - from) + 1;
	*line = bytes_of(from, size - (end != NULL));
	if (line->size > 0 && line->data[line->size - 1] == '\r')
		line->size--;
	im->line_next = im->line + 1;
	return 1;
}
