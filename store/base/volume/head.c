#include <inttypes.h>
#include <stdio.h>

#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/base/volume/head.h"

/*
 * The text is for people, too, but has one form only: what is read is written
 * again and compared, which its checksum is a part of.
 */
#define TEXT_OLD HEAD_NAME ", format 1\n"
#define TEXT_MAX 512

bool store_id_is_none(const struct store_id *id)
{
	static const struct store_id none;

	return store_id_equal(id, &none);
}

bool store_id_equal(const struct store_id *a, const struct store_id *b)
{
	return memcmp(a->bytes, b->bytes, STORE_ID_SIZE) == 0;
}

void store_id_text(const struct store_id *id, char text[STORE_ID_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < STORE_ID_SIZE; i++) {
		text[2 * i] = digits[id->bytes[i] >> 4];
		text[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	text[2 * STORE_ID_SIZE] = 0;
}

/* -1 if c is no digit as store_id_text writes them. */
static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool store_id_parse(struct bytes text, struct store_id *id)
{
	size_t i;

	if (text.size != 2 * STORE_ID_SIZE)
		return false;
	for (i = 0; i < STORE_ID_SIZE; i++) {
		int high = digit_of(text.data[2 * i]);
		int low = digit_of(text.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		id->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

int head_encode(const struct head *head, struct buf *out)
{
	char id[STORE_ID_TEXT_SIZE], parent[STORE_ID_TEXT_SIZE];
	size_t start = out->size;
	int err;

	store_id_text(&head->id, id);
	store_id_text(&head->parent, parent);
	err = buf_printf(out,
			 HEAD_NAME ", format %u\n"
				   "id %s\n"
				   "parent %s %" PRIu64 "\n"
				   "incompatible %" PRIx64 "\n"
				   "read-only %" PRIx64 "\n"
				   "optional %" PRIx64 "\n",
			 HEAD_FORMAT, id, parent, head->parent_sequence,
			 head->features.incompatible, head->features.read_only,
			 head->features.optional);
	if (err < 0)
		return err;
	return buf_printf(out, "crc %08" PRIx32 "\n",
			  crc32c(0, bytes_after(buf_bytes(out), start)));
}

/* Takes apart a text that ends with a NUL, as head_encode writes it or not: its
 * format comes first, and tells more than the rest. False if any is missing. */
static bool take_apart(const char *text, struct head *head)
{
	char id[STORE_ID_TEXT_SIZE], parent[STORE_ID_TEXT_SIZE];
	int n = sscanf(text,
		       HEAD_NAME ", format %u id %32s parent %32s %" SCNu64
				 " incompatible %" SCNx64 " read-only %" SCNx64
				 " optional %" SCNx64,
		       &head->format, id, parent, &head->parent_sequence,
		       &head->features.incompatible, &head->features.read_only,
		       &head->features.optional);

	return n == 7 && store_id_parse(bytes_string(id), &head->id) &&
	       store_id_parse(bytes_string(parent), &head->parent);
}

/* Whether head is what text says, and text all of it. */
static int check_text(const char *directory, struct bytes text,
		      const struct head *head, bool whole)
{
	struct buf again = BUF_INIT;
	int err = head_encode(head, &again);

	if (err == 0 && (!whole || !bytes_equal(text, buf_bytes(&again))))
		err = fail(ERR_manifest_damaged,
			   "%s: tabletfs: not as it was written; run tabletfs "
			   "repair",
			   directory);
	buf_release(&again);
	return err;
}

int head_decode(const char *directory, struct bytes text, struct head *head)
{
	char copy[TEXT_MAX];
	bool whole;

	*head = (struct head){ .format = 1 };
	if (bytes_equal(text, BYTES_LITERAL(TEXT_OLD)))
		return 0;
	if (!bytes_starts_with(text, BYTES_LITERAL(HEAD_NAME)))
		return fail(ERR_not_a_store,
			    "%s: tabletfs: not a format that is known here",
			    directory);
	snprintf(copy, sizeof(copy), "%.*s", (int)text.size, text.data);
	whole = take_apart(copy, head);
	if (head->format != HEAD_FORMAT)
		return fail(ERR_format_newer,
			    "%s: tabletfs: not a format that is known here",
			    directory);
	return check_text(directory, text, head, whole);
}

/* Names the least of the bits that are not known, which no program of this
 * format knows any of. */
static int check_bits(const char *directory, uint64_t bits, const char *kind,
		      const char *what)
{
	if (bits == 0)
		return 0;
	return fail(ERR_format_newer,
		    "%s: tabletfs: the store has the %s feature %d, which this "
		    "program does not know; %s",
		    directory, kind, __builtin_ctzll(bits), what);
}

int head_check(const char *directory, const struct head *head)
{
	return check_bits(directory, head->features.incompatible,
			  "incompatible", "use a newer one");
}

int head_check_writable(const char *directory, const struct head *head)
{
	return check_bits(directory, head->features.read_only, "read-only",
			  "open it for reading only, or use a newer one");
}
