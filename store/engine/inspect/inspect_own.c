#include <stdio.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/engine/files/manifest.h"
#include "store/engine/inspect/inspect_own.h"

/* More than any of these files has. */
#define SIZE_MAX_OF_OWN 4096

/* Appends the file's content, as far as it could be one of these, to out. */
static int read_all(struct reader *reader, struct buf *out)
{
	size_t size = reader->size < SIZE_MAX_OF_OWN ? (size_t)reader->size
						     : SIZE_MAX_OF_OWN;
	int err = buf_reserve(out, size + 1);

	if (err == 0 && size > 0)
		err = reader->ops->pread(reader, 0, out->data, size);
	if (err == 0)
		out->size = size;
	return err;
}

/* Tells of what was just found to be wrong with the file. */
static int tell(struct inspect *i, struct reader *reader, const char *part,
		int err)
{
	return err == -ENOMEM ? err
			      : inspect_problem(i, 0, reader->size, part,
						inspect_reason(i));
}

/* Of format 1 there is none. */
static int show_identity(struct inspect *i, const struct identity *identity)
{
	char id[STORE_ID_TEXT_SIZE], parent[STORE_ID_TEXT_SIZE];
	const struct features *f = &identity->features;
	int err;

	store_id_text(&identity->id, id);
	store_id_text(&identity->parent, parent);
	err = inspect_line(i, "id %s", id);
	if (err == 0)
		err = inspect_line(
			i, "parent %s sequence %llu", parent,
			(unsigned long long)identity->parent_sequence);
	return err < 0 ? err
		       : inspect_line(i, "features read-only %x optional %x",
				      f->read_only, f->optional);
}

static int show_root(struct inspect *i, struct reader *reader, uint64_t version,
		     struct bytes content)
{
	struct manifest_root root;
	int err = manifest_root_decode(i->path, content, &root);

	if (err < 0)
		return tell(i, reader, "root", err);
	err = inspect_line(i, "version %llu", (unsigned long long)version);
	if (err == 0)
		err = inspect_line(i, "epoch %08x", root.epoch);
	if (err == 0)
		err = inspect_line(i, "edits %08x-%08x.edits",
				   (unsigned int)(root.edits_id >> 32),
				   (unsigned int)root.edits_id);
	return err < 0 ? err : show_identity(i, &root.identity);
}

int inspect_root(struct inspect *i, struct reader *reader)
{
	struct buf file = BUF_INIT;
	struct bytes content;
	uint64_t version;
	int err = read_all(reader, &file);

	if (err == 0) {
		err = posix_root_parse(i->path, buf_bytes(&file), &version,
				       &content);
		err = err < 0 ? tell(i, reader, "root", err)
			      : show_root(i, reader, version, content);
	}
	buf_release(&file);
	return err;
}

int inspect_marker(struct inspect *i, struct reader *reader)
{
	struct buf file = BUF_INIT;
	int err = read_all(reader, &file), judged;

	if (err == 0) {
		inspect_begin(i);
		err = inspect_add(i, "text ");
		if (err == 0)
			err = i->options->quote(buf_bytes(&file), &i->line);
		if (err == 0 && !i->is_brief)
			err = inspect_end(i);
	}
	judged = err < 0 ? 0 : posix_marker_parse(i->path, buf_bytes(&file));
	if (judged < 0)
		err = inspect_problem(i, 0, reader->size, "text",
				      judged == -ERR_format_newer
					      ? "is of a newer format than "
						"this program, which reads 1, "
						"or damaged"
					      : "is not that of a store");
	buf_release(&file);
	return err;
}

int inspect_lock(struct inspect *i, struct reader *reader)
{
	struct buf file = BUF_INIT;
	int err = i->is_brief ? 0 : read_all(reader, &file);

	if (err == 0 && !i->is_brief) {
		inspect_begin(i);
		err = inspect_add(i, "holder ");
		if (err == 0)
			err = i->options->quote(buf_bytes(&file), &i->line);
		if (err == 0)
			err = inspect_end(i);
	}
	buf_release(&file);
	return err;
}
