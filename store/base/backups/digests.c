#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/backups/digests.h"
#include "store/base/err.h"
#include "store/base/hash.h"

#define HEAD "tabletfs-digests 1"
#define END "end "
#define HASH_DIGITS 16

int backup_digests_add(struct backup_digests *d, const struct backup_file *f)
{
	if (d->count == d->room) {
		size_t room = d->room ? 2 * d->room : 64;
		struct backup_file *grown =
			reallocarray(d->files, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		d->files = grown;
		d->room = room;
	}
	d->files[d->count++] = *f;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct backup_file *left = a, *right = b;

	return strcmp(left->name, right->name);
}

void backup_digests_sort(struct backup_digests *d)
{
	if (d->count > 0)
		qsort(d->files, d->count, sizeof(*d->files), compare);
}

const struct backup_file *backup_digests_find(const struct backup_digests *d,
					      const char *name)
{
	struct backup_file key = { .size = 0 };

	if (d->count == 0 || strlen(name) > VOLUME_NAME_MAX)
		return NULL;
	strcpy(key.name, name);
	return bsearch(&key, d->files, d->count, sizeof(*d->files), compare);
}

int backup_digests_encode(const struct backup_digests *d, struct buf *out)
{
	size_t start = out->size, i, j;
	int err = buf_add_string(out, HEAD "\n");

	for (i = 0; i < d->count && !err; i++) {
		const struct backup_file *f = &d->files[i];

		err = buf_printf(out, "%s %" PRIu64 " ", f->name, f->size);
		for (j = 0; j < DIGEST_SIZE && !err && f->has_digest; j++)
			err = buf_printf(out, "%02x", f->digest.bytes[j]);
		if (!err && !f->has_digest)
			err = buf_add_byte(out, '-');
		if (!err)
			err = buf_printf(out, " %" PRIu64 " %" PRIu64 "\n",
					 f->source.inode, f->source.written_ns);
	}
	if (!err)
		err = buf_printf(
			out, END "%016" PRIx64 "\n",
			hash64(bytes_of(out->data + start, out->size - start)));
	return err;
}

/* The digest of these digits, or - for none: whether it is one. */
static bool parse_digest(const char *text, struct backup_file *f)
{
	unsigned int byte;
	size_t i;

	f->has_digest = strcmp(text, "-") != 0;
	if (!f->has_digest)
		return true;
	if (strlen(text) != 2 * DIGEST_SIZE ||
	    strspn(text, "0123456789abcdef") != 2 * DIGEST_SIZE)
		return false;
	for (i = 0; i < DIGEST_SIZE; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		f->digest.bytes[i] = (uint8_t)byte;
	}
	return true;
}

static_assert(VOLUME_NAME_MAX == 63 && DIGEST_SIZE == 16,
	      "as the format of parse_line says");

/* Takes a line, without its newline: whether it is one of a file. */
static bool parse_line(struct bytes line, struct backup_file *f)
{
	char text[BACKUP_FILE_TEXT_MAX], digest[2 * DIGEST_SIZE + 1];
	int end = -1;

	*f = (struct backup_file){ .size = 0 };
	if (line.size >= sizeof(text))
		return false;
	memcpy(text, line.data, line.size);
	text[line.size] = 0;
	return sscanf(text, "%63s %" SCNu64 " %32s %" SCNu64 " %" SCNu64 "%n",
		      f->name, &f->size, digest, &f->source.inode,
		      &f->source.written_ns, &end) == 5 &&
	       end == (int)line.size && parse_digest(digest, f);
}

/* Takes the next line of text off it, without its newline: whether there is
 * one. */
static bool take_line(struct bytes *text, struct bytes *line)
{
	const uint8_t *end =
		text->size > 0 ? memchr(text->data, '\n', text->size) : NULL;

	if (!end)
		return false;
	*line = bytes_of(text->data, (size_t)(end - text->data));
	*text = bytes_after(*text, line->size + 1);
	return true;
}

/* Whether line, of text, has the hash of all lines before it. */
static bool is_end(struct bytes text, struct bytes line)
{
	size_t before = (size_t)(line.data - text.data);
	char end[sizeof(END) + HASH_DIGITS];

	snprintf(end, sizeof(end), END "%016" PRIx64,
		 hash64(bytes_of(text.data, before)));
	return bytes_equal(line, bytes_string(end));
}

/* Takes the files of text; *number counts lines. NULL, or what is wrong with
 * the line that is number, with *err, as of adding a file, if it is 0. */
static const char *take_files(struct bytes text, struct backup_digests *d,
			      size_t *number, int *err)
{
	struct bytes rest = text, line;
	struct backup_file f;

	for (*number = 1; !*err; ++*number) {
		if (!take_line(&rest, &line))
			return "is missing or cut off, and so is what follows";
		if (*number == 1 && !bytes_equal(line, BYTES_LITERAL(HEAD)))
			return "is not " HEAD;
		if (*number == 1)
			continue;
		if (bytes_starts_with(line, BYTES_LITERAL(END)))
			break;
		if (!parse_line(line, &f))
			return "is not a file's name, size, digest, inode and "
			       "time";
		*err = backup_digests_add(d, &f);
	}
	if (!*err && !is_end(text, line))
		return "has not the sum of the lines before it, one of which "
		       "was changed";
	return !*err && rest.size > 0 ? "is the last, and something follows"
				      : NULL;
}

int backup_digests_decode(const char *path, struct bytes text,
			  struct backup_digests *d)
{
	const char *wrong;
	size_t number;
	int err = 0;

	*d = (struct backup_digests){ 0 };
	wrong = take_files(text, d, &number, &err);
	if (wrong)
		err = fail(ERR_check_failed,
			   "%s: line %zu %s; without it nothing tells whether "
			   "the files beside it are what was backed up: take "
			   "another backup, or copy this one by cp -a and look "
			   "at that",
			   path, number, wrong);
	if (err)
		backup_digests_release(d);
	else
		backup_digests_sort(d);
	return err;
}

void backup_digests_release(struct backup_digests *d)
{
	free(d->files);
	*d = (struct backup_digests){ 0 };
}
