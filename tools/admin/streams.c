#include "tools/admin/dump.h"
#include "tools/data/export.h"
#include "tools/admin/streams.h"

int streams_open(struct store *s, int argc, char **argv, FILE *err,
		 bool (*stop)(void), struct text_stream **out)
{
	/* Errors are all that is printed. */
	struct verb_call c = { s, argc, argv, err, err };

	err_clear();
	if (!strcmp(argv[0], "dump"))
		return dump_stream(&c, stop, out) ? -1 : 1;
	if (!strcmp(argv[0], "export"))
		return export_stream(&c, stop, out) ? -1 : 1;
	return 0;
}
