#include "tools/output/output_verb.h"
#include "tools/verb/stop.h"

int output_text(struct verb_call *c, const char *path, struct text_stream *t)
{
	struct output *o;
	int err = output_open(path, &o);

	if (!err) {
		err = output_stream(o, t);
		if (err < 0) {
			if (stop_came())
				err = stop_check();
			/* Told before what follows replaces the detail. */
			verb_failed(c, t->doing, err);
			output_abandon(o);
			t->close(t);
			return 1;
		}
		err = output_finish(o);
	}
	if (err < 0)
		verb_failed(c, t->doing, err);
	t->close(t);
	return err < 0;
}

/* Has the daemon print into o: the exit status, or an error of the way to
 * it. */
static int print_into(struct verb_call *c, const struct served *served,
		      struct output *o, int argc, char **argv)
{
	FILE *out = output_printed(o), *ctl;
	int status = out ? remote_send(served, argc, argv, &ctl) : -ENOMEM;

	if (!status) {
		status = remote_reply(served, ctl, out, c->err);
		fclose(ctl);
	}
	/* Its error is o's. */
	if (out)
		fclose(out);
	return status;
}

int output_remote(struct verb_call *c, const struct served *served,
		  const char *path, int argc, char **argv)
{
	struct output *o;
	int err = output_open(path, &o), status;

	if (err < 0)
		return verb_failed(c, argv[0], err);
	status = print_into(c, served, o, argc, argv);
	if (status == 0 || output_failed(o)) {
		err = output_finish(o);
		return err < 0 ? verb_failed(c, argv[0], err) : 0;
	}
	if (stop_came()) {
		stop_check();
		status = verb_failed(c, argv[0], -ERR_bad_argument);
	}
	if (status < 0)
		status = verb_wrong(c, "%s", verb_error_text(status));
	output_abandon(o);
	return status;
}
