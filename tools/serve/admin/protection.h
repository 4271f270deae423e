#ifndef TOOLS_SERVE_ADMIN_PROTECTION_H
#define TOOLS_SERVE_ADMIN_PROTECTION_H

#include "store/store.h"

/* -EPERM if the table is protected: clients cannot drop it, nor families of it,
 * nor its instance. Verbs and a mount's owner can. */
int protection_check(const struct table *t);

#endif
