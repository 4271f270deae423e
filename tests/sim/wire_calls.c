#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "tests/sim/wire_calls.h"
#include "tools/serve/grpc.h"

void wire_start(struct grpc_client *c, struct wire_call *w, const char *path,
		const struct proto_type *type, const void *message)
{
	*w = (struct wire_call){ .call = { .path = path } };
	if (proto_encode(type, message, &w->request) < 0)
		abort();
	w->call.message = buf_bytes(&w->request);
	grpc_start(c, &w->call);
}

void wire_end(struct wire_call *w)
{
	grpc_release(&w->call);
	buf_release(&w->request);
}

int wire_do(struct grpc_client *c, struct wire_call *w, const char *path,
	    const struct proto_type *type, const void *message)
{
	wire_start(c, w, path, type, message);
	(void)grpc_wait(c, &w->call);
	return w->call.status;
}

struct bytes wire_table_name(char out[256], const char *name)
{
	snprintf(out, 256, WIRE_INSTANCE "/tables/%s", name);
	return bytes_string(out);
}

int wire_create(struct grpc_client *c, const char *name)
{
	struct proto_column_family_entry family = {
		.key = BYTES_LITERAL("f"),
		.value = &(struct proto_column_family){ .gc_rule = NULL },
	};
	struct proto_table table = { .column_families = { &family, 1 } };
	struct proto_create_table q = { .parent = bytes_string(WIRE_INSTANCE),
					.table_id = bytes_string(name),
					.table = &table };
	struct wire_call w;
	int status = wire_do(c, &w, WIRE_TABLES "CreateTable",
			     &proto_create_table_type, &q);

	wire_end(&w);
	return status;
}

size_t wire_rows(const struct wire_call *w, struct proto_arena *arena,
		 bool (*seen)(void *context, struct bytes row,
			      const struct proto_cell_chunk *chunk),
		 void *context)
{
	struct bytes rest = buf_bytes(&w->call.body), row = BYTES_NONE;
	const struct proto_read_rows_answer *answer;
	size_t count = 0, i;
	void *message;

	while (rest.size >= GRPC_PREFIX_SIZE) {
		size_t size = grpc_prefix_size(rest.data);

		rest = bytes_after(rest, GRPC_PREFIX_SIZE);
		if (size > rest.size ||
		    proto_decode(&proto_read_rows_answer_type,
				 bytes_of(rest.data, size), arena,
				 &message) < 0)
			abort();
		answer = message;
		for (i = 0; i < answer->chunks.count; i++) {
			if (answer->chunks.at[i].row_key.size > 0)
				row = answer->chunks.at[i].row_key;
			count += seen(context, row, &answer->chunks.at[i]);
		}
		rest = bytes_after(rest, size);
	}
	return count;
}
