#include <stdarg.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/base/invariant.h"

int invariant(bool holds, const char *what, ...)
{
	char text[256];
	va_list args;

	if (holds)
		return 0;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	return fail(ERR_invariant,
		    "%s; this is a mistake of the program, please report it; "
		    "nothing was written, what is on disk is untouched",
		    text);
}
