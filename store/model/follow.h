#ifndef STORE_MODEL_FOLLOW_H
#define STORE_MODEL_FOLLOW_H

#include "store/model/model.h"

/* A store that follows what another process writes; see store/follow.h. */

/* With s open: looks at it again and again, if it is to do that by itself. 0,
 * or what bg_start says. */
int follow_start(struct store *s, const struct store_options *o);

/* As store_answerable, of what is shown: 0; -EAGAIN, without wait, if a look is
 * needed to know; -ESTALE. */
int follow_answerable(struct store *s, bool wait);

#endif
