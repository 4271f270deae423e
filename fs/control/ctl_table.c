#include "fs/control/ctl.h"
#include "fs/control/ctl_table.h"
#include "fs/query/query.h"

#define DIR_R (S_IFDIR | 0555)
#define DIR_RW (S_IFDIR | 0755)
#define FILE_R (S_IFREG | 0444)
#define FILE_W (S_IFREG | 0200)
#define FILE_RW (S_IFREG | 0644)

static const struct ctl_entry entries[] = {
	{ NODE_ROOT, ".tabletfs", NODE_INSTANCE, DIR_R },
	{ NODE_TABLE, ".at", NODE_AT, DIR_R },
	{ NODE_AT, "now", NODE_AT_TIME, DIR_R },
	{ NODE_TABLE, ".drop", NODE_DROP, DIR_R },
	{ NODE_DROP, "prefix", NODE_DROP_STEP, DIR_R },
	{ NODE_DROP, "range", NODE_DROP_STEP, DIR_R },
	{ NODE_DROP_RANGE, "preview", NODE_DROP_PREVIEW, FILE_R },
	{ NODE_DROP_RANGE, "apply", NODE_DROP_APPLY, FILE_W },
	{ NODE_INSTANCE, "help", NODE_HELP, FILE_R },
	{ NODE_INSTANCE, "version", NODE_PROGRAM_VERSION, FILE_R },
	{ NODE_INSTANCE, "stats", NODE_STATS, FILE_R },
	{ NODE_INSTANCE, "metrics", NODE_METRICS, FILE_R },
	{ NODE_INSTANCE, "errors", NODE_ERRORS, FILE_R },
	{ NODE_INSTANCE, "ctl", NODE_CTL, S_IFREG | 0600 },
	{ NODE_TABLE, ".schema", NODE_SCHEMA, DIR_RW },
	{ NODE_TABLE, ".granularity", NODE_GRANULARITY, FILE_RW },
	{ NODE_TABLE, ".import", NODE_IMPORT, DIR_R },
	{ NODE_TABLE, ".mutate", NODE_MUTATE, FILE_W },
	{ NODE_TABLE, ".scan", NODE_SCAN, DIR_R },
	{ NODE_TABLE, ".stats", NODE_TABLE_STATS, FILE_R },
	{ NODE_ROW, ".row.jsonl", NODE_ROW_JSON, FILE_RW },
	{ NODE_FAMILY, ".versions", NODE_VERSIONS, DIR_RW },
	{ NODE_SCHEMA_FAMILY, "gc", NODE_GC, FILE_RW },
	{ NODE_SCHEMA_FAMILY, "type", NODE_TYPE, FILE_RW },
	{ NODE_IMPORT, "family", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "timestamp", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "csv", NODE_IMPORT_FILE, FILE_W },
	{ NODE_IMPORT, "tsv", NODE_IMPORT_FILE, FILE_W },
	{ NODE_IMPORT, "jsonl", NODE_IMPORT_FILE, FILE_W },
	{ NODE_IMPORT, "last", NODE_IMPORT_LAST, FILE_R },
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
	{ NODE_SCAN, "keys", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "count", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "estimate", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "samples", NODE_SCAN_TEXT, FILE_R },
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
	while (*index < ENTRY_COUNT && entries[*index].parent != parent)
		++*index;
	return *index < ENTRY_COUNT ? &entries[*index] : NULL;
}

bool ctl_is_offered(struct fs *fs, struct node *directory,
		    const struct ctl_entry *entry)
{
	/* Each step once, so that a walk through them ends. */
	switch (entry->kind) {
	case NODE_SCAN:
	case NODE_SCAN_STEP:
	case NODE_IMPORT_STEP:
		return !query_has_step(fs, directory, entry->name);
	case NODE_IMPORT_LAST:
		return directory->parent->kind == NODE_TABLE;
	case NODE_IMPORT_FILE: /* steps are about CSV and TSV */
		return directory->parent->kind == NODE_TABLE ||
		       strcmp(entry->name, "jsonl") != 0;
	default:
		return true;
	}
}

mode_t ctl_mode(const struct node *node)
{
	size_t i;

	switch (node->kind) {
	case NODE_COLUMN:
	case NODE_SCHEMA_FAMILY:
		return DIR_RW;
	case NODE_CELL: /* of an aggregate */
		return FILE_RW;
	case NODE_VERSION:
	case NODE_AT_CELL:
		return FILE_R;
	case NODE_SCAN_LINK:
	case NODE_SCAN_SEGMENT:
		return S_IFLNK | 0777;
	default:
		break;
	}
	for (i = 0; i < ENTRY_COUNT; i++)
		if (entries[i].kind == node->kind)
			return entries[i].mode;
	return DIR_R;
}
