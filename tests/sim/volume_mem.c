#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "store/base/err.h"
#include "tests/sim/volume_mem.h"
#include "tests/sim/volume_mem_state.h"

struct mem_writer {
	struct segment_writer writer;
	struct mem_handle *handle;
	struct mem_volume *volume;
	struct content *content;
	uint64_t room; /* bytes that need no space */
	char name[VOLUME_NAME_MAX + 1];
};

struct mem_log {
	struct log log;
	struct mem_handle *handle;
	struct mem_volume *volume;
	struct mem_file *file;
	uint64_t held; /* bytes that need no space */
	bool broken;
};

struct mem_reader {
	struct reader reader;
	struct mem_volume *volume;
	struct content *content;
	char name[VOLUME_NAME_MAX + 1];
};

/* It is of no volume that crashes. */
static int mem_scratch(struct volume *volume)
{
	int fd = memfd_create("scratch", MFD_CLOEXEC);

	(void)volume;
	return fd < 0 ? fail(errno, "scratch file: cannot create") : fd;
}

static const struct volume_ops mem_ops;

struct content *mem_content_new(void)
{
	struct content *c = calloc(1, sizeof(*c));

	if (c)
		c->references = 1;
	return c;
}

struct content *mem_content_get(struct content *c)
{
	c->references++;
	return c;
}

void mem_content_put(struct content *c)
{
	if (!c || --c->references > 0)
		return;
	buf_release(&c->data);
	free(c);
}

static void call_hook(struct mem_volume *v)
{
	if (v->hook)
		v->hook(v->hook_context, &v->own.volume);
}

/* Before a change: who is deposed meanwhile changes nothing. */
static int begin_change(struct mem_handle *h)
{
	int err = mem_guard(h);

	if (err < 0)
		return err;
	call_hook(h->pool);
	return mem_guard(h);
}

static bool takes_space(const char *what)
{
	return strcmp(what, "create") == 0 || strcmp(what, "write") == 0 ||
	       strcmp(what, "finish") == 0;
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t size = strlen(name), end = strlen(suffix);

	return size >= end && strcmp(name + size - end, suffix) == 0;
}

/* Counts a call that can fail; 0 or the error that was asked for. One that has
 * room of its own meets no full disk, unless that is of its suffix. */
static int count_roomy(struct mem_volume *v, const char *what, const char *name,
		       bool has_room)
{
	if (v->full_suffix && takes_space(what) &&
	    has_suffix(name, v->full_suffix))
		return fail(ENOSPC, "memory/%s: cannot %s", name, what);
	has_room = has_room && !v->no_room;
	if ((v->fail_space_only && !takes_space(what)) ||
	    (has_room && v->fail_error == ENOSPC))
		return 0;
	v->calls++;
	if (v->fail_at == 0 || v->calls < v->fail_at ||
	    (v->calls > v->fail_at && !v->fail_forever))
		return 0;
	v->failed = true;
	return fail(v->fail_error, "memory/%s: cannot %s", name, what);
}

int mem_count_call(struct mem_volume *v, const char *what, const char *name)
{
	return count_roomy(v, what, name, false);
}

struct mem_file *mem_find(struct mem_volume *v, const char *name)
{
	struct mem_file *f;

	for (f = v->files; f; f = f->next)
		if (f->state == FILE_LIVE && strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* Names are never used twice, not even after a removal. */
static int check_free(struct mem_volume *v, const char *name)
{
	struct mem_file *f;

	for (f = v->files; f; f = f->next)
		if (strcmp(f->name, name) == 0)
			return fail(EEXIST, "memory/%s: cannot create", name);
	if (strlen(name) > VOLUME_NAME_MAX)
		return fail(EINVAL, "memory/%s: name is too long", name);
	return 0;
}

struct mem_file *mem_add_file(struct mem_volume *v, const char *name,
			      struct content *content)
{
	struct mem_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->content = content;
	f->next = v->files;
	v->files = f;
	return f;
}

/* A writer with room for so many bytes. */
static int writer_new(struct mem_handle *h, const char *name, uint64_t room,
		      struct segment_writer **out)
{
	struct mem_volume *v = h->pool;
	struct mem_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->content = mem_content_new();
	if (!w->content) {
		free(w);
		return -ENOMEM;
	}
	w->handle = h;
	w->volume = v;
	w->room = room;
	snprintf(w->name, sizeof(w->name), "%s", name);
	w->writer.ops = &mem_ops;
	w->writer.path = w->name;
	v->open_count++;
	*out = &w->writer;
	return 0;
}

static int mem_segment_create(struct volume *volume, const char *name,
			      struct segment_writer **out)
{
	struct mem_volume *v = mem(volume);
	int err = mem_guard(mem_handle(volume));

	*out = NULL;
	if (!err)
		err = mem_count_call(v, "create", name);
	if (!err)
		err = check_free(v, name);
	return err < 0 ? err : writer_new(mem_handle(volume), name, 0, out);
}

static int mem_segment_from_spare(struct volume *volume, const char *name,
				  uint64_t size, struct segment_writer **out)
{
	struct mem_volume *v = mem(volume);
	int err = mem_guard(mem_handle(volume));
	uint64_t room;

	*out = NULL;
	if (!err)
		err = count_roomy(v, "create", name, true);
	if (!err)
		err = check_free(v, name);
	if (!err)
		err = mem_take_spare(v, name, size, true, &room);
	return err < 0 ? err : writer_new(mem_handle(volume), name, room, out);
}

static int mem_segment_append(struct segment_writer *writer, struct bytes data)
{
	struct mem_writer *w = (struct mem_writer *)writer;
	int err = mem_guard(w->handle);

	if (!err)
		err = count_roomy(w->volume, "write", w->name,
				  writer->size + data.size <= w->room);
	if (!err)
		err = buf_add_bytes(&w->content->data, data);
	if (!err)
		writer->size += data.size;
	return err;
}

static void mem_segment_abandon(struct segment_writer *writer)
{
	struct mem_writer *w = (struct mem_writer *)writer;

	w->volume->open_count--;
	if (mem_guard(w->handle) == 0)
		mem_give_spare(w->volume, w->room);
	mem_content_put(w->content);
	free(w);
}

static int mem_segment_finish(struct segment_writer *writer)
{
	struct mem_writer *w = (struct mem_writer *)writer;
	struct mem_volume *v = w->volume;
	int failed = count_roomy(v, "finish", w->name, writer->size <= w->room);
	struct mem_file *f;
	int err = begin_change(w->handle);

	/* A name that was made and taken back may come back. */
	if (!err && (!failed || rng_one_in(&v->rng, 2))) {
		err = check_free(v, w->name);
		f = err ? NULL : mem_add_file(v, w->name, w->content);
		if (f) {
			mem_content_get(w->content);
			f->synced = w->content->data.size;
			f->name_synced = !failed;
			f->state = failed ? FILE_REMOVED : FILE_LIVE;
		} else if (!err) {
			err = -ENOMEM;
		}
	}
	if (!failed && !err)
		w->room = 0;
	if (err != -ERR_store_lost)
		call_hook(v);
	mem_segment_abandon(writer);
	return failed ? failed : err;
}

/* A log with room for so many bytes. */
static int log_new(struct mem_handle *h, const char *name, uint64_t held,
		   struct log **out)
{
	struct mem_volume *v = h->pool;
	struct mem_log *l = calloc(1, sizeof(*l));
	struct content *content = mem_content_new();
	int err = begin_change(h);
	struct mem_file *f;

	f = l && content && !err ? mem_add_file(v, name, content) : NULL;
	if (!f) {
		mem_content_put(content);
		free(l);
		return err ? err : -ENOMEM;
	}
	f->grows = true;
	l->file = f;
	l->held = f->room = held;
	l->handle = h;
	l->volume = v;
	l->log.ops = &mem_ops;
	l->log.path = l->file->name;
	v->open_count++;
	*out = &l->log;
	return 0;
}

static int mem_log_create(struct volume *volume, const char *name,
			  struct log **out)
{
	struct mem_volume *v = mem(volume);
	int err = mem_guard(mem_handle(volume));

	*out = NULL;
	if (!err)
		err = mem_count_call(v, "create", name);
	if (!err)
		err = check_free(v, name);
	return err < 0 ? err : log_new(mem_handle(volume), name, 0, out);
}

static int mem_log_from_spare(struct volume *volume, const char *name,
			      uint64_t size, struct log **out)
{
	struct mem_volume *v = mem(volume);
	int err = mem_guard(mem_handle(volume));
	uint64_t room;

	*out = NULL;
	if (!err)
		err = count_roomy(v, "create", name, true);
	if (!err)
		err = check_free(v, name);
	if (!err)
		err = mem_take_spare(v, name, size, false, &room);
	return err < 0 ? err : log_new(mem_handle(volume), name, room, out);
}

static int mem_log_hold(struct log *log, uint64_t size)
{
	struct mem_log *l = (struct mem_log *)log;
	int err = mem_guard(l->handle);

	if (err < 0)
		return err;
	if (size <= l->held || l->volume->no_room)
		return 0;
	err = mem_is_full(l->volume)
		      ? fail(ENOSPC, "memory: cannot hold room")
		      : mem_count_call(l->volume, "write", "hold");
	if (err == 0)
		l->held = l->file->room = size;
	return err;
}

static int mem_log_append(struct log *log, struct bytes data)
{
	struct mem_log *l = (struct mem_log *)log;
	int failed = count_roomy(l->volume, "write", l->file->name,
				 log->size + data.size <= l->held);
	int err = begin_change(l->handle);

	if (err < 0)
		return err;
	if (failed)
		data.size = rng_below(&l->volume->rng, (uint32_t)data.size + 1);
	err = buf_add_bytes(&l->file->content->data, data);
	if (!err && !failed)
		log->size += data.size;
	call_hook(l->volume);
	if (failed == -ENOSPC && mem_guard(l->handle) == 0) {
		l->file->content->data.size = log->size;
		call_hook(l->volume);
	}
	return failed ? failed : err;
}

/* For lack of space nothing has gone. */
static int mem_log_sync(struct log *log)
{
	struct mem_log *l = (struct mem_log *)log;
	int err = mem_count_call(l->volume, "sync", l->file->name);

	if (l->broken)
		return fail(EIO, "memory/%s: an earlier sync failed",
			    l->file->name);
	l->broken = err < 0 && err != -ENOSPC;
	if (err == 0)
		err = begin_change(l->handle);
	if (err < 0)
		return err;
	l->file->synced = l->file->content->data.size;
	l->file->name_synced = true;
	call_hook(l->volume);
	return 0;
}

static void mem_log_close(struct log *log)
{
	struct mem_log *l = (struct mem_log *)log;

	l->volume->open_count--;
	free(l);
}

static int mem_log_keep(struct volume *volume, const char *name)
{
	struct mem_volume *v = mem(volume);
	struct mem_file *f = mem_find(v, name);
	int err = mem_count_call(v, "sync", name);

	if (err < 0)
		return err;
	if (!f)
		return fail(ENOENT, "memory/%s: cannot open", name);
	err = begin_change(mem_handle(volume));
	if (err < 0)
		return err;
	f->synced = f->content->data.size;
	f->name_synced = true;
	call_hook(v);
	return 0;
}

static int mem_open(struct volume *volume, const char *name,
		    struct reader **out)
{
	struct mem_volume *v = mem(volume);
	struct mem_file *f = mem_find(v, name);
	struct mem_reader *r;
	int err = mem_count_call(v, "open", name);

	*out = NULL;
	if (err < 0)
		return err;
	if (!f)
		return fail(ENOENT, "memory/%s: cannot open", name);
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->volume = v;
	r->content = mem_content_get(f->content);
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->reader.ops = &mem_ops;
	r->reader.size = f->content->data.size;
	r->reader.path = r->name;
	v->open_count++;
	*out = &r->reader;
	return 0;
}

static int mem_pread(struct reader *reader, uint64_t offset, void *data,
		     size_t size)
{
	struct mem_reader *r = (struct mem_reader *)reader;
	const struct buf *b = &r->content->data;
	int err = mem_count_call(r->volume, "read", r->name);

	if (err < 0)
		return err;
	if (offset > b->size || size > b->size - offset)
		return fail(EIO, "memory/%s: wanted %zu bytes at %llu of %zu",
			    r->name, size, (unsigned long long)offset, b->size);
	if (size > 0)
		memcpy(data, b->data + offset, size);
	return 0;
}

static void mem_reader_close(struct reader *reader)
{
	struct mem_reader *r = (struct mem_reader *)reader;

	r->volume->open_count--;
	mem_content_put(r->content);
	free(r);
}

static int mem_remove(struct volume *volume, const char *name)
{
	struct mem_volume *v = mem(volume);
	struct mem_file *f = mem_find(v, name);
	int err = mem_count_call(v, "remove", name);

	if (err < 0)
		return err;
	if (!f)
		return fail(ENOENT, "memory/%s: cannot remove", name);
	err = begin_change(mem_handle(volume));
	/* Somebody else may have removed it meanwhile. */
	if (err < 0)
		return err;
	f->state = FILE_REMOVED;
	mem_give_spare(v, f->room > f->content->data.size
				  ? f->room
				  : f->content->data.size);
	return 0;
}

static int mem_link(struct volume *volume, const char *name, struct volume *to)
{
	struct mem_volume *v = mem(volume);
	struct mem_file *f = mem_find(v, name), *link;
	int err = mem_guard(mem_handle(to));

	if (err == 0)
		err = mem_count_call(mem(to), "create", name);
	if (err == 0)
		err = f ? check_free(mem(to), name)
			: fail(ENOENT, "memory/%s: cannot link", name);
	if (err < 0)
		return err;
	link = mem_add_file(mem(to), name, f->content);
	if (!link)
		return -ENOMEM;
	mem_content_get(f->content);
	link->synced = f->content->data.size;
	link->name_synced = true;
	return 0;
}

static int mem_list(struct volume *volume,
		    int (*each)(void *context, const char *name), void *context)
{
	struct mem_volume *v = mem(volume);
	struct mem_file *f, *next;
	int err = mem_count_call(v, "list", "");

	for (f = v->files; f && err >= 0; f = next) {
		next = f->next;
		if (f->state == FILE_LIVE)
			err = each(context, f->name);
	}
	return err < 0 ? err : 0;
}

static int mem_root_get(struct volume *volume, uint64_t *version,
			struct buf *out)
{
	struct mem_volume *v = mem(volume);
	int err = mem_count_call(v, "read", "root");

	if (err < 0)
		return err;
	if (v->root_version == 0)
		return fail(ENOENT, "memory/root: cannot open");
	*version = v->root_version;
	return buf_set(out, buf_bytes(&v->root));
}

static int mem_root_swap(struct volume *volume, uint64_t expected,
			 struct bytes content)
{
	struct mem_volume *v = mem(volume);
	int failed = count_roomy(v, "write", "root", expected > 0);
	int err = begin_change(mem_handle(volume));

	if (err < 0)
		return err;
	if (v->root_version != expected)
		return fail(ERR_volume_conflict, "memory/root: version %llu",
			    (unsigned long long)v->root_version);
	if (failed && (failed == -ENOSPC || rng_one_in(&v->rng, 2)))
		return failed;
	err = buf_set(&v->root, content);
	if (err < 0)
		return err;
	v->root_version++;
	call_hook(v);
	return failed;
}

/* Ends a handle that is not the volume's own. */
static void close_other(struct mem_handle *h)
{
	struct mem_handle **at = &h->pool->others;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	free(h);
}

static void mem_close(struct volume *volume)
{
	struct mem_volume *v = mem(volume);
	struct mem_file *f, *next;

	mem_lease_release(volume);
	if (mem_handle(volume) != &v->own) {
		close_other(mem_handle(volume));
		return;
	}
	if (v->kept > 0) {
		v->kept--;
		return;
	}
	for (f = v->files; f; f = next) {
		next = f->next;
		mem_content_put(f->content);
		free(f);
	}
	buf_release(&v->root);
	buf_release(&v->notes);
	buf_release(&v->old_notes);
	buf_release(&v->heat);
	free(v);
}

static const struct volume_ops mem_ops = {
	.segment_create = mem_segment_create,
	.segment_append = mem_segment_append,
	.segment_finish = mem_segment_finish,
	.segment_abandon = mem_segment_abandon,
	.log_create = mem_log_create,
	.log_append = mem_log_append,
	.log_sync = mem_log_sync,
	.log_close = mem_log_close,
	.log_keep = mem_log_keep,
	.log_hold = mem_log_hold,
	.spare_hold = mem_spare_hold,
	.segment_from_spare = mem_segment_from_spare,
	.log_from_spare = mem_log_from_spare,
	.spare_wipe = mem_spare_wipe,
	.open = mem_open,
	.pread = mem_pread,
	.reader_close = mem_reader_close,
	.remove = mem_remove,
	.link = mem_link,
	.list = mem_list,
	.root_get = mem_root_get,
	.root_swap = mem_root_swap,
	.lease_take = mem_lease_take,
	.lease_check = mem_lease_check,
	.lease_left = mem_lease_left,
	.lease_describe = mem_lease_describe,
	.lease_share = mem_lease_share,
	.lease_release = mem_lease_release,
	.note = mem_note,
	.heat_read = mem_heat_read,
	.heat_append = mem_heat_append,
	.heat_replace = mem_heat_replace,
	.scratch = mem_scratch,
	.space = mem_space,
	.close = mem_close,
};

int volume_mem_new(struct volume **out)
{
	struct mem_volume *v = calloc(1, sizeof(*v));

	*out = NULL;
	if (!v)
		return -ENOMEM;
	v->available = 1 << 29;
	v->own.volume.ops = &mem_ops;
	v->own.volume.path = "memory";
	v->own.volume.survives_kill = true;
	v->own.pool = v;
	*out = &v->own.volume;
	return 0;
}
