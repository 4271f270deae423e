#include "store/text/value/foreign.h"

struct magic {
	size_t at;
	const char *bytes;
	size_t size;
	const char *tells;
};

#define MAGIC(s) s, sizeof(s) - 1

/* The first of count that stands where it should. */
static const char *find(const struct magic *known, size_t count,
			struct bytes in)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (in.size > known[i].at &&
		    bytes_starts_with(bytes_after(in, known[i].at),
				      bytes_of(known[i].bytes, known[i].size)))
			return known[i].tells;
	return NULL;
}

#define IMAGE "an image, which has no records"
#define ARCHIVE "an archive: unpack it, and import its files"
#define TABLE ": duckdb, for one, makes CSV of it"

const char *foreign_kind(struct bytes in)
{
	static const struct magic known[] = {
		{ 0, MAGIC("PK\3\4"),
		  "a ZIP archive, as spreadsheets are (.xlsx, .ods): save the "
		  "sheet as CSV, or unpack it" },
		{ 0, MAGIC("\xd0\xcf\x11\xe0"),
		  "an Office document, as spreadsheets are (.xls): save the "
		  "sheet as CSV" },
		{ 0, MAGIC("SQLite format 3\0"),
		  "an SQLite database: sqlite3 -csv -header FILE 'select ...' "
		  "makes CSV of a table" },
		{ 0, MAGIC("!<arch>\n"),
		  "an archive of ar, as Debian's packages are: unpack it, and "
		  "import its files" },
		{ 257, MAGIC("ustar"),
		  "an archive of tar: unpack it, and import its files" },
		{ 0, MAGIC("7z\xbc\xaf"), ARCHIVE },
		{ 0, MAGIC("Rar!\x1a"), ARCHIVE },
		{ 0, MAGIC("PAR1\x15"), "Parquet" TABLE },
		{ 0, MAGIC("ARROW1\0"), "Arrow" TABLE },
		{ 0, MAGIC("Obj\1"), "Avro" TABLE },
		{ 0, MAGIC("%PDF-"),
		  "a PDF, which has pages: its table has to come from where "
		  "it was made, as CSV" },
		{ 0, MAGIC("\177ELF"), "a program, which has no records" },
		{ 0, MAGIC("\x89PNG"), IMAGE },
		{ 0, MAGIC("\xff\xd8\xff"), IMAGE },
		{ 0, MAGIC("GIF8"), IMAGE },
	};

	return find(known, sizeof(known) / sizeof(known[0]), in);
}

const char *foreign_undone_by(struct bytes in)
{
	static const struct magic known[] = {
		{ 0, MAGIC("\x1f\x8b"), "gzip -dc" },
		{ 0, MAGIC("\x04\x22\x4d\x18"), "lz4 -dc" },
		{ 0, MAGIC("\x28\xb5\x2f\xfd"), "zstd -dc" },
		{ 0, MAGIC("\xfd\x37zXZ"), "xz -dc" },
		/* Behind BZh and a digit, which could begin a text. */
		{ 4, MAGIC("\x31\x41\x59\x26\x53\x59"), "bzip2 -dc" },
		{ 4, MAGIC("\x17\x72\x45\x38\x50\x90"), "bzip2 -dc" },
	};

	return find(known, sizeof(known) / sizeof(known[0]), in);
}

bool foreign_is_json(struct bytes line)
{
	bool array = line.size > 0 && line.data[0] == '[';

	if (!array && !bytes_starts_with(line, BYTES_LITERAL("{")))
		return false;
	do
		line = bytes_after(line, 1);
	while (line.size > 0 && line.data[0] <= ' ');
	return line.size == 0 || line.data[0] == (array ? '{' : '"') ||
	       line.data[0] == (array ? ']' : '}');
}
