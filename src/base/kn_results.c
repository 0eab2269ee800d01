/* kn_results.c: the parts of results, for programs compiled for another version of the library.
 *
 * Interface: the functions kn_..._at of the public headers. A program compiled for an older library has smaller
 * structs in its headers: it would misread an array of them, but not a pointer to one. After the last comes NULL.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/kanon.h>
#include <math.h>

#include "kn_release_distributions.h"

#define PART(name, owner, part, index_type, array, count)                                                              \
    const part *name(const owner *of, index_type index)                                                                \
    {                                                                                                                  \
        return index >= 0 && index < of->count ? &of->array[index] : NULL;                                             \
    }

PART(kn_draft_file_at, kn_draft, kn_draft_file, int, files, file_count)
PART(kn_suggestion_at, kn_suggestions, kn_suggestion, int, list, count)
PART(kn_draft_column_at, kn_draft, kn_draft_column, int, columns, column_count)
PART(kn_advice_candidate_at, kn_advice, kn_advice_candidate, int, candidates, candidate_count)
PART(kn_release_model_at, kn_release_head, kn_release_model, int, models, model_count)
PART(kn_release_bar_at, kn_release_distribution, kn_release_bar, int, bars, bar_count)
PART(kn_release_attribute_at, kn_release_result, kn_release_attribute, int, attributes, attribute_count)
PART(kn_release_solution_at, kn_release_result, kn_release_node, int64_t, solutions, solution_count)
PART(kn_release_table_at, kn_database_result, kn_release_table, int, tables, table_count)
PART(kn_demo_table_at, kn_attack_demo_report, kn_demo_table, int, tables, table_count)
PART(kn_demo_path_at, kn_attack_demo_report, kn_demo_path, int, paths, path_count)
PART(kn_demo_column_at, kn_attack_demo_report, kn_demo_column, int, sensitive, sensitive_count)
PART(kn_schema_table_at, kn_schema, kn_schema_table, int, tables, table_count)
PART(kn_schema_problem_at, kn_schema, kn_schema_problem, int, problems, problem_count)
PART(kn_schema_column_at, kn_schema_table, kn_schema_column, int, columns, column_count)
PART(kn_schema_link_at, kn_schema_table, kn_schema_link, int, links, link_count)
PART(kn_diagnosed_table_at, kn_database_diagnosis, kn_diagnosed_table, int, tables, table_count)
PART(kn_diagnosed_size_at, kn_database_diagnosis, kn_size_count, int64_t, sizes, size_count)
PART(kn_diagnosed_sensitive_at, kn_database_diagnosis, kn_sensitive_report, int, sensitive, sensitive_count)
PART(kn_known_at, kn_database_diagnosis, kn_known, int, known, known_count)
PART(kn_diagnosed_class_at, kn_records_diagnosis, kn_diagnosed_class, int, classes, class_count)
PART(kn_records_reach_at, kn_records_diagnosis, kn_records_reach, int, reach, reach_count)
PART(kn_known_classes_at, kn_records_diagnosis, kn_known_classes, int64_t, known, known_count)
PART(kn_found_dependency_at, kn_discovery, kn_found_dependency, int64_t, found, count)
PART(kn_column_profile_at, kn_profile, kn_column_profile, int, column, columns)
PART(kn_measured_attribute_at, kn_measure_report, kn_measured_attribute, int, attributes, attribute_count)
PART(kn_measured_table_at, kn_database_measure_report, kn_measured_table, int, tables, table_count)
PART(kn_measured_column_at, kn_database_measure_report, kn_measured_column, int, columns, column_count)
PART(kn_measured_class_at, kn_records_measure_report, kn_measured_class, int, classes, class_count)
PART(kn_sensitive_report_at, kn_model_report, kn_sensitive_report, int, sensitive, sensitive_count)
PART(kn_model_verdict_at, kn_model_report, kn_model_verdict, int, verdicts, requirement_count)
PART(kn_model_set_at, kn_model_sets, kn_model_set, int64_t, sets, count)
PART(kn_set_answer_at, kn_sets_diagnosis, kn_set_answer, int64_t, sets, set_count)
PART(kn_spec_attribute_at, kn_spec, kn_attribute, int, attributes, attribute_count)
PART(kn_spec_table_at, kn_spec, kn_spec_table, int, tables, table_count)
PART(kn_spec_table_attribute_at, kn_spec_table, kn_attribute, int, attributes, attribute_count)
PART(kn_spec_class_at, kn_spec, kn_spec_class, int, classes, class_count)
PART(kn_spec_resource_at, kn_spec, kn_spec_resource, int, resources, resource_count)
PART(kn_verified_model_at, kn_verify_report, kn_verified_model, int, models, model_count)
PART(kn_database_verified_table_at, kn_database_verify_report, kn_verified_table, int, tables, table_count)
PART(kn_database_verified_model_at, kn_database_verify_report, kn_verified_model, int, models, model_count)
PART(kn_records_verified_model_at, kn_records_verify_report, kn_verified_model, int, models, model_count)
PART(kn_workload_query_at, kn_workload, kn_query, int, queries, query_count)
PART(kn_query_predicate_at, kn_query, kn_predicate, int, predicates, predicate_count)
PART(kn_workload_answer_at, kn_workload_report, kn_answer, int, answers, query_count)

const kn_release_distribution *kn_release_distribution_at(const kn_release_head *head, int index)
{
    const kn_release_distributions *all = head->distributions;
    return all && index >= 0 && index < all->count ? &all->list[index] : NULL;
}

const kn_release_items *kn_release_items_of(const kn_release_result *result)
{
    return result->items;
}

const kn_release_union *kn_release_together(const kn_release_result *result)
{
    return result->together;
}

/* A metric of a later version does not exist in this one. */
#define METRIC(name, owner)                                                                                            \
    double name(const owner *of, kn_metric metric)                                                                     \
    {                                                                                                                  \
        return (unsigned)metric < KN_METRICS ? of->metrics[metric] : (double)NAN;                                      \
    }

METRIC(kn_release_metric, kn_release_result)
METRIC(kn_measured_metric, kn_measure_report)
METRIC(kn_verified_metric, kn_verify_report)

const kn_model_figures *kn_model_set_figures(const kn_model_sets *sets, int64_t index, int sensitive)
{
    const kn_model_set *set = kn_model_set_at(sets, index);
    return set && sensitive >= 0 && sensitive < sets->sensitive_count ? &set->figures[sensitive] : NULL;
}

const kn_model_verdict *kn_model_set_verdict(const kn_model_sets *sets, int64_t index, int requirement)
{
    const kn_model_set *set = kn_model_set_at(sets, index);
    return set && requirement >= 0 && requirement < sets->requirement_count ? &set->verdicts[requirement] : NULL;
}

const kn_demo_attack *kn_demo_attack_by(const kn_attack_demo_report *report, kn_demo_way way)
{
    return (unsigned)way < KN_DEMO_WAYS ? &report->ways[way] : NULL;
}

int64_t kn_demo_example_candidates(const kn_attack_demo_report *report, kn_demo_way way)
{
    return (unsigned)way < KN_DEMO_WAYS ? report->example_candidates[way] : 0;
}

const kn_hierarchy_spec *kn_attribute_hierarchy(const kn_attribute *attribute)
{
    return attribute->has_hierarchy ? &attribute->hierarchy : NULL;
}

const kn_hierarchy_spec *kn_spec_class_hierarchy(const kn_spec_class *of)
{
    return of->has_hierarchy ? &of->hierarchy : NULL;
}

const kn_csv_options *kn_spec_csv(const kn_spec *spec)
{
    return &spec->csv;
}
