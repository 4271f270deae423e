#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/base/err.h"

/* Of this thread. Fixed, so that out of memory can be told as well. */
static _Thread_local char detail[1024];

/* Bytes of a name in a message. */
#define NAME_SHOWN 256

int err_errno(int err)
{
	int code = err < 0 ? -err : err;

	switch (code) {
#define x(name, nr, errno_, text) \
	case ERR_##name:          \
		return errno_;
		ERR_LIST(x)
#undef x
	default:
		/* 0 is no error, but a reply has to be one. */
		return code > 0 && code < ERR_BASE ? code : EIO;
	}
}

const char *err_text(int err)
{
	int code = err < 0 ? -err : err;

	switch (code) {
#define x(name, nr, errno_, text) \
	case ERR_##name:          \
		return text;
		ERR_LIST(x)
#undef x
	default:
		return strerror(code);
	}
}

const char *err_detail(void)
{
	return detail;
}

void err_clear(void)
{
	detail[0] = 0;
}

const char *err_name(struct bytes name)
{
	static _Thread_local char names[4][NAME_SHOWN + sizeof("...")];
	static _Thread_local unsigned int next;
	char *out = names[next++ % 4];
	size_t at = 0, i;

	for (i = 0; i < name.size && at + 4 <= NAME_SHOWN; i++)
		at += (size_t)sprintf(
			out + at, bytes_is_control(name, i) ? "\\x%02x" : "%c",
			name.data[i]);
	strcpy(out + at, i < name.size ? "..." : "");
	return out;
}

int fail(int code, const char *fmt, ...)
{
	char text[sizeof(detail)];
	va_list args;

	/* Formatted aside, because an argument may be err_detail() itself. */
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	memcpy(detail, text, sizeof(text));
	return -code;
}
