#ifndef STORE_BASE_RADOS_POOL_OPEN_H
#define STORE_BASE_RADOS_POOL_OPEN_H

#include "store/base/place/place.h"

/*
 * rados:[USER@]POOL/NAME, of the cluster that ceph.conf names, or the file that
 * the variable CEPH_CONF does. USER is a user of the cluster, without "client."
 * in front; admin if none is said. NAME is of letters, digits and ._-, and need
 * not be there before with create.
 */
int volume_rados_open(const char *place, bool create, struct volume **out);
int volume_rados_holder(const char *place, struct buf *line, bool *here);
int volume_rados_marked(const char *place, struct volume_mark *out);

/* What the program looks for in this plugin. */
extern const struct volume_plugin volume_plugin;

#endif
