#include <errno.h>
#include <string.h>

#include "tools/serve/verb/announce.h"

/* As a word of a shell. */
static void print_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.:/_-+@%,";

	if (word[strspn(word, plain)] == '\0') {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", out);
		putc(*word, out);
	}
	putc('\'', out);
}

int announce(struct verb_call *c, const char *address)
{
	fputs("export BIGTABLE_EMULATOR_HOST=", c->out);
	print_word(c->out, address);
	putc('\n', c->out);
	if (fflush(c->out) == 0 && !ferror(c->out))
		return 0;
	/* Told here, with what it was. */
	clearerr(c->out);
	return verb_wrong(c, "the address %s could not be printed: %s", address,
			  strerror(errno));
}
