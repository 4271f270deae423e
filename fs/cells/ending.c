#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "fs/cells/ending.h"

static struct {
	sigset_t signals;
	const char *path;
	_Atomic bool begun;
} ending;

/* A signal that nobody has taken yet, as who takes it waits for the store,
 * too. */
static bool is_pending(void)
{
	sigset_t pending, both;

	return sigpending(&pending) == 0 &&
	       sigandset(&both, &pending, &ending.signals) == 0 &&
	       !sigisemptyset(&both);
}

/* As store_on_silence calls it. */
static void end_if_due(void *context)
{
	(void)context;
	if (!atomic_load(&ending.begun) && !is_pending())
		return;
	fprintf(stderr,
		"tabletfs: %s: has not answered for long, and is not waited "
		"for any longer; what was said to be done is there, and of the "
		"rest it is not known\n",
		ending.path);
	_exit(1);
}

void ending_begin(void)
{
	atomic_store(&ending.begun, true);
}

int ending_watch(struct store *s, const sigset_t *signals, const char *path)
{
	if (signals)
		ending.signals = *signals;
	else
		ending_begin();
	ending.path = path;
	return store_on_silence(s, end_if_due, NULL);
}
