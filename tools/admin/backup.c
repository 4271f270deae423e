#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/base/place/place.h"
#include "tools/admin/backup.h"
#include "tools/verb/remote.h"

/* Takes the words behind the directory: 0, or the status after it said what is
 * wrong. */
static int take_options(struct verb_call *c, struct backup_options *o)
{
	enum { KEEP, LINK };
	static const char *const keys[] = { "keep", "link", NULL };
	const char *values[2] = { NULL, NULL };
	char *end = NULL;
	long keep = 0;

	if (c->argc < 2)
		return verb_usage(c);
	if (verb_arguments(c, 2, keys, values) || verb_once(c, 2))
		return 1;
	o->link = values[LINK] && !strcmp(values[LINK], "yes");
	if (values[LINK] && !o->link && strcmp(values[LINK], "no") != 0)
		return verb_wrong(c, "link=%s: neither yes nor no",
				  values[LINK]);
	if (values[KEEP])
		keep = strtol(values[KEEP], &end, 10);
	if (values[KEEP] && (keep < 1 || keep > 1000000 || *end))
		return verb_wrong(c, "keep=%s: not a number from 1 to 1000000",
				  values[KEEP]);
	o->keep = (unsigned int)keep;
	return 0;
}

/* Says what came of it: the exit status. */
static int tell(struct verb_call *c, int err, const struct backup_result *r)
{
	if (err < 0)
		return verb_failed(c, "Backing up", err);
	fprintf(c->out,
		"%s: %llu files shared, %llu linked, %llu copied, %llu bytes, "
		"%llu of them copied\n",
		r->moment, (unsigned long long)r->shared_count,
		(unsigned long long)r->linked_count,
		(unsigned long long)r->copied_count,
		(unsigned long long)r->size,
		(unsigned long long)r->copied_size);
	if (r->damaged_count > 0)
		verb_wrong(c,
			   "%llu files of the backup before are damaged, such "
			   "as %s; this one has them anew, and backups %s "
			   "verify=yes tells what else is damaged",
			   (unsigned long long)r->damaged_count, r->damaged,
			   c->argv[1]);
	if (r->is_latest_taken)
		verb_wrong(c,
			   "%s/latest is no link, and stays as it is; move it "
			   "away, and it leads to the newest again",
			   c->argv[1]);
	if (r->removed_count > 0)
		fprintf(c->out, "%u older backups removed\n", r->removed_count);
	if (r->busy_count > 0)
		verb_wrong(c,
			   "%u older backups stay for now: somebody has them "
			   "open",
			   r->busy_count);
	if (r->stayed_count > 0)
		verb_wrong(c, "%u older backups stay: %s", r->stayed_count,
			   r->stayed_why);
	return 0;
}

int verb_backup(struct verb_call *c)
{
	struct backup_options o = { .keep = 0 };
	struct backup_result r = { .size = 0 };

	if (take_options(c, &o))
		return 1;
	return tell(c, store_backup(c->store, c->argv[1], &o, &r), &r);
}

struct telling {
	struct verb_call *call;
	bool is_all_sound;
};

/* As backup_list's each. */
static int tell_backup(void *context, const struct backup_info *info)
{
	struct telling *t = context;

	fprintf(t->call->out, "%s\t%llu\t%llu%s\n", info->moment,
		(unsigned long long)info->size,
		(unsigned long long)info->own_size,
		info->is_damaged       ? "\tdamaged"
		: info->err            ? "\tcannot be read"
		: info->was_written_to ? "\twritten to since"
				       : "");
	if (info->is_damaged || info->err)
		verb_wrong(t->call, "%s", err_detail());
	t->is_all_sound &= !info->is_damaged && !info->err;
	return 0;
}

int verb_backups(struct verb_call *c)
{
	static const char *const keys[] = { "verify", NULL };
	struct telling t = { c, true };
	const char *verify = NULL;
	bool is_yes;
	int err;

	if (c->argc < 2)
		return verb_usage(c);
	if (verb_arguments(c, 2, keys, &verify) || verb_once(c, 2))
		return 1;
	is_yes = verify && !strcmp(verify, "yes");
	if (verify && !is_yes && strcmp(verify, "no") != 0)
		return verb_wrong(c, "verify=%s: neither yes nor no", verify);
	err = backup_list(c->argv[1], is_yes, tell_backup, &t);
	if (err < 0)
		return verb_failed(c, "Listing backups", err);
	return is_yes && !t.is_all_sound;
}

/* A pin that a daemon holds. */
struct remote_pin {
	const struct served *served;
	FILE *ctl; /* while it is open, the pin lasts */
};

/* As backup_source.pin. */
static int pin(void *context, struct buf *contents)
{
	static char word[] = "pin";
	char *words[] = { word, NULL }, *out_text = NULL, *err_text = NULL;
	struct remote_pin *p = context;
	size_t out_size = 0, err_size = 0;
	FILE *out = open_memstream(&out_text, &out_size);
	FILE *err = open_memstream(&err_text, &err_size);
	int status = out && err ? 0 : -ENOMEM;

	if (!status)
		status = remote_send(p->served, 1, words, &p->ctl);
	if (!status)
		status = remote_reply(p->served, p->ctl, out, err);
	/* Without memory for all of it, too. */
	if (out && fclose(out) && status >= 0)
		status = -ENOMEM;
	if (err && fclose(err) && status >= 0)
		status = -ENOMEM;
	if (status > 0)
		status = fail(status, "%s", err_text);
	if (!status)
		status = buf_add(contents, out_text, out_size);
	if (status && p->ctl)
		fclose(p->ctl);
	free(out_text);
	free(err_text);
	return status;
}

/* Whether who was asked is still there: 0, or an errno. A file is answered, and
 * a socket open with nothing to say. */
static int ask(int fd)
{
	char byte;
	ssize_t n;

	if (pread(fd, &byte, 1, 0) >= 0)
		return 0;
	if (errno != ESPIPE)
		return errno;
	n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n < 0 && errno == EAGAIN ? 0 : ECONNRESET;
}

/* As backup_source.unpin. A daemon that ended answers no more. */
static int unpin(void *context)
{
	struct remote_pin *p = context;
	int err = ask(fileno(p->ctl));

	if (err)
		err = fail(err,
			   "the %s at %s ended before all was copied; try "
			   "again",
			   p->served->root < 0 ? "server" : "mount",
			   (char *)p->served->place.data);
	fclose(p->ctl);
	return err;
}

int remote_backup(struct verb_call *c, const struct served *served)
{
	struct remote_pin p = { .served = served };
	struct backup_source from = { NULL, pin, unpin, &p };
	struct backup_options o = { .keep = 0 };
	struct backup_result r = { .size = 0 };
	int err;

	if (take_options(c, &o))
		return 1;
	err = volume_open(served->directory, false, &from.volume);
	if (err == 0) {
		err = backup_make(&from, c->argv[1], &o, &r);
		from.volume->ops->close(from.volume);
	}
	return tell(c, err, &r);
}
