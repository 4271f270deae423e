#ifndef TOOLS_SERVE_METHOD_ATTRIBUTES_H
#define TOOLS_SERVE_METHOD_ATTRIBUTES_H

/* What clients say of a table beyond its families, as attributes of it. */
/* CreateTable named this instance, which nobody had made. */
#define TABLE_INSTANCE "bigtable/named-in"
#define TABLE_SPLITS "bigtable/splits" /* CreateTableRequest of these alone */

/* An instance that was made, and its clusters and app profiles, as attributes
 * of the store: each word, the instance, for the latter two a slash and the id.
 * The value is the message of the API without its name. */
#define RECORD_INSTANCES "bigtable/instance/"
#define RECORD_CLUSTERS "bigtable/cluster/"
#define RECORD_PROFILES "bigtable/profile/"

#endif
