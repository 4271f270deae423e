#include <assert.h>
#include <ctype.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "fs/state/options.h"
#include "store/text/value/duration.h"
#include "store/text/value/gcpolicy.h"
#include "store/text/value/number.h"

#define STALENESS_MIN_MS UINT64_C(20)
#define GRACE_MAX_US (UINT64_C(86400) * 1000000)

void mount_options_init(struct mount_options *o)
{
	memset(o, 0, sizeof(*o));
	o->access.mode = o->access.uid = o->access.gid = TABLE_ACCESS_UNSET;
	o->commit_seconds = 1;
	o->stale_seconds = 1;
	o->staleness_ms = STORE_STALENESS_MS;
	o->gc = "maxversions=10";
	o->delimiter = "#";
	o->events = EVENTS_MAIN;
	o->slow_us = STORE_SLOW_US;
	o->export_max_size = UINT64_C(4) << 30;
	o->server_fd = -1;
}

/* A word without a value that sets something, or undoes that. */
struct flag {
	const char *name;
	size_t offset; /* of a bool in struct mount_options */
	bool value;
};

static const struct flag flags[] = {
	{ "quiet", offsetof(struct mount_options, quiet), true },
	{ "showctl", offsetof(struct mount_options, show_control), true },
	{ "strictschema", offsetof(struct mount_options, strict_schema), true },
	{ "xattr", offsetof(struct mount_options, xattr), true },
	{ "opendir", offsetof(struct mount_options, opendir), true },
	{ "sync", offsetof(struct mount_options, sync), true },
	{ "allow_other", offsetof(struct mount_options, allow_other), true },
	{ "async", offsetof(struct mount_options, sync), false },
	{ "ro", offsetof(struct mount_options, read_only), true },
	{ "follow", offsetof(struct mount_options, follow), true },
	{ "rw", offsetof(struct mount_options, read_only), false },
	{ "noexec", offsetof(struct mount_options, no_exec), true },
	{ "exec", offsetof(struct mount_options, no_exec), false },
	{ "noatime", offsetof(struct mount_options, no_atime), true },
	{ "atime", offsetof(struct mount_options, no_atime), false },
};

/* Words of mount(8) and fstab that change nothing here: what they are about is
 * so in any case, or is done by mount(8) itself. Each mount is nodev and
 * nosuid, and there are neither devices nor programs with a set bit; times of
 * access are not kept. */
static const char *const ignored[] = {
	"defaults", "auto",   "noauto",     "user",     "users",
	"nouser",   "nofail", "_netdev",    "dev",      "nodev",
	"suid",     "nosuid", "nodiratime", "relatime",
};

/* "memory=": at least what a store needs. */
static int parse_memory(struct mount_options *o, const char *value)
{
	int err = size_parse("memory", value, &o->memory_size);

	if (!err && o->memory_size < STORE_MEMORY_MIN)
		err = fail(ERR_bad_argument, "memory=%s: at least 16M", value);
	return err;
}

/* Up to an hour. */
static int parse_seconds(const char *word, const char *text, unsigned int least,
			 unsigned int *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || n < least || n > 3600)
		return fail(ERR_bad_argument, "%s=%s: from %u to 3600 seconds",
			    word, text, least);
	*out = (unsigned int)n;
	return 0;
}

/* "gc=": looked at here, before a store is made for the mount. */
static int parse_gc(struct mount_options *o, const char *value)
{
	struct gc_policy *policy;
	int err = gc_policy_parse(bytes_string(value), &policy);

	gc_policy_free(policy);
	o->gc = value;
	return err;
}

/* A user or group: a number or, if find knows it, a name. */
static int parse_id(const char *word, const char *text,
		    bool (*find)(const char *name, uint32_t *id), uint32_t *out)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (find(text, out))
		return 0;
	/* The last one is what calls take for none. */
	if (!isdigit((unsigned char)*text) || *end || n >= UINT32_MAX)
		return fail(ERR_bad_argument,
			    "%s=%s: neither a name that this machine knows "
			    "nor a number",
			    word, text);
	*out = (uint32_t)n;
	return 0;
}

static bool find_user(const char *name, uint32_t *id)
{
	const struct passwd *user = getpwnam(name);

	if (user)
		*id = user->pw_uid;
	return user != NULL;
}

static bool find_group(const char *name, uint32_t *id)
{
	const struct group *group = getgrnam(name);

	if (group)
		*id = group->gr_gid;
	return group != NULL;
}

/* "umask=": what is taken from all permissions. */
static int parse_umask(struct mount_options *o, const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 8);

	if (!isdigit((unsigned char)*value) || *end || n > 0777)
		return fail(ERR_bad_argument, "umask=%s: not from 000 to 777",
			    value);
	o->access.mode = 0777 & ~(uint32_t)n;
	return 0;
}

int log_to_parse(const char *value)
{
	return strcmp(value, "stderr") ? fail(ERR_bad_argument,
					      "log-to=%s: there is stderr, "
					      "which systemd's journal reads",
					      value)
				       : 0;
}

int slow_parse(const char *value, uint64_t *us)
{
	*us = 0;
	if (!strcmp(value, "0"))
		return 0;
	return duration_parse(bytes_string(value), us) < 0
		       ? fail(ERR_bad_argument,
			      "slow=%s: no time such as 50ms or 2s", value)
		       : 0;
}

/* "staleness=": less would be nothing but looks. */
static int parse_staleness(struct mount_options *o, const char *value)
{
	uint64_t us;

	if (duration_parse(bytes_string(value), &us) < 0 ||
	    us < STALENESS_MIN_MS * 1000 ||
	    us > STORE_STALENESS_MAX_MS * UINT64_C(1000))
		return fail(ERR_bad_argument,
			    "staleness=%s: no time such as 500ms or 2s, from "
			    "20ms to 1h",
			    value);
	o->staleness_ms = (unsigned int)(us / 1000);
	return 0;
}

/* "reader-grace=": 0 is none. */
static int parse_grace(struct mount_options *o, const char *value)
{
	o->reader_grace_us = 0;
	if (!strcmp(value, "0"))
		return 0;
	return duration_parse(bytes_string(value), &o->reader_grace_us) < 0 ||
			       o->reader_grace_us > GRACE_MAX_US
		       ? fail(ERR_bad_argument,
			      "reader-grace=%s: no time such as 60s, up to 1d",
			      value)
		       : 0;
}

int mount_options_check(const struct mount_options *o)
{
	const char *word = o->serve                 ? "serve="
			   : o->quota_size > 0      ? "quota="
			   : o->sync                ? "sync"
			   : o->reader_grace_us > 0 ? "reader-grace="
						    : NULL;

	if (o->follow && word)
		return fail(ERR_bad_argument,
			    "%s does not go with follow, which only reads what "
			    "another process writes",
			    word);
	return 0;
}

/* A word with a value, which may be empty. */
static int parse_value(struct mount_options *o, const char *word,
		       const char *value)
{
	/* As mount(8) notes who may unmount. */
	if (!strcmp(word, "user") || !strcmp(word, "comment"))
		return 0;
	if (!strcmp(word, "gc"))
		return parse_gc(o, value);
	if (!strcmp(word, "delimiter")) {
		o->delimiter = value;
		return *value ? 0
			      : fail(ERR_bad_argument, "delimiter= is empty");
	}
	if (!strcmp(word, "serve")) {
		/* Who gives two addresses wants both. */
		if (o->serve)
			return fail(ERR_bad_argument,
				    "serve=%s: there is serve=%s already, and "
				    "a mount has one address",
				    value, o->serve);
		o->serve = value;
		return *value ? 0 : fail(ERR_bad_argument, "serve= is empty");
	}
	if (!strcmp(word, "quota"))
		return size_parse(word, value, &o->quota_size);
	if (!strcmp(word, "export-max"))
		return size_parse(word, value, &o->export_max_size);
	if (!strcmp(word, "memory"))
		return parse_memory(o, value);
	if (!strcmp(word, "uid"))
		return parse_id(word, value, find_user, &o->access.uid);
	if (!strcmp(word, "gid"))
		return parse_id(word, value, find_group, &o->access.gid);
	if (!strcmp(word, "umask"))
		return parse_umask(o, value);
	if (!strcmp(word, "log"))
		return event_level_parse(bytes_string(value), &o->events);
	if (!strcmp(word, "log-to")) {
		o->log_stderr = true;
		return log_to_parse(value);
	}
	if (!strcmp(word, "slow"))
		return slow_parse(value, &o->slow_us);
	if (!strcmp(word, "metrics-file")) {
		o->metrics_file = value;
		return *value ? 0
			      : fail(ERR_bad_argument,
				     "metrics-file= is empty");
	}
	if (!strcmp(word, "commit"))
		return parse_seconds(word, value, 1, &o->commit_seconds);
	if (!strcmp(word, "staleness"))
		return parse_staleness(o, value);
	if (!strcmp(word, "reader-grace"))
		return parse_grace(o, value);
	if (!strcmp(word, "stale"))
		return parse_seconds(word, value, 0, &o->stale_seconds);
	return fail(ERR_bad_argument, "%s", word);
}

/* One word; what mount(8) keeps for others begins with "x-". */
static int parse_word(struct mount_options *o, char *word)
{
	char *value = strchr(word, '=');
	size_t i;

	if (!*word || !strncmp(word, "x-", 2))
		return 0;
	if (value) {
		*value++ = '\0';
		return parse_value(o, word, value);
	}
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!strcmp(word, flags[i].name)) {
			*(bool *)((char *)o + flags[i].offset) = flags[i].value;
			return 0;
		}
	}
	for (i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		if (!strcmp(word, ignored[i]))
			return 0;
	return fail(ERR_bad_argument, "%s", word);
}

int mount_options_parse(struct mount_options *o, char *argument)
{
	char *next, *word;
	int err = 0;

	assert(o && argument);
	for (word = argument; word && !err; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		err = parse_word(o, word);
	}
	return err;
}
