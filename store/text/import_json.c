#include "store/text/import.h"

static bool blank(struct bytes line)
{
	size_t i;

	for (i = 0; i < line.size; i++)
		if (line.data[i] != ' ' && line.data[i] != '\t')
			return false;
	return true;
}

/* im->at is the size of the line with its end. */
static int add_line(struct importer *im)
{
	return json_mutation(
		&im->json, bytes_of(im->input.data + im->start, im->at),
		buf_bytes(&im->table), BYTES_NONE, im->now_us, im->w);
}

int import_take_json(struct importer *im, bool final)
{
	struct bytes line;
	int err = import_take_line(im, final, &line);

	if (err <= 0)
		return err;
	if (!blank(line))
		err = import_add_row(im, add_line);
	if (err > 0)
		import_advance(im, im->at);
	return err;
}
