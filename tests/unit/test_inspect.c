#include <glob.h>
#include <stdio.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/engine/files/manifest_name.h"
#include "store/engine/log/wal_chunk.h"
#include "store/engine/log/wal_read.h"
#include "store/engine/inspect/inspect_file.h"
#include "store/format/key.h"
#include "store/format/sst/sst.h"
#include "store/format/sst/sst_build.h"
#include "store/store.h"
#include "store/text/value/quote.h"
#include "tests/sim/memory_file.h"
#include "tests/sim/ruin.h"
#include "tests/unit/suite.h"

/*
 * Inspection of each kind of file: of the golden stores, which have all of
 * them, and of the store that repairs are tested with. Whichever byte is
 * wrong, it is told where; run from the top of the tree.
 */

/* What was told of a file. */
struct told {
	struct buf lines;
	uint64_t problem_count, note_count;
	uint64_t disk_count; /* problems of reading */
	uint64_t flip;       /* a byte */
	bool is_found; /* a problem or a note is about a range with that */
};

/* Both tell the range in which something is wrong. */
static int take_line(void *context, const char *line)
{
	struct told *t = context;
	unsigned long long from, to;
	const char *range;
	bool is_problem = !strncmp(line, "problem ", 8);

	ck_assert_ptr_null(strchr(line, '\n'));
	if (is_problem || !strncmp(line, "note ", 5)) {
		range = strstr(line, ": offset ");
		ck_assert_msg(range && sscanf(range, ": offset %llu to %llu: ",
					      &from, &to) == 2,
			      "%s", line);
		ck_assert_msg(from <= to, "%s", line);
		/* That it is somewhere in the file says little. */
		t->is_found |= t->flip >= from && t->flip < to &&
			       !strstr(line, ": file: ");
		t->disk_count += is_problem && strstr(line, ": disk: ");
		t->problem_count += is_problem;
		t->note_count += !is_problem;
	}
	return buf_printf(&t->lines, "%s\n", line);
}

static const char *text_of(struct told *t)
{
	ck_assert_int_eq(buf_terminate(&t->lines), 0);
	return (const char *)t->lines.data;
}

static void check_says(struct told *t, const char *what)
{
	ck_assert_msg(strstr(text_of(t), what), "no %s in:\n%.2000s", what,
		      text_of(t));
}

static void forget(struct told *t)
{
	buf_release(&t->lines);
	*t = (struct told){ .lines = BUF_INIT };
}

/* Inspects content as the file of this name; if is_finished, the manifest says
 * that this is its size. */
static void inspect(const struct buf *content, const char *name,
		    uint64_t finished_size, struct told *t)
{
	const struct inspect_options options = { .entries = true,
						 .quote = quote_go,
						 .line = take_line,
						 .context = t };
	const struct inspect_facts facts = { finished_size > 0,
					     finished_size > 0, finished_size };
	struct inspect i = { .options = &options, .path = name };
	enum inspect_kind kind;
	struct reader *reader;
	uint64_t id;
	bool has_id;
	int err;

	ck_assert_int_eq(memory_file_reader(content, &reader), 0);
	kind = inspect_kind_of_name(name, &id, &has_id);
	err = inspect_file(&i, reader, kind, has_id ? &id : NULL, &facts);
	ck_assert_msg(err == 0, "%s: %s: %s", name, err_text(err),
		      err_detail());
	ck_assert_uint_eq(i.problem_count, t->problem_count);
	reader->ops->reader_close(reader);
	buf_release(&i.line);
	buf_release(&i.scratch);
}

/* Whether a byte of a log is a zero that ends a block, which nobody reads. */
static bool is_padding(const char *name, const struct buf *content, size_t at)
{
	size_t left = WAL_BLOCK_SIZE - at % WAL_BLOCK_SIZE;

	return (strstr(name, ".log") || strstr(name, ".edits")) &&
	       left < WAL_BLOCK_END && content->data[at] == 0;
}

/* Some 150 bytes of the file, and all of the last 200. */
static void flip_each(const char *name, struct buf *content)
{
	struct told t = { .lines = BUF_INIT };
	size_t at, step, stride = content->size / 150 + 1;
	bool finished = strstr(name, ".log") || strstr(name, ".blob") ||
			strstr(name, ".sst");
	uint64_t size = finished ? content->size : 0;

	inspect(content, name, size, &t);
	ck_assert_msg(t.problem_count + t.note_count == 0, "%.2000s",
		      text_of(&t));
	forget(&t);
	for (at = 0; at < content->size; at += step) {
		uint8_t was = content->data[at];
		bool padding = is_padding(name, content, at);

		step = content->size - at > 200 ? stride : 1;
		content->data[at] = (uint8_t)(was ^ 1 << at % 8);
		t.flip = at;
		inspect(content, name, size, &t);
		ck_assert_msg(padding || t.is_found, "%s: byte %zu:\n%.2000s",
			      name, at, text_of(&t));
		/* Of what was finished it is damage, and so of all that is not
		 * a log. */
		ck_assert_msg(padding || t.problem_count > 0 ||
				      strstr(name, ".edits"),
			      "%s: byte %zu:\n%.2000s", name, at, text_of(&t));
		forget(&t);
		content->data[at] = was;
	}
}

static void read_file(const char *path, struct buf *content)
{
	char piece[4096];
	size_t n;
	FILE *f = fopen(path, "rb");

	ck_assert_ptr_nonnull(f);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		ck_assert_int_eq(buf_add(content, piece, n), 0);
	fclose(f);
}

/* The files of the golden stores but for locks. */
static void each_golden(void (*each)(const char *name, struct buf *content))
{
	struct buf content = BUF_INIT;
	glob_t files;
	size_t i;

	ck_assert_int_eq(glob("tests/golden/v*/store/*", 0, NULL, &files), 0);
	for (i = 0; i < files.gl_pathc; i++) {
		const char *name = strrchr(files.gl_pathv[i], '/') + 1;

		buf_reset(&content);
		read_file(files.gl_pathv[i], &content);
		if (content.size > 0 && strcmp(name, "lock") != 0)
			each(name, &content);
	}
	globfree(&files);
	buf_release(&content);
}

/* What only the first one has, and what only the later ones have. */
static void check_golden(struct told *t, const char *path)
{
	if (!strstr(path, "/v1/")) {
		check_says(t, "entry table 0 row \"\" family \"attributes\" "
			      "qualifier \"own\" timestamp 0 seq ");
		return;
	}
	check_says(t, "entry table 1 row \"row1\" family \"f\" "
		      "qualifier \"q\" timestamp 1000 seq ");
	check_says(t, "tombstone from table 1 row \"row3\" to behind "
		      "table 1 row \"row3\" seq ");
	check_says(t, " mark of a bulk load\n");
	check_says(t, " merge 8\n");
}

START_TEST(golden_stores_are_shown)
{
	struct told t = { .lines = BUF_INIT };
	const struct inspect_options options = { .entries = true,
						 .quote = quote_go,
						 .line = take_line,
						 .context = &t };
	uint64_t problem_count;
	glob_t stores;
	size_t i;

	ck_assert_int_eq(glob("tests/golden/v*/store", 0, NULL, &stores), 0);
	for (i = 0; i < stores.gl_pathc; i++) {
		ck_assert_int_eq(store_inspect(stores.gl_pathv[i], &options,
					       &problem_count),
				 0);
		ck_assert_msg(problem_count == 0 && t.note_count == 0,
			      "%.2000s", text_of(&t));
		check_golden(&t, stores.gl_pathv[i]);
		check_says(&t, "reference 0 ");
		check_says(&t, "\nchunk offset 32 ");
		check_says(&t, "\nadd level 6 ");
		forget(&t);
	}
	globfree(&stores);
}
END_TEST

START_TEST(flips_in_golden_stores_are_told)
{
	each_golden(flip_each);
}
END_TEST

static int flip_file(void *context, const char *name)
{
	struct bytes file = volume_mem_file(context, name);
	struct buf content = BUF_INIT;

	ck_assert_int_eq(buf_add_bytes(&content, file), 0);
	if (content.size > 0)
		flip_each(name, &content);
	buf_release(&content);
	return 0;
}

START_TEST(flips_in_a_small_store_are_told)
{
	struct volume *v = ruin_build();

	ck_assert_int_eq(v->ops->list(v, flip_file, v), 0);
	v->ops->close(v);
}
END_TEST

/* Of an sst without index or footer, what its blocks hold is shown. */
static void cut_sst(const char *name, struct buf *content)
{
	struct told whole = { .lines = BUF_INIT }, t = { .lines = BUF_INIT };
	size_t size = content->size;
	const char *first;
	char line[512];

	if (!strstr(name, ".sst"))
		return;
	inspect(content, name, 0, &whole);
	first = strstr(text_of(&whole), "\nentry ");
	ck_assert_ptr_nonnull(first);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(first + 1, "\n") + 2,
		 first);
	content->size -= 64;
	inspect(content, name, 0, &t);
	check_says(&t, ": footer: ");
	check_says(&t, line);
	forget(&t);
	content->size = 10;
	inspect(content, name, 0, &t);
	check_says(&t, "offset 0 to 10: footer: ");
	forget(&t);
	forget(&whole);
	content->size = size;
}

START_TEST(ssts_without_their_end_are_shown)
{
	each_golden(cut_sst);
}
END_TEST

/* An sst of one entry, whose value has so many bytes that do not compress. */
static void build_sst(struct buf *file, size_t value_size)
{
	const struct sst_options options = { 0, 10, true, ROW_DIRECTORY_NEVER };
	static uint8_t value[70000];
	struct segment_writer *writer;
	struct sst_builder *builder;
	struct buf key = BUF_INIT;
	uint32_t state = 1;
	uint64_t digest;
	size_t i;

	for (i = 0; i < value_size; i++) {
		state = state * 1664525 + 1013904223;
		value[i] = (uint8_t)(state >> 24);
	}
	ck_assert_int_eq(memory_file_writer(file, &writer), 0);
	ck_assert_int_eq(sst_build_new(writer, &options, &builder), 0);
	key_add_table(&key, 7);
	for (i = 0; i < 3; i++)
		key_add_part(&key, bytes_string("x"));
	key_add_timestamp(&key, 1000);
	ck_assert_int_eq(key_add_trailer(&key, 5, KEY_PUT), 0);
	ck_assert_int_eq(sst_build_add(builder, buf_bytes(&key),
				       bytes_of(value, value_size)),
			 0);
	ck_assert_int_eq(sst_build_finish(builder, &digest), 0);
	buf_release(&key);
}

/* A file is read in pieces of 64 KiB; the block's end comes to lie at each
 * place around that of the first. */
START_TEST(blocks_are_found_over_pieces)
{
	struct told t = { .lines = BUF_INIT };
	struct buf file = BUF_INIT;
	size_t size;

	for (size = 65460; size < 65560; size++) {
		buf_reset(&file);
		build_sst(&file, size);
		file.data[file.size - 1] ^= 1;
		inspect(&file, "1.sst", 0, &t);
		ck_assert_msg(t.problem_count == 1, "%zu: %.2000s", size,
			      text_of(&t));
		check_says(&t, "\nfound_entries 1\n");
		forget(&t);
	}
	buf_release(&file);
}
END_TEST

/* A log in memory as a volume with nothing else, for wal_replay. */
static const struct buf *replayed;

static int open_replayed(struct volume *v, const char *name,
			 struct reader **out)
{
	(void)v;
	(void)name;
	return memory_file_reader(replayed, out);
}

static int pass(void *context, struct bytes record)
{
	(void)context;
	(void)record;
	return 0;
}

/* What recovery makes of the log is what is told of it. */
static void check_as_replayed(const char *name, const struct buf *content,
			      uint64_t final_size)
{
	static const struct volume_ops ops = { .open = open_replayed,
					       .reader_close = NULL };
	struct told t = { .lines = BUF_INIT };
	struct volume_ops all = ops;
	struct volume v = { .ops = &all, .path = "memory" };
	struct wal_replay result;
	struct reader *reader;
	const char *suffix;
	char line[64];
	uint64_t id;
	int err;

	/* The same operations that readers of memory have. */
	ck_assert_int_eq(memory_file_reader(content, &reader), 0);
	all.reader_close = reader->ops->reader_close;
	reader->ops->reader_close(reader);
	replayed = content;
	ck_assert(manifest_parse_name(name, &id, &suffix));
	err = wal_replay(&v, name, id, final_size, pass, NULL, &result);
	inspect(content, name, final_size, &t);
	ck_assert_msg((err == -ERR_wal_damaged) == (t.problem_count > 0),
		      "%zu bytes: %s\n%.2000s", content->size, err_detail(),
		      text_of(&t));
	if (err == 0) {
		ck_assert_msg((result.cut_size > 0) == (t.note_count > 0),
			      "%zu bytes: %.2000s", content->size, text_of(&t));
		snprintf(line, sizeof(line), "\ngood_bytes %llu\n",
			 (unsigned long long)result.good_size);
		check_says(&t, line);
	}
	forget(&t);
}

/* At each length, as the last log and as one that was finished. */
static void tear(const char *name, struct buf *content)
{
	size_t size = content->size,
	       stride = size / 2000 * (size / 20000 + 1) + 1;

	if (!strstr(name, ".log") && !strstr(name, ".edits"))
		return;
	for (content->size = 0; content->size < size; content->size += stride) {
		check_as_replayed(name, content, 0);
		check_as_replayed(name, content, size);
	}
	content->size = size;
	check_as_replayed(name, content, size);
}

START_TEST(torn_logs_are_told_as_recovery_sees_them)
{
	each_golden(tear);
}
END_TEST

/* What lies behind damage is shown: of a log with many records in a block. */
static void harm_log(const char *name, struct buf *content)
{
	struct told t = { .lines = BUF_INIT };

	if (!strstr(name, ".log") || content->size < 10000 ||
	    content->data[WAL_AT_TYPE] != CHUNK_OLD_FULL)
		return;
	content->data[200] ^= 1;
	inspect(content, name, 0, &t);
	ck_assert_uint_eq(t.problem_count, 1);
	check_says(&t, ": record: checksum of a chunk is ");
	check_says(&t, "record offset 324 ");
	check_says(&t, "records 599\n");
	forget(&t);
}

START_TEST(behind_damage_a_log_goes_on)
{
	each_golden(harm_log);
}
END_TEST

/* A chunk behind one that is damaged, whether the head's sizes are right or
 * not. */
static int harm_blob(void *context, const char *name)
{
	struct bytes file = volume_mem_file(context, name);
	struct told t = { .lines = BUF_INIT };
	struct buf content = BUF_INIT;
	size_t at;

	if (!strstr(name, ".blob") || file.size < 2000)
		return 0;
	for (at = 32; at < 32 + 16 + 40; at++) {
		ck_assert_int_eq(buf_set(&content, file), 0);
		content.data[at] ^= 0x10;
		inspect(&content, name, 0, &t);
		ck_assert_msg(t.problem_count == 1, "%.2000s", text_of(&t));
		ck_assert_msg(strstr(text_of(&t), "\nchunk offset "), "%.2000s",
			      text_of(&t));
		forget(&t);
	}
	buf_release(&content);
	return 0;
}

START_TEST(behind_damage_a_blob_file_goes_on)
{
	struct volume *v = ruin_build();

	ck_assert_int_eq(v->ops->list(v, harm_blob, v), 0);
	v->ops->close(v);
}
END_TEST

/* Puts a checksum of all before it at the end of size bytes. */
static void seal(uint8_t *data, size_t size)
{
	put_u32le(data + size - 4, crc32c(0, bytes_of(data, size - 4)));
}

/* The first one, in either format. */
static void make_newer_edit(const char *name, uint8_t *data)
{
	bool is_old = data[WAL_AT_TYPE] <= CHUNK_OLD_PROMISE;
	size_t at = is_old ? 0 : WAL_HEADER_SIZE + WAL_HEAD_SIZE;
	size_t head = is_old ? WAL_OLD_HEADER_SIZE : WAL_HEADER_SIZE;
	const char *suffix;
	uint64_t id;

	ck_assert(manifest_parse_name(name, &id, &suffix));
	data[at + head] = 99;
	put_u32le(data + at,
		  crc32c(is_old ? 0 : wal_place_crc(id, at),
			 bytes_of(data + at + WAL_AT_SIZE,
				  head - WAL_AT_SIZE +
					  get_u16le(data + at + WAL_AT_SIZE))));
}

static void make_newer(const char *name, struct buf *content)
{
	struct told t = { .lines = BUF_INIT };
	uint8_t *footer = content->data + content->size - 64;

	if (strstr(name, ".sst")) {
		footer[8] = 9;
		seal(footer, 64);
	} else if (strstr(name, ".blob")) {
		content->data[8] = 9;
		seal(content->data, 32);
	} else if (strcmp(name, "root") == 0) {
		content->data[16 + 8] = 9;
		seal(content->data + 16, 32);
		seal(content->data, content->size);
	} else if (strcmp(name, "tabletfs") == 0) {
		/* The digit of the format. */
		content->data[strcspn((char *)content->data, "\n") - 1] = '9';
	} else if (strstr(name, ".edits")) {
		make_newer_edit(name, content->data);
	} else {
		return;
	}
	inspect(content, name, 0, &t);
	ck_assert_msg(t.problem_count == 1, "%.2000s", text_of(&t));
	check_says(&t, strstr(name, ".edits")   ? " 99, of a newer format; "
						  "this program knows 1 to 16"
		       : strstr(name, "tablet") ? "format 9"
						: " 9 with features ");
	check_says(&t, "newer");
	forget(&t);
}

START_TEST(newer_formats_are_told)
{
	each_golden(make_newer);
}
END_TEST

/* Under another name a file is known by what is in it, and a log its id. */
static void rename_file(const char *name, struct buf *content)
{
	struct told t = { .lines = BUF_INIT };
	struct told same = { .lines = BUF_INIT };
	enum inspect_kind kind, by_name;
	struct reader *reader;
	char other[16];
	uint64_t id;
	bool has_id;

	by_name = inspect_kind_of_name(name, &id, &has_id);
	ck_assert_int_eq(memory_file_reader(content, &reader), 0);
	ck_assert_int_eq(inspect_kind_of_content(reader, &kind), 0);
	ck_assert_str_eq(inspect_kind_word(kind), inspect_kind_word(by_name));
	reader->ops->reader_close(reader);
	if (!has_id)
		return;
	snprintf(other, sizeof(other), "copy.%s", inspect_kind_word(kind));
	inspect(content, name, 0, &same);
	inspect(content, other, 0, &t);
	ck_assert_str_eq(text_of(&t), text_of(&same));
	forget(&t);
	forget(&same);
}

START_TEST(renamed_files_are_known)
{
	each_golden(rename_file);
}
END_TEST

/* A disk that fails in one place: the rest is shown. */
static int (*sound_pread)(struct reader *r, uint64_t offset, void *data,
			  size_t size);

static int bad_pread(struct reader *r, uint64_t offset, void *data, size_t size)
{
	if (offset < 9000 && offset + size > 8500)
		return fail(EIO, "%s: offset 8500: cannot read", r->path);
	return sound_pread(r, offset, data, size);
}

static void fail_disk(const char *name, struct buf *content)
{
	struct told t = { .lines = BUF_INIT, .flip = 8500 };
	const struct inspect_options options = { .quote = quote_go,
						 .line = take_line,
						 .context = &t };
	const struct inspect_facts facts = { false, false, 0 };
	struct inspect i = { .options = &options, .path = name };
	struct volume_ops ops;
	enum inspect_kind kind;
	struct reader *reader;
	uint64_t id;
	bool has_id;

	if (content->size < 10000)
		return;
	kind = inspect_kind_of_name(name, &id, &has_id);
	ck_assert_int_eq(memory_file_reader(content, &reader), 0);
	ops = *reader->ops;
	sound_pread = ops.pread;
	ops.pread = bad_pread;
	reader->ops = &ops;
	ck_assert_int_eq(inspect_file(&i, reader, kind, &id, &facts), 0);
	ck_assert_msg(t.is_found, "%.2000s", text_of(&t));
	ck_assert_uint_eq(t.disk_count, 1);
	ops.reader_close(reader);
	buf_release(&i.line);
	buf_release(&i.scratch);
	forget(&t);
}

START_TEST(a_failing_disk_is_told)
{
	each_golden(fail_disk);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		golden_stores_are_shown,
		flips_in_golden_stores_are_told,
		flips_in_a_small_store_are_told,
		ssts_without_their_end_are_shown,
		blocks_are_found_over_pieces,
		torn_logs_are_told_as_recovery_sees_them,
		behind_damage_a_log_goes_on,
		behind_damage_a_blob_file_goes_on,
		newer_formats_are_told,
		renamed_files_are_known,
		a_failing_disk_is_told,
	};

	return run_suite("inspect", NULL, NULL, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
