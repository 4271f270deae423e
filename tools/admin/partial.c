#include <stdio.h>
#include <string.h>

#include "store/base/err.h"
#include "tools/admin/partial.h"

/* Its value is the name that the table is to have, a blank, and a holder. */
#define MARK BYTES_LITERAL("partial/as")

bool partial_init(struct partial *p, struct bytes as, const char *holder)
{
	int size = (int)as.size;

	if (store_check_table_name(as) < 0 || as.size > PARTIAL_OF_MAX)
		return false;
	snprintf(p->name, sizeof(p->name), "%.*s" PARTIAL, size, as.data);
	snprintf(p->value, sizeof(p->value), "%.*s %s", size, as.data, holder);
	p->mark = (struct attribute){ MARK, bytes_string(p->value) };
	return true;
}

struct attribute partial_unmark(void)
{
	return (struct attribute){ .name = MARK };
}

bool partial_is(const struct table *t, struct bytes *as)
{
	const uint8_t *blank;

	if (!attributes_find(&t->attributes, MARK, as))
		return false;
	blank = as->size > 0 ? memchr(as->data, ' ', as->size) : NULL;
	if (blank)
		as->size = (size_t)(blank - as->data);
	return true;
}

/* Who brings t, which has a mark; of nobody if that does not say. */
static void find_holder(const struct table *t, struct holder *out)
{
	char text[HOLDER_TEXT_SIZE];
	struct bytes value, as;

	attributes_find(&t->attributes, MARK, &value);
	partial_is(t, &as);
	value = bytes_after(value,
			    as.size < value.size ? as.size + 1 : value.size);
	snprintf(text, sizeof(text), "%.*s", (int)value.size, value.data);
	holder_parse(text, out);
}

/* Whether h brings nothing any more. It reaches the store by this machine, so
 * it is not of another boot. own: nor does this process. */
static bool has_gone(const struct holder *h, bool own)
{
	struct holder self;

	holder_self(&self);
	if (h->pid <= 0 || holder_is_dead(h))
		return true;
	if (self.boot[0] && h->boot[0] && strcmp(h->boot, self.boot) != 0)
		return true;
	return own && holder_is_here(h) && h->pid == self.pid &&
	       h->start == self.start;
}

/* Whether nobody brings t, which has a mark, any more; if not, why. */
static int check_left(const struct table *t, bool own)
{
	struct holder h;

	find_holder(t, &h);
	if (has_gone(&h, own))
		return 0;
	return fail(ERR_table_exists,
		    "there is a table \"%s\", which process %d restores or "
		    "undeletes: wait for it, or say another name by as=; if "
		    "that was killed where it cannot be seen from here, "
		    "deletetable removes it",
		    err_name(t->name), (int)h.pid);
}

/* Whether p is what as is until it is whole: one may have been renamed. */
static bool is_of(const struct partial *p, struct bytes as)
{
	return as.size == strlen(p->name) - strlen(PARTIAL) &&
	       memcmp(p->name, as.data, as.size) == 0;
}

int partial_drop_left(struct store *s, const struct partial *p, bool own)
{
	struct schema *now = store_schema(s);
	const struct table *left = schema_table(now, bytes_string(p->name));
	struct bytes as;
	int err = 0;

	if (left && !(partial_is(left, &as) && is_of(p, as)))
		err = fail(ERR_table_exists,
			   "there is a table \"%s\", which no restore-from or "
			   "undelete made: as= gives another name, and "
			   "deletetable removes it",
			   p->name);
	else if (left)
		err = check_left(left, own);
	if (left && !err)
		err = store_discard_table(s, left->id);
	schema_put(now);
	return err;
}
