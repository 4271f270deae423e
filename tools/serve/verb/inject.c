#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/err.h"
#include "store/text/value/duration.h"
#include "tools/serve/verb/inject.h"

#define RULES_MAX 64
/* Shares are in millionths, which "0.0001%" is one of. */
#define MILLION 1000000u
#define LATENCY_MAX_US UINT64_C(3600000000)

static const char *const codes[] = {
	[CALL_CANCELLED] = "cancelled",
	[CALL_UNKNOWN] = "unknown",
	[CALL_INVALID_ARGUMENT] = "invalid_argument",
	[CALL_DEADLINE_EXCEEDED] = "deadline_exceeded",
	[CALL_NOT_FOUND] = "not_found",
	[CALL_ALREADY_EXISTS] = "already_exists",
	[CALL_PERMISSION_DENIED] = "permission_denied",
	[CALL_RESOURCE_EXHAUSTED] = "resource_exhausted",
	[CALL_FAILED_PRECONDITION] = "failed_precondition",
	[CALL_ABORTED] = "aborted",
	[CALL_OUT_OF_RANGE] = "out_of_range",
	[CALL_UNIMPLEMENTED] = "unimplemented",
	[CALL_INTERNAL] = "internal",
	[CALL_UNAVAILABLE] = "unavailable",
	[CALL_DATA_LOSS] = "data_loss",
	[CALL_UNAUTHENTICATED] = "unauthenticated",
};
#define CODES (sizeof(codes) / sizeof(codes[0]))

struct rule {
	struct bytes method; /* "*": all */
	uint32_t shares[CODES];
	unsigned int latency_ms;
	_Atomic uint64_t calls; /* so far */
};

struct inject {
	char *text;
	struct rule rules[RULES_MAX];
	size_t count;
};

static struct bytes method_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return bytes_string(slash ? slash + 1 : path);
}

static bool is_method(struct bytes word, const struct route *r)
{
	if (bytes_equal(word, BYTES_LITERAL("*")))
		return true;
	while (r->path && !bytes_equal(method_of(r->path), word))
		r++;
	return r->path != NULL;
}

/* "1%", "0.25%" of up to 100: millionths. */
static int parse_share(const char *word, const char *text, uint32_t *out)
{
	const char *at = text;
	uint32_t unit = MILLION / 100, share = 0;

	while (*at >= '0' && *at <= '9' && share <= MILLION)
		share = share * 10 + (uint32_t)(*at++ - '0') * unit;
	if (at > text && *at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
			share += (uint32_t)(*at - '0') * (unit /= 10);
	if (at == text || strcmp(at, "%") || share > MILLION)
		return fail(ERR_bad_argument,
			    "%s=%s: a share of calls is from 0%% to 100%%",
			    word, text);
	*out = share;
	return 0;
}

static int parse_word(struct rule *r, char *word)
{
	char *value = strchr(word, '=');
	uint64_t us;
	size_t i = 1;

	if (!value)
		return fail(ERR_bad_argument,
			    "\"%s\" is neither a code with a share, such as "
			    "unavailable=1%%, nor a latency",
			    word);
	*value++ = '\0';
	if (!strcmp(word, "latency")) {
		if (duration_parse(bytes_string(value), &us) < 0 ||
		    us > LATENCY_MAX_US)
			return fail(ERR_bad_argument,
				    "latency=%s: a time up to 1h, such as 50ms",
				    value);
		r->latency_ms = (unsigned int)((us + 999) / 1000);
		return 0;
	}
	while (i < CODES && strcmp(codes[i], word))
		i++;
	return i == CODES ? fail(ERR_bad_argument,
				 "%s is no code of gRPC, such as unavailable",
				 word)
			  : parse_share(word, value, &r->shares[i]);
}

static int parse_rule(struct rule *r, char *text, const struct route *routes)
{
	char *colon = strchr(text, ':'), *word, *next;
	uint64_t all = 0;
	size_t i;
	int err = 0;

	if (!colon)
		return fail(ERR_bad_argument,
			    "\"%s\" lacks the : behind a method", text);
	*colon = '\0';
	r->method = bytes_string(text);
	if (!is_method(r->method, routes))
		return fail(ERR_bad_argument, "%s is no method that is served",
			    text);
	for (word = colon + 1; word && !err; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		err = parse_word(r, word);
	}
	for (i = 0; i < CODES; i++)
		all += r->shares[i];
	if (!err && all > MILLION)
		err = fail(ERR_bad_argument,
			   "the shares of %s are more than 100%% together",
			   text);
	return err;
}

int inject_parse(const char *text, const struct route *routes,
		 struct inject **out)
{
	struct inject *i = calloc(1, sizeof(*i));
	char *rule, *next;
	int err = 0;

	*out = NULL;
	if (i)
		i->text = strdup(text);
	if (!i || !i->text) {
		inject_free(i);
		return -ENOMEM;
	}
	for (rule = i->text; rule && !err; rule = next) {
		next = strchr(rule, ';');
		if (next)
			*next++ = '\0';
		err = i->count == RULES_MAX
			      ? fail(ERR_bad_argument, "more than %d rules",
				     RULES_MAX)
			      : parse_rule(&i->rules[i->count++], rule, routes);
	}
	if (err < 0)
		inject_free(i);
	else
		*out = i;
	return err;
}

void inject_free(struct inject *i)
{
	if (i)
		free(i->text);
	free(i);
}

/* Scatters calls over the shares (splitmix64), each one by its number. */
static uint32_t scatter(uint64_t number)
{
	uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) % MILLION);
}

void inject_draw(void *context, const char *path, struct server_fault *out)
{
	struct inject *inject = context;
	struct bytes method = method_of(path);
	uint32_t draw, below = 0;
	struct rule *r;
	size_t i = 0;

	while (i < inject->count &&
	       !bytes_equal(inject->rules[i].method, method) &&
	       !bytes_equal(inject->rules[i].method, BYTES_LITERAL("*")))
		i++;
	if (i == inject->count)
		return;
	r = &inject->rules[i];
	out->latency_ms = r->latency_ms;
	draw = scatter(atomic_fetch_add(&r->calls, 1));
	for (i = 1; i < CODES; i++) {
		below += r->shares[i];
		if (draw < below) {
			out->status = (enum call_status)i;
			return;
		}
	}
}
