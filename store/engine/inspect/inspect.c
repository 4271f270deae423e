#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_look.h"
#include "store/engine/inspect/inspect_directory.h"

/* Which kind the file is taken for: that which was asked for, or that of its
 * name, or of its content. */
static int choose_kind(struct inspect *i, struct reader *reader,
		       const char *name, enum inspect_kind *kind, uint64_t *id,
		       bool *has_id)
{
	const char *word = i->options->kind;

	*kind = inspect_kind_of_name(name, id, has_id);
	if (word && !inspect_kind_parse(word, kind))
		return fail(ERR_bad_argument,
			    "%s is no kind of file; they are sst log edits "
			    "blob root marker lock spare",
			    word);
	return word || *kind != INSPECT_OTHER
		       ? 0
		       : inspect_kind_of_content(reader, kind);
}

/* What kind it is and what the manifest beside it says, then the file. */
static int show_file(struct inspect *i, struct volume *v, struct reader *reader,
		     const char *name)
{
	struct inspect_manifest manifest = { .is_known = false };
	struct inspect_facts facts;
	enum inspect_kind kind;
	uint64_t id;
	bool has_id;
	char role[64];
	int err = choose_kind(i, reader, name, &kind, &id, &has_id);

	if (err == 0 && has_id)
		err = inspect_manifest_read(v, &manifest);
	facts = inspect_manifest_facts(&manifest, kind, has_id ? &id : NULL);
	i->is_useless = kind == INSPECT_SPARE_ROOT;
	inspect_begin(i);
	if (err == 0)
		err = inspect_add(i, "file ");
	if (err == 0)
		err = buf_add_visible(&i->line, bytes_string(i->path));
	if (err == 0)
		err = inspect_end(i);
	if (err == 0)
		err = inspect_line(i, "kind %s", inspect_kind_word(kind));
	if (err == 0)
		err = inspect_line(i, "size %llu",
				   (unsigned long long)reader->size);
	if (err == 0 && has_id && facts.has_manifest)
		err = inspect_line(
			i, "manifest%s",
			inspect_manifest_role(&manifest, kind, &id, role));
	if (err == 0)
		err = inspect_file(i, reader, kind, has_id ? &id : NULL,
				   &facts);
	inspect_manifest_release(&manifest);
	return err;
}

static int inspect_path(struct inspect *i, const char *path)
{
	struct volume *v;
	struct reader *reader;
	char *name;
	int err = volume_posix_look(path, &v, &name);

	if (err < 0)
		return err;
	if (!name) {
		err = i->options->kind
			      ? fail(ERR_bad_argument,
				     "%s: is a directory, of which there is no "
				     "kind",
				     path)
			      : inspect_directory(i, v);
	} else {
		err = v->ops->open(v, name, &reader);
		if (err == 0) {
			i->path = reader->path;
			err = show_file(i, v, reader, name);
			v->ops->reader_close(reader);
		}
	}
	v->ops->close(v);
	free(name);
	return err;
}

int store_inspect(const char *path, const struct inspect_options *options,
		  uint64_t *problem_count)
{
	struct inspect i = { .options = options };
	int err = inspect_path(&i, path);

	if (err == 0)
		err = inspect_always(&i, "problems %llu",
				     (unsigned long long)i.problem_count);
	*problem_count = i.problem_count;
	buf_release(&i.line);
	buf_release(&i.scratch);
	return err;
}
