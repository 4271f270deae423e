#include "fs/cells/place.h"
#include "fs/query/sized_picture.h"
#include "store/text/heat/heat_print.h"

/* Of a picture at most. */
#define COLUMNS 240
#define ROWS 64

static bool parse_name(struct bytes name, enum heat_metric *metric,
		       enum heat_format *format)
{
	const uint8_t *dot =
		name.size > 0 ? memchr(name.data, '.', name.size) : NULL;
	size_t size = dot ? (size_t)(dot - name.data) : 0;

	return dot && heat_metric_parse(bytes_of(name.data, size), metric) &&
	       heat_format_parse(bytes_after(name, size + 1), format) &&
	       *format != HEAT_TEXT;
}

bool sized_picture_is_name(struct bytes name)
{
	enum heat_metric metric;
	enum heat_format format;

	return parse_name(name, &metric, &format);
}

int sized_picture_draw(struct fs *fs, struct node *node, struct buf *out)
{
	struct heat_style style = { .format = HEAT_TSV };
	struct heat_query q = { .columns = COLUMNS, .rows = ROWS };
	struct heat_picture *p = NULL;
	struct place place;
	int err = place_enter(fs, node, &place);

	if (!parse_name(node_name(node), &q.metric, &style.format))
		err = -ENOENT;
	q.table = place.path.table;
	if (!err)
		err = store_heat(fs->store, &q, &p);
	if (!err)
		err = heat_print(p, q.table, &style, out);
	place_leave(fs, &place);
	heat_picture_free(p);
	return err;
}
