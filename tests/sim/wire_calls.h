#ifndef TESTS_SIM_WIRE_CALLS_H
#define TESTS_SIM_WIRE_CALLS_H

#include "tests/sim/grpc_client.h"
#include "tools/serve/proto/messages.h"

/*
 * Calls of Bigtable's methods, for programs that act as its clients. Tables are
 * of one instance and have the family "f", in which "q" is the column.
 */
#define WIRE_INSTANCE "projects/p/instances/i"
#define WIRE_DATA "/google.bigtable.v2.Bigtable/"
#define WIRE_TABLES "/google.bigtable.admin.v2.BigtableTableAdmin/"

/* A call whose request is message. It owns the bytes of the request, which
 * wire_end frees with the answer. */
struct wire_call {
	struct grpc_call call;
	struct buf request;
};

void wire_start(struct grpc_client *c, struct wire_call *w, const char *path,
		const struct proto_type *type, const void *message);
void wire_end(struct wire_call *w);

/* Start and wait: the status, -1 without one. */
int wire_do(struct grpc_client *c, struct wire_call *w, const char *path,
	    const struct proto_type *type, const void *message);

/* "projects/p/instances/i/tables/NAME", in memory of the caller's. */
struct bytes wire_table_name(char out[256], const char *name);

/* Makes a table with the family: the status. */
int wire_create(struct grpc_client *c, const char *name);

/* Goes through the cells of all answers of ReadRows, each of which has its row,
 * with the arena as memory. As many as seen says yes to. */
size_t wire_rows(const struct wire_call *w, struct proto_arena *arena,
		 bool (*seen)(void *context, struct bytes row,
			      const struct proto_cell_chunk *chunk),
		 void *context);

#endif
