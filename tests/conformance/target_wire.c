#include <stdlib.h>

#include "tests/conformance/target.h"
#include "tests/sim/grpc_client.h"
#include "tools/serve/admin/wire_family.h"
#include "tools/serve/grpc.h"
#include "tools/serve/method/method.h"
#include "tools/serve/server.h"
#include "tools/serve/verb/routes.h"

/*
 * A server of the store in this process, which so has the case's clock, and a
 * client of it by a socket. The instance is none that was made.
 */
#define INSTANCE "projects/p/instances/i"
#define TABLES INSTANCE "/tables/"
#define DATA "/google.bigtable.v2.Bigtable/"
#define ADMIN "/google.bigtable.admin.v2.BigtableTableAdmin/"

struct wire {
	struct service service;
	struct server *server;
	struct grpc_client client;
	bool connected;
};

static int begin(struct run *r)
{
	struct server_options options;
	int err;

	r->wire = calloc(1, sizeof(*r->wire));
	if (!r->wire)
		return -ENOMEM;
	r->wire->service.store = r->store;
	server_options_init(&options, store_memory(r->store));
	options.listen = ":0";
	options.answerable = routes_answerable;
	err = server_new(&options, routes, &r->wire->service, &r->wire->server);
	if (!err)
		err = server_start(r->wire->server);
	if (err < 0)
		return err;
	grpc_open(&r->wire->client, server_address(r->wire->server));
	r->wire->connected = true;
	return 0;
}

static void end(struct run *r)
{
	if (!r->wire)
		return;
	if (r->wire->connected)
		grpc_close(&r->wire->client);
	server_free(r->wire->server);
	free(r->wire);
}

/* The resource's name of a table, in r's memory. */
static struct bytes table_name(struct run *r, struct bytes table)
{
	static const char tables[] = TABLES;
	uint8_t *p = run_alloc(r, sizeof(tables) + table.size);

	if (!p)
		return BYTES_NONE;
	memcpy(p, tables, sizeof(tables) - 1);
	if (table.size > 0)
		memcpy(p + sizeof(tables) - 1, table.data, table.size);
	return bytes_of(p, sizeof(tables) - 1 + table.size);
}

/* What a server answered: messages with their prefixes. */
struct answers {
	struct buf body;
	size_t at;
};

/* Sends the request; an answer that is not OK is an error with its sentence. */
static int call(struct run *r, const char *path, const struct proto_type *type,
		const void *request, struct answers *out)
{
	struct grpc_call call = { .path = path };
	struct buf message = BUF_INIT;
	int err = proto_encode(type, request, &message);

	*out = (struct answers){ .at = 0 };
	if (err < 0)
		return err;
	call.message = buf_bytes(&message);
	r->status = CALL_OK;
	switch (grpc_do(&r->wire->client, &call)) {
	case CALL_OK:
		out->body = call.body;
		break;
	case -1:
		grpc_release(&call);
		err = fail(ECONNRESET, "there was no answer to %s", path);
		break;
	default:
		grpc_release(&call);
		r->status = (enum call_status)call.status;
		err = fail(EREMOTEIO, "%s", call.text);
	}
	buf_release(&message);
	return err;
}

/* The next message, in r's memory and out's: 1, 0 if there is none more. */
static int next(struct run *r, struct answers *out,
		const struct proto_type *type, void **message)
{
	struct bytes rest = bytes_after(buf_bytes(&out->body), out->at);
	size_t size;
	int err;

	if (rest.size < GRPC_PREFIX_SIZE)
		return rest.size == 0 ? 0 : fail(EBADMSG, "a cut answer");
	size = grpc_prefix_size(rest.data);
	if (rest.size - GRPC_PREFIX_SIZE < size)
		return fail(EBADMSG, "a cut answer");
	err = proto_decode(type, bytes_of(rest.data + GRPC_PREFIX_SIZE, size),
			   &r->arena, message);
	out->at += GRPC_PREFIX_SIZE + size;
	return err < 0 ? err : 1;
}

/* Call with an answer of one message, which lives until buf_release(body). */
static int call_one(struct run *r, const char *path,
		    const struct proto_type *type, const void *request,
		    const struct proto_type *answer_type, void **answer,
		    struct buf *body)
{
	struct answers out;
	void *more;
	int err = call(r, path, type, request, &out);

	*answer = NULL;
	if (!err) {
		err = next(r, &out, answer_type, answer);
		if (err == 0)
			err = fail(EBADMSG, "%s answered nothing", path);
		else if (err == 1 && next(r, &out, answer_type, &more) != 0)
			err = fail(EBADMSG, "%s answered twice", path);
	}
	*body = out.body;
	return err < 0 ? err : 0;
}

/* The same where the answer does not matter. */
static int call_only(struct run *r, const char *path,
		     const struct proto_type *type, const void *request,
		     const struct proto_type *answer_type)
{
	struct buf body;
	void *answer;
	int err = call_one(r, path, type, request, answer_type, &answer, &body);

	buf_release(&body);
	return err;
}

static int create_table(struct run *r, const struct proto_create_table *q)
{
	struct proto_create_table full = *q;

	full.parent = BYTES_LITERAL(INSTANCE);
	return call_only(r, ADMIN "CreateTable", &proto_create_table_type,
			 &full, &proto_table_type);
}

static int drop_table(struct run *r, struct bytes table)
{
	struct proto_delete_table q = { .name = table_name(r, table) };

	return call_only(r, ADMIN "DeleteTable", &proto_delete_table_type, &q,
			 &proto_empty_type);
}

static int list_tables(struct run *r, struct names *out)
{
	struct proto_list_tables q = { .parent = BYTES_LITERAL(INSTANCE),
				       .page_size = 3 };
	struct proto_list_tables_answer *a;
	struct buf body;
	void *answer;
	size_t i;
	int err;

	/* By pages, of which each takes its token from the one before. */
	do {
		struct bytes *grown;

		err = call_one(r, ADMIN "ListTables", &proto_list_tables_type,
			       &q, &proto_list_tables_answer_type, &answer,
			       &body);
		a = answer;
		grown = run_alloc(r, (out->count + 4) * sizeof(*grown));
		if (!err && (!grown || a->tables.count > 3))
			err = fail(EBADMSG, "a page has %zu tables",
				   a->tables.count);
		if (!err && out->count > 0)
			memcpy(grown, out->at, out->count * sizeof(*grown));
		for (i = 0; !err && i < a->tables.count; i++)
			grown[out->count++] =
				run_keep(r, bytes_after(a->tables.at[i].name,
							sizeof(TABLES) - 1));
		out->at = grown;
		q.page_token =
			err < 0 ? BYTES_NONE : run_keep(r, a->next_page_token);
		buf_release(&body);
	} while (!err && q.page_token.size > 0);
	return err;
}

static int list_families(struct run *r, struct bytes table, struct names *out)
{
	struct proto_get_table q = { .name = table_name(r, table) };
	struct proto_table *t;
	struct buf body;
	void *answer;
	int err = call_one(r, ADMIN "GetTable", &proto_get_table_type, &q,
			   &proto_table_type, &answer, &body);

	t = answer;
	if (!err) {
		out->at = run_alloc(r, (t->column_families.count + 1) *
					       sizeof(*out->at));
		if (!out->at)
			err = -ENOMEM;
	}
	for (; !err && out->count < t->column_families.count; out->count++)
		out->at[out->count] =
			run_keep(r, t->column_families.at[out->count].key);
	buf_release(&body);
	return err;
}

static int change_family(struct run *r, struct bytes table,
			 const struct family_change *change)
{
	struct bytes path = change->set_gc ? BYTES_LITERAL("gc_rule")
					   : BYTES_LITERAL("value_type");
	struct proto_field_mask mask = { .paths = { &path, 1 } };
	struct proto_column_family family = { .gc_rule = NULL };
	struct proto_modification m = { .id = change->family.name };
	struct proto_modify_families q = { .name = table_name(r, table),
					   .modifications = { &m, 1 } };
	int err = wire_gc_answer(change->family.gc, &r->arena, &family.gc_rule);

	if (!err)
		err = wire_type_answer(change->family.type, &r->arena,
				       &family.value_type);
	if (err < 0)
		return err;
	if (change->kind == FAMILY_CREATE) {
		m.mod_case = nr_modification_create;
		m.create = &family;
	} else if (change->kind == FAMILY_UPDATE) {
		m.mod_case = nr_modification_update;
		m.update = &family;
		m.update_mask = &mask;
	} else {
		m.mod_case = nr_modification_drop;
		m.drop = true;
	}
	return call_only(r, ADMIN "ModifyColumnFamilies",
			 &proto_modify_families_type, &q, &proto_table_type);
}

static int drop_rows(struct run *r, const struct proto_drop_row_range *q)
{
	struct proto_drop_row_range full = *q;

	full.name = table_name(r, q->name);
	return call_only(r, ADMIN "DropRowRange", &proto_drop_row_range_type,
			 &full, &proto_empty_type);
}

static int mutate_row(struct run *r, const struct proto_mutate_row *q)
{
	struct proto_mutate_row full = *q;

	full.table_name = table_name(r, q->table_name);
	return call_only(r, DATA "MutateRow", &proto_mutate_row_type, &full,
			 &proto_empty_type);
}

static int mutate_rows(struct run *r, const struct proto_mutate_rows *q,
		       bool *failed)
{
	struct proto_mutate_rows full = *q;
	struct answers out;
	void *message;
	size_t seen = 0, i;
	int err;

	full.table_name = table_name(r, q->table_name);
	err = call(r, DATA "MutateRows", &proto_mutate_rows_type, &full, &out);
	while (!err && (err = next(r, &out, &proto_mutate_rows_answer_type,
				   &message)) == 1) {
		const struct proto_mutate_rows_answer *a = message;

		err = 0;
		for (i = 0; !err && i < a->entries.count; i++) {
			const struct proto_mutate_entry_answer *e =
				&a->entries.at[i];

			if (e->index < 0 ||
			    (uint64_t)e->index >= q->entries.count)
				err = fail(EBADMSG, "an entry too many");
			else
				failed[e->index] =
					e->status && e->status->code != CALL_OK;
			seen++;
		}
	}
	buf_release(&out.body);
	if (!err && seen != q->entries.count)
		err = fail(EBADMSG, "%zu entries were answered", seen);
	return err;
}

static int check(struct run *r, const struct proto_check_and_mutate_row *q,
		 bool *matched)
{
	struct proto_check_and_mutate_row full = *q;
	struct proto_check_and_mutate_row_answer *a;
	struct buf body;
	void *answer;
	int err;

	full.table_name = table_name(r, q->table_name);
	err = call_one(r, DATA "CheckAndMutateRow",
		       &proto_check_and_mutate_row_type, &full,
		       &proto_check_and_mutate_row_answer_type, &answer, &body);
	a = answer;
	*matched = !err && a->predicate_matched;
	buf_release(&body);
	return err;
}

/* Each cell of a row. */
static int take_row(const struct proto_row *row, const struct taker *taker)
{
	struct cell cell = { .row = row->key };
	size_t i, j, k;
	int err = 0;

	for (i = 0; i < row->families.count; i++) {
		const struct proto_family *f = &row->families.at[i];

		cell.family = f->name;
		for (j = 0; j < f->columns.count; j++) {
			const struct proto_column *c = &f->columns.at[j];

			cell.qualifier = c->qualifier;
			for (k = 0; !err && k < c->cells.count; k++) {
				cell.timestamp_us = (uint64_t)c->cells.at[k]
							    .timestamp_micros;
				cell.value = c->cells.at[k].value;
				err = taker->take(taker->context, &cell,
						  BYTES_NONE);
			}
		}
	}
	return err;
}

static int modify(struct run *r, const struct proto_read_modify_write_row *q,
		  const struct taker *taker)
{
	struct proto_read_modify_write_row full = *q;
	struct proto_read_modify_write_row_answer *a;
	struct buf body;
	void *answer;
	int err;

	full.table_name = table_name(r, q->table_name);
	err = call_one(r, DATA "ReadModifyWriteRow",
		       &proto_read_modify_write_row_type, &full,
		       &proto_read_modify_write_row_answer_type, &answer,
		       &body);
	a = answer;
	if (!err)
		err = a->row ? take_row(a->row, taker)
			     : fail(EBADMSG, "there is no row");
	buf_release(&body);
	return err;
}

/* The row under way, of which a chunk says what is new. */
struct chunk_row {
	struct cell cell;
	bool begun;
};

static int take_chunk(struct chunk_row *row, const struct proto_cell_chunk *c,
		      const struct taker *taker)
{
	if (c->value_size != 0 || c->row_status_case == nr_cell_chunk_reset_row)
		return fail(EBADMSG, "a cell in pieces");
	if (!row->begun &&
	    (!c->row_key.size || !c->family_name || !c->qualifier))
		return fail(EBADMSG, "a row begins without names");
	if (row->begun && c->row_key.size > 0 &&
	    !bytes_equal(c->row_key, row->cell.row))
		return fail(EBADMSG, "a row has not been committed");
	if (c->row_key.size > 0)
		row->cell.row = c->row_key;
	if (c->family_name)
		row->cell.family = c->family_name->value;
	if (c->qualifier)
		row->cell.qualifier = c->qualifier->value;
	else if (c->family_name)
		return fail(EBADMSG, "a family begins without a qualifier");
	row->cell.timestamp_us = (uint64_t)c->timestamp_micros;
	row->cell.value = c->value;
	row->begun = !c->commit_row;
	return taker->take(taker->context, &row->cell,
			   c->labels.count > 0 ? c->labels.at[0] : BYTES_NONE);
}

static int read_rows(struct run *r, const struct proto_read_rows *q,
		     const struct taker *taker)
{
	struct chunk_row row = { .begun = false };
	struct proto_read_rows full = *q;
	struct answers out;
	void *message;
	size_t i;
	int err;

	full.table_name = table_name(r, q->table_name);
	err = call(r, DATA "ReadRows", &proto_read_rows_type, &full, &out);
	while (!err && (err = next(r, &out, &proto_read_rows_answer_type,
				   &message)) == 1) {
		const struct proto_read_rows_answer *a = message;

		err = 0;
		for (i = 0; !err && i < a->chunks.count; i++)
			err = take_chunk(&row, &a->chunks.at[i], taker);
		if (!err && row.begun)
			err = fail(EBADMSG, "a message ends inside a row");
	}
	buf_release(&out.body);
	return err;
}

const struct target target_wire = {
	.begin = begin,
	.end = end,
	.create_table = create_table,
	.drop_table = drop_table,
	.list_tables = list_tables,
	.list_families = list_families,
	.change_family = change_family,
	.drop_rows = drop_rows,
	.mutate_row = mutate_row,
	.mutate_rows = mutate_rows,
	.check = check,
	.modify = modify,
	.read_rows = read_rows,
};
