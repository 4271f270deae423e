#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/files/manifest_name.h"
#include "store/engine/inspect/inspect_sst.h"
#include "store/format/blob.h"
#include "store/format/key.h"
#include "store/format/sst/sst_walk.h"

struct sst_look {
	struct inspect *i;
	uint64_t entry_count, tombstone_count, row_count, block_count;
};

int inspect_add_value(struct inspect *i, int kind, struct bytes value)
{
	switch (kind) {
	case KEY_DELETE:
		return inspect_add(i, " delete");
	case KEY_PUT:
		return inspect_add(i, " put %zu", value.size);
	case KEY_MERGE:
		return inspect_add(i, " merge %zu", value.size);
	default:
		return inspect_add(
			i, " large %llu",
			(unsigned long long)blob_list_value_size(value));
	}
}

int inspect_references(struct inspect *i, int kind, struct bytes value)
{
	struct blob_list list;
	char name[VOLUME_NAME_MAX + 1];
	uint32_t n;
	int err = kind == KEY_BLOB ? blob_list_decode(value, &list) : 1;

	/* That it is malformed, verifying tells; here it is not shown. */
	if (err != 0)
		return err == -ENOMEM ? err : 0;
	for (n = 0; n < list.count && err == 0; n++) {
		const struct blob_chunk *c = &list.chunks[n];

		manifest_name(c->file, "blob", name);
		err = inspect_always(i,
				     "reference %u %s offset %llu size %llu "
				     "crc %08x",
				     n, name, (unsigned long long)c->offset,
				     (unsigned long long)blob_stored_size(c),
				     c->crc);
	}
	blob_list_release(&list);
	return err;
}

static int show_format(void *context, uint32_t version, uint32_t features)
{
	struct sst_look *l = context;

	return inspect_line(l->i, "format %u features %x", version, features);
}

static int show_part(void *context, const char *name, uint64_t offset,
		     uint64_t size)
{
	struct sst_look *l = context;

	return inspect_line(l->i, "part %s offset %llu size %llu", name,
			    (unsigned long long)offset,
			    (unsigned long long)size);
}

/* With the entries, since there may be many. */
static int show_block(void *context, const char *name, uint64_t offset,
		      uint64_t size, uint64_t raw_size)
{
	struct sst_look *l = context;
	const struct inspect_options *o = l->i->options;

	l->block_count++;
	if (!o->entries || (o->count > 0 && l->i->entry_count >= o->count))
		return 0;
	return inspect_always(l->i, "block %s offset %llu size %llu raw %llu",
			      name, (unsigned long long)offset,
			      (unsigned long long)size,
			      (unsigned long long)raw_size);
}

/* "NAME KEY" of a bound. */
static int show_bound(struct inspect *i, const char *name, struct bytes key)
{
	int err;

	if (i->is_brief)
		return 0;
	inspect_begin(i);
	err = inspect_add(i, "%s", name);
	if (err == 0 && key.size == 0)
		err = inspect_add(i, " none");
	if (err == 0)
		err = inspect_add_key(i, key);
	return err < 0 ? err : inspect_end(i);
}

static int show_properties(void *context, const struct sst_properties *p)
{
	struct inspect *i = ((struct sst_look *)context)->i;
	const struct {
		const char *name;
		uint64_t value;
	} lines[] = {
		{ "smallest_seq", p->smallest_seq },
		{ "largest_seq", p->largest_seq },
		{ "min_timestamp", p->min_timestamp },
		{ "max_timestamp", p->max_timestamp },
		{ "puts", p->put_count },
		{ "deletes", p->delete_count },
		{ "rows", p->row_count },
		{ "range_tombstones", p->tombstone_count },
		{ "data_bytes", p->data_size },
		{ "level_at_birth", p->level },
	};
	char name[VOLUME_NAME_MAX + 1];
	size_t n;
	int err = show_bound(i, "smallest", p->smallest);

	if (err == 0)
		err = show_bound(i, "largest", p->largest);
	for (n = 0; n < sizeof(lines) / sizeof(lines[0]) && err == 0; n++)
		err = inspect_line(i, "%s %llu", lines[n].name,
				   (unsigned long long)lines[n].value);
	for (n = 0; n < p->blob_count && err == 0; n++) {
		manifest_name(p->blobs[n].file, "blob", name);
		err = inspect_line(i, "refers_to %s bytes %llu", name,
				   (unsigned long long)p->blobs[n].size);
	}
	return err;
}

static int show_tombstone(void *context, const struct tombstone *t)
{
	struct sst_look *l = context;
	int err;

	l->tombstone_count++;
	if (!inspect_wants(l->i))
		return 0;
	inspect_begin(l->i);
	err = inspect_add(l->i, "tombstone from");
	if (err == 0)
		err = inspect_add_key(l->i, t->start);
	if (err == 0)
		err = inspect_add(l->i, " to");
	if (err == 0)
		err = inspect_add_key(l->i, t->end);
	if (err == 0)
		err = inspect_add(l->i, " seq %llu",
				  (unsigned long long)t->seq);
	return err < 0 ? err : inspect_end(l->i);
}

static int show_entry(void *context, struct bytes key, struct bytes value)
{
	struct sst_look *l = context;
	int kind = (int)key_kind(key), err;

	l->entry_count++;
	if (!inspect_wants(l->i))
		return 0;
	inspect_begin(l->i);
	err = inspect_add(l->i, "entry");
	if (err == 0)
		err = inspect_add_key(l->i, key_version(key));
	if (err == 0)
		err = inspect_add(l->i, " seq %llu",
				  (unsigned long long)key_seq(key));
	if (err == 0)
		err = inspect_add_value(l->i, kind, value);
	if (err == 0)
		err = inspect_end(l->i);
	return err < 0 ? err : inspect_references(l->i, kind, value);
}

static int show_row(void *context, struct bytes prefix,
		    const struct row_summary *s)
{
	struct sst_look *l = context;
	int err;

	l->row_count++;
	if (!inspect_wants(l->i))
		return 0;
	inspect_begin(l->i);
	err = inspect_add(l->i, "row");
	if (err == 0)
		err = inspect_add_key(l->i, prefix);
	if (err == 0 && (s->flags & ROW_HAS_DELETE))
		err = inspect_add(l->i, " delete");
	if (err == 0 && (s->flags & ROW_HAS_PUT))
		err = inspect_add(l->i, " put seq %llu timestamp %llu family ",
				  (unsigned long long)s->seq,
				  (unsigned long long)s->timestamp);
	/* Escaped as in a key, which those of families hardly ever are. */
	if (err == 0 && (s->flags & ROW_HAS_PUT))
		err = l->i->options->quote(s->family, &l->i->line);
	return err < 0 ? err : inspect_end(l->i);
}

static int tell_wrong(void *context, const char *name, uint64_t offset,
		      uint64_t size, const char *what)
{
	struct sst_look *l = context;

	return inspect_problem(l->i, offset, offset + size, name, what);
}

int inspect_sst(struct inspect *i, struct reader *reader,
		const struct inspect_facts *facts)
{
	struct sst_look l = { .i = i };
	const struct sst_walk walk = {
		show_format,     show_part,      show_block,
		show_properties, show_tombstone, show_entry,
		show_row,        tell_wrong,     &l
	};
	char what[100];
	int err = 0;

	if (facts->is_named && facts->size != reader->size) {
		snprintf(what, sizeof(what), "the manifest says %llu bytes",
			 (unsigned long long)facts->size);
		err = inspect_problem(i, 0, reader->size, "file", what);
	}
	if (err == 0)
		err = sst_walk(reader, &walk);
	if (err == 0)
		err = inspect_line(i, "found_blocks %llu",
				   (unsigned long long)l.block_count);
	if (err == 0)
		err = inspect_line(i, "found_entries %llu",
				   (unsigned long long)l.entry_count);
	if (err == 0)
		err = inspect_line(i, "found_tombstones %llu",
				   (unsigned long long)l.tombstone_count);
	return err < 0 ? err
		       : inspect_line(i, "found_rows_in_directory %llu",
				      (unsigned long long)l.row_count);
}
