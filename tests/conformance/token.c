#include <stdlib.h>

#include "store/text/value/duration.h"
#include "tests/conformance/run.h"
#include "tests/conformance/sha256.h"

#define SHOWN_MAX 128

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Of pairs of digits the bytes, count times, in r's memory. */
static bool take_hex(struct run *r, const char *text, size_t count,
		     struct bytes *out)
{
	size_t size = strlen(text) / 2, i;
	uint8_t *p = run_alloc(r, count * size + 1);

	*out = bytes_of(p, count * size);
	if (!p || text[2 * size])
		return false;
	for (i = 0; i < size; i++) {
		int high = hex_value(text[2 * i]);
		int low = hex_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		p[i] = (uint8_t)(high << 4 | low);
	}
	for (i = 1; i < count; i++)
		memcpy(p + i * size, p, size);
	return true;
}

/* x<hex>, or r<count>x<hex> for a pattern that is repeated. */
bool parse_bytes(struct run *r, const char *text, struct bytes *out)
{
	unsigned long count = 1;
	char *end;

	if (*text == 'r') {
		count = strtoul(text + 1, &end, 10);
		text = end;
	}
	return *text == 'x' && count > 0 && take_hex(r, text + 1, count, out);
}

bool parse_name(struct run *r, const char *text, struct bytes *out)
{
	if (!strncmp(text, "0x", 2))
		return take_hex(r, text + 2, 1, out);
	*out = run_keep(r, bytes_string(text));
	return out->data != NULL;
}

static bool parse_symbol(struct run *r, const char *text, int64_t *us)
{
	uint64_t distance = 0;

	if (text[3] && duration_parse(bytes_string(text + 4), &distance) < 0)
		return false;
	*us = (int64_t)(text[3] == '-' ? r->base_us - distance
				       : r->base_us + distance);
	if (r->symbol_count < sizeof(r->symbols) / sizeof(r->symbols[0]))
		r->symbols[r->symbol_count++] =
			(struct symbol){ text, (uint64_t)*us };
	return true;
}

bool parse_time(struct run *r, const char *text, int64_t *us)
{
	char *end;

	if (!strncmp(text, "now", 3))
		return parse_symbol(r, text, us);
	*us = strtoll(text, &end, 10);
	return end > text && !*end;
}

/* One expression from the front of *text. */
static bool take_gc(const char **text, struct gc_policy **out)
{
	bool all = !strncmp(*text, "and(", 4);
	const char *p = *text;

	*out = NULL;
	if (all || !strncmp(p, "or(", 3)) {
		p += all ? 3 : 2;
		while (*p == '(' || *p == ',') {
			struct gc_policy *next;

			p++;
			if (!take_gc(&p, &next) || !next) {
				gc_policy_free(*out);
				return false;
			}
			*out = !*out ? next
				     : gc_policy_pair(all ? GC_INTERSECTION
							  : GC_UNION,
						      *out, next);
		}
		*text = p + 1;
		return *p == ')' && *out;
	}
	if (!strncmp(p, "versions:", 9)) {
		*out = gc_policy_leaf(GC_MAX_VERSIONS,
				      strtoull(p + 9, NULL, 10));
	} else if (!strncmp(p, "age:", 4)) {
		uint64_t us;

		if (duration_parse(bytes_of(p + 4, strcspn(p + 4, ",)")), &us))
			return false;
		*out = gc_policy_leaf(GC_MAX_AGE, us);
	} else {
		return false;
	}
	*text = p + strcspn(p, ",)");
	return *out != NULL;
}

bool parse_gc(const char *text, struct gc_policy **out)
{
	*out = NULL;
	return !strcmp(text, "never") || (take_gc(&text, out) && !*text);
}

bool parse_type(const char *text, enum family_type *out)
{
	static const char *const words[] = { "",    "utf8", "sum",
					     "min", "max",  "hll" };
	size_t i;

	for (i = 1; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(text, words[i])) {
			*out = (enum family_type)i;
			return true;
		}
	}
	return false;
}

int put_bytes(struct buf *out, struct bytes b)
{
	size_t i;
	int err;

	if (b.size > SHOWN_MAX) {
		err = buf_printf(out, "len%zu:sha256:", b.size);
		return err < 0 ? err : sha256_hex(b, out);
	}
	err = buf_add_byte(out, 'x');
	for (i = 0; !err && i < b.size; i++)
		err = buf_printf(out, "%02x", b.data[i]);
	return err;
}

int put_name(struct buf *out, struct bytes name)
{
	size_t i;
	int err;

	for (i = 0; i < name.size; i++) {
		uint8_t c = name.data[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		      (c >= 'A' && c <= 'Z') || memchr("-_.", c, 3)))
			break;
	}
	if (i == name.size && i > 0)
		return buf_add_bytes(out, name);
	err = buf_add_string(out, "0x");
	for (i = 0; !err && i < name.size; i++)
		err = buf_printf(out, "%02x", name.data[i]);
	return err;
}

int put_time(const struct run *r, struct buf *out, uint64_t us)
{
	size_t i;

	for (i = 0; i < r->symbol_count; i++)
		if (r->symbols[i].us == us)
			return buf_add_string(out, r->symbols[i].text);
	if (us >= r->base_us && us <= r->now_us && us % 1000 == 0)
		return buf_add_string(out, "server");
	return buf_printf(out, "%llu", (unsigned long long)us);
}
