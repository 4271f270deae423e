#ifndef TOOLS_SERVE_PROTO_LIST_DATA_H
#define TOOLS_SERVE_PROTO_LIST_DATA_H

/* Messages of google.bigtable.v2; list_common.h says how they are written. */
/* clang-format off */
#define PROTO_DATA_LIST(m) \
	m(READ_ROWS, read_rows, "google.bigtable.v2.ReadRowsRequest") \
	m(READ_ROWS_ANSWER, read_rows_answer, \
		"google.bigtable.v2.ReadRowsResponse") \
	m(CELL_CHUNK, cell_chunk, \
		"google.bigtable.v2.ReadRowsResponse.CellChunk") \
	m(READ_ITERATION_STATS, read_iteration_stats, \
		"google.bigtable.v2.ReadIterationStats") \
	m(REQUEST_LATENCY_STATS, request_latency_stats, \
		"google.bigtable.v2.RequestLatencyStats") \
	m(FULL_READ_STATS_VIEW, full_read_stats_view, \
		"google.bigtable.v2.FullReadStatsView") \
	m(REQUEST_STATS, request_stats, "google.bigtable.v2.RequestStats") \
	m(SAMPLE_ROW_KEYS, sample_row_keys, \
		"google.bigtable.v2.SampleRowKeysRequest") \
	m(SAMPLE_ROW_KEYS_ANSWER, sample_row_keys_answer, \
		"google.bigtable.v2.SampleRowKeysResponse") \
	m(MUTATE_ROW, mutate_row, "google.bigtable.v2.MutateRowRequest") \
	m(MUTATE_ROWS, mutate_rows, "google.bigtable.v2.MutateRowsRequest") \
	m(MUTATE_ENTRY, mutate_entry, \
		"google.bigtable.v2.MutateRowsRequest.Entry") \
	m(MUTATE_ROWS_ANSWER, mutate_rows_answer, \
		"google.bigtable.v2.MutateRowsResponse") \
	m(MUTATE_ENTRY_ANSWER, mutate_entry_answer, \
		"google.bigtable.v2.MutateRowsResponse.Entry") \
	m(CHECK_AND_MUTATE_ROW, check_and_mutate_row, \
		"google.bigtable.v2.CheckAndMutateRowRequest") \
	m(CHECK_AND_MUTATE_ROW_ANSWER, check_and_mutate_row_answer, \
		"google.bigtable.v2.CheckAndMutateRowResponse") \
	m(PING_AND_WARM, ping_and_warm, \
		"google.bigtable.v2.PingAndWarmRequest") \
	m(READ_MODIFY_WRITE_ROW, read_modify_write_row, \
		"google.bigtable.v2.ReadModifyWriteRowRequest") \
	m(READ_MODIFY_WRITE_ROW_ANSWER, read_modify_write_row_answer, \
		"google.bigtable.v2.ReadModifyWriteRowResponse") \
	m(READ_MODIFY_WRITE_RULE, read_modify_write_rule, \
		"google.bigtable.v2.ReadModifyWriteRule") \
	m(ROW, row, "google.bigtable.v2.Row") \
	m(FAMILY, family, "google.bigtable.v2.Family") \
	m(COLUMN, column, "google.bigtable.v2.Column") \
	m(CELL, cell, "google.bigtable.v2.Cell") \
	m(VALUE, value, "google.bigtable.v2.Value") \
	m(ROW_RANGE, row_range, "google.bigtable.v2.RowRange") \
	m(ROW_SET, row_set, "google.bigtable.v2.RowSet") \
	m(COLUMN_RANGE, column_range, "google.bigtable.v2.ColumnRange") \
	m(TIMESTAMP_RANGE, timestamp_range, \
		"google.bigtable.v2.TimestampRange") \
	m(VALUE_RANGE, value_range, "google.bigtable.v2.ValueRange") \
	m(ROW_FILTER, row_filter, "google.bigtable.v2.RowFilter") \
	m(VALUE_BITMASK, value_bitmask, "google.bigtable.v2.ValueBitmask") \
	m(FILTER_CHAIN, filter_chain, "google.bigtable.v2.RowFilter.Chain") \
	m(FILTER_INTERLEAVE, filter_interleave, \
		"google.bigtable.v2.RowFilter.Interleave") \
	m(FILTER_CONDITION, filter_condition, \
		"google.bigtable.v2.RowFilter.Condition") \
	m(MUTATION, mutation, "google.bigtable.v2.Mutation") \
	m(SET_CELL, set_cell, "google.bigtable.v2.Mutation.SetCell") \
	m(ADD_TO_CELL, add_to_cell, \
		"google.bigtable.v2.Mutation.AddToCell") \
	m(MERGE_TO_CELL, merge_to_cell, \
		"google.bigtable.v2.Mutation.MergeToCell") \
	m(DELETE_FROM_COLUMN, delete_from_column, \
		"google.bigtable.v2.Mutation.DeleteFromColumn") \
	m(DELETE_FROM_FAMILY, delete_from_family, \
		"google.bigtable.v2.Mutation.DeleteFromFamily") \
	m(FEATURE_FLAGS, feature_flags, "google.bigtable.v2.FeatureFlags")

#define PROTO_READ_ROWS(o, x, c) \
	x(c, ONE, 1, STRING, table_name) \
	x(c, ONE, 5, STRING, app_profile_id) \
	x(c, ONE, 2, MESSAGE(row_set), rows) \
	x(c, ONE, 3, MESSAGE(row_filter), filter) \
	x(c, ONE, 4, INT64, rows_limit) \
	x(c, ONE, 6, INT32, request_stats_view) \
	x(c, ONE, 7, BOOL, reversed) \
	x(c, ONE, 9, STRING, authorized_view_name) \
	x(c, ONE, 11, STRING, materialized_view_name)
#define PROTO_READ_ROWS_ANSWER(o, x, c) \
	x(c, MANY, 1, MESSAGE(cell_chunk), chunks) \
	x(c, ONE, 2, BYTES, last_scanned_row_key) \
	x(c, ONE, 3, MESSAGE(request_stats), request_stats)
#define PROTO_CELL_CHUNK(o, x, c) \
	o(c, row_status) \
	x(c, ONE, 1, BYTES, row_key) \
	x(c, ONE, 2, MESSAGE(string_value), family_name) \
	x(c, ONE, 3, MESSAGE(bytes_value), qualifier) \
	x(c, ONE, 4, INT64, timestamp_micros) \
	x(c, MANY, 5, STRING, labels) \
	x(c, ONE, 6, BYTES, value) \
	x(c, ONE, 7, INT32, value_size) \
	x(c, OF(row_status), 8, BOOL, reset_row) \
	x(c, OF(row_status), 9, BOOL, commit_row)
#define PROTO_READ_ITERATION_STATS(o, x, c) \
	x(c, ONE, 1, INT64, rows_seen_count) \
	x(c, ONE, 2, INT64, rows_returned_count) \
	x(c, ONE, 3, INT64, cells_seen_count) \
	x(c, ONE, 4, INT64, cells_returned_count)
#define PROTO_REQUEST_LATENCY_STATS(o, x, c) \
	x(c, ONE, 1, MESSAGE(duration), frontend_server_latency)
#define PROTO_FULL_READ_STATS_VIEW(o, x, c) \
	x(c, ONE, 1, MESSAGE(read_iteration_stats), read_iteration_stats) \
	x(c, ONE, 2, MESSAGE(request_latency_stats), request_latency_stats)
#define PROTO_REQUEST_STATS(o, x, c) \
	o(c, stats_view) \
	x(c, OF(stats_view), 1, MESSAGE(full_read_stats_view), \
		full_read_stats_view)
#define PROTO_SAMPLE_ROW_KEYS(o, x, c) \
	x(c, ONE, 1, STRING, table_name) \
	x(c, ONE, 2, STRING, app_profile_id) \
	x(c, ONE, 4, STRING, authorized_view_name) \
	x(c, ONE, 5, STRING, materialized_view_name)
#define PROTO_SAMPLE_ROW_KEYS_ANSWER(o, x, c) \
	x(c, ONE, 1, BYTES, row_key) \
	x(c, ONE, 2, INT64, offset_bytes)
#define PROTO_MUTATE_ROW(o, x, c) \
	x(c, ONE, 1, STRING, table_name) \
	x(c, ONE, 4, STRING, app_profile_id) \
	x(c, ONE, 2, BYTES, row_key) \
	x(c, MANY, 3, MESSAGE(mutation), mutations) \
	x(c, ONE, 6, STRING, authorized_view_name)
#define PROTO_MUTATE_ROWS(o, x, c) \
	x(c, ONE, 1, STRING, table_name) \
	x(c, ONE, 3, STRING, app_profile_id) \
	x(c, MANY, 2, MESSAGE(mutate_entry), entries) \
	x(c, ONE, 5, STRING, authorized_view_name)
#define PROTO_MUTATE_ENTRY(o, x, c) \
	x(c, ONE, 1, BYTES, row_key) \
	x(c, MANY, 2, MESSAGE(mutation), mutations)
#define PROTO_MUTATE_ROWS_ANSWER(o, x, c) \
	x(c, MANY, 1, MESSAGE(mutate_entry_answer), entries)
#define PROTO_MUTATE_ENTRY_ANSWER(o, x, c) \
	x(c, ONE, 1, INT64, index) \
	x(c, ONE, 2, MESSAGE(status), status)
#define PROTO_CHECK_AND_MUTATE_ROW(o, x, c) \
	x(c, ONE, 1, STRING, table_name) \
	x(c, ONE, 7, STRING, app_profile_id) \
	x(c, ONE, 2, BYTES, row_key) \
	x(c, ONE, 6, MESSAGE(row_filter), predicate_filter) \
	x(c, MANY, 4, MESSAGE(mutation), true_mutations) \
	x(c, MANY, 5, MESSAGE(mutation), false_mutations) \
	x(c, ONE, 9, STRING, authorized_view_name)
#define PROTO_CHECK_AND_MUTATE_ROW_ANSWER(o, x, c) \
	x(c, ONE, 1, BOOL, predicate_matched)
#define PROTO_PING_AND_WARM(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, STRING, app_profile_id)
#define PROTO_READ_MODIFY_WRITE_ROW(o, x, c) \
	x(c, ONE, 1, STRING, table_name) \
	x(c, ONE, 4, STRING, app_profile_id) \
	x(c, ONE, 2, BYTES, row_key) \
	x(c, MANY, 3, MESSAGE(read_modify_write_rule), rules) \
	x(c, ONE, 6, STRING, authorized_view_name)
#define PROTO_READ_MODIFY_WRITE_ROW_ANSWER(o, x, c) \
	x(c, ONE, 1, MESSAGE(row), row)
#define PROTO_READ_MODIFY_WRITE_RULE(o, x, c) \
	o(c, rule) \
	x(c, ONE, 1, STRING, family_name) \
	x(c, ONE, 2, BYTES, column_qualifier) \
	x(c, OF(rule), 3, BYTES, append_value) \
	x(c, OF(rule), 4, INT64, increment_amount)
#define PROTO_ROW(o, x, c) \
	x(c, ONE, 1, BYTES, key) \
	x(c, MANY, 2, MESSAGE(family), families)
#define PROTO_FAMILY(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, MANY, 2, MESSAGE(column), columns)
#define PROTO_COLUMN(o, x, c) \
	x(c, ONE, 1, BYTES, qualifier) \
	x(c, MANY, 2, MESSAGE(cell), cells)
#define PROTO_CELL(o, x, c) \
	x(c, ONE, 1, INT64, timestamp_micros) \
	x(c, ONE, 2, BYTES, value) \
	x(c, MANY, 3, STRING, labels)
#define PROTO_VALUE(o, x, c) \
	o(c, kind) \
	x(c, OF(kind), 8, BYTES, raw_value) \
	x(c, OF(kind), 9, INT64, raw_timestamp_micros) \
	x(c, OF(kind), 2, BYTES, bytes_value) \
	x(c, OF(kind), 3, STRING, string_value) \
	x(c, OF(kind), 6, INT64, int_value) \
	x(c, OF(kind), 10, BOOL, bool_value) \
	x(c, OF(kind), 11, DOUBLE, float_value) \
	x(c, OF(kind), 12, MESSAGE(timestamp), timestamp_value)
#define PROTO_ROW_RANGE(o, x, c) \
	o(c, start_key) \
	o(c, end_key) \
	x(c, OF(start_key), 1, BYTES, start_key_closed) \
	x(c, OF(start_key), 2, BYTES, start_key_open) \
	x(c, OF(end_key), 3, BYTES, end_key_open) \
	x(c, OF(end_key), 4, BYTES, end_key_closed)
#define PROTO_ROW_SET(o, x, c) \
	x(c, MANY, 1, BYTES, row_keys) \
	x(c, MANY, 2, MESSAGE(row_range), row_ranges)
#define PROTO_COLUMN_RANGE(o, x, c) \
	o(c, start_qualifier) \
	o(c, end_qualifier) \
	x(c, ONE, 1, STRING, family_name) \
	x(c, OF(start_qualifier), 2, BYTES, start_qualifier_closed) \
	x(c, OF(start_qualifier), 3, BYTES, start_qualifier_open) \
	x(c, OF(end_qualifier), 4, BYTES, end_qualifier_closed) \
	x(c, OF(end_qualifier), 5, BYTES, end_qualifier_open)
#define PROTO_TIMESTAMP_RANGE(o, x, c) \
	x(c, ONE, 1, INT64, start_timestamp_micros) \
	x(c, ONE, 2, INT64, end_timestamp_micros)
#define PROTO_VALUE_RANGE(o, x, c) \
	o(c, start_value) \
	o(c, end_value) \
	x(c, OF(start_value), 1, BYTES, start_value_closed) \
	x(c, OF(start_value), 2, BYTES, start_value_open) \
	x(c, OF(end_value), 3, BYTES, end_value_closed) \
	x(c, OF(end_value), 4, BYTES, end_value_open)
#define PROTO_ROW_FILTER(o, x, c) \
	o(c, filter) \
	x(c, OF(filter), 1, MESSAGE(filter_chain), chain) \
	x(c, OF(filter), 2, MESSAGE(filter_interleave), interleave) \
	x(c, OF(filter), 3, MESSAGE(filter_condition), condition) \
	x(c, OF(filter), 16, BOOL, sink) \
	x(c, OF(filter), 17, BOOL, pass_all_filter) \
	x(c, OF(filter), 18, BOOL, block_all_filter) \
	x(c, OF(filter), 4, BYTES, row_key_regex_filter) \
	x(c, OF(filter), 14, DOUBLE, row_sample_filter) \
	x(c, OF(filter), 5, STRING, family_name_regex_filter) \
	x(c, OF(filter), 6, BYTES, column_qualifier_regex_filter) \
	x(c, OF(filter), 7, MESSAGE(column_range), column_range_filter) \
	x(c, OF(filter), 8, MESSAGE(timestamp_range), timestamp_range_filter) \
	x(c, OF(filter), 9, BYTES, value_regex_filter) \
	x(c, OF(filter), 15, MESSAGE(value_range), value_range_filter) \
	x(c, OF(filter), 10, INT32, cells_per_row_offset_filter) \
	x(c, OF(filter), 11, INT32, cells_per_row_limit_filter) \
	x(c, OF(filter), 12, INT32, cells_per_column_limit_filter) \
	x(c, OF(filter), 13, BOOL, strip_value_transformer) \
	x(c, OF(filter), 19, STRING, apply_label_transformer) \
	x(c, OF(filter), 20, MESSAGE(value_bitmask), value_bitmask_filter)
#define PROTO_VALUE_BITMASK(o, x, c) \
	x(c, ONE, 1, BYTES, mask)
#define PROTO_FILTER_CHAIN(o, x, c) \
	x(c, MANY, 1, MESSAGE(row_filter), filters)
#define PROTO_FILTER_INTERLEAVE(o, x, c) \
	x(c, MANY, 1, MESSAGE(row_filter), filters)
#define PROTO_FILTER_CONDITION(o, x, c) \
	x(c, ONE, 1, MESSAGE(row_filter), predicate_filter) \
	x(c, ONE, 2, MESSAGE(row_filter), true_filter) \
	x(c, ONE, 3, MESSAGE(row_filter), false_filter)
#define PROTO_MUTATION(o, x, c) \
	o(c, mutation) \
	x(c, OF(mutation), 1, MESSAGE(set_cell), set_cell) \
	x(c, OF(mutation), 5, MESSAGE(add_to_cell), add_to_cell) \
	x(c, OF(mutation), 6, MESSAGE(merge_to_cell), merge_to_cell) \
	x(c, OF(mutation), 2, MESSAGE(delete_from_column), delete_from_column) \
	x(c, OF(mutation), 3, MESSAGE(delete_from_family), delete_from_family) \
	x(c, OF(mutation), 4, MESSAGE(empty), delete_from_row)
#define PROTO_SET_CELL(o, x, c) \
	x(c, ONE, 1, STRING, family_name) \
	x(c, ONE, 2, BYTES, column_qualifier) \
	x(c, ONE, 3, INT64, timestamp_micros) \
	x(c, ONE, 4, BYTES, value)
#define PROTO_ADD_TO_CELL(o, x, c) \
	x(c, ONE, 1, STRING, family_name) \
	x(c, ONE, 2, MESSAGE(value), column_qualifier) \
	x(c, ONE, 3, MESSAGE(value), timestamp) \
	x(c, ONE, 4, MESSAGE(value), input)
#define PROTO_MERGE_TO_CELL(o, x, c) PROTO_ADD_TO_CELL(o, x, c)
#define PROTO_DELETE_FROM_COLUMN(o, x, c) \
	x(c, ONE, 1, STRING, family_name) \
	x(c, ONE, 2, BYTES, column_qualifier) \
	x(c, ONE, 3, MESSAGE(timestamp_range), time_range)
#define PROTO_DELETE_FROM_FAMILY(o, x, c) \
	x(c, ONE, 1, STRING, family_name)
#define PROTO_FEATURE_FLAGS(o, x, c) \
	x(c, ONE, 1, BOOL, reverse_scans) \
	x(c, ONE, 4, BOOL, last_scanned_row_responses)
/* clang-format on */

#endif
