#include "store/store.h"
#include "tools/serve/data/wire_mutation.h"

/* Of a value that is only checked: nothing that is written to a file. */
#define CHECKED_MAX ((size_t)1 << 10)
/* What is kept of mutations that are only checked. */
#define CHECKED_TOGETHER ((size_t)1 << 20)

static int bad_timestamp(int64_t us)
{
	return fail(ERR_bad_timestamp, "invalid timestamp %lld", (long long)us);
}

static int set_cell(struct write *w, const struct proto_set_cell *m)
{
	int64_t us = m->timestamp_micros;

	if (us < SERVER_TIME)
		return bad_timestamp(us);
	return write_set(w, m->family_name, m->column_qualifier,
			 us == SERVER_TIME ? STORE_NOW : (uint64_t)us,
			 m->value);
}

/* Bytes in a Value, typed or not. */
static int take_bytes_value(const struct proto_value *v, const char *field,
			    struct bytes *out)
{
	if (v && v->kind_case == nr_value_raw_value)
		*out = v->raw_value;
	else if (v && v->kind_case == nr_value_bytes_value)
		*out = v->bytes_value;
	else
		return fail(ERR_bad_argument,
			    "Error in field '%s' : must be raw_value", field);
	return 0;
}

/* Column and time of what is added to or merged. */
static int take_place(const struct proto_value *column,
		      const struct proto_value *timestamp,
		      struct bytes *qualifier, uint64_t *us)
{
	int err = take_bytes_value(column, "column_qualifier", qualifier);

	if (err < 0)
		return err;
	if (!timestamp || timestamp->kind_case != nr_value_raw_timestamp_micros)
		return fail(ERR_bad_argument, "Error in field 'timestamp' : "
					      "must be raw_timestamp_micros");
	if (timestamp->raw_timestamp_micros < 0)
		return bad_timestamp(timestamp->raw_timestamp_micros);
	*us = (uint64_t)timestamp->raw_timestamp_micros;
	return 0;
}

static int add_to_cell(struct write *w, const struct proto_add_to_cell *m)
{
	struct bytes qualifier;
	uint64_t us;
	int err =
		take_place(m->column_qualifier, m->timestamp, &qualifier, &us);

	if (err < 0)
		return err;
	if (!m->input || m->input->kind_case != nr_value_int_value)
		return fail(ERR_bad_argument, "Error in field 'input' : must "
					      "be int_value");
	return write_add(w, m->family_name, qualifier, us, m->input->int_value);
}

static int merge_to_cell(struct write *w, const struct proto_merge_to_cell *m)
{
	struct bytes qualifier, state;
	uint64_t us;
	int err =
		take_place(m->column_qualifier, m->timestamp, &qualifier, &us);

	if (!err)
		err = take_bytes_value(m->input, "input", &state);
	return err < 0 ? err
		       : write_merge(w, m->family_name, qualifier, us, state);
}

/* A range from 0 on without end is the whole column. */
static int delete_from_column(struct write *w,
			      const struct proto_delete_from_column *m)
{
	const struct proto_timestamp_range *r = m->time_range;

	if (!r ||
	    (r->start_timestamp_micros == 0 && r->end_timestamp_micros == 0))
		return write_delete_column(w, m->family_name,
					   m->column_qualifier);
	if (r->start_timestamp_micros < 0)
		return bad_timestamp(r->start_timestamp_micros);
	if (r->end_timestamp_micros < 0)
		return bad_timestamp(r->end_timestamp_micros);
	return write_delete_cells(w, m->family_name, m->column_qualifier,
				  (uint64_t)r->start_timestamp_micros,
				  (uint64_t)r->end_timestamp_micros);
}

static int mutate(struct write *w, const struct proto_mutation *m)
{
	switch (m->mutation_case) {
	case nr_mutation_set_cell:
		return set_cell(w, m->set_cell);
	case nr_mutation_add_to_cell:
		return add_to_cell(w, m->add_to_cell);
	case nr_mutation_merge_to_cell:
		return merge_to_cell(w, m->merge_to_cell);
	case nr_mutation_delete_from_column:
		return delete_from_column(w, m->delete_from_column);
	case nr_mutation_delete_from_family:
		return write_delete_family(w,
					   m->delete_from_family->family_name);
	case nr_mutation_delete_from_row:
		return write_delete_row(w);
	default:
		return fail(ERR_bad_argument,
			    "a mutation is empty, or of a kind that is not "
			    "known");
	}
}

int wire_mutations(struct write *w, const struct proto_mutation *mutations,
		   size_t count, const uint32_t *earlier)
{
	size_t i;
	int err = 0;

	if (count == 0)
		return fail(ERR_bad_argument, "No mutations provided");
	write_follow(w);
	for (i = 0; i < count && !err; i++) {
		write_earlier(w, earlier ? earlier[i] : 0);
		err = mutate(w, &mutations[i]);
	}
	return err;
}

/* Adds one mutation to w with no more of its value than is needed to know that
 * it could be added. */
static int check_one(struct write *w, const struct proto_mutation *m)
{
	struct proto_mutation less = *m;
	struct proto_set_cell set;

	if (m->mutation_case != nr_mutation_set_cell)
		return mutate(w, m);
	set = *m->set_cell;
	if (set.value.size > STORE_VALUE_MAX)
		return fail(ERR_value_too_large,
			    "a value of %zu bytes is larger than %u",
			    set.value.size, STORE_VALUE_MAX);
	if (set.value.size > CHECKED_MAX)
		set.value.size = CHECKED_MAX;
	less.set_cell = &set;
	return mutate(w, &less);
}

int wire_check(struct write *w, struct bytes table, struct bytes row,
	       const struct proto_mutation *mutations, size_t count)
{
	size_t i;
	int err = 0;

	if (count > STORE_MUTATIONS_MAX)
		return fail(ERR_batch_too_large,
			    "Error in field 'mutations' : %zu are more than %d",
			    count, STORE_MUTATIONS_MAX);
	for (i = 0; i < count && !err; i++) {
		if (i == 0 || write_size(w) > CHECKED_TOGETHER) {
			write_reset(w);
			err = write_row(w, table, row);
		}
		if (!err)
			err = check_one(w, &mutations[i]);
		if (err == -ERR_no_family) {
			err_clear();
			err = 0;
		}
	}
	return err;
}

int wire_if_true(void *context, struct write *w)
{
	const struct proto_check_and_mutate_row *q = context;

	return wire_mutations(w, q->true_mutations.at, q->true_mutations.count,
			      NULL);
}

int wire_if_false(void *context, struct write *w)
{
	const struct proto_check_and_mutate_row *q = context;

	return wire_mutations(w, q->false_mutations.at,
			      q->false_mutations.count, NULL);
}
