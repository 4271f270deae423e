#include "tools/serve/verb/routes.h"
#include "tools/serve/admin/cluster_admin.h"
#include "tools/serve/admin/iam.h"
#include "tools/serve/admin/instance_admin.h"
#include "tools/serve/admin/operation.h"
#include "tools/serve/admin/profile_admin.h"
#include "tools/serve/admin/table_admin.h"
#include "tools/serve/data/mutate.h"
#include "tools/serve/data/mutate_rows.h"
#include "tools/serve/data/read_rows.h"
#include "tools/serve/data/sample.h"

#define DATA "/google.bigtable.v2.Bigtable/"
#define TABLE_ADMIN "/google.bigtable.admin.v2.BigtableTableAdmin/"
#define OPERATIONS "/google.longrunning.Operations/"
#define INSTANCE_ADMIN "/google.bigtable.admin.v2.BigtableInstanceAdmin/"

/* So much is decoded, and written if it is a write, while other calls of the
 * connection wait: a few microseconds. */
#define INLINE_MAX 4096

const struct route routes[] = {
	{ DATA "ReadRows", read_rows, read_rows_rest, read_rows_release,
	  INLINE_MAX },
	{ DATA "SampleRowKeys", sample_row_keys, NULL, sample_row_keys_release,
	  0 },
	{ DATA "MutateRow", mutate_row, NULL, NULL, INLINE_MAX },
	{ DATA "MutateRows", mutate_rows, NULL, mutate_rows_release,
	  INLINE_MAX },
	{ DATA "CheckAndMutateRow", check_and_mutate_row, NULL,
	  check_and_mutate_row_release, 0 },
	{ DATA "ReadModifyWriteRow", read_modify_write_row, NULL, NULL, 0 },
	{ DATA "PingAndWarm", ping_and_warm, NULL, NULL, INLINE_MAX },
	{ TABLE_ADMIN "CreateTable", create_table, NULL, NULL, 0 },
	{ TABLE_ADMIN "ListTables", list_tables, NULL, NULL, 0 },
	{ TABLE_ADMIN "GetTable", get_table, NULL, NULL, 0 },
	{ TABLE_ADMIN "UpdateTable", update_table, NULL, NULL, 0 },
	{ TABLE_ADMIN "DeleteTable", delete_table, NULL, NULL, 0 },
	{ TABLE_ADMIN "ModifyColumnFamilies", modify_column_families, NULL,
	  NULL, 0 },
	{ TABLE_ADMIN "DropRowRange", drop_row_range, NULL, NULL, 0 },
	{ TABLE_ADMIN "GenerateConsistencyToken", generate_consistency_token,
	  NULL, NULL, 0 },
	{ TABLE_ADMIN "CheckConsistency", check_consistency, NULL, NULL, 0 },
	{ TABLE_ADMIN "GetIamPolicy", get_iam_policy, NULL, NULL, 0 },
	{ TABLE_ADMIN "SetIamPolicy", set_iam_policy, NULL, NULL, 0 },
	{ TABLE_ADMIN "TestIamPermissions", test_iam_permissions, NULL, NULL,
	  0 },
	{ INSTANCE_ADMIN "CreateInstance", create_instance, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "GetInstance", get_instance, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "ListInstances", list_instances, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "UpdateInstance", update_instance, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "PartialUpdateInstance", partial_update_instance, NULL,
	  NULL, 0 },
	{ INSTANCE_ADMIN "DeleteInstance", delete_instance, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "CreateCluster", create_cluster, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "GetCluster", get_cluster, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "ListClusters", list_clusters, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "UpdateCluster", update_cluster, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "PartialUpdateCluster", partial_update_cluster, NULL,
	  NULL, 0 },
	{ INSTANCE_ADMIN "DeleteCluster", delete_cluster, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "CreateAppProfile", create_app_profile, NULL, NULL,
	  0 },
	{ INSTANCE_ADMIN "GetAppProfile", get_app_profile, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "ListAppProfiles", list_app_profiles, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "UpdateAppProfile", update_app_profile, NULL, NULL,
	  0 },
	{ INSTANCE_ADMIN "DeleteAppProfile", delete_app_profile, NULL, NULL,
	  0 },
	{ INSTANCE_ADMIN "GetIamPolicy", get_iam_policy, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "SetIamPolicy", set_iam_policy, NULL, NULL, 0 },
	{ INSTANCE_ADMIN "TestIamPermissions", test_iam_permissions, NULL, NULL,
	  0 },
	{ OPERATIONS "GetOperation", get_operation, NULL, NULL, 0 },
	{ OPERATIONS "ListOperations", list_operations, NULL, NULL, 0 },
	{ NULL, NULL, NULL, NULL, 0 },
};

int routes_answerable(void *service, bool wait)
{
	return store_answerable(((struct service *)service)->store, wait);
}
