#include "tools/import/import_report.h"
#include "tools/verb/stop.h"

/* A screen of refused lines tells what is wrong with the file. */
#define SHOWN_MAX 20

void import_tell_refused(struct verb_call *c, uint64_t refused,
			 struct bytes lines)
{
	unsigned int shown = 0;

	while (lines.size > 0 && shown < SHOWN_MAX) {
		const uint8_t *end = memchr(lines.data, '\n', lines.size);
		size_t size = end ? (size_t)(end - lines.data) : lines.size;

		verb_wrong(c, "%.*s", (int)size, lines.data);
		lines = bytes_after(lines, end ? size + 1 : size);
		shown++;
	}
	if (refused > shown)
		verb_wrong(c, "and %llu more lines",
			   (unsigned long long)(refused - shown));
	if (refused > 0)
		verb_wrong(c, "refused lines: %llu",
			   (unsigned long long)refused);
}

int import_no_table(struct verb_call *c, const char *table)
{
	return verb_wrong(c,
			  "Importing: table \"%s\" not found; createtable %s "
			  "families=FAMILY makes it",
			  table, table);
}

int import_quiet(struct verb_call *c, const char *value)
{
	if (!value || !strcmp(value, "no"))
		return 0;
	if (!strcmp(value, "yes"))
		return 1;
	verb_wrong(c, "quiet must be yes or no, not \"%s\"", value);
	return -1;
}

/* The last line is cbt's, and tells of a success as well. */
int import_report(struct verb_call *c, uint64_t rows, uint64_t refused,
		  struct bytes lines)
{
	import_tell_refused(c, refused, lines);
	fprintf(c->err, "Done importing %llu rows.\n",
		(unsigned long long)rows);
	return refused > 0;
}

int import_tell_stopped(struct verb_call *c, uint64_t line, int status)
{
	if (!stop_check())
		return status;
	if (line == 0)
		verb_wrong(c, "no line is committed");
	else
		verb_wrong(c,
			   "committed up to line %llu; what follows it, behind "
			   "the header, is still to be imported",
			   (unsigned long long)line);
	return 2;
}
