#include <assert.h>

#include "store/text/import/import_raw.h"

/*
 * Quotes and escapes are undone in the input itself, so what stood there is
 * kept until the record ends: pieces in raw_kept, each behind its offset and
 * size. They are put back before the record is handed on.
 */
struct piece {
	size_t offset; /* from im->start */
	size_t size;
};

int import_raw_keep(struct importer *im, size_t offset, size_t size)
{
	struct piece piece = { offset, size };
	int err;

	if (!im->by.rejects)
		return 0;
	err = buf_add(&im->by.raw_kept, &piece, sizeof(piece));
	if (err < 0)
		return err;
	return buf_add(&im->by.raw_kept, im->input.data + im->start + offset,
		       size);
}

static void put_back(struct importer *im)
{
	struct bytes rest = buf_bytes(&im->by.raw_kept);
	struct piece piece;

	while (rest.size > 0) {
		memcpy(&piece, rest.data, sizeof(piece));
		rest = bytes_after(rest, sizeof(piece));
		assert(piece.offset + piece.size <= im->input.size - im->start);
		memcpy(im->input.data + im->start + piece.offset, rest.data,
		       piece.size);
		rest = bytes_after(rest, piece.size);
	}
}

int import_raw_check(struct importer *im, int err)
{
	im->by.rejects_failed |= err < 0;
	return err;
}

int import_raw_flush(struct importer *im)
{
	const struct import_rejects *to = im->by.rejects;

	return to ? import_raw_check(im, to->flush(to->context)) : 0;
}

int import_raw_pass(struct importer *im, size_t size, bool end)
{
	struct import_recipe *by = &im->by;
	const struct import_rejects *to = by->rejects;
	enum raw_record raw = by->raw;
	struct bytes text;
	int err = 0;

	if (!to)
		return 0;
	if (raw != RAW_NONE) {
		put_back(im);
		text = bytes_of(im->input.data + im->start, size);
		err = raw == RAW_HEADER ? to->header(to->context, text)
					: to->record(to->context, text, end);
		err = import_raw_check(im, err);
	}
	buf_reset(&by->raw_kept);
	if (end)
		by->raw = RAW_NONE;
	return err;
}
