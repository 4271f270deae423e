#ifndef TOOLS_ADMIN_CREATE_H
#define TOOLS_ADMIN_CREATE_H

#include "tools/verb/verb.h"

/* Makes a new or empty directory an empty store, durably: 0, and prints
 * nothing. 1 says what is wrong and what to do; then nothing is left behind,
 * and a store that was there is untouched. */
int verb_create(struct verb_call *c);

#endif
