#ifndef TOOLS_SERVE_ADMIN_PROFILE_ADMIN_H
#define TOOLS_SERVE_ADMIN_PROFILE_ADMIN_H

#include "tools/serve/admin/admin_call.h"

/* App profiles: records that nothing else goes by. Every instance has one that
 * is called DEFAULT_PROFILE, too. */
#define DEFAULT_PROFILE "default"

enum call_result create_app_profile(struct call *c, void *context);
/* Answers with the app profile of this name, see admin_answer. */
int profile_get(struct admin_call *a, struct bytes name);
enum call_result get_app_profile(struct call *c, void *context);
enum call_result list_app_profiles(struct call *c, void *context);
enum call_result update_app_profile(struct call *c, void *context);
enum call_result delete_app_profile(struct call *c, void *context);

#endif
