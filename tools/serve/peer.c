#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/serve/peer.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 diag;
};

/* Both in network order, as the kernel has them in either family. */
static void set_address(const union address *a, __be16 *port, __be32 out[4])
{
	if (a->any.sa_family == AF_INET) {
		*port = a->v4.sin_port;
		out[0] = a->v4.sin_addr.s_addr;
	} else {
		*port = a->v6.sin6_port;
		memcpy(out, &a->v6.sin6_addr, 16);
	}
}

/* Asks for the socket whose own address is theirs. */
static int ask(int netlink, const union address *ours,
	       const union address *theirs)
{
	struct request r = {
		.head = { .nlmsg_len = sizeof(r),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.diag = { .sdiag_family = (__u8)ours->any.sa_family,
			  .sdiag_protocol = IPPROTO_TCP,
			  .idiag_states = ~0u },
	};
	struct inet_diag_sockid *id = &r.diag.id;

	set_address(theirs, &id->idiag_sport, id->idiag_src);
	set_address(ours, &id->idiag_dport, id->idiag_dst);
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	return send(netlink, &r, sizeof(r), 0) < 0 ? -errno : 0;
}

/*
 * A socket that its process has closed has no inode, and the uid 0: to take
 * that for root's would let in whoever sends and closes at once. Where no
 * connection is found the kernel may answer with one that listens on the port.
 */
static int read_answer(int netlink, uid_t *uid)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} r;
	const struct inet_diag_msg *m = NLMSG_DATA(&r.head);
	ssize_t n = recv(netlink, &r, sizeof(r), 0);

	if (n < 0)
		return -errno;
	if (!NLMSG_OK(&r.head, (size_t)n))
		return -EPROTO;
	if (r.head.nlmsg_type == NLMSG_ERROR)
		return -ENOENT;
	if (r.head.nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
		return -EPROTO;
	if (m->idiag_state != TCP_ESTABLISHED || m->idiag_inode == 0)
		return -ENOTCONN;
	*uid = m->idiag_uid;
	return 0;
}

static int tcp_uid(const union address *ours, const union address *theirs,
		   uid_t *uid)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int err;

	if (fd < 0)
		return fail(errno, "who connects cannot be asked: %s",
			    strerror(errno));
	err = ask(fd, ours, theirs);
	if (err == 0)
		err = read_answer(fd, uid);
	close(fd);
	return err < 0 ? fail(-err,
			      "whose connection it is, nobody knows: %s; "
			      "serve users=all lets everybody in",
			      strerror(-err))
		       : 0;
}

int peer_uid(int fd, uid_t *uid)
{
	union address ours = { 0 }, theirs = { 0 };
	socklen_t size = sizeof(ours), their_size = sizeof(theirs);
	struct ucred who;
	socklen_t who_size = sizeof(who);

	if (getsockname(fd, &ours.any, &size) < 0 ||
	    getpeername(fd, &theirs.any, &their_size) < 0)
		return fail(errno, "the address of who connects: %s",
			    strerror(errno));
	if (ours.any.sa_family == AF_INET || ours.any.sa_family == AF_INET6)
		return tcp_uid(&ours, &theirs, uid);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_size) < 0)
		return fail(errno, "who connects: %s", strerror(errno));
	*uid = who.uid;
	return 0;
}
