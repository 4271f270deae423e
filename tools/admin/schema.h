#ifndef TOOLS_ADMIN_SCHEMA_H
#define TOOLS_ADMIN_SCHEMA_H

#include "tools/verb/verb.h"

/* Verbs on tables and families: cbt's admin commands. All but ls print nothing,
 * and are durable, when they end with 0; 1 says what is wrong. */

/* Makes a table, with families if they are given; all or nothing. */
int verb_createtable(struct verb_call *c);

/* Removes a table with all its rows. */
int verb_deletetable(struct verb_call *c);

/* Prints the names of tables, a line each; or of one table the families with
 * their policies and types, as cbt does. */
int verb_ls(struct verb_call *c);

/* Makes a family, with a policy and type if they are given. */
int verb_createfamily(struct verb_call *c);

/* Removes a family and its cells from all rows. */
int verb_deletefamily(struct verb_call *c);

/* Sets a family's garbage-collection policy. */
int verb_setgcpolicy(struct verb_call *c);

/* Sets a family's type; that of an aggregate stays what it is, which is 1. */
int verb_setvaluetype(struct verb_call *c);

/* Protects a table against deletion, or ends that, or tells whether it is. */
int verb_protect(struct verb_call *c);

#endif
