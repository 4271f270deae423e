#include <signal.h>
#include <string.h>

#include "tools/import/stop.h"

static volatile sig_atomic_t came;

static struct sigaction before[2];

static void note(int number)
{
	came = number;
}

/* Who ignores one, as nohup and & have it, goes on doing so. */
static void take(int number, struct sigaction *old)
{
	struct sigaction new = { .sa_handler = note, .sa_flags = SA_RESETHAND };

	sigaction(number, NULL, old);
	if (old->sa_handler != SIG_IGN)
		sigaction(number, &new, NULL);
}

void stop_begin(void)
{
	came = 0;
	take(SIGINT, &before[0]);
	take(SIGTERM, &before[1]);
}

void stop_end(void)
{
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
}

int stop_check(void)
{
	int number = came;

	return number ? fail(ERR_bad_argument, "stopped by SIG%s",
			     sigabbrev_np(number))
		      : 0;
}
