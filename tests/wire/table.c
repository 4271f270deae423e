#include <stdio.h>

#include "tools/serve/proto/messages.h"

/* Prints the table of protocol buffers, for protos.sh: a line for each message
 * and each of its fields. */
static const char *const kinds[] = { "bool",   "int32", "int64",  "double",
				     "string", "bytes", "message" };

int main(void)
{
	const struct proto_type *const *t;
	size_t i;

	for (t = proto_types; *t; t++) {
		printf("message %s\n", (*t)->name);
		for (i = 0; i < (*t)->count; i++) {
			const struct proto_field *f = &(*t)->fields[i];

			printf("field %u %s %s%s%s %s\n", f->number, f->name,
			       f->many ? "repeated " : "",
			       f->in_oneof ? "oneof " : "", kinds[f->kind],
			       f->type ? f->type->name : "");
		}
	}
	return 0;
}
