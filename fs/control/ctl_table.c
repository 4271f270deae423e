#include <assert.h>

#include "fs/cells/pin.h"
#include "fs/control/ctl_table.h"
#include "fs/query/query.h"

/* Modes before a table's access rules. FILE_W is for files that only take
 * something: reading them is refused, also to root. */
#define DIR_R (S_IFDIR | 0555)
#define DIR_RW (S_IFDIR | 0755)
#define FILE_R (S_IFREG | 0444)
#define FILE_W (S_IFREG | 0200)
#define FILE_RW (S_IFREG | 0644)

/*
 * In the order of listings. An entry's kind need not be its own: .scan and each
 * step's value are of one kind, so the same names are in all of them. What ctl
 * may do is the owner's alone, 0600, as opening the store would be, and so is
 * what is logged of it. A file of
 * .import is read by who writes it.
 */
static const struct ctl_entry entries[] = {
	{ NODE_ROOT, ".tabletfs", NODE_INSTANCE, DIR_R },
	/* The past, at.c, as_of.c; and ranges of rows to be deleted,
	 * ctl_drop.c. */
	{ NODE_TABLE, ".at", NODE_AT, DIR_R },
	{ NODE_AT, "now", NODE_AT_TIME, DIR_R },
	{ NODE_TABLE, ".as-of", NODE_AS_OF, DIR_R },
	{ NODE_AT_TIME, ".schema", NODE_AT_SCHEMA, DIR_R },
	{ NODE_AT_SCHEMA_FAMILY, "gc", NODE_AT_GC, FILE_R },
	{ NODE_AT_SCHEMA_FAMILY, "type", NODE_AT_TYPE, FILE_R },
	{ NODE_AT_FAMILY, ".versions", NODE_AT_VERSIONS, DIR_R },
	{ NODE_TABLE, ".drop", NODE_DROP, DIR_R },
	{ NODE_DROP, "prefix", NODE_DROP_STEP, DIR_R },
	{ NODE_DROP, "range", NODE_DROP_STEP, DIR_R },
	{ NODE_DROP_RANGE, "preview", NODE_DROP_PREVIEW, FILE_R },
	{ NODE_DROP_RANGE, "apply", NODE_DROP_APPLY, FILE_W },
	/* Of the mount: texts, ctl_text.c; commands, ctl_verb.c. */
	{ NODE_INSTANCE, "as-of", NODE_AS_OF, DIR_R },
	{ NODE_INSTANCE, "help", NODE_HELP, FILE_R },
	{ NODE_INSTANCE, "version", NODE_PROGRAM_VERSION, FILE_R },
	{ NODE_INSTANCE, "stats", NODE_STATS, FILE_R },
	{ NODE_INSTANCE, "metrics", NODE_METRICS, FILE_R },
	{ NODE_INSTANCE, "errors", NODE_ERRORS, FILE_R },
	{ NODE_INSTANCE, "log", NODE_LOG, S_IFREG | 0600 },
	{ NODE_INSTANCE, "ctl", NODE_CTL, S_IFREG | 0600 },
	/* Of tables, rows and families. */
	{ NODE_TABLE, ".schema", NODE_SCHEMA, DIR_RW },
	{ NODE_TABLE, ".granularity", NODE_GRANULARITY, FILE_RW },
	{ NODE_TABLE, ".import", NODE_IMPORT, DIR_R },
	{ NODE_TABLE, ".mutate", NODE_MUTATE, FILE_RW },
	{ NODE_TABLE, ".recipes", NODE_RECIPES, DIR_RW },
	{ NODE_TABLE, ".scan", NODE_SCAN, DIR_R },
	{ NODE_TABLE, ".stats", NODE_TABLE_STATS, FILE_R },
	{ NODE_TABLE, ".advice", NODE_ADVICE, FILE_R },
	{ NODE_TABLE, ".keyviz", NODE_KEYVIZ, DIR_R },
	{ NODE_KEYVIZ, "reads.tsv", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "reads.svg", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "reads.html", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "writes.tsv", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "writes.svg", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "writes.html", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "bytes.tsv", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "bytes.svg", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_KEYVIZ, "bytes.html", NODE_SCAN_EXPORT, FILE_R },
	{ NODE_ROW, ".row.jsonl", NODE_ROW_JSON, FILE_RW },
	{ NODE_FAMILY, ".versions", NODE_VERSIONS, DIR_RW },
	{ NODE_SCHEMA_FAMILY, "gc", NODE_GC, FILE_RW },
	{ NODE_SCHEMA_FAMILY, "type", NODE_TYPE, FILE_RW },
	/* Steps of .import, then its files, ctl_import.c. */
	{ NODE_IMPORT, "family", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "timestamp", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "on-error", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "resume", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "recipe", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "data", NODE_IMPORT_FILE, S_IFREG | 0600 },
	{ NODE_IMPORT, "csv", NODE_IMPORT_FILE, S_IFREG | 0600 },
	{ NODE_IMPORT, "tsv", NODE_IMPORT_FILE, S_IFREG | 0600 },
	{ NODE_IMPORT, "jsonl", NODE_IMPORT_FILE, S_IFREG | 0600 },
	{ NODE_IMPORT, "batch", NODE_IMPORT_FILE, S_IFREG | 0600 },
	{ NODE_IMPORT, "last", NODE_IMPORT_LAST, FILE_R },
	/* Steps of .scan, which query.c reads. */
	{ NODE_SCAN, "prefix", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "range", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "regex", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "limit", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "reverse", NODE_SCAN, DIR_R },
	{ NODE_SCAN, "family", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "column", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "value", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "filter", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "versions", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "since", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "until", NODE_SCAN_STEP, DIR_R },
	/* Terminals of .scan: files, ctl_scan.c; directories, listing.c. */
	{ NODE_SCAN, "keys", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "count", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "estimate", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "samples", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "explain", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "csv", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "tsv", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "jsonl", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "cbt", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "rows", NODE_SCAN_ROWS, DIR_R },
	{ NODE_SCAN, "segments", NODE_SCAN_SEGMENTS, DIR_R },
};
#define ENTRY_COUNT (sizeof(entries) / sizeof(*entries))

const struct ctl_entry *ctl_entry_at(enum node_kind parent, size_t *index)
{
	assert(*index <= ENTRY_COUNT);
	while (*index < ENTRY_COUNT && entries[*index].parent != parent)
		++*index;
	return *index < ENTRY_COUNT ? &entries[*index] : NULL;
}

/* What .import itself has, and what its steps leave. */
static bool is_offered_import(struct fs *fs, struct node *directory,
			      const struct ctl_entry *entry)
{
	bool first = directory->parent->kind == NODE_TABLE;
	bool resume = query_has_step(fs, directory, "resume");
	bool recipe = query_has_step(fs, directory, "recipe");
	bool is_data = !strcmp(entry->name, "data");

	if (entry->kind == NODE_IMPORT_LAST) /* it is the table's */
		return first;
	if (entry->kind == NODE_IMPORT_STEP) /* these two stand alone */
		return first || (!resume && !recipe &&
				 strcmp(entry->name, "resume") != 0 &&
				 strcmp(entry->name, "recipe") != 0 &&
				 !query_has_step(fs, directory, entry->name));
	if (!strcmp(entry->name, "batch") || resume)
		return resume && !strcmp(entry->name, "batch");
	if (recipe || is_data)
		return recipe;
	/* Lines of JSON tell their families and times themselves. */
	return strcmp(entry->name, "jsonl") != 0 ||
	       (!query_has_step(fs, directory, "family") &&
		!query_has_step(fs, directory, "timestamp"));
}

bool ctl_is_offered(struct fs *fs, struct node *directory,
		    const struct ctl_entry *entry)
{
	assert(entry->parent == directory->kind);
	/* Each step once, so that a walk through them (find) ends. */
	switch (entry->kind) {
	case NODE_SCAN:
	case NODE_SCAN_STEP:
		return !query_has_step(fs, directory, entry->name);
	case NODE_AT_SCHEMA:
	case NODE_AT_VERSIONS:
		return at_is_moment(directory);
	case NODE_IMPORT_STEP:
	case NODE_IMPORT_FILE:
	case NODE_IMPORT_LAST:
		return is_offered_import(fs, directory, entry);
	default:
		return true;
	}
}

mode_t ctl_mode(const struct node *node)
{
	size_t i;

	/* Kinds that have no fixed name. */
	switch (node->kind) {
	case NODE_COLUMN:
	case NODE_SCHEMA_FAMILY:
		return DIR_RW;
	case NODE_CELL: /* of an aggregate */
	case NODE_RECIPE:
		return FILE_RW;
	case NODE_VERSION:
	case NODE_AT_CELL:
	case NODE_AT_VERSION:
	case NODE_SCAN_EXPORT: /* of no listing: to look at it makes it */
		return FILE_R;
	case NODE_SCAN_LINK:
	case NODE_SCAN_SEGMENT:
	case NODE_AS_OF_LINK:
		return S_IFLNK | 0777;
	default:
		break;
	}
	for (i = 0; i < ENTRY_COUNT; i++)
		if (entries[i].kind == node->kind)
			return entries[i].mode;
	/* A step's value, or a directory of the past. */
	return DIR_R;
}
