#include "store/text/watch/store_figures.h"
#include "tools/admin/advise.h"
#include "tools/admin/backup.h"
#include "tools/admin/create.h"
#include "tools/admin/dump.h"
#include "tools/admin/inspect.h"
#include "tools/admin/keyviz.h"
#include "tools/admin/maintain.h"
#include "tools/admin/recipe.h"
#include "tools/admin/restore.h"
#include "tools/admin/schema.h"
#include "tools/data/delete.h"
#include "tools/data/export.h"
#include "tools/import/import.h"
#include "tools/import/key.h"
#include "tools/data/read.h"
#include "tools/data/set.h"
#include "tools/help.h"
#include "tools/mount/mount.h"
#include "tools/mount/mount_help.h"
#include "tools/mount/mounts.h"
#include "tools/mount/umount.h"
#include "tools/past/diff.h"
#include "tools/past/history.h"
#include "tools/past/purge.h"
#include "tools/past/restore.h"
#include "tools/past/undelete.h"
#include "tools/serve/verb/serve.h"
#include "tools/verb/verb.h"
#include "tools/watch/metrics.h"
#include "tools/watch/top.h"

/*
 * The verbs by name, in the order in which help lists them. What help says of
 * each stands here, but for mount's options (mount_help.h), and comes from here
 * to the manual page (tools/package/man) and to completion, which offers what
 * tools/words.h reads off usage and help; the table in tools/README.md names
 * them, too. Words are cbt's where cbt has the verb.
 *
 * Each: name, flags (enum verb_flags), usage, summary, help, function. Help
 * lines end with a newline and have 70 columns at most. One that begins with
 * two blanks and word= is of that word, or of several.
 */
const struct verb verbs[] = {
	{ "addtocell", 0,
	  "addtocell <table> <row> [app-profile=<app profile id>] "
	  "family:[column]=val[@ts] ...",
	  "Add a value to an aggregate cell (write)",
	  "  <family>:<column>=<val>[@<timestamp>] may be repeated; all are\n"
	  "  added at once or not at all. The value is an integer. Without a\n"
	  "  timestamp each call makes a version of its own.\n"
	  "\n"
	  "To a sum, which wraps around at 64 bits, a least or greatest\n"
	  "number, or a count of different ones, which is an estimate:\n"
	  "beyond some thousand it may be wrong by about 1 %.\n"
	  "\n"
	  "    Example: tabletfs addtocell table1 user1 sum_cf:col1=1@12345\n",
	  verb_addtocell },
	{ "advise", VERB_READS, "advise <table>",
	  "Tell what in a table's data speaks against its schema",
	  "Prints what was looked at, and for each rule a line that begins\n"
	  "with ok, or with advice, which has a figure and a sample; behind\n"
	  "it stand why that matters, here or only on Bigtable, what to do,\n"
	  "and the line of a recipe that does it. The rules: size of rows and\n"
	  "cells, length of keys and of names, number of families, versions\n"
	  "without a policy, a row that is written again and again, numbers\n"
	  "in keys that are not padded, keys that rise with time, many small\n"
	  "tables alike. A table of up to half a million rows is read, of\n"
	  "others stretches. The exit status is 0 also with advice.\n"
	  "\n"
	  "    Example: tabletfs advise events | grep -A 3 ^advice\n",
	  verb_advise },
	{ "backup", VERB_OUTSIDE, "backup <dir> [keep=<n>] [link=yes|no]",
	  "Add a copy of the store to a directory of backups",
	  "Makes, in <dir>, a store with all that was written before, named\n"
	  "after its moment, of which <dir>/latest is the newest. <dir> is\n"
	  "made if it is not there, and belongs to one store. What the backup\n"
	  "before has already is not copied: the file gets another name. A\n"
	  "mount goes on meanwhile, and keeps what is to be copied until this\n"
	  "command has done so. What is copied is read back. If it fails, or\n"
	  "is killed, <dir> has the backups that it had.\n"
	  "  keep  So many are kept, and older ones removed; without it all\n"
	  "  link  yes: files may be the store's own, where <dir> is on the\n"
	  "        same file system; that is quick, but no second copy\n"
	  "\n"
	  "A backup is looked at as any store, with -store or mount -o ro;\n"
	  "once it is written to it is a store of its own. rm -r of one of\n"
	  "them harms no other. See backups and restore-from.\n"
	  "\n"
	  "    Example: tabletfs backup /backup/mystore keep=7\n",
	  verb_backup },
	{ "backups", VERB_NO_STORE | VERB_OUTSIDE,
	  "backups <dir> [verify=yes|no]", "List the backups in a directory",
	  "A line for each, oldest first: its moment, its size, and what of\n"
	  "it only it has, in bytes: so much its removal would free; and if\n"
	  "it was written to since, is damaged or cannot be read, that.\n"
	  "  verify  yes: all files are read, each once, and compared with\n"
	  "          what was backed up; the exit status is 1 if one is not\n"
	  "          what it was\n",
	  verb_backups },
	{ "check", VERB_READS, "check", "Read the whole store and check it",
	  "Reads all files: sums, order, sizes, of a backup also its digests.\n"
	  "Prints each problem; the exit status is 1 if there is one.\n",
	  verb_check },
	{ "compact", 0, "compact [<table>]",
	  "Rewrite all data into the fewest files",
	  "Merges all files of a table, or of all, and drops what was deleted\n"
	  "or is hidden by garbage-collection policies.\n",
	  verb_compact },
	{ "count", VERB_READS,
	  "count <table> [prefix=<row-key-prefix>] [as-of=<time>]",
	  "Count rows in a table",
	  "  key= start= after= end= through= prefix= [or] regex= filter=\n"
	  "  as-of=\n"
	  "    Are those of read: rows that it would show are counted.\n",
	  verb_count },
	{ "create", VERB_NO_STORE | VERB_OUTSIDE, "create [<dir>]",
	  "Make an empty store",
	  "Makes <dir>, which must be new or empty, a store without tables;\n"
	  "the directory that holds it must be there. Without <dir> it is the\n"
	  "one that -store or TABLETFS_STORE names. Says nothing if all is\n"
	  "well; if it fails, nothing is left behind.\n"
	  "\n"
	  "    Example: tabletfs create /var/lib/mystore\n",
	  verb_create },
	{ "createfamily", 0, "createfamily <table> <family>",
	  "Create a column family",
	  "The family may be given as <family>:<gcpolicy>:<type>, as in\n"
	  "createtable.\n",
	  verb_createfamily },
	{ "createtable", VERB_CREATES,
	  "createtable <table> [families=family[:gcpolicy[:type]],...] "
	  "[splits=split,...] [granularity=micros|millis]",
	  "Create a table",
	  "  families     Column families with their garbage-collection\n"
	  "               policies (see setgcpolicy) and types: intsum,\n"
	  "               intmin, intmax, inthll, stringutf8bytes.\n"
	  "               Quote policies with && or || for the shell.\n"
	  "  splits       Taken and ignored: a table has no tablets here.\n"
	  "  granularity  Of timestamps; micros, if not given. millis, as\n"
	  "               Bigtable's, refuses others.\n"
	  "\n"
	  "    Example: tabletfs createtable mobile-time-series \\\n"
	  "      \"families=stats_summary:maxage=10d||maxversions=1,detail\"\n",
	  verb_createtable },
	{ "deleteallrows", 0, "deleteallrows <table>", "Delete all rows", "",
	  verb_deleteallrows },
	{ "deletecolumn", 0,
	  "deletecolumn <table> <row> <family> <column> "
	  "[app-profile=<app profile id>]",
	  "Delete all cells in a column", "", verb_deletecolumn },
	{ "deletefamily", 0, "deletefamily <table> <family>",
	  "Delete a column family",
	  "Removes the family and its cells from all rows, for good.\n",
	  verb_deletefamily },
	{ "deleterow", 0,
	  "deleterow <table> <row> [app-profile=<app profile id>]",
	  "Delete a row", "", verb_deleterow },
	{ "deleterows", 0,
	  "deleterows <table> prefix=<prefix> | [start=<row>] [end=<row>]",
	  "Delete a range of rows",
	  "  prefix  Rows whose keys begin so; it must not be empty\n"
	  "  start   From this row on\n"
	  "  end     Before this row\n"
	  "\n"
	  "One write, however many rows there are.\n",
	  verb_deleterows },
	{ "deletetable", 0, "deletetable <table>", "Delete a table",
	  "Removes the table with all its rows, for good.\n",
	  verb_deletetable },
	{ "diff", VERB_READS | VERB_ANSWERS,
	  "diff <table> from=<time> [to=<time>]",
	  "Show what has changed in a table since",
	  "A line for each version of a cell: - what there was at from and\n"
	  "not at to, or + what is the other way round; of a value that\n"
	  "differs both. Without to it is now. Times are those of read's\n"
	  "as-of. Both are read to their end. The exit status is 0 if nothing\n"
	  "differs, 1 if anything does, 2 if it could not be told.\n"
	  "  key= start= after= end= through= prefix= [or]\n"
	  "    Are those of read: only these rows.\n"
	  "\n"
	  "    Example: tabletfs diff users from=10m prefix=a\n",
	  verb_diff },
	{ "dump", VERB_READS | VERB_STOPS, "dump [<file>] [as-of=<time>]",
	  "Write all that the store shows to one file",
	  "What all tables hold at one moment, policies and types included,\n"
	  "as text, from which load makes a store that shows the same. With\n"
	  "the suffix .gz, .lz4, .zst, .xz or .bz2 it is compressed; without\n"
	  "<file> it goes to standard output. A mount goes on meanwhile. If\n"
	  "it fails, <file> is as it was; its last line tells that it is\n"
	  "whole.\n"
	  "  as-of  Not now but then, as of read\n"
	  "\n"
	  "    Example: tabletfs -store /srv/store dump /backup/today.zst\n",
	  verb_dump },
	{ "export", VERB_READS | VERB_STOPS,
	  "export <table> [<file>|-] [format=csv|tsv|jsonl] "
	  "[layout=long|wide] [bytes=plain|base64] [args ...]",
	  "Write rows for other programs",
	  "  format  By the file's suffix if not given, else csv. Suffixes\n"
	  "          .gz, .lz4, .zst, .xz and .bz2 behind it compress.\n"
	  "  layout  long is a line for each version: row, family, qualifier,\n"
	  "          timestamp, value. wide is a line for each row, with a\n"
	  "          column for each family:qualifier, of which the newest\n"
	  "          version: those that columns= names, in its order, or\n"
	  "          all, for which the table is read twice; 4096 at most.\n"
	  "  bytes   base64 makes every field base64, as import takes it.\n"
	  "\n"
	  "  key= start= after= end= through= prefix= [or] regex= reversed=\n"
	  "  columns= count= cells-per-column= keys-only= filter= as-of=\n"
	  "    Are those of read: which rows, columns and versions.\n"
	  "\n"
	  "Aggregates are numbers in CSV\n"
	  "and TSV, and states in JSON lines. In CSV no value is an empty\n"
	  "field, and an empty value is \"\". <file> gets its name when it is\n"
	  "whole; if it fails, <file> is as it was.\n"
	  "\n"
	  "    Example: tabletfs export zips ca.csv.gz layout=wide prefix=CA\n",
	  verb_export },
	{ "help", VERB_NO_STORE, "help [<command>|<topic>]", "Print help text",
	  "Of a command all that it takes; of a topic a page; of neither what\n"
	  "there is of both. -words <command> prints what may stand behind\n"
	  "it, for completion.\n",
	  verb_help },
	{ "history", 0, "history [<time>|off] [max=<bytes>]",
	  "Keep the recent past, for restore and undelete",
	  "<time>, such as 24h: from now on what was deleted or overwritten\n"
	  "can be read and brought back for so long, at each second of the\n"
	  "last ten minutes, at each minute before. It takes space, which the\n"
	  "oldest gives back when there is too much of it, or the disk gets\n"
	  "full. off ends it and gives back its space. A new store keeps 24h.\n"
	  "Without words: setting, bytes, oldest moment, up to which lost.\n"
	  "  max=<bytes>  Its files take no more, such as 4G, but for a while\n"
	  "               what a restore reads, large values of the past\n"
	  "               included; if not given, as much as all others took\n"
	  "               at most within that time, and 256M at least\n"
	  "\n"
	  "    Example: tabletfs history 48h max=4G\n",
	  verb_history },
	{ "import", VERB_OUTSIDE | VERB_STOPS,
	  "import <table> <input-file>|- [format=csv|tsv|jsonl] "
	  "[column-family=<family-name>] [timestamp=now|value-encoded]",
	  "Batch write many rows based on the input file",
	  "  format         By the file's suffix if not given, else csv.\n"
	  "  column-family  The one family; the file then has no row of\n"
	  "                 families.\n"
	  "  timestamp      now gives all cells one time. With value-encoded\n"
	  "                 a value may end with @<microseconds>.\n"
	  "  quiet=yes      No progress; else it is a bar on a terminal, or a\n"
	  "                 line every ten seconds.\n"
	  "  batch-size= workers= app-profile=  Taken and ignored\n"
	  "\n"
	  "A CSV file begins with a row of families (each covers the empty\n"
	  "fields to its right) and a row of qualifiers, both with an empty\n"
	  "first field. A row of data is a row key and values; an empty field\n"
	  "is no cell. JSON lines are row mutations, one a line.\n"
	  "\n"
	  "A line that is wrong is refused and told with its number; the rest\n"
	  "goes on. The exit status is 1 if any line was refused. The file\n"
	  "may be compressed by gzip, lz4, zstd, xz or bzip2.\n"
	  "\n"
	  "Or by a recipe:\n"
	  "tabletfs import <table> <input-file>|- ... [recipe=<file>|<name>]\n"
	  "  [<word>=<rest>] ...\n"
	  "\n"
	  "With a key the files are CSV or TSV with one header, JSON lines or\n"
	  "a JSON array, whose records become rows by a recipe: the lines of\n"
	  "recipe=, which is a file or, if there is no such file, one that is\n"
	  "stored with the table (see recipe), and words, of which\n"
	  "<word>=<rest> is the line <word> <rest>.\n"
	  "  recipe=<file>|<name>\n"
	  "  key='{state}#{zip}'      The row; several make several rows\n"
	  "  at='{when|time}'         The time of its cells; '{date}T{time}'\n"
	  "  set='family:name {f}'    A cell\n"
	  "  rest=<family>            Each field that nothing else names\n"
	  "  add='family:name 1'      To a family of aggregates\n"
	  "  skip='{quality} = bad'   = != < > ~ exists empty\n"
	  "  explode='{items}'        Of JSON: a record for each element, or\n"
	  "                           member {$name}, with {items.sku} etc.\n"
	  "  format=csv|tsv|jsonl|json|dynamodb|control\n"
	  "                           control: as /var/lib/dpkg/status\n"
	  "  header=yes|no|names:<a>,<b>,...\n"
	  "  delimiter= quote= comment=  Bytes of CSV\n"
	  "  short=absent             Lines may end early\n"
	  "  bytes=base64             All fields of CSV and TSV are so\n"
	  "  zone=<+02:00>            Of times that tell none\n"
	  "Fields go through functions, as {url|part(3,/)|reverse_domain};\n"
	  "an unknown one is answered with all that there are, and\n"
	  "tools/README.md tells what they do. Besides:\n"
	  "  dry-run=<n>       Print the first rows, and write nothing\n"
	  "  rejects=<file>    Gets the records that are refused, as they\n"
	  "                    stand behind their header, and <file>.reasons\n"
	  "                    a line on each\n"
	  "  duplicates=replace|refuse  Of cells that came before\n"
	  "  on-error=refuse|stop\n"
	  "  resume=<name>     Go on where it ended, as below\n"
	  "\n"
	  "With resume the same command, when it was stopped or when lines\n"
	  "have come to the file, goes on behind the last line that is in;\n"
	  "how far that is says the row <name> of the table _imports, in a\n"
	  "column for each table, and deleterow _imports <name> forgets all.\n"
	  "The exit status is 0 if all is in, 1 if records were refused, 2 if\n"
	  "it did not come to its end: then the last line that is in is told.\n"
	  "\n"
	  "    Example: tabletfs import zips zips.csv key='{state}#{zip}' \\\n"
	  "      set='place:city {city|trim}' rest=stats dry-run=3\n",
	  verb_import },
	{ "inspect", VERB_NO_STORE | VERB_OUTSIDE,
	  "inspect [<path>] [entries=<true|false>] [count=<n>] "
	  "[kind=sst|log|edits|blob|root|marker|lock|heat|spare]",
	  "Show what a file of a store holds, and where it is damaged",
	  "<path> is a file of a store, wherever it was copied to, or the\n"
	  "directory of a store; without it the store of -store. Nothing is\n"
	  "locked or changed, and the store need not open: it may be mounted\n"
	  "or damaged. Prints what the file consists of; of a directory a\n"
	  "line for each file, and what it is to the store. The exit status\n"
	  "is 1 if anything is wrong.\n"
	  "\n"
	  "  entries  Also each entry, change or chunk, without its value\n"
	  "  count    Only so many of each file; entries is then true\n"
	  "  kind     What the file is, if neither its name nor its content\n"
	  "           tell\n"
	  "\n"
	  "A line that begins with \"problem\" is damage, with the file, the\n"
	  "bytes from and to, the part, and what is wrong; one with \"note\"\n"
	  "is none, such as the torn tail that a crash leaves of a log.\n"
	  "\n"
	  "    Example: tabletfs inspect /srv/store/00000001-00000002.sst\n",
	  verb_inspect },
	{ "key", VERB_NO_STORE | VERB_OUTSIDE | VERB_READS,
	  "key [<table>] [recipe=<file>|<name>] [key=<template>] "
	  "[zone=<zone>] <field>=<value> ...",
	  "Print the row keys that a recipe makes",
	  "Of a record with these fields, as import would, a line for each\n"
	  "key: so that salted, hashed and reversed keys are found again.\n"
	  "With a table the recipe may be one that is stored with it.\n"
	  "\n"
	  "    Example: tabletfs key recipe=readings.recipe station=x \\\n"
	  "      when=2026-01-05T10:11\n",
	  verb_key },
	{ "keyviz", VERB_READS,
	  "keyviz <table> [metric=reads|writes|bytes] [from=<time>] "
	  "[to=<time>] [key=<prefix>] [<file>.svg|.html|.tsv]",
	  "Draw where in a table operations happen, and when",
	  "Time goes across, row keys down; the brighter, the more a second.\n"
	  "A row of the picture stands for about as many rows of the table\n"
	  "as another, but where much comes to few, these have their own.\n"
	  "  metric  reads: lookups, and blocks of 16 KiB of scans (reads);\n"
	  "          writes: changes, and such of bulk loads; bytes: of both\n"
	  "  from    2026-01-05T10:11:12Z, microseconds since 1970, or 90m\n"
	  "          for that long ago; without it, the last hour, or if that\n"
	  "          has nothing, all that there is, two weeks at most\n"
	  "  to      The same; now, without it\n"
	  "  key     Only rows that begin so\n"
	  "  <file>  A picture as SVG, or a page that shows key, time and\n"
	  "          value under the pointer and zooms; .tsv for other\n"
	  "          programs. A text without it, with colours on a terminal\n"
	  "          unless NO_COLOR is set\n"
	  "  colour=yes|no width=<n> lines=<n>\n"
	  "          How that text looks\n"
	  "\n"
	  "Samples of what reaches the store are kept: of the last five\n"
	  "minutes by the second, unless the store was closed since, then by\n"
	  "the minute, from an hour on by the quarter of an hour. What the\n"
	  "kernel answers from its caches never reaches it, so a file that\n"
	  "is read a million times on a mount may be one read.\n"
	  "\n"
	  "    Example: tabletfs keyviz events metric=writes week.html\n",
	  verb_keyviz },
	{ "load", VERB_NO_STORE | VERB_OUTSIDE | VERB_STOPS,
	  "load <file>|- <dir>", "Make a store of what dump has written",
	  "Makes <dir>, which must not be there yet, a store that shows what\n"
	  "the dumped one did. It is built as <dir>.partial and gets its name\n"
	  "when it is whole: of a dump that is cut off or damaged nothing is\n"
	  "left but a sentence that names the line. <file> may be compressed\n"
	  "by gzip, lz4, zstd, xz or bzip2. Prints how much it was.\n"
	  "\n"
	  "    Example: tabletfs load /backup/today.zst /srv/new\n",
	  verb_load },
	{ "lookup", VERB_READS,
	  "lookup <table> <row> [columns=<family:qualifier>...] "
	  "[cells-per-column=<n>] [filter=<filter>] "
	  "[app-profile=<app profile id>]",
	  "Read from a single row",
	  "  key=<row>         Another row; as many as wanted, which come in\n"
	  "                    the order of their keys, without missing ones\n"
	  "  columns           Only these, comma-separated\n"
	  "  cells-per-column  Only so many versions of each column\n"
	  "  filter            Only what this lets pass, as in read\n"
	  "  as-of=<time>      Not now but then, as in read\n"
	  "  keys-only=true    Leave values out\n"
	  "  include-stats=full  Add a summary\n",
	  verb_lookup },
	{ "ls", VERB_READS, "ls [<table>]", "List tables and column families",
	  "The names of tables, or the families of one; behind those it says\n"
	  "if the table is protected against deletion (protect).\n",
	  verb_ls },
	{ "metrics", VERB_READS, METRICS_USAGE,
	  "Print figures of the store for Prometheus",
	  "What the store has done since it was opened and what it holds now,\n"
	  "in Prometheus's text format; of one that is mounted or served also\n"
	  "how long requests took, as .tabletfs/metrics of a mount has it.\n"
	  "For Prometheus itself use metrics-file= of mount and serve.\n"
	  "  ranges  yes: behind them a comment for each table that something\n"
	  "          comes to just now, with the range of its rows that has\n"
	  "          the most\n"
	  "\n"
	  "    Example: tabletfs metrics | grep stall\n",
	  verb_metrics },
	{ "mount", VERB_NO_STORE | VERB_OUTSIDE,
	  "mount [-f] [-o <options>] [<store>] <dir>",
	  "Show the store as files", MOUNT_HELP, verb_mount },
	{ "mounts", VERB_NO_STORE | VERB_OUTSIDE, "mounts",
	  "List what is mounted here",
	  "A line for each mount that this process sees, of any store, bind\n"
	  "mounts included, with tabs between its columns:\n"
	  "  store  The directory\n"
	  "  place  Where it is mounted\n"
	  "  pid    Of the daemon\n"
	  "  since  When that began, as 2026-01-05T10:11:12+01:00\n"
	  "  note   Only if pid and since are not known and shown as -: why,\n"
	  "         and what to do, as for a daemon that died\n"
	  "\n"
	  "Blanks, control characters and backslashes in store and place are\n"
	  "\\ooo, in octal. No mount is waited for longer than two seconds,\n"
	  "even if its daemon hangs.\n"
	  "\n"
	  "    Example: tabletfs mounts | cut -f 2\n",
	  verb_mounts },
	{ "mutate", VERB_ANSWERS, "mutate <table> <json> ...",
	  "Apply row mutations, with conditions, from JSON",
	  "Each argument is one atomic row mutation as .mutate takes it:\n"
	  "set, delete, add, merge, append, increment, if, else; fs/README.md\n"
	  "has all of it. Prints matched or not matched for an if, and the\n"
	  "cells that append and increment made. It ends at one that is\n"
	  "wrong, or whose condition does not hold and which has no else;\n"
	  "what comes before stays. The exit status is 0, 1 if a condition\n"
	  "did not hold, 2 if anything was wrong.\n"
	  "\n"
	  "    Example: tabletfs mutate t '{\"row\": \"r3\",\n"
	  "      \"if\": {\"family\": \"lock\", \"qualifier\": \"owner\",\n"
	  "      \"absent\": true},\n"
	  "      \"set\": {\"lock\": {\"owner\": \"w7\"}}}'\n",
	  verb_mutate },
	{ "protect", 0, "protect <table> [on|off|yes|no]",
	  "Protect a table, not its rows, against deletion",
	  "on: nobody drops or renames the table, drops a family of it or\n"
	  "deletes all its rows at once, not by a command, a client, rmdir or\n"
	  "mv, until it is off again. Rows and ranges of them can be deleted.\n"
	  "yes and no are the same. Without any it tells which it is.\n",
	  verb_protect },
	{ "purge", 0, "purge <table> key=<row> | prefix=<prefix> | rows=all",
	  "Erase rows for good, from history too",
	  "Deletes rows, and leaves nothing of them in any file of the store:\n"
	  "no restore brings them back. Once more ends what failed. Backups\n"
	  "are not touched, nor what was copied: see help undo.\n"
	  "  key= start= after= end= through= prefix= [or]  As those of read\n"
	  "  rows=all                                       All of them\n",
	  verb_purge },
	{ "read", VERB_READS, "read <table> [args ...]", "Read rows",
	  "  start=<row-key>        Start reading at this row\n"
	  "  end=<row-key>          Stop reading before this row\n"
	  "  prefix=<prefix>        Read rows with this prefix\n"
	  "  after=<row-key>        Start reading behind this row\n"
	  "  through=<row-key>      Stop reading behind this row\n"
	  "  key=<row-key>          Read this row; as many as wanted\n"
	  "  [or]                   Another range: start=a end=b or prefix=c\n"
	  "  regex=<regex>          Read rows with keys matching this regex\n"
	  "  reversed=<true|false>  Read rows in reverse order\n"
	  "  columns=<family>:<qualifier>,...  Only these; regexes both\n"
	  "  count=<n>              Read only this many rows\n"
	  "  page=first|<token>     Where count left rows, print page=<token>\n"
	  "                         on standard error, which with the same\n"
	  "                         other words reads what comes next\n"
	  "  cells-per-column=<n>   Only so many versions of each column\n"
	  "  keys-only=<true|false> Leave values out\n"
	  "  include-stats=full     Add a summary\n"
	  "  explain=yes            Not the rows, but how they are read and\n"
	  "                         what that costs: ranges, files, blocks,\n"
	  "                         cells passed, time\n"
	  "  filter=<filter>        Only what this lets pass, such as\n"
	  "      \"chain(family_name_regex('f'), timestamp_range(0, 5000))\";\n"
	  "      the names are Bigtable's, tools/README.md has them all\n"
	  "  as-of=<time>           What was there then, deleted or not: 5m,\n"
	  "                         2h ago, 2026-01-05T10:11:12Z; as far back\n"
	  "                         as history is kept (see history)\n"
	  "\n"
	  "A row in several keys and ranges comes once.\n"
	  "\n"
	  "    Example: tabletfs read mobile-time-series prefix=phone\n",
	  verb_read },
	{ "recipe", 0,
	  "recipe <table> [show <name> | set <name> <file>|- | rm <name>]",
	  "Keep recipes of import with a table",
	  "Lists the recipes that are stored with the table; shows one, sets\n"
	  "it to what a file holds, or removes it. What is no recipe is not\n"
	  "set. A stored recipe goes with its table through renames, backups\n"
	  "and dumps, is at <table>/.recipes/<name> in a mount, and is what\n"
	  "import <table> <file> recipe=<name> means if no file has that\n"
	  "name; in a mount, what is written to\n"
	  "<table>/.import/recipe/<name>/data becomes rows by it.\n"
	  "\n"
	  "    Example: tabletfs recipe readings set daily daily.recipe\n",
	  verb_recipe },
	{ "repair", VERB_NO_STORE | VERB_OUTSIDE, "repair <dir>",
	  "Make a new store of what can be read of a damaged one",
	  "Reads every file of the store, which nobody may write to, and\n"
	  "makes <dir>, which must not be there yet, a store of all that is\n"
	  "whole. Prints a line for each thing that is lost: the file, the\n"
	  "place in it, why, and between which rows; and for each file that\n"
	  "is of no use, or may be of none, and is left out. The damaged\n"
	  "store stays as it is. Files that are whole are linked, where the\n"
	  "file system can. History is left out, and told of in one line:\n"
	  "what was deleted or overwritten cannot be read in <dir>, which\n"
	  "begins to keep it anew. Then look at <dir>, and put it in the\n"
	  "store's place:\n"
	  "    mv <store> <store>.damaged && mv <dir> <store>\n",
	  verb_repair },
	{ "restore", 0,
	  "restore <table> as-of=<time> [prefix=<row-key-prefix>]",
	  "Make rows again what they were",
	  "Of all rows, or of those that the words say, with what history\n"
	  "has: what was deleted or overwritten since comes back, with its\n"
	  "timestamps; what came since goes. Only what differs is written,\n"
	  "by one commit a row, so that who reads meanwhile never sees half\n"
	  "a row, and history shows it, too: a restore can be undone by\n"
	  "another. A row in which more than some 98,000 versions or 200 MiB\n"
	  "differ takes several commits. Aggregates are what they were, not\n"
	  "added to. A family that was dropped is made again; without words\n"
	  "about rows, policies are again what they were, which is told, as\n"
	  "are families made since, which stay. What expired stays away.\n"
	  "  as-of  As of read: 5m, oldest, 2026-01-05T10:11:12Z\n"
	  "  key= start= after= end= through= prefix= [or]\n"
	  "    Are those of read: only these rows.\n"
	  "\n"
	  "What is not written by then goes on when it is run again with the\n"
	  "same absolute time. See undelete for tables, diff for what there\n"
	  "is to restore, restore-from for backups.\n"
	  "\n"
	  "    Example: tabletfs restore users as-of=10m prefix=alice\n",
	  verb_restore },
	{ "restore-from", VERB_NO_STORE | VERB_OUTSIDE | VERB_STOPS,
	  "restore-from <dir>[@<moment>] <store> [table=<table> [as=<name>]]",
	  "Make a store, or a table of one, of a backup",
	  "Makes <store>, which must not be there yet, of the newest backup\n"
	  "in <dir>, or of the newest whose moment begins so; <dir> may be a\n"
	  "backup itself. All of it is copied, read back and compared with\n"
	  "what was backed up. If it fails, nothing is left behind.\n"
	  "  table  This table is restored into <store>, which is there, and\n"
	  "         may be mounted or served: with its families, policies,\n"
	  "         types, attributes and all versions\n"
	  "  as     The name that it is to have, if not its own. One that is\n"
	  "         taken is refused. Until it is whole it is <name>.partial\n"
	  "\n"
	  "    Example: tabletfs restore-from /backup/mystore@20260105 new\n",
	  verb_restore_from },
	{ "restore-piece", VERB_INNER,
	  "restore-piece begin|more|end|drop <words>", "Part of restore-from",
	  "For restore-from alone.\n", verb_restore_piece },
	{ "samplekeys", VERB_READS, "samplekeys <table>",
	  "Show rows that part a table into pieces of about one size",
	  "A line for each: the bytes stored before it, and its key; last the\n"
	  "bytes of all. Pieces are files, so a small table is one.\n",
	  verb_samplekeys },
	{ "serve", VERB_NO_STORE | VERB_OUTSIDE,
	  "serve [<store>] [listen=<address>] [users=own|all] "
	  "[insecure=yes|no] [sync=yes|no] [slow=<time>] "
	  "[metrics-file=<path>] [log-to=stderr] [inject=<faults>]",
	  "Serve the store to Bigtable's clients",
	  "Prints the line that has clients come here, as they come to\n"
	  "Google's emulator, and serves until SIGTERM or ^C. The store is\n"
	  "made if it is missing; what is written stays.\n"
	  "  listen    127.0.0.1:8086 if not given; :0 takes a free port,\n"
	  "            unix:<path> a socket\n"
	  "  users     own: connections of other users are refused\n"
	  "  insecure  yes allows an address that other machines reach; who\n"
	  "            connects there owns the store\n"
	  "  sync      yes: durable before it is answered, else within a\n"
	  "            second\n"
	  "  slow      Calls that take so long are told in LOG, with what\n"
	  "            they had to read: 100ms if not given; 0 tells none\n"
	  "  log-to    stderr: what LOG tells goes there, too, as systemd's\n"
	  "            journal reads it\n"
	  "  metrics-file  Figures for Prometheus, each 10 s, in a file\n"
	  "            <name>.prom of node_exporter's textfile directory\n"
	  "  inject    Faults, to try the retries of clients: of a method\n"
	  "            the share of calls that end by a code of gRPC without\n"
	  "            having done anything, and how long each waits first:\n"
	  "            MutateRow:unavailable=1%,latency=50ms;*:internal=0.1%\n"
	  "256 connections with 100 calls each, a request of up to 257 MiB.\n"
	  "\n"
	  "    Example: tabletfs serve /var/lib/mystore listen=:0\n",
	  verb_serve_store },
	{ "set", 0,
	  "set <table> <row> [app-profile=<app profile id>] "
	  "family:[column]=val[@ts] ...",
	  "Set value of a cell (write)",
	  "  <family>:<column>=<val>[@<timestamp>] may be repeated; all are\n"
	  "  written at once or not at all. The timestamp is an integer of\n"
	  "  microseconds since 1970; if what follows the last @ is none, it\n"
	  "  is part of the value.\n"
	  "\n"
	  "    Example: tabletfs set mobile-time-series phone#4c410523 \\\n"
	  "      stats_summary:os_name=android stats_summary:cell=1@12345\n",
	  verb_set },
	{ "setgcpolicy", 0,
	  "setgcpolicy <table> <family> ((maxage=<d> | maxversions=<n>) "
	  "[(and|or) (maxage=<d> | maxversions=<n>),...] | never) [force]",
	  "Set the garbage-collection policy (age, versions) for a column "
	  "family",
	  "  maxage=<d>       Greatest age to keep; units: us ms s m h d\n"
	  "  maxversions=<n>  Most versions to keep\n"
	  "  force            Taken and ignored\n"
	  "\n"
	  "and, or have no precedence: they go from left to right.\n",
	  verb_setgcpolicy },
	{ "setvaluetype", 0, "setvaluetype <table> <family> <type>",
	  "Update column family's value type",
	  "  type  stringutf8bytes, or bytes for none. An aggregate type\n"
	  "        stays what it is.\n",
	  verb_setvaluetype },
	{ "stats", VERB_READS, "stats", "Print figures of the store", "",
	  verb_stats },
	{ "sync", 0, "sync", "Make durable what was written", "", verb_sync },
	{ "top", VERB_NO_STORE | VERB_OUTSIDE | VERB_STOPS,
	  "top [-b] [-n <rounds>] [-d <seconds>] [<store>|<dir>]",
	  "Show what a mounted or served store is doing",
	  "What writers wait for, tables and the range of rows that is the\n"
	  "hottest in each, requests and calls with their times, the\n"
	  "background and its debt, levels, cache, and who holds how much\n"
	  "memory; rates are of the time since the last round.\n"
	  "  <store>   A store or where it is mounted; without it that of\n"
	  "            -store\n"
	  "  -b        No terminal: lines for scripts, whose first word says\n"
	  "            what they are, and numbers without units\n"
	  "  -n        So many rounds; without it until ^C\n"
	  "  -d        Seconds between rounds (2)\n"
	  "NO_COLOR leaves colours away.\n"
	  "\n"
	  "    Example: tabletfs top -b -n 1 /mnt/tables | grep ^table\n",
	  verb_top },
	{ "umount", VERB_NO_STORE | VERB_OUTSIDE, "umount <dir>",
	  "End a mount cleanly", "", verb_umount },
	{ "undelete", 0, "undelete <dropped> [as=<name>] [as-of=<time>]",
	  "Bring a dropped table back",
	  "With all rows and all that it was at the last moment of history\n"
	  "that has it, and its last owner and mode. Prints the moment.\n"
	  "  as  The name that it is to have, if not its own. One that is\n"
	  "      taken is refused. Until it is whole it is <name>.partial\n"
	  "  as-of  Of several that were dropped, and of what it was, the\n"
	  "      last up to this time, as in read; after rm -r, which deletes\n"
	  "      the rows before the table, a time before that\n"
	  "\n"
	  "    Example: tabletfs undelete users\n",
	  verb_undelete },
	{ "version", VERB_NO_STORE, "version", "Print the version", "",
	  verb_version },
	{ "waitforreplication", 0, "waitforreplication <table>",
	  "Make durable what was written",
	  "For scripts written for cbt: there are no replicas, so this is\n"
	  "sync.\n",
	  verb_waitforreplication },
	{ NULL, 0, NULL, NULL, NULL, NULL },
};
