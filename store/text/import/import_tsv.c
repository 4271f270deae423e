#include "store/text/import/import_commit.h"
#include "store/text/import/import_line.h"
#include "store/text/import/import_raw.h"
#include "store/text/import/import_rows.h"
#include "store/text/import/import_state.h"
#include "store/text/import/import_tsv.h"

/*
 * Tab-separated values: a line is a record, whatever is in it, for tab and
 * newline are escaped inside of fields. Quotes mean nothing.
 */

/* Turns \t \n \r \\ into what they mean, in place, and sets *size anew.
 * -ERR_bad_line for a backslash before anything else, or at the end. */
static int unescape(uint8_t *data, size_t *size)
{
	static const char letters[] = "tnr\\";
	static const char special[] = "\t\n\r\\";
	uint8_t *in = data, *out = data, *end = data + *size;

	while (in < end) {
		const char *found;

		if (*in != '\\') {
			*out++ = *in++;
			continue;
		}
		found = in + 1 < end ? memchr(letters, in[1], 4) : NULL;
		if (!found)
			return fail(ERR_bad_line,
				    "a backslash is not followed by t, n, r or "
				    "\\");
		*out++ = (uint8_t)special[found - letters];
		in += 2;
	}
	*size = (size_t)(out - data);
	return 0;
}

/* Makes fields of a line, parted by tabs. A field may be unescaped in place:
 * the line is not looked at again, whether it is taken or refused. */
static int split(struct importer *im, struct bytes line)
{
	uint8_t *base = im->input.data + im->start;
	size_t from = 0;
	int err = 0;

	im->field_count = 0;
	while (!err) {
		const uint8_t *tab =
			memchr(line.data + from, '\t', line.size - from);
		size_t end = tab ? (size_t)(tab - line.data) : line.size;
		size_t size = end - from;

		if (memchr(line.data + from, '\\', size)) {
			err = import_raw_keep(im, from, size);
			if (!err)
				err = unescape(base + from, &size);
		}
		if (!err)
			err = import_field_add(im, from, size, false);
		if (!tab)
			break;
		from = end + 1;
	}
	return err;
}

int import_take_tsv(struct importer *im, bool final)
{
	struct bytes line;
	int err = import_take_line(im, final, &line);

	if (err <= 0)
		return err;
	/* In a header a wrong escape ends the import, as all errors do. */
	if (line.size > 0 && line.data[0] != im->comment) {
		err = split(im, line);
		if (!err)
			err = import_record(im);
		else if (im->header == HEADER_DONE)
			err = import_refuse(im, err);
	}
	return err < 0 ? err : import_advance(im, im->at);
}
