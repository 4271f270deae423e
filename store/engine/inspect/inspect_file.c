#include "store/base/err.h"
#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume_copy.h"
#include "store/engine/files/manifest_name.h"
#include "store/engine/inspect/inspect_blob.h"
#include "store/engine/inspect/inspect_file.h"
#include "store/engine/inspect/inspect_heat.h"
#include "store/engine/inspect/inspect_log.h"
#include "store/engine/inspect/inspect_own.h"
#include "store/engine/inspect/inspect_sst.h"
#include "store/format/sst/sst_walk.h"

/* In the order of enum inspect_kind. Those up to spare may be asked for. */
static const char *const words[] = {
	"sst",  "log",  "edits", "blob",       "root",       "marker",
	"lock", "heat", "spare", "spare-root", "unfinished", "other",
};

static_assert(sizeof(words) / sizeof(words[0]) == INSPECT_OTHER + 1,
	      "each kind has its word");

const char *inspect_kind_word(enum inspect_kind kind)
{
	return words[kind];
}

bool inspect_kind_parse(const char *word, enum inspect_kind *kind)
{
	enum inspect_kind k;

	for (k = INSPECT_SST; k <= INSPECT_SPARE; k++)
		if (strcmp(word, words[k]) == 0) {
			*kind = k;
			return true;
		}
	return false;
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

/* Of a file that was renamed, the suffix still tells what it is. */
enum inspect_kind inspect_kind_of_name(const char *name, uint64_t *id,
				       bool *has_id)
{
	static const struct {
		const char *end;
		enum inspect_kind kind;
	} ends[] = {
		{ POSIX_TMP, INSPECT_UNFINISHED },
		{ POSIX_SPARE, INSPECT_SPARE },
		{ ".sst", INSPECT_SST },
		{ ".log", INSPECT_LOG },
		{ ".edits", INSPECT_EDITS },
		{ ".blob", INSPECT_BLOB },
	};
	const char *suffix;
	size_t n;

	*has_id = manifest_parse_name(name, id, &suffix);
	if (strcmp(name, POSIX_MARKER) == 0)
		return INSPECT_MARKER;
	if (strcmp(name, POSIX_ROOT) == 0)
		return INSPECT_ROOT;
	if (strcmp(name, POSIX_LOCK) == 0)
		return INSPECT_LOCK;
	if (strcmp(name, VOLUME_HEAT) == 0)
		return INSPECT_HEAT;
	if (strcmp(name, POSIX_ROOT POSIX_SPARE) == 0)
		return INSPECT_SPARE_ROOT;
	for (n = 0; n < sizeof(ends) / sizeof(ends[0]); n++)
		if (ends_with(name, ends[n].end))
			return ends[n].kind;
	return INSPECT_OTHER;
}

int inspect_kind_of_content(struct reader *reader, enum inspect_kind *kind)
{
	static const struct {
		const char *magic;
		enum inspect_kind kind;
	} magics[] = {
		{ "tfs-blob", INSPECT_BLOB },
		{ "tfsroot1", INSPECT_ROOT },
		{ "TabletFS", INSPECT_MARKER },
		{ "tfs-heat", INSPECT_HEAT },
	};
	char start[8];
	bool is_edits;
	size_t n;
	int err;

	*kind = INSPECT_OTHER;
	err = sst_is_one(reader);
	if (err > 0)
		*kind = INSPECT_SST;
	if (err != 0)
		return err < 0 ? err : 0;
	err = reader->size < sizeof(start)
		      ? 0
		      : reader->ops->pread(reader, 0, start, sizeof(start));
	for (n = 0; n < 4 && err == 0 && reader->size >= sizeof(start); n++)
		if (memcmp(start, magics[n].magic, sizeof(start)) == 0)
			*kind = magics[n].kind;
	if (err < 0 || *kind != INSPECT_OTHER)
		return err;
	err = inspect_is_log(reader, &is_edits);
	if (err > 0)
		*kind = is_edits ? INSPECT_EDITS : INSPECT_LOG;
	return err < 0 ? err : 0;
}

/* A reader that does not fail: what cannot be read is told once, when the file
 * is read to there for the first time, and is zeros. */
struct sure_reader {
	struct reader reader; /* first, so that it can be cast */
	struct reader *file;
	struct inspect *i;
	uint64_t told; /* up to here */
};

static int sure_pread(struct reader *reader, uint64_t offset, void *data,
		      size_t size)
{
	struct sure_reader *r = (struct sure_reader *)reader;

	if (r->file->ops->pread(r->file, offset, data, size) == 0)
		return 0;
	volume_read_damaged(r->file, offset, data, size);
	if (offset + size <= r->told)
		return 0;
	r->told = offset + size;
	return inspect_problem(r->i, offset, offset + size, "disk",
			       inspect_reason(r->i));
}

static void sure_close(struct reader *reader)
{
	(void)reader;
}

static const struct volume_ops sure_ops = {
	.pread = sure_pread,
	.reader_close = sure_close,
};

int inspect_file(struct inspect *i, struct reader *reader,
		 enum inspect_kind kind, const uint64_t *id,
		 const struct inspect_facts *facts)
{
	struct sure_reader r = {
		{ &sure_ops, reader->size, i->path }, reader, i, 0
	};

	i->entry_count = 0;
	switch (kind) {
	case INSPECT_SST:
		return inspect_sst(i, &r.reader, facts);
	case INSPECT_LOG:
		return inspect_log(i, &r.reader, id, facts);
	case INSPECT_EDITS:
		return inspect_edits(i, &r.reader, id, facts);
	case INSPECT_BLOB:
		return inspect_blob(i, &r.reader, id, facts);
	case INSPECT_ROOT:
	case INSPECT_SPARE_ROOT:
		return inspect_root(i, &r.reader);
	case INSPECT_MARKER:
		return inspect_marker(i, &r.reader);
	case INSPECT_LOCK:
		return inspect_lock(i, &r.reader);
	case INSPECT_HEAT:
		return inspect_heat(i, &r.reader);
	default:
		return 0;
	}
}
