#include "tests/conformance/target.h"
#include "tools/serve/method/method.h"

enum call_status target_status(const struct run *r, int err)
{
	return err == -EREMOTEIO ? r->status : method_status(err);
}

const char *target_status_name(enum call_status status)
{
	static const char *const names[] = {
		"OK",
		"CANCELLED",
		"UNKNOWN",
		"INVALID_ARGUMENT",
		"DEADLINE_EXCEEDED",
		"NOT_FOUND",
		"ALREADY_EXISTS",
		"PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION",
		"ABORTED",
		"OUT_OF_RANGE",
		"UNIMPLEMENTED",
		"INTERNAL",
		"UNAVAILABLE",
		"DATA_LOSS",
		"UNAUTHENTICATED",
	};

	return status < sizeof(names) / sizeof(names[0]) ? names[status] : "";
}
