#ifndef TOOLS_SERVE_PROTO_LIST_TABLE_H
#define TOOLS_SERVE_PROTO_LIST_TABLE_H

/* Messages of google.bigtable.admin.v2 for tables; list_common.h says how they
 * are written. */
/* clang-format off */
#define PROTO_TABLE_LIST(m) \
	m(CREATE_TABLE, create_table, \
		"google.bigtable.admin.v2.CreateTableRequest") \
	m(SPLIT, split, "google.bigtable.admin.v2.CreateTableRequest.Split") \
	m(LIST_TABLES, list_tables, \
		"google.bigtable.admin.v2.ListTablesRequest") \
	m(LIST_TABLES_ANSWER, list_tables_answer, \
		"google.bigtable.admin.v2.ListTablesResponse") \
	m(GET_TABLE, get_table, "google.bigtable.admin.v2.GetTableRequest") \
	m(UPDATE_TABLE, update_table, \
		"google.bigtable.admin.v2.UpdateTableRequest") \
	m(UPDATE_TABLE_METADATA, update_table_metadata, \
		"google.bigtable.admin.v2.UpdateTableMetadata") \
	m(DELETE_TABLE, delete_table, \
		"google.bigtable.admin.v2.DeleteTableRequest") \
	m(MODIFY_FAMILIES, modify_families, \
		"google.bigtable.admin.v2.ModifyColumnFamiliesRequest") \
	m(MODIFICATION, modification, \
		"google.bigtable.admin.v2.ModifyColumnFamiliesRequest." \
		"Modification") \
	m(DROP_ROW_RANGE, drop_row_range, \
		"google.bigtable.admin.v2.DropRowRangeRequest") \
	m(CONSISTENCY_TOKEN, consistency_token, \
		"google.bigtable.admin.v2.GenerateConsistencyTokenRequest") \
	m(CONSISTENCY_TOKEN_ANSWER, consistency_token_answer, \
		"google.bigtable.admin.v2.GenerateConsistencyTokenResponse") \
	m(CHECK_CONSISTENCY, check_consistency, \
		"google.bigtable.admin.v2.CheckConsistencyRequest") \
	m(CHECK_CONSISTENCY_ANSWER, check_consistency_answer, \
		"google.bigtable.admin.v2.CheckConsistencyResponse") \
	m(TABLE, table, "google.bigtable.admin.v2.Table") \
	m(CLUSTER_STATE, cluster_state, \
		"google.bigtable.admin.v2.Table.ClusterState") \
	m(CLUSTER_STATE_ENTRY, cluster_state_entry, \
		"map google.bigtable.admin.v2.Table.ClusterState") \
	m(CHANGE_STREAM_CONFIG, change_stream_config, \
		"google.bigtable.admin.v2.ChangeStreamConfig") \
	m(COLUMN_FAMILY, column_family, \
		"google.bigtable.admin.v2.ColumnFamily") \
	m(COLUMN_FAMILY_ENTRY, column_family_entry, \
		"map google.bigtable.admin.v2.ColumnFamily") \
	m(GC_RULE, gc_rule, "google.bigtable.admin.v2.GcRule") \
	m(GC_RULES, gc_rules, "google.bigtable.admin.v2.GcRule.Intersection") \
	m(GC_UNION, gc_union, "google.bigtable.admin.v2.GcRule.Union") \
	m(VALUE_TYPE, value_type, "google.bigtable.admin.v2.Type") \
	m(TYPE_BYTES, type_bytes, "google.bigtable.admin.v2.Type.Bytes") \
	m(BYTES_ENCODING, bytes_encoding, \
		"google.bigtable.admin.v2.Type.Bytes.Encoding") \
	m(TYPE_STRING, type_string, "google.bigtable.admin.v2.Type.String") \
	m(STRING_ENCODING, string_encoding, \
		"google.bigtable.admin.v2.Type.String.Encoding") \
	m(TYPE_INT64, type_int64, "google.bigtable.admin.v2.Type.Int64") \
	m(INT64_ENCODING, int64_encoding, \
		"google.bigtable.admin.v2.Type.Int64.Encoding") \
	m(TYPE_AGGREGATE, type_aggregate, \
		"google.bigtable.admin.v2.Type.Aggregate")

#define PROTO_CREATE_TABLE(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 2, STRING, table_id) \
	x(c, ONE, 3, MESSAGE(table), table) \
	x(c, MANY, 4, MESSAGE(split), initial_splits)
#define PROTO_SPLIT(o, x, c) \
	x(c, ONE, 1, BYTES, key)
#define PROTO_LIST_TABLES(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 2, INT32, view) \
	x(c, ONE, 4, INT32, page_size) \
	x(c, ONE, 3, STRING, page_token)
#define PROTO_LIST_TABLES_ANSWER(o, x, c) \
	x(c, MANY, 1, MESSAGE(table), tables) \
	x(c, ONE, 2, STRING, next_page_token)
#define PROTO_GET_TABLE(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, INT32, view)
#define PROTO_UPDATE_TABLE(o, x, c) \
	x(c, ONE, 1, MESSAGE(table), table) \
	x(c, ONE, 2, MESSAGE(field_mask), update_mask)
#define PROTO_UPDATE_TABLE_METADATA(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, MESSAGE(timestamp), start_time) \
	x(c, ONE, 3, MESSAGE(timestamp), end_time)
#define PROTO_DELETE_TABLE(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_MODIFY_FAMILIES(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, MANY, 2, MESSAGE(modification), modifications)
#define PROTO_MODIFICATION(o, x, c) \
	o(c, mod) \
	x(c, ONE, 1, STRING, id) \
	x(c, OF(mod), 2, MESSAGE(column_family), create) \
	x(c, OF(mod), 3, MESSAGE(column_family), update) \
	x(c, OF(mod), 4, BOOL, drop) \
	x(c, ONE, 6, MESSAGE(field_mask), update_mask)
#define PROTO_DROP_ROW_RANGE(o, x, c) \
	o(c, target) \
	x(c, ONE, 1, STRING, name) \
	x(c, OF(target), 2, BYTES, row_key_prefix) \
	x(c, OF(target), 3, BOOL, delete_all_data_from_table)
#define PROTO_CONSISTENCY_TOKEN(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_CONSISTENCY_TOKEN_ANSWER(o, x, c) \
	x(c, ONE, 1, STRING, consistency_token)
#define PROTO_CHECK_CONSISTENCY(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, STRING, consistency_token)
#define PROTO_CHECK_CONSISTENCY_ANSWER(o, x, c) \
	x(c, ONE, 1, BOOL, consistent)
#define PROTO_TABLE(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, MANY, 2, MESSAGE(cluster_state_entry), cluster_states) \
	x(c, MANY, 3, MESSAGE(column_family_entry), column_families) \
	x(c, ONE, 4, INT32, granularity) \
	x(c, ONE, 8, MESSAGE(change_stream_config), change_stream_config) \
	x(c, ONE, 9, BOOL, deletion_protection)
#define PROTO_CLUSTER_STATE(o, x, c) \
	x(c, ONE, 1, INT32, replication_state)
#define PROTO_CLUSTER_STATE_ENTRY(o, x, c) \
	x(c, ONE, 1, STRING, key) \
	x(c, ONE, 2, MESSAGE(cluster_state), value)
#define PROTO_CHANGE_STREAM_CONFIG(o, x, c) \
	x(c, ONE, 1, MESSAGE(duration), retention_period)
#define PROTO_COLUMN_FAMILY(o, x, c) \
	x(c, ONE, 1, MESSAGE(gc_rule), gc_rule) \
	x(c, ONE, 3, MESSAGE(value_type), value_type)
#define PROTO_COLUMN_FAMILY_ENTRY(o, x, c) \
	x(c, ONE, 1, STRING, key) \
	x(c, ONE, 2, MESSAGE(column_family), value)
#define PROTO_GC_RULE(o, x, c) \
	o(c, rule) \
	x(c, OF(rule), 1, INT32, max_num_versions) \
	x(c, OF(rule), 2, MESSAGE(duration), max_age) \
	x(c, OF(rule), 3, MESSAGE(gc_rules), intersection) \
	x(c, OF(rule), 4, MESSAGE(gc_union), union_)
#define PROTO_GC_RULES(o, x, c) \
	x(c, MANY, 1, MESSAGE(gc_rule), rules)
#define PROTO_GC_UNION(o, x, c) PROTO_GC_RULES(o, x, c)
#define PROTO_VALUE_TYPE(o, x, c) \
	o(c, kind) \
	x(c, OF(kind), 1, MESSAGE(type_bytes), bytes_type) \
	x(c, OF(kind), 2, MESSAGE(type_string), string_type) \
	x(c, OF(kind), 5, MESSAGE(type_int64), int64_type) \
	x(c, OF(kind), 12, MESSAGE(empty), float32_type) \
	x(c, OF(kind), 9, MESSAGE(empty), float64_type) \
	x(c, OF(kind), 8, MESSAGE(empty), bool_type) \
	x(c, OF(kind), 10, MESSAGE(empty), timestamp_type) \
	x(c, OF(kind), 11, MESSAGE(empty), date_type) \
	x(c, OF(kind), 6, MESSAGE(type_aggregate), aggregate_type) \
	x(c, OF(kind), 7, MESSAGE(empty), struct_type) \
	x(c, OF(kind), 3, MESSAGE(empty), array_type) \
	x(c, OF(kind), 4, MESSAGE(empty), map_type) \
	x(c, OF(kind), 13, MESSAGE(empty), proto_type) \
	x(c, OF(kind), 14, MESSAGE(empty), enum_type)
#define PROTO_TYPE_BYTES(o, x, c) \
	x(c, ONE, 1, MESSAGE(bytes_encoding), encoding)
#define PROTO_BYTES_ENCODING(o, x, c) \
	o(c, encoding) \
	x(c, OF(encoding), 1, MESSAGE(empty), raw)
#define PROTO_TYPE_STRING(o, x, c) \
	x(c, ONE, 1, MESSAGE(string_encoding), encoding)
#define PROTO_STRING_ENCODING(o, x, c) \
	o(c, encoding) \
	x(c, OF(encoding), 1, MESSAGE(empty), utf8_raw) \
	x(c, OF(encoding), 2, MESSAGE(empty), utf8_bytes)
#define PROTO_TYPE_INT64(o, x, c) \
	x(c, ONE, 1, MESSAGE(int64_encoding), encoding)
#define PROTO_INT64_ENCODING(o, x, c) \
	o(c, encoding) \
	x(c, OF(encoding), 1, MESSAGE(empty), big_endian_bytes) \
	x(c, OF(encoding), 2, MESSAGE(empty), ordered_code_bytes)
#define PROTO_TYPE_AGGREGATE(o, x, c) \
	o(c, aggregator) \
	x(c, ONE, 1, MESSAGE(value_type), input_type) \
	x(c, ONE, 2, MESSAGE(value_type), state_type) \
	x(c, OF(aggregator), 4, MESSAGE(empty), sum) \
	x(c, OF(aggregator), 5, MESSAGE(empty), hllpp_unique_count) \
	x(c, OF(aggregator), 6, MESSAGE(empty), max) \
	x(c, OF(aggregator), 7, MESSAGE(empty), min)
/* clang-format on */

#endif
