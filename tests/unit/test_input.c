#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/base/buf.h"
#include "store/base/err.h"
#include "tests/unit/suite.h"
#include "tools/input/input.h"

/* Inputs: the end of what is damaged is never told without all of its content.
 */

/* Reads all that fd has in pieces of size: 0, or the error. */
static int read_fd(int fd, size_t size, struct buf *out)
{
	uint8_t *piece = malloc(size);
	struct input *in;
	char path[32];
	ssize_t n = 1;
	int err;

	ck_assert(piece && fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = input_open(path, &in);
	while (!err && (n = input_read(in, piece, size)) > 0)
		ck_assert_int_eq(buf_add(out, piece, (size_t)n), 0);
	if (!err && n < 0) {
		ck_assert(err_detail()[0]);
		/* It stays, whatever is told in between. */
		fail(EIO, "another");
		ck_assert_int_eq(input_read(in, piece, size), n);
		ck_assert_str_ne(err_detail(), "another");
		err = (int)n;
	}
	input_close(in);
	close(fd);
	free(piece);
	return err;
}

/* Reads all of text as a file, in pieces of size: 0, or the error. */
static int read_all(struct bytes text, size_t size, struct buf *out)
{
	int fd = memfd_create("input", 0);

	ck_assert_int_eq(write(fd, text.data, text.size), text.size);
	return read_fd(fd, size, out);
}

static void check_whole(struct bytes text, struct bytes want)
{
	static const size_t sizes[] = { 1, 5, 64, 1000, 1 << 20 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf got = BUF_INIT;

		ck_assert_msg(read_all(text, sizes[i], &got) == 0, "%s",
			      err_detail());
		ck_assert(bytes_equal(buf_bytes(&got), want));
		buf_release(&got);
	}
}

/* What is read of damaged text, which may be all. */
static bool is_told(struct bytes text, struct bytes want, bool is_short)
{
	struct buf got = BUF_INIT;
	int err = read_all(text, 1 << 16, &got);

	ck_assert(err < 0 || bytes_equal(buf_bytes(&got), want));
	/* Bytes that are missing do not change those that are there. */
	ck_assert(!is_short || bytes_starts_with(want, buf_bytes(&got)));
	buf_release(&got);
	return err < 0;
}

/* A content that is worth compressing, and is no multiple of anything. */
static void make_content(struct buf *out)
{
	int i;

	for (i = 0; i < 20011; i++)
		ck_assert_int_eq(
			buf_printf(out, "%x,%d\n", i * 2654435761U, i % 7), 0);
}

static void add_gzip(struct bytes content, struct buf *out)
{
	struct isal_zstream s;
	uint8_t *packed = malloc(content.size + 1000);

	ck_assert_ptr_nonnull(packed);
	isal_deflate_init(&s);
	s.gzip_flag = IGZIP_GZIP;
	s.end_of_stream = 1;
	s.next_in = (uint8_t *)content.data;
	s.avail_in = (uint32_t)content.size;
	s.next_out = packed;
	s.avail_out = (uint32_t)content.size + 1000;
	ck_assert_int_eq(isal_deflate(&s), COMP_OK);
	ck_assert_int_eq(buf_add(out, packed, s.total_out), 0);
	free(packed);
}

static void add_lz4(struct bytes content, struct buf *out)
{
	LZ4F_preferences_t how = { 0 };
	size_t size;
	uint8_t *packed;

	how.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
	size = LZ4F_compressFrameBound(content.size, &how);
	packed = malloc(size);
	ck_assert_ptr_nonnull(packed);
	size = LZ4F_compressFrame(packed, size, content.data, content.size,
				  &how);
	ck_assert(!LZ4F_isError(size));
	ck_assert_int_eq(buf_add(out, packed, size), 0);
	free(packed);
}

/* Of text, whose first bytes tell the kind: every end and every bit. */
static void check_damage(struct buf *text, struct bytes want, size_t magic)
{
	size_t i;

	for (i = magic; i < text->size; i += 1 + i / 50)
		ck_assert(is_told(bytes_of(text->data, i), want, true));
	ck_assert(is_told(bytes_of(text->data, text->size - 1), want, true));
	for (i = magic * 8; i < text->size * 8; i += 1 + i / 100) {
		text->data[i / 8] ^= (uint8_t)(1 << i % 8);
		is_told(buf_bytes(text), want, false);
		text->data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}

static void check_kind(void (*add)(struct bytes content, struct buf *out),
		       size_t magic)
{
	struct buf content = BUF_INIT, text = BUF_INIT, twice = BUF_INIT;
	size_t i;

	make_content(&content);
	add(buf_bytes(&content), &text);
	check_whole(buf_bytes(&text), buf_bytes(&content));
	check_damage(&text, buf_bytes(&content), magic);
	/* One behind the other, of which one is empty, is one content. */
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(buf_add_bytes(&twice, buf_bytes(&content)), 0);
	add(BYTES_NONE, &text);
	add(buf_bytes(&content), &text);
	check_whole(buf_bytes(&text), buf_bytes(&twice));
	/* Nothing at all. */
	buf_reset(&text);
	add(BYTES_NONE, &text);
	check_whole(buf_bytes(&text), BYTES_NONE);
	buf_release(&content);
	buf_release(&text);
	buf_release(&twice);
}

START_TEST(gzip)
{
	struct buf text = BUF_INIT;

	check_kind(add_gzip, 3);
	add_gzip(BYTES_LITERAL("content"), &text);
	ck_assert_int_eq(buf_add(&text, "\0\0\0", 3), 0);
	check_whole(buf_bytes(&text), BYTES_LITERAL("content"));
	ck_assert_int_eq(buf_add(&text, "\x1f", 1), 0);
	ck_assert(is_told(buf_bytes(&text), BYTES_LITERAL("content"), true));
	buf_release(&text);
}
END_TEST

/* A small member with what a header may have, which isal_inflate itself does
 * not find again where a call ended within it. */
static void add_gzip_header(uint32_t fields, struct buf *out)
{
	struct isal_gzip_header header;
	uint8_t packed[200];
	struct isal_zstream s;
	char name[] = "name.csv", comment[] = "a comment";
	uint8_t extra[] = "extra";

	isal_gzip_header_init(&header);
	if (fields & 1) {
		header.name = name;
		header.name_buf_len = sizeof(name);
	}
	if (fields & 2) {
		header.comment = comment;
		header.comment_buf_len = sizeof(comment);
	}
	if (fields & 4) {
		header.extra = extra;
		header.extra_buf_len = header.extra_len = sizeof(extra);
	}
	header.hcrc = fields >> 3;
	isal_deflate_init(&s);
	isal_deflate_set_hufftables(&s, NULL, IGZIP_HUFFTABLE_STATIC);
	s.gzip_flag = IGZIP_GZIP_NO_HDR;
	s.end_of_stream = 1;
	s.next_in = (uint8_t *)"content";
	s.avail_in = 7;
	s.next_out = packed;
	s.avail_out = sizeof(packed);
	ck_assert_uint_eq(isal_write_gzip_header(&s, &header), 0);
	ck_assert_int_eq(isal_deflate(&s), COMP_OK);
	ck_assert_int_eq(buf_add(out, packed, (size_t)(s.next_out - packed)),
			 0);
}

/* Each read gets a packet of so many bytes. */
static int packets(struct bytes text, size_t size)
{
	size_t at, n;
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_DIRECT | O_NONBLOCK), 0);
	ck_assert_int_ge(fcntl(fd[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
	for (at = 0; at < text.size; at += n) {
		n = text.size - at < size ? text.size - at : size;
		ck_assert_int_eq(write(fd[1], text.data + at, n), n);
	}
	close(fd[1]);
	return fd[0];
}

START_TEST(gzip_in_pieces)
{
	struct buf text = BUF_INIT, got = BUF_INIT;
	uint32_t fields;
	size_t size;

	for (fields = 0; fields < 16; fields++) {
		buf_reset(&text);
		add_gzip_header(fields, &text);
		add_gzip_header(fields ^ 15, &text);
		for (size = 1; size <= text.size; size++) {
			buf_reset(&got);
			ck_assert_msg(read_fd(packets(buf_bytes(&text), size),
					      64, &got) == 0,
				      "%s", err_detail());
			ck_assert(bytes_equal(buf_bytes(&got),
					      BYTES_LITERAL("contentcontent")));
		}
	}
	buf_release(&text);
	buf_release(&got);
}
END_TEST

START_TEST(lz4)
{
	check_kind(add_lz4, 4);
}
END_TEST

START_TEST(text)
{
	static const char *const whole[] = {
		"",         "a",        "ab",
		"abc",      "abcd\n",   "\xef\xbb",
		"\x1f\x8b", "BZh1,a\n", "\xef\xbb\xbc..",
		"\x04\x22"
	};
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		check_whole(bytes_string(whole[i]), bytes_string(whole[i]));
}
END_TEST

START_TEST(suffixes)
{
	ck_assert(input_has_suffix("a.csv", ".csv"));
	ck_assert(input_has_suffix("a.CSV.gz", ".csv"));
	ck_assert(input_has_suffix("x/a.tsv.BZ2", ".tsv"));
	ck_assert(!input_has_suffix(".csv", ".csv"));
	ck_assert(!input_has_suffix("a.csv.gz.xz", ".csv"));
	ck_assert(!input_has_suffix("csv", ".csv"));
	ck_assert(!input_has_suffix(".gz", ".csv"));
}
END_TEST

int main(void)
{
	const TTest *tests[] = { gzip, gzip_in_pieces, lz4, text, suffixes };

	return run_suite("input", NULL, NULL, tests, 5);
}
