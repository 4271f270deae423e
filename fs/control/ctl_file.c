#include <assert.h>

#include "fs/cells/space.h"
#include "fs/control/ctl_file.h"
#include "store/text/json/json_mutation.h"

int ctl_read_text(struct fs *fs, struct ctl_file *f, uint64_t offset,
		  size_t size, struct buf *out)
{
	(void)fs;
	if (offset >= f->out.size)
		return 0;
	if (size > f->out.size - offset)
		size = f->out.size - (size_t)offset;
	return buf_add(out, f->out.data + offset, size);
}

size_t ctl_take_lines(struct spill *partial, struct bytes data,
		      const struct ctl_lines *lines, int *err)
{
	size_t taken = 0;

	assert(lines->too_long > 0 && partial->size <= lines->size_max);
	*err = 0;
	/* One line, or the beginning of one, a round. */
	while (taken < data.size) {
		struct bytes rest = bytes_after(data, taken);
		const uint8_t *end = memchr(rest.data, '\n', rest.size);
		size_t before = partial->size;

		/* Up to the newline, or all that is left. */
		rest.size = end ? (size_t)(end - rest.data) : rest.size;
		if (rest.size > lines->size_max - before)
			*err = fail(lines->too_long,
				    "a line of more than %zu bytes",
				    lines->size_max);
		else
			*err = spill_add(partial, rest);
		if (!*err && end) {
			spill_sweep(partial, true);
			*err = lines->each(lines->context,
					   spill_bytes(partial));
		}
		if (*err) {
			/* The next write begins at this line's part again. */
			spill_cut(partial, before);
			break;
		}
		if (end)
			spill_cut(partial, 0);
		taken += rest.size + (end != NULL);
	}
	assert(taken <= data.size && partial->size <= lines->size_max);
	return taken;
}

/* Whether it has a condition; false also for what is none, as running it
 * tells. */
static bool asks(struct bytes text)
{
	struct json j = { 0 };
	const struct json_node *body;
	bool reads;
	bool does = mutation_may_ask(text) &&
		    json_mutation_parse(&j, text, &body, &reads) == 0 &&
		    json_find(&j, body, "if");

	json_release(&j);
	return does;
}

int ctl_run_mutation(struct fs *fs, const struct ctl_file *f,
		     struct bytes table, struct bytes row, struct bytes text,
		     struct json_result *result)
{
	int err = fs_check_space(fs, text.size);

	if (f->is_blind && asks(text))
		return json_may_not_ask();
	/* What only removes is how there is room again. */
	if (err && mutation_adds(text))
		return err;
	return mutation_run_json(fs->store, table, row, text, fs->options->sync,
				 result);
}
