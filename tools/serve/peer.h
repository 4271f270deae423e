#ifndef TOOLS_SERVE_PEER_H
#define TOOLS_SERVE_PEER_H

#include <sys/types.h>

/*
 * Whose process is at the other end of a connection: of a unix socket who
 * connected; of TCP who owns the other socket now, which has to be on this
 * machine. 0, or negative with a sentence by fail(): then nobody knows, as when
 * the other end is closed.
 */
int peer_uid(int fd, uid_t *uid);

#endif
