#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/coding.h"
#include "tests/sim/grpc_client.h"

/*
 * A client of gRPC for scripts:
 *
 *	wire ADDRESS PATH WORD...
 *
 * makes one call. The words are the request: N=TEXT is field N with these
 * bytes, N:NUMBER a number, and N{ begins a message that } ends. Prints the
 * status, its text, and a line for each message of the answer, with what is not
 * printable as dots. Ends with the status.
 */
#define DEPTH_MAX 16

static void add_tag(struct buf *b, const char *word, unsigned int wire)
{
	if (buf_add_varint(b, strtoul(word, NULL, 10) << 3 | wire))
		abort();
}

/* The request's bytes, in stack[0]. */
static void build(char **words, struct buf *stack)
{
	const char *outer[DEPTH_MAX];
	size_t depth = 0;

	for (; *words; words++) {
		const char *rest = *words + strspn(*words, "0123456789");

		if (*rest == '=') {
			add_tag(&stack[depth], *words, 2);
			if (buf_add_sized(&stack[depth],
					  bytes_string(rest + 1)))
				abort();
		} else if (*rest == ':') {
			add_tag(&stack[depth], *words, 0);
			if (buf_add_varint(&stack[depth],
					   strtoull(rest + 1, NULL, 0)))
				abort();
		} else if (*rest == '{' && depth + 1 < DEPTH_MAX) {
			outer[depth++] = *words;
			buf_reset(&stack[depth]);
		} else if (*rest == '}' && depth > 0) {
			depth--;
			add_tag(&stack[depth], outer[depth], 2);
			if (buf_add_sized(&stack[depth],
					  buf_bytes(&stack[depth + 1])))
				abort();
		} else {
			fprintf(stderr, "wire: %s is no field\n", *words);
			exit(99);
		}
	}
}

/* Behind its prefix of five bytes each. */
static void print_messages(struct bytes body)
{
	while (body.size >= 5) {
		size_t size = get_u32be(body.data + 1), i;

		body = bytes_after(body, 5);
		for (i = 0; i < size && i < body.size; i++)
			putchar(body.data[i] >= ' ' && body.data[i] < 127
					? body.data[i]
					: '.');
		putchar('\n');
		body = bytes_after(body, size);
	}
}

int main(int argc, char **argv)
{
	struct buf stack[DEPTH_MAX] = { BUF_INIT };
	struct grpc_client client = { .fd = -1 };
	struct grpc_call call = { .path = NULL };
	int status, i;

	if (argc < 3)
		return 99;
	build(argv + 3, stack);
	call.path = argv[2];
	call.message = buf_bytes(&stack[0]);
	grpc_open(&client, argv[1]);
	status = grpc_do(&client, &call);
	printf("status %d %s\n", status, call.text);
	print_messages(buf_bytes(&call.body));
	grpc_release(&call);
	grpc_close(&client);
	for (i = 0; i < DEPTH_MAX; i++)
		buf_release(&stack[i]);
	return status < 0 ? 98 : status;
}
