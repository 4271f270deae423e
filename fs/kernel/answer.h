#ifndef FS_KERNEL_ANSWER_H
#define FS_KERNEL_ANSWER_H

/* Who is told a line, without its end; NULL is standard error. */
struct answer_teller {
	void (*tell)(void *context, const char *line);
	void *context;
};

/*
 * Looks at a path that a daemon may have to answer for. One that is stopped or
 * hangs never does, and nothing ends who waits for that, SIGKILL neither: so a
 * child process asks, which is left to itself if it takes too long. To be
 * called while there is one thread.
 *
 * 0 if a directory is there, 1 if it is the root of a mount; -ETIMEDOUT after
 * max_ms; another error, with its detail: -ENOTCONN of a daemon that has gone.
 * Tells after a while that it waits for who, if not NULL.
 */
int answer_at(const char *path, int max_ms, const char *who,
	      const struct answer_teller *teller);

#endif
