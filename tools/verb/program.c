#include <spawn.h>
#include <stdint.h>
#include <unistd.h>

#include "tools/verb/program.h"

int program_start(const char *name, const char *argument, int input, int output,
		  pid_t *pid)
{
	char *arguments[] = { (char *)(uintptr_t)name,
			      (char *)(uintptr_t)argument, NULL };
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, output,
						       STDOUT_FILENO);
	if (!err)
		err = posix_spawnp(pid, name, &actions, NULL, arguments,
				   environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}
