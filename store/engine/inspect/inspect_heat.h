#ifndef STORE_ENGINE_INSPECT_INSPECT_HEAT_H
#define STORE_ENGINE_INSPECT_INSPECT_HEAT_H

#include "store/engine/inspect/inspect_out.h"

/* Shows a history of heat. Nothing in it is a problem, as nobody needs it. 0 or
 * an error of inspect_out.h. */
int inspect_heat(struct inspect *i, struct reader *reader);

#endif
