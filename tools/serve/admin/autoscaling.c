#include "tools/serve/admin/autoscaling.h"

#define POLICY "cluster_config.cluster_autoscaling_config."
#define LIMITS POLICY "autoscaling_limits."
#define TARGETS POLICY "autoscaling_targets."

enum part { MIN_NODES, MAX_NODES, CPU, STORAGE, PARTS };

static const char *const paths[PARTS] = {
	[MIN_NODES] = LIMITS "min_serve_nodes",
	[MAX_NODES] = LIMITS "max_serve_nodes",
	[CPU] = TARGETS "cpu_utilization_percent",
	[STORAGE] = TARGETS "storage_utilization_gib_per_node",
};

/* All parts, 0 where there is none. */
static void take(const struct proto_cluster *c, int32_t parts[PARTS])
{
	const struct proto_autoscaling_config *policy =
		c->config_case == nr_cluster_cluster_config
			? c->cluster_config->cluster_autoscaling_config
			: NULL;

	memset(parts, 0, PARTS * sizeof(*parts));
	if (policy && policy->autoscaling_limits) {
		parts[MIN_NODES] = policy->autoscaling_limits->min_serve_nodes;
		parts[MAX_NODES] = policy->autoscaling_limits->max_serve_nodes;
	}
	if (policy && policy->autoscaling_targets) {
		parts[CPU] =
			policy->autoscaling_targets->cpu_utilization_percent;
		parts[STORAGE] = policy->autoscaling_targets
					 ->storage_utilization_gib_per_node;
	}
}

int32_t autoscaling_nodes(const struct proto_cluster *c)
{
	int32_t parts[PARTS];

	take(c, parts);
	return parts[MIN_NODES];
}

/* Whether the mask names the part, or something that it is a part of. */
static bool is_named(const struct proto_field_mask *mask, const char *part)
{
	struct bytes name = bytes_string(part);
	size_t i;

	for (i = 0; i < mask->paths.count; i++) {
		struct bytes path = mask->paths.at[i];

		if (path.size > 0 && bytes_starts_with(name, path) &&
		    (name.size == path.size || name.data[path.size] == '.'))
			return true;
	}
	return false;
}

/* A policy of these parts. */
static int put(struct proto_cluster *c, const int32_t parts[PARTS],
	       struct proto_arena *arena)
{
	struct proto_cluster_config *config;
	struct proto_autoscaling_config *policy;
	struct proto_autoscaling_limits *limits;
	struct proto_autoscaling_targets *targets;
	int err = 0;

	config = proto_alloc(arena, sizeof(*config), &err);
	policy = proto_alloc(arena, sizeof(*policy), &err);
	limits = proto_alloc(arena, sizeof(*limits), &err);
	targets = proto_alloc(arena, sizeof(*targets), &err);
	if (!config || !policy || !limits || !targets)
		return err;
	limits->min_serve_nodes = parts[MIN_NODES];
	limits->max_serve_nodes = parts[MAX_NODES];
	targets->cpu_utilization_percent = parts[CPU];
	targets->storage_utilization_gib_per_node = parts[STORAGE];
	policy->autoscaling_limits = limits;
	policy->autoscaling_targets = targets;
	config->cluster_autoscaling_config = policy;
	c->config_case = nr_cluster_cluster_config;
	c->cluster_config = config;
	return 0;
}

int autoscaling_update(struct proto_cluster *c, const struct proto_cluster *to,
		       const struct proto_field_mask *mask,
		       struct proto_arena *arena)
{
	bool masked = mask && mask->paths.count > 0, any = false;
	int32_t parts[PARTS], wanted[PARTS];
	size_t i;

	take(c, parts);
	take(to, wanted);
	for (i = 0; i < PARTS; i++) {
		if (masked ? is_named(mask, paths[i]) : to->config_case != 0)
			parts[i] = wanted[i];
		any |= parts[i] != 0;
	}
	if (any)
		return put(c, parts, arena);
	c->config_case = 0;
	c->cluster_config = NULL;
	return 0;
}
