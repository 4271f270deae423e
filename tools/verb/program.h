#ifndef TOOLS_VERB_PROGRAM_H
#define TOOLS_VERB_PROGRAM_H

#include <sys/types.h>

/* Starts a program of the PATH with one argument and these as its standard
 * input and output; what else is open and closed on exec it does not get. Sets
 * *pid, which the caller waits for. 0 or an errno: ENOENT if there is none. */
int program_start(const char *name, const char *argument, int input, int output,
		  pid_t *pid);

#endif
