#include <stdio.h>
#include <string.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/engine/inspect/inspect_file.h"
#include "store/text/value/quote.h"
#include "tests/fuzz/chunks.h"
#include "tests/fuzz/target.h"
#include "tests/sim/memory_file.h"

/*
 * Inspection of a file that holds anything. The first byte tells the kind, and
 * by its upper bits whether the name has an id, whether the manifest knows the
 * size, and whether checksums are put right before, without which little but
 * the first of them would ever be looked behind.
 */
enum {
	HAS_ID = 16,
	IS_FINISHED = 32,
	IS_RIGHT = 64,
	FOOTER_SIZE = 64,
	PARTS = 5,
};

#define ID UINT64_C(0x100000002)

static uint64_t told;

static int take_line(void *context, const char *line)
{
	unsigned long long from, to;
	const char *range;

	(void)context;
	MUST(!strchr(line, '\n'));
	if (strncmp(line, "problem ", 8) == 0)
		told++;
	else if (strncmp(line, "note ", 5) != 0)
		return 0;
	range = strstr(line, ": offset ");
	MUST(range &&
	     sscanf(range, ": offset %llu to %llu: ", &from, &to) == 2);
	MUST(from <= to);
	return 0;
}

/* Ends size bytes with the checksum of those before. */
static void seal(uint8_t *data, size_t size)
{
	if (size >= 4)
		put_u32le(data + size - 4, crc32c(0, bytes_of(data, size - 4)));
}

/* The parts behind the data by their sizes in the footer, and the data as one
 * block. */
static void seal_sst(uint8_t *data, size_t size)
{
	const uint8_t *footer;
	uint64_t part, end;
	int i;

	if (size < FOOTER_SIZE)
		return;
	footer = data + size - FOOTER_SIZE;
	seal(data + size - FOOTER_SIZE, FOOTER_SIZE);
	end = size - FOOTER_SIZE;
	for (i = PARTS - 1; i >= 0; i--) {
		part = get_u32le(footer + 24 + 4 * i);
		if (part > end)
			return;
		seal(data + end - part, (size_t)part);
		end -= part;
	}
	seal(data, (size_t)end);
}

/* The header, and chunks by the sizes in their heads. */
static void seal_blob(uint8_t *data, size_t size)
{
	uint8_t place[16];
	size_t at = 32, payload;
	uint32_t crc;

	if (size < at)
		return;
	put_u64le(data + 16, ID);
	seal(data, 32);
	while (at + 16 <= size) {
		payload = get_u32le(data + at + 4);
		if (payload > size - at - 16)
			return;
		put_u64le(place, ID);
		put_u64le(place + 8, at);
		crc = crc32c(0, bytes_of(data + at + 16, payload));
		crc = crc32c(crc, bytes_of(data + at + 4, 12));
		put_u32le(data + at, crc32c(crc, bytes_of(place, 16)));
		at += 16 + payload;
	}
}

static void put_right(enum inspect_kind kind, uint8_t *data, size_t size)
{
	if (kind == INSPECT_SST)
		seal_sst(data, size);
	else if (kind == INSPECT_LOG || kind == INSPECT_EDITS)
		chunks_put_right(data, size, ID);
	else if (kind == INSPECT_BLOB)
		seal_blob(data, size);
	else if (kind == INSPECT_ROOT && size > 20) {
		seal(data + 16, size - 20);
		seal(data, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct inspect_options options = { .entries = true,
						 .quote = quote_go,
						 .line = take_line };
	struct inspect i = { .options = &options, .path = "file" };
	struct inspect_facts facts = { false, false, 0 };
	struct buf content = BUF_INIT;
	const uint64_t id = ID;
	enum inspect_kind kind, found;
	struct reader *reader;

	if (size < 1)
		return 0;
	kind = (enum inspect_kind)(*data & 15);
	if (kind > INSPECT_OTHER)
		return 0;
	MUST(buf_add(&content, data + 1, size - 1) == 0);
	if ((*data & IS_RIGHT) && size > 1)
		put_right(kind, content.data, content.size);
	if (*data & IS_FINISHED)
		facts = (struct inspect_facts){ true, true, size - 1 };
	told = 0;
	MUST(memory_file_reader(&content, &reader) == 0);
	MUST(inspect_kind_of_content(reader, &found) == 0);
	MUST(inspect_file(&i, reader, kind, *data & HAS_ID ? &id : NULL,
			  &facts) == 0);
	MUST(i.problem_count == told);
	reader->ops->reader_close(reader);
	buf_release(&i.line);
	buf_release(&i.scratch);
	buf_release(&content);
	return 0;
}
