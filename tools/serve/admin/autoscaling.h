#ifndef TOOLS_SERVE_ADMIN_AUTOSCALING_H
#define TOOLS_SERVE_ADMIN_AUTOSCALING_H

#include "tools/serve/proto/messages.h"

/* The policy for the number of nodes that a cluster may have: kept and told,
 * and nothing goes by it. */

/* The least number that it says, which a cluster without load would have; 0
 * without a policy. */
int32_t autoscaling_nodes(const struct proto_cluster *c);

/* Makes the policy of c that of to, in the parts that the mask names, or if
 * there is no mask as a whole, if to has one; other parts stay. A policy of
 * which no part is set is none. Its memory is the arena's. 0, -E2BIG,
 * -ENOMEM. */
int autoscaling_update(struct proto_cluster *c, const struct proto_cluster *to,
		       const struct proto_field_mask *mask,
		       struct proto_arena *arena);

#endif
