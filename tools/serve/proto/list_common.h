#ifndef TOOLS_SERVE_PROTO_LIST_COMMON_H
#define TOOLS_SERVE_PROTO_LIST_COMMON_H

/*
 * Messages of google.protobuf, google.rpc, google.longrunning and google.iam.v1
 * as lists of their fields: what is left out is skipped when it comes.
 *
 *	o(c, oneof)                      before its members
 *	x(c, label, number, kind, name)
 *
 * c is the name of the message. label is ONE, MANY or OF(oneof); kind is BOOL,
 * INT32 (enumerations, too), INT64, DOUBLE, STRING, BYTES or MESSAGE(message).
 * A map is as on the wire a repeated message of key and value. MESSAGE(empty)
 * stands for any message of which only its presence matters.
 */
/* clang-format off */
#define PROTO_COMMON_LIST(m) \
	m(EMPTY, empty, "google.protobuf.Empty") \
	m(STRING_VALUE, string_value, "google.protobuf.StringValue") \
	m(BYTES_VALUE, bytes_value, "google.protobuf.BytesValue") \
	m(DURATION, duration, "google.protobuf.Duration") \
	m(TIMESTAMP, timestamp, "google.protobuf.Timestamp") \
	m(FIELD_MASK, field_mask, "google.protobuf.FieldMask") \
	m(ANY, any, "google.protobuf.Any") \
	m(STATUS, status, "google.rpc.Status") \
	m(OPERATION, operation, "google.longrunning.Operation") \
	m(GET_OPERATION, get_operation, \
		"google.longrunning.GetOperationRequest") \
	m(LIST_OPERATIONS, list_operations, \
		"google.longrunning.ListOperationsRequest") \
	m(LIST_OPERATIONS_ANSWER, list_operations_answer, \
		"google.longrunning.ListOperationsResponse") \
	m(BINDING, binding, "google.iam.v1.Binding") \
	m(POLICY, policy, "google.iam.v1.Policy") \
	m(GET_IAM_POLICY, get_iam_policy, \
		"google.iam.v1.GetIamPolicyRequest") \
	m(SET_IAM_POLICY, set_iam_policy, \
		"google.iam.v1.SetIamPolicyRequest") \
	m(TEST_IAM, test_iam, "google.iam.v1.TestIamPermissionsRequest") \
	m(TEST_IAM_ANSWER, test_iam_answer, \
		"google.iam.v1.TestIamPermissionsResponse")

#define PROTO_EMPTY(o, x, c)
#define PROTO_STRING_VALUE(o, x, c) \
	x(c, ONE, 1, STRING, value)
#define PROTO_BYTES_VALUE(o, x, c) \
	x(c, ONE, 1, BYTES, value)
#define PROTO_DURATION(o, x, c) \
	x(c, ONE, 1, INT64, seconds) \
	x(c, ONE, 2, INT32, nanos)
#define PROTO_TIMESTAMP(o, x, c) \
	x(c, ONE, 1, INT64, seconds) \
	x(c, ONE, 2, INT32, nanos)
#define PROTO_FIELD_MASK(o, x, c) \
	x(c, MANY, 1, STRING, paths)
#define PROTO_ANY(o, x, c) \
	x(c, ONE, 1, STRING, type_url) \
	x(c, ONE, 2, BYTES, value)
#define PROTO_STATUS(o, x, c) \
	x(c, ONE, 1, INT32, code) \
	x(c, ONE, 2, STRING, message)
#define PROTO_OPERATION(o, x, c) \
	o(c, result) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, MESSAGE(any), metadata) \
	x(c, ONE, 3, BOOL, done) \
	x(c, OF(result), 4, MESSAGE(status), error) \
	x(c, OF(result), 5, MESSAGE(any), response)
#define PROTO_GET_OPERATION(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_LIST_OPERATIONS(o, x, c) \
	x(c, ONE, 4, STRING, name)
#define PROTO_LIST_OPERATIONS_ANSWER(o, x, c) \
	x(c, MANY, 1, MESSAGE(operation), operations)
#define PROTO_BINDING(o, x, c) \
	x(c, ONE, 1, STRING, role) \
	x(c, MANY, 2, STRING, members)
#define PROTO_POLICY(o, x, c) \
	x(c, ONE, 1, INT32, version) \
	x(c, MANY, 4, MESSAGE(binding), bindings) \
	x(c, ONE, 3, BYTES, etag)
#define PROTO_GET_IAM_POLICY(o, x, c) \
	x(c, ONE, 1, STRING, resource)
#define PROTO_SET_IAM_POLICY(o, x, c) \
	x(c, ONE, 1, STRING, resource) \
	x(c, ONE, 2, MESSAGE(policy), policy)
#define PROTO_TEST_IAM(o, x, c) \
	x(c, ONE, 1, STRING, resource) \
	x(c, MANY, 2, STRING, permissions)
#define PROTO_TEST_IAM_ANSWER(o, x, c) \
	x(c, MANY, 1, STRING, permissions)
/* clang-format on */

#endif
