#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/object/pool_registry.h"
#include "store/base/rados/object/pool_window.h"
#include "store/base/rados/pool_garbage.h"
#include "store/base/rados/pool_lease.h"
#include "store/base/rados/pool_locker.h"
#include "store/base/rados/pool_log.h"
#include "store/base/rados/pool_open.h"
#include "store/base/rados/pool_own.h"
#include "store/base/rados/pool_reader.h"
#include "store/base/rados/pool_room.h"
#include "store/base/rados/pool_segment.h"

/* What a place says: words of text, which is owned. */
struct place {
	char *text;
	const char *user, *pool, *name;
};

#define NAME_MAX_SIZE 200

static bool is_name(const char *name)
{
	size_t n = strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ._-");

	return n > 0 && n <= NAME_MAX_SIZE && !name[n];
}

/* On 0 the caller frees out->text. */
static int parse_place(const char *text, struct place *out)
{
	char *at, *slash;

	*out = (struct place){ .text = strdup(text), .user = "admin" };
	if (!out->text)
		return -ENOMEM;
	slash = strchr(out->text, '/');
	if (slash)
		*slash = 0;
	at = strchr(out->text, '@');
	if (at)
		*at = 0;
	out->user = at ? out->text : "admin";
	out->pool = at ? at + 1 : out->text;
	out->name = slash ? slash + 1 : "";
	if (*out->user && *out->pool && is_name(out->name))
		return 0;
	free(out->text);
	return fail(EINVAL,
		    "rados:%s: a store in a pool is rados:POOL/NAME, or "
		    "rados:USER@POOL/NAME, with a NAME of letters, digits and "
		    "._-",
		    text);
}

/* Connects to the cluster that ceph.conf names. */
static int connect_cluster(struct pool_volume *v, const struct place *p)
{
	int err = rados_create(&v->cluster, p->user);

	if (err < 0) {
		v->cluster = NULL;
		return pool_fail(v, "", err, "cannot begin");
	}
	err = rados_conf_read_file(v->cluster, NULL);
	if (err < 0)
		return fail(ENXIO,
			    "%s: no configuration of a cluster can be read: "
			    "/etc/ceph/ceph.conf, or the file that CEPH_CONF "
			    "names",
			    v->path);
	(void)rados_conf_parse_env(v->cluster, NULL);
	/* Its socket is in the way of other clients when this is stopped. */
	(void)rados_conf_set(v->cluster, "admin_socket", "");
	(void)rados_conf_set(v->cluster, "client_mount_timeout", "15");
	/* What asks a monitor changes nothing, and has an end. */
	(void)rados_conf_set(v->cluster, "rados_mon_op_timeout", "15");
	err = rados_connect(v->cluster);
	if (err == -ETIMEDOUT)
		return fail(EIO,
			    "%s: no monitor of the cluster answered for 15 s; "
			    "ceph -s tells more",
			    v->path);
	if (err < 0)
		return fail(-err,
			    "%s: the cluster does not let in client.%s: see "
			    "its keyring in /etc/ceph",
			    v->path, p->user);
	return 0;
}

/* One number for a store of all clusters. */
static uint64_t mark_place(struct pool_volume *v, const struct place *p)
{
	char text[NAME_MAX_SIZE + 80];
	size_t n = 0;

	if (rados_cluster_fsid(v->cluster, text, 40) > 0)
		n = strlen(text);
	snprintf(text + n, sizeof(text) - n, " %lld %s",
		 (long long)rados_ioctx_get_id(v->io), p->name);
	return hash64(bytes_string(text));
}

static int open_pool(struct pool_volume *v, const struct place *p)
{
	int err = rados_ioctx_create(v->cluster, p->pool, &v->io);

	if (err < 0) {
		v->io = NULL;
		return err == -ENOENT
			       ? fail(ENXIO,
				      "%s: there is no pool %s; ceph osd pool "
				      "create %s makes one",
				      v->path, p->pool, p->pool)
			       : pool_fail(v, "", err, "cannot open its pool");
	}
	rados_ioctx_set_namespace(v->io, p->name);
	v->volume.mark.place = mark_place(v, p);
	/* What finds no space is told, and does not wait. */
	rados_set_pool_full_try(v->io);
	return 0;
}

/* Also of one that could not be opened. */
static void pool_close(struct volume *volume)
{
	struct pool_volume *v = pool(volume);

	pool_lease_release(volume);
	pool_garbage_end(v);
	pool_windows_end(v);
	if (v->io)
		rados_ioctx_destroy(v->io);
	if (v->cluster)
		rados_shutdown(v->cluster);
	pthread_mutex_destroy(&v->lock);
	pthread_mutex_destroy(&v->telling);
	pthread_mutex_destroy(&v->logging);
	free(v->path);
	free(v);
}

/* A link would be a second name for the same parts, which one holder knows. */
static int pool_link(struct volume *volume, const char *name, struct volume *to)
{
	int err = to->ops == volume->ops ? pool_check_fence(pool(to)) : 0;

	return err < 0 ? err
		       : fail(EXDEV, "%s/%s: cannot link", volume->path, name);
}

/* The name goes at once, its parts later. */
static int pool_remove(struct volume *volume, const char *name)
{
	struct pool_volume *v = pool(volume);
	int err = pool_check_change(v, name);
	struct pool_entry e;

	if (err == 0)
		err = pool_find(v, name, &e);
	if (err == 0)
		err = pool_discard(v, name, &e);
	if (err < 0)
		return err;
	pool_spare_give(v);
	pool_garbage_add(
		v, name, e.nonce,
		e.state == POOL_LOG ? 0 : e.size / pool_part_size(e.state) + 2);
	return 0;
}

struct list_context {
	int (*each)(void *context, const char *name);
	void *context;
};

static int list_entry(void *context, const char *key,
		      const struct pool_entry *e)
{
	struct list_context *c = context;

	return e->state == POOL_GARBAGE ? 0 : c->each(c->context, key);
}

static int pool_list(struct volume *volume,
		     int (*each)(void *context, const char *name),
		     void *context)
{
	struct list_context c = { each, context };

	return pool_each(pool(volume), list_entry, &c);
}

static const struct volume_ops pool_ops = {
	.segment_create = pool_segment_create,
	.segment_append = pool_segment_append,
	.segment_finish = pool_segment_finish,
	.segment_abandon = pool_segment_abandon,
	.log_create = pool_log_create,
	.log_append = pool_log_append,
	.log_sync = pool_log_sync,
	.log_close = pool_log_close,
	.log_keep = pool_log_keep,
	.log_hold = pool_log_hold,
	.spare_hold = pool_spare_hold,
	.segment_from_spare = pool_segment_from_spare,
	.log_from_spare = pool_log_from_spare,
	.spare_wipe = pool_spare_wipe,
	.open = pool_open,
	.pread = pool_pread,
	.reader_close = pool_reader_close,
	.remove = pool_remove,
	.link = pool_link,
	.list = pool_list,
	.strays = pool_strays,
	.root_get = pool_root_get,
	.root_swap = pool_root_swap,
	.lease_take = pool_lease_take,
	.lease_check = pool_lease_check,
	.lease_left = pool_lease_left,
	.lease_describe = pool_lease_describe,
	.lease_share = pool_lease_share,
	.lease_release = pool_lease_release,
	.note = pool_note,
	.heat_read = pool_heat_read,
	.heat_append = pool_heat_append,
	.heat_replace = pool_heat_replace,
	.scratch = pool_scratch,
	.space = pool_space,
	.close = pool_close,
};

/* Of a place that may have no store yet. */
static int open_place(const char *place, struct pool_volume **out)
{
	struct pool_volume *v = calloc(1, sizeof(*v));
	struct place p;
	int err;

	*out = v;
	if (!v)
		return -ENOMEM;
	v->volume.ops = &pool_ops;
	pthread_mutex_init(&v->lock, NULL);
	pthread_mutex_init(&v->telling, NULL);
	pthread_mutex_init(&v->logging, NULL);
	if (asprintf(&v->path, "rados:%s", place) < 0) {
		v->path = NULL;
		return -ENOMEM;
	}
	v->volume.path = v->path;
	err = parse_place(place, &p);
	if (err < 0)
		return err;
	/* A connection that the other side has closed is none to end by. */
	signal(SIGPIPE, SIG_IGN);
	err = connect_cluster(v, &p);
	if (err == 0)
		err = open_pool(v, &p);
	free(p.text);
	return err;
}

/* Gives v out, or ends it after an error. */
static int give(struct pool_volume *v, int err, struct volume **out)
{
	*out = err < 0 ? NULL : &v->volume;
	if (err < 0 && v)
		pool_close(&v->volume);
	return err;
}

int volume_rados_open(const char *place, bool create, struct volume **out)
{
	struct pool_volume *v;
	int err = open_place(place, &v);

	if (err == 0)
		err = pool_check_format(v);
	if (err == -ENOENT && create) {
		err = pool_make(v);
		if (err == 0)
			err = pool_check_format(v);
	}
	return give(v, err, out);
}

int volume_rados_holder(const char *place, struct buf *line, bool *here)
{
	struct volume *v;
	int err = volume_rados_open(place, false, &v);

	*here = false;
	if (err < 0)
		return err;
	err = pool_locker(pool(v), line, here);
	v->ops->close(v);
	return err;
}

int volume_rados_marked(const char *place, struct volume_mark *out)
{
	struct volume *v;
	int err = volume_rados_open(place, false, &v);

	if (err < 0)
		return err;
	*out = v->mark;
	err = pool_lease_number(pool(v), &out->holder);
	v->ops->close(v);
	return err;
}

static const struct volume_kind kind = {
	.name = "rados",
	.open = volume_rados_open,
	.holder = volume_rados_holder,
	.marked = volume_rados_marked,
};

const struct volume_plugin volume_plugin = {
	.version = TABLETFS_VERSION,
	.kind = &kind,
};
