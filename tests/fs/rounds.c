#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/coding.h"
#include "tests/sim/grpc_client.h"

/*
 * Both ways to one column, in turns:
 *
 *	rounds ADDRESS DIR TABLE COUNT
 *
 * Each round writes column "q" of row "both" of family "f" over
 * the wire and reads the file, then writes the file, and reads over the wire;
 * and makes a column that is new by one way, to see whether its name and the
 * list have it by the other, and drops it. DIR is the directory of the row's
 * family. Prints the first difference and ends with 1.
 */
#define DATA "/google.bigtable.v2.Bigtable/"

static char table[256];
static struct grpc_client client;

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void add(struct buf *b, unsigned int field, struct bytes content)
{
	must(!buf_add_byte(b, (uint8_t)(field << 3 | 2)) &&
		     !buf_add_sized(b, content),
	     "memory");
}

/* A call with a request that is released: its answer. */
static void call(const char *path, struct buf *request, struct buf *answer)
{
	struct grpc_call c = { .path = path, .message = buf_bytes(request) };
	int status = grpc_do(&client, &c);

	if (status) {
		printf("%s: status %d: %s\n", path, status, c.text);
		exit(1);
	}
	if (answer)
		must(!buf_set(answer, buf_bytes(&c.body)), "memory");
	grpc_release(&c);
	buf_release(request);
}

/* value NULL deletes the column. */
static void wire_write(const char *qualifier, const char *value)
{
	struct buf cell = BUF_INIT, mutation = BUF_INIT, request = BUF_INIT;

	add(&cell, 1, bytes_string("f"));
	add(&cell, 2, bytes_string(qualifier));
	if (value) {
		/* The server's time. */
		must(!buf_add_byte(&cell, 3 << 3) &&
			     !buf_add_varint(&cell, UINT64_MAX),
		     "memory");
		add(&cell, 4, bytes_string(value));
	}
	add(&mutation, value ? 1 : 2, buf_bytes(&cell));
	add(&request, 1, bytes_string(table));
	add(&request, 2, bytes_string("both"));
	add(&request, 3, buf_bytes(&mutation));
	buf_release(&cell);
	buf_release(&mutation);
	call(DATA "MutateRow", &request, NULL);
}

/* Whether the row has these bytes somewhere in its newest cells. */
static bool wire_has(const char *text)
{
	struct buf set = BUF_INIT, filter = BUF_INIT, request = BUF_INIT,
		   answer = BUF_INIT;
	bool has;

	add(&set, 1, bytes_string("both"));
	must(!buf_add_byte(&filter, 12 << 3) && !buf_add_byte(&filter, 1),
	     "memory");
	add(&request, 1, bytes_string(table));
	add(&request, 2, buf_bytes(&set));
	add(&request, 3, buf_bytes(&filter));
	buf_release(&set);
	buf_release(&filter);
	call(DATA "ReadRows", &request, &answer);
	has = answer.size > 0 &&
	      memmem(answer.data, answer.size, text, strlen(text)) != NULL;
	buf_release(&answer);
	return has;
}

static void file_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0, path);
	must(write(fd, value, strlen(value)) == (ssize_t)strlen(value), path);
	must(close(fd) == 0, path);
}

static void file_has(const char *path, const char *value)
{
	char text[256];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	must(fd >= 0, path);
	n = read(fd, text, sizeof(text) - 1);
	must(n >= 0, path);
	text[n] = '\0';
	close(fd);
	if (!strcmp(text, value))
		return;
	printf("%s: is \"%s\", but \"%s\" was written over the wire\n", path,
	       text, value);
	exit(1);
}

int main(int argc, char **argv)
{
	char q[4096], late[4096], value[64];
	struct stat st;
	int i, count;

	if (argc != 5)
		return 2;
	count = atoi(argv[4]);
	snprintf(table, sizeof(table), "projects/p/instances/i/tables/%s",
		 argv[3]);
	snprintf(q, sizeof(q), "%s/q", argv[2]);
	snprintf(late, sizeof(late), "%s/late", argv[2]);
	grpc_open(&client, argv[1]);
	for (i = 0; i < count; i++) {
		snprintf(value, sizeof(value), "wire-%d", i);
		wire_write("q", value);
		file_has(q, value);
		must(stat(late, &st) < 0, "a name that is not there yet");
		wire_write("late", value);
		must(stat(late, &st) == 0, "a name from the wire");
		must((size_t)st.st_size == strlen(value), "its size");
		wire_write("late", NULL);
		must(stat(late, &st) < 0, "a name that the wire has dropped");
		snprintf(value, sizeof(value), "file-%d", i);
		file_write(q, value);
		must(wire_has(value), "what the file has");
	}
	grpc_close(&client);
	return 0;
}
