#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tools/verb/stop.h"

static volatile sig_atomic_t came, is_over, early_status;

/* For signals. Nothing is called here but what a handler may call. */
static void leave(int number)
{
	static const char interrupted[] =
		"tabletfs: stopped by SIGINT before it began\n";
	static const char terminated[] =
		"tabletfs: stopped by SIGTERM before it began\n";

	if (number == SIGINT)
		(void)!write(STDERR_FILENO, interrupted,
			     sizeof(interrupted) - 1);
	else
		(void)!write(STDERR_FILENO, terminated, sizeof(terminated) - 1);
	_exit(early_status);
}

/* For signals. */
static void note(int number)
{
	if (!is_over)
		came = number;
}

static void take(int number, void (*handler)(int number))
{
	struct sigaction new = { .sa_handler = handler,
				 .sa_flags = SA_RESETHAND };
	struct sigaction old;

	sigaction(number, NULL, &old);
	if (old.sa_handler != SIG_IGN)
		sigaction(number, &new, NULL);
}

void stop_expect(int status)
{
	early_status = status;
	take(SIGINT, leave);
	take(SIGTERM, leave);
}

void stop_by_default(void)
{
	take(SIGINT, SIG_DFL);
	take(SIGTERM, SIG_DFL);
}

void stop_begin(void)
{
	came = is_over = 0;
	take(SIGINT, note);
	take(SIGTERM, note);
}

void stop_end(void)
{
	is_over = 1;
}

int stop_check(void)
{
	int number = came;

	return number ? fail(ERR_bad_argument, "stopped by SIG%s",
			     sigabbrev_np(number))
		      : 0;
}

bool stop_came(void)
{
	return came != 0;
}
