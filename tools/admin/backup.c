#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/base/place/place.h"
#include "tools/admin/backup.h"
#include "tools/verb/remote.h"

/* Says what came of it: the exit status. */
static int tell(struct verb_call *c, int err, const struct backup_result *r)
{
	if (err < 0)
		return verb_failed(c, "Backing up", err);
	fprintf(c->out, "%llu files linked, %llu copied, %llu bytes\n",
		(unsigned long long)r->linked_count,
		(unsigned long long)r->copied_count,
		(unsigned long long)r->size);
	return 0;
}

int verb_backup(struct verb_call *c)
{
	struct backup_result r = { 0 };

	if (c->argc != 2)
		return verb_usage(c);
	return tell(c, store_backup(c->store, c->argv[1], &r), &r);
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
			   "the %s at %s ended before all was copied; remove "
			   "what there is, and try again",
			   p->served->root < 0 ? "server" : "mount",
			   (char *)p->served->place.data);
	fclose(p->ctl);
	return err;
}

int remote_backup(struct verb_call *c, const struct served *served)
{
	struct remote_pin p = { .served = served };
	struct backup_source from = { NULL, pin, unpin, &p };
	struct backup_result r = { 0 };
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	err = volume_open(served->directory, false, &from.volume);
	if (err == 0) {
		err = backup_make(&from, c->argv[1], &r);
		from.volume->ops->close(from.volume);
	}
	return tell(c, err, &r);
}
