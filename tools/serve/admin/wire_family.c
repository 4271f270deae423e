#include "tools/serve/admin/wire_family.h"

#define US_PER_MS 1000
#define US_PER_S 1000000
/* Of a duration, beside whole seconds. */
#define NANOS_MAX 999999999
/* Of a duration, which has 10,000 years. */
#define SECONDS_MAX INT64_C(315576000000)

/* Both kinds of several rules: fields and meaning are the same. */
static int make_pairs(enum gc_type type, const struct proto_gc_rule *rules,
		      size_t count, unsigned int depth, struct gc_policy **out);

static int make_age(const struct proto_duration *age, struct gc_policy **out)
{
	uint64_t us;

	if (age->seconds < 0 || age->seconds > SECONDS_MAX)
		return fail(ERR_bad_gc_policy,
			    "the seconds of max_age are %lld, not from 0 to "
			    "%lld",
			    (long long)age->seconds, (long long)SECONDS_MAX);
	if (age->nanos < 0 || age->nanos > NANOS_MAX)
		return fail(ERR_bad_gc_policy,
			    "the nanos of max_age are %d, not from 0 to %d",
			    age->nanos, NANOS_MAX);
	us = (uint64_t)age->seconds * US_PER_S + (uint64_t)age->nanos / 1000;
	if (us < US_PER_MS)
		return fail(ERR_bad_gc_policy,
			    "max_age must be at least a millisecond");
	*out = gc_policy_leaf(GC_MAX_AGE, us);
	return *out ? 0 : -ENOMEM;
}

/* One rule; depth is that of pairs around it. */
static int make(const struct proto_gc_rule *rule, unsigned int depth,
		struct gc_policy **out)
{
	*out = NULL;
	switch (rule->rule_case) {
	case nr_gc_rule_max_num_versions:
		if (rule->max_num_versions <= 0)
			return fail(ERR_bad_gc_policy,
				    "max_num_versions must be > 0");
		*out = gc_policy_leaf(GC_MAX_VERSIONS,
				      (uint64_t)rule->max_num_versions);
		return *out ? 0 : -ENOMEM;
	case nr_gc_rule_max_age:
		return make_age(rule->max_age, out);
	case nr_gc_rule_intersection:
		return make_pairs(GC_INTERSECTION, rule->intersection->rules.at,
				  rule->intersection->rules.count, depth, out);
	case nr_gc_rule_union_:
		return make_pairs(GC_UNION, rule->union_->rules.at,
				  rule->union_->rules.count, depth, out);
	default:
		return fail(ERR_bad_gc_policy, "a rule is empty");
	}
}

/* Halves, so that many rules are few levels. Of two they are the two, of one it
 * is that. Recursion is bounded by depth, which each pair adds one to. */
static int make_pairs(enum gc_type type, const struct proto_gc_rule *rules,
		      size_t count, unsigned int depth, struct gc_policy **out)
{
	struct gc_policy *left, *right;
	int err;

	*out = NULL;
	if (count == 0)
		return fail(ERR_bad_gc_policy, "a rule of several has none");
	if (count == 1)
		return make(rules, depth, out);
	/* As the store would, before so many pairs are too deep. */
	if (count > GC_NODES_MAX)
		return fail(ERR_bad_gc_policy,
			    "a GC policy of %zu rules, which may have %d",
			    count, GC_NODES_MAX);
	if (depth >= GC_DEPTH_MAX)
		return fail(ERR_bad_gc_policy,
			    "rules are nested deeper than %d", GC_DEPTH_MAX);
	err = make_pairs(type, rules, count - count / 2, depth + 1, &left);
	if (err < 0)
		return err;
	err = make_pairs(type, rules + (count - count / 2), count / 2,
			 depth + 1, &right);
	if (err < 0) {
		gc_policy_free(left);
		return err;
	}
	*out = gc_policy_pair(type, left, right);
	return *out ? 0 : -ENOMEM;
}

int wire_gc(const struct proto_gc_rule *rule, struct gc_policy **out)
{
	*out = NULL;
	return rule && rule->rule_case != 0 ? make(rule, 0, out) : 0;
}

/* What is added to it is int64. */
static int aggregate_type(const struct proto_type_aggregate *a,
			  enum family_type *out)
{
	if (a->input_type &&
	    a->input_type->kind_case != nr_value_type_int64_type)
		return fail(ERR_no_such_type,
			    "the input_type of an aggregate must be int64");
	switch (a->aggregator_case) {
	case nr_type_aggregate_sum:
		*out = FAMILY_INTSUM;
		return 0;
	case nr_type_aggregate_min:
		*out = FAMILY_INTMIN;
		return 0;
	case nr_type_aggregate_max:
		*out = FAMILY_INTMAX;
		return 0;
	case nr_type_aggregate_hllpp_unique_count:
		*out = FAMILY_INTHLL;
		return 0;
	default:
		return fail(ERR_no_such_type, "an aggregate must be sum, min, "
					      "max or hllpp_unique_count");
	}
}

int wire_type(const struct proto_value_type *type, enum family_type *out)
{
	*out = FAMILY_BYTES;
	if (!type || type->kind_case == 0 ||
	    type->kind_case == nr_value_type_bytes_type)
		return 0;
	if (type->kind_case == nr_value_type_aggregate_type)
		return aggregate_type(type->aggregate_type, out);
	if (type->kind_case != nr_value_type_string_type)
		return fail(ERR_no_such_type, "a family's value_type must be "
					      "bytes, string or an aggregate");
	*out = FAMILY_STRING;
	return 0;
}

/* Two rules, whichever kind of pair: the fields of both are the same. */
static int answer_pair(const struct gc_policy *p, struct proto_arena *arena,
		       struct proto_gc_rule *rule)
{
	const struct gc_policy *halves[] = { p->left, p->right };
	struct proto_gc_rules *rules;
	struct proto_gc_rule *half;
	void *pair;
	int err = 0, i;

	pair = rules = proto_alloc(arena, sizeof(*rules), &err);
	if (!rules)
		return err;
	rules->rules.at = proto_alloc(arena, 2 * sizeof(*half), &err);
	for (i = 0; i < 2 && !err; i++) {
		err = wire_gc_answer(halves[i], arena, &half);
		if (!err)
			rules->rules.at[rules->rules.count++] = *half;
	}
	if (p->type == GC_UNION) {
		rule->rule_case = nr_gc_rule_union_;
		rule->union_ = pair;
	} else {
		rule->rule_case = nr_gc_rule_intersection;
		rule->intersection = pair;
	}
	return err;
}

/* Pairs stay pairs. Policies are as deep as GC_DEPTH_MAX. */
int wire_gc_answer(const struct gc_policy *p, struct proto_arena *arena,
		   struct proto_gc_rule **out)
{
	struct proto_duration *age;
	struct proto_gc_rule *rule;
	int err = 0;

	*out = rule = proto_alloc(arena, sizeof(*rule), &err);
	if (!rule || !p)
		return err;
	if (p->type == GC_UNION || p->type == GC_INTERSECTION)
		return answer_pair(p, arena, rule);
	if (p->type == GC_MAX_VERSIONS) {
		rule->rule_case = nr_gc_rule_max_num_versions;
		rule->max_num_versions =
			p->limit > INT32_MAX ? INT32_MAX : (int32_t)p->limit;
		return 0;
	}
	rule->rule_case = nr_gc_rule_max_age;
	rule->max_age = age = proto_alloc(arena, sizeof(*age), &err);
	if (!age)
		return err;
	age->seconds = SECONDS_MAX;
	/* One that no duration says is of a mount or command. */
	if (p->limit / US_PER_S <= (uint64_t)SECONDS_MAX) {
		age->seconds = (int64_t)(p->limit / US_PER_S);
		age->nanos = (int32_t)(p->limit % US_PER_S) * 1000;
	}
	return err;
}

/* A number of 8 bytes. */
static int answer_int64(struct proto_arena *arena,
			struct proto_value_type **out)
{
	struct proto_int64_encoding *encoding;
	struct proto_type_int64 *type;
	int err = 0;

	*out = proto_alloc(arena, sizeof(**out), &err);
	type = proto_alloc(arena, sizeof(*type), &err);
	encoding = proto_alloc(arena, sizeof(*encoding), &err);
	if (!*out || !type || !encoding)
		return err;
	encoding->encoding_case = nr_int64_encoding_big_endian_bytes;
	type->encoding = encoding;
	(*out)->kind_case = nr_value_type_int64_type;
	(*out)->int64_type = type;
	return 0;
}

static int answer_string(struct proto_arena *arena,
			 struct proto_value_type *out)
{
	struct proto_string_encoding *encoding;
	struct proto_type_string *type;
	int err = 0;

	type = proto_alloc(arena, sizeof(*type), &err);
	encoding = proto_alloc(arena, sizeof(*encoding), &err);
	if (!type || !encoding)
		return err;
	/* The name that clients of all ages know; utf8_bytes is the same. */
	encoding->encoding_case = nr_string_encoding_utf8_raw;
	type->encoding = encoding;
	out->kind_case = nr_value_type_string_type;
	out->string_type = type;
	return 0;
}

/* The state is a number as well, but that of hll, which is bytes. */
static int answer_aggregate(enum family_type type, struct proto_arena *arena,
			    struct proto_value_type *out)
{
	static const uint32_t cases[] = {
		[FAMILY_INTSUM] = nr_type_aggregate_sum,
		[FAMILY_INTMIN] = nr_type_aggregate_min,
		[FAMILY_INTMAX] = nr_type_aggregate_max,
		[FAMILY_INTHLL] = nr_type_aggregate_hllpp_unique_count,
	};
	struct proto_type_aggregate *a;
	int err = 0;

	a = proto_alloc(arena, sizeof(*a), &err);
	if (!a)
		return err;
	out->kind_case = nr_value_type_aggregate_type;
	out->aggregate_type = a;
	a->aggregator_case = cases[type];
	err = answer_int64(arena, &a->input_type);
	if (!err)
		err = answer_int64(arena, &a->state_type);
	if (!err && type == FAMILY_INTHLL)
		*a->state_type = (struct proto_value_type){
			.kind_case = nr_value_type_bytes_type,
		};
	return err;
}

int wire_type_answer(enum family_type type, struct proto_arena *arena,
		     struct proto_value_type **out)
{
	int err = 0;

	*out = NULL;
	if (type == FAMILY_BYTES)
		return 0;
	*out = proto_alloc(arena, sizeof(**out), &err);
	if (!*out)
		return err;
	return type == FAMILY_STRING ? answer_string(arena, *out)
				     : answer_aggregate(type, arena, *out);
}
