#ifndef STORE_TEXT_WATCH_STORE_FIGURES_H
#define STORE_TEXT_WATCH_STORE_FIGURES_H

#include <stdio.h>

#include "store/store.h"
#include "store/text/watch/figures.h"

/* Of so many tables there are figures: those to which the most has come. */
#define FIGURES_TABLES 50

/* What a store tells of itself in numbers: what it has done since it was opened
 * and what it holds now. Waits for a sync of the log that is under way; of the
 * data nothing is read, of files their indexes. Any thread. */
void store_figures(struct store *s, struct figures *f);

/* Comments that follow, as people and tabletfs top read them: a line "# hot"
 * for each table that something comes to just now, with its hottest range of
 * rows. Keys are quoted. 0 or -ENOMEM. */
int store_hot_ranges(struct store *s, struct buf *out);

/* The verb metrics, and the words behind it, whoever runs it. */
#define METRICS_USAGE "metrics [ranges=yes]"

/* Runs it: prints to out the figures that add adds, and with ranges=yes what
 * store_hot_ranges does; or to err what is wrong. An exit status. */
int store_print_figures(struct store *s,
			void (*add)(void *context, struct figures *f),
			void *context, int argc, char **argv, FILE *out,
			FILE *err);

#endif
