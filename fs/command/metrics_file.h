#ifndef FS_COMMAND_METRICS_FILE_H
#define FS_COMMAND_METRICS_FILE_H

#include "store/text/watch/figures.h"

/*
 * Figures in a file, for the textfile directory of Prometheus' node_exporter,
 * which cannot read a mount. The file is replaced by a rename, so that whoever
 * reads it has one moment's, and it goes with the server, so that nobody takes
 * old figures for new ones. Only the directory is opened, once, by who starts
 * the server; what is at its name later does not matter. Samples have the label
 * store="the store's path", as a directory may have the files of several.
 *
 * Whoever writes it has a lock on it (flock), so that no two write one file in
 * turn.
 *
 * One thread at a time uses it; metrics_writer.h has that thread.
 */
struct metrics_file;

/* path ends in .prom, as node_exporter reads no others; store is a full path.
 * Both are copied. 0 or an error with its sentence: -ERR_bad_argument of
 * another name, of one that is a directory or that another process writes, of a
 * directory that is missing, takes no file, or is one of a tabletfs mount: that
 * could not be unmounted, and each writing would be a change of its data. */
int metrics_file_open(const char *path, const char *store,
		      struct metrics_file **out);

/* Takes what print tells, which metrics_file_write writes then. */
void metrics_file_print(struct metrics_file *m,
			void (*print)(void *context, struct figures *f),
			void *context);

/* 0 or an error with its sentence: then the file is as it was, and to be told
 * only if it is another one than the last time, which *is_new says. */
int metrics_file_write(struct metrics_file *m, bool *is_new);

/* Removes the file, if it is one that this has written. NULL is allowed. */
void metrics_file_close(struct metrics_file *m);

#endif
