#ifndef TOOLS_ADMIN_KEYVIZ_H
#define TOOLS_ADMIN_KEYVIZ_H

#include "tools/output/output_verb.h"

/*
 * keyviz TABLE [WORDS] [FILE]: where in the table, and when, operations have
 * reached the store; for the terminal, or as TSV, SVG or HTML by FILE's name.
 * 1 if it could not be told or written: FILE is then as it was before.
 */
int verb_keyviz(struct verb_call *c);

/* The same of a store that is mounted: the daemon draws, this writes. */
int remote_keyviz(struct verb_call *c, const struct served *served);

#endif
