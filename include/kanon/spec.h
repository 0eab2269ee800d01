/* kanon/spec.h: what the user asked for: the role of each column, what must hold, how and at what cost.
 *
 * A spec comes from a release file (YAML or JSON, docs/release-file.md) or is built field by field; both ways may be
 * combined; later settings override earlier ones. It holds no data. Fields may be read directly; they change only
 * through the functions below, which copy what they are given. Paths in a release file are relative to it and stored
 * ready to be opened.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_SPEC_H
#define KANON_SPEC_H

#include <kanon/models.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kn_method {
    KN_METHOD_OPTIMAL = 0, /* the best node of the lattice for the chosen metric; the default        */
    KN_METHOD_SAMARATI,
    KN_METHOD_BOTTOM_UP,
    KN_METHOD_BOTTOM_UP_ROLLUP,
    KN_METHOD_INCOGNITO,
    KN_METHOD_INCOGNITO_SUPERROOTS,
    KN_METHOD_INCOGNITO_CUBE,
    KN_METHOD_HEURISTIC,
    KN_METHOD_DATAFLY,
    KN_METHOD_MONDRIAN, /* multidimensional partitioning */
    KN_METHOD_MONDRIAN_RELAXED,
    KN_METHOD_MONDRIAN_1D,
    KN_METHOD_MONDRIAN_BEST,
    KN_METHOD_MONDRIAN_WORKLOAD, /* cuts that follow a workload  */
    KN_METHOD_KMSD,              /* attribute by attribute        */
    KN_METHOD_KMSD_AG,
    KN_METHOD_MIRACLE, /* databases: persons with all their rows, clustered */
    KN_METHOD_MIRACLE_X,
    KN_METHOD_MIRACLE_X_LEVEL,
    KN_METHOD_DMIRACLE, /* ... so that sensitive values are diverse  */
    KN_METHOD_BITMAP,   /* ... on one row of bits per person, for comparison */
    KN_METHOD_ACS,      /* records that are trees: every cut  */
    KN_METHOD_GCS,      /* ... the best few cuts of each step */
    KN_METHOD_OCS,      /* ... without disassociation         */
    KN_METHODS
} kn_method;

/* What kind of decision a method makes. */
typedef enum kn_family {
    KN_FAMILY_FULL_DOMAIN = 0, /* one level of its hierarchy for each quasi-identifier  */
    KN_FAMILY_PARTITION,       /* regions of the space of quasi-identifiers             */
    KN_FAMILY_KMSD,            /* rows raised one by one                                */
    KN_FAMILY_RELATIONAL,      /* of a database: one tree for each class of persons     */
    KN_FAMILY_TREE             /* of trees: a cut through the hierarchies, and relations that vanish */
} kn_family;

/* "incognito-cube", ... Static. */
KN_API const char *kn_method_name(kn_method method);
KN_API bool        kn_method_parse(const char *name, kn_method *out);
KN_API kn_family   kn_method_family(kn_method method);

/* How partitioning chooses the dimension of its next cut. */
typedef enum kn_choose {
    KN_CHOOSE_RANGE = 0, /* the widest range, normalized by the table's: the default */
    KN_CHOOSE_ENTROPY,   /* the most entropy inside the region                       */
    KN_CHOOSE_LOSS,      /* the cut that saves most                                  */
    KN_CHOICES
} kn_choose;

/* "range", ... Static. */
KN_API const char *kn_choose_name(kn_choose choose);

/* How the rows of two persons are paired (databases). */
typedef enum kn_matching {
    KN_MATCHING_GREEDY = 0, /* one after the other takes the cheapest that is left: the paper's, the default */
    KN_MATCHING_EXACT,      /* the cheapest assignment                                                       */
    KN_MATCHINGS
} kn_matching;

/* How persons are put together (databases). docs/databases.md has the algorithms. */
typedef enum kn_clustering {
    KN_CLUSTERING_CDGH = 0, /* one after the other joins the nearest open cluster: Algorithm 2, the default   */
    KN_CLUSTERING_K_MEMBER, /* classes grow one by one, each from the person farthest from the last           */
    KN_CLUSTERING_MDAV,     /* two classes at a time, around the person farthest from the centre and its antipode */
    KN_CLUSTERING_R_GATHER, /* the smallest radius within which every centre has k persons                    */
    KN_CLUSTERING_TOP_DOWN, /* all persons, cut in two while both parts keep every promise                    */
    KN_CLUSTERINGS
} kn_clustering;

/* What to do with the last persons when fewer than k are left (databases). */
typedef enum kn_leftovers {
    KN_LEFTOVERS_ABSORB = 0, /* they join the nearest class: the default */
    KN_LEFTOVERS_DROP,
    KN_LEFTOVER_CHOICES
} kn_leftovers;

/* How classes of persons become diverse: the three ways of section 5.2 (databases). */
typedef enum kn_diversity {
    KN_DIVERSITY_MERGE = 0, /* those that are not are merged: Algorithm 6, the default           */
    KN_DIVERSITY_DISTANCE,  /* persons whose sensitive values agree are kept apart from the start */
    KN_DIVERSITY_SUPPRESS,  /* those that are not are dropped                                    */
    KN_DIVERSITIES
} kn_diversity;

/* What an attacker knows of relations (trees). */
typedef enum kn_semantics {
    KN_SEMANTICS_PAIRS = 0, /* which values stand above which others: the default            */
    KN_SEMANTICS_PATHS,     /* also that several such pairs lie on the same path             */
    KN_SEMANTICS
} kn_semantics;

/* How a relation a above b is taken away (trees). */
typedef enum kn_disassociate {
    KN_DISASSOCIATE_NODE = 0, /* b alone moves up beside a, what was below it to its old place: Definition 2, the default */
    KN_DISASSOCIATE_SUBTREE,  /* b moves up beside a with all that is below it                                            */
    KN_DISASSOCIATE_ANCESTOR, /* a leaves the path: the child of a that leads to b moves up beside it with all that is below */
    KN_DISASSOCIATES
} kn_disassociate;

/* "greedy", "cdgh", "absorb", "merge", "pairs", ... Static. */
KN_API const char *kn_matching_name(kn_matching matching);
KN_API const char *kn_clustering_name(kn_clustering clustering);
KN_API const char *kn_leftovers_name(kn_leftovers leftovers);
KN_API const char *kn_diversity_name(kn_diversity diversity);
KN_API const char *kn_semantics_name(kn_semantics semantics);
KN_API const char *kn_disassociate_name(kn_disassociate how);

/* How much a release lost. Smaller is better, except Prec. docs/metrics.md has the formulas. */
typedef enum kn_metric {
    KN_METRIC_LM = 0,  /* lm       mean over all cells of (covered leaves - 1) / (leaves - 1)          */
    KN_METRIC_NCP,     /* ncp      mean over all cells of covered leaves / leaves, 0 for one leaf      */
    KN_METRIC_PREC,    /* prec     1 - mean over all cells of level / height                           */
    KN_METRIC_ENTROPY, /* entropy  sum over all cells of log2(rows under the cell / rows of the value) */
    KN_METRIC_DM,      /* dm       sum of squared class sizes, and all rows per suppressed row         */
    KN_METRIC_DM_STAR, /* dm_star  sum of squared class sizes, the suppressed rows as classes as they were */
    KN_METRIC_C_AVG,   /* c_avg    released rows / classes / k                                         */
    KN_METRICS
} kn_metric;

KN_API const char *kn_metric_name(kn_metric metric);
KN_API bool        kn_metric_parse(const char *name, kn_metric *out);

typedef enum kn_suppressed {
    KN_SUPPRESSED_STAR = 0,      /* "*" in every column                                                */
    KN_SUPPRESSED_DROP,          /* the rows are left out                                              */
    KN_SUPPRESSED_KEEP_SENSITIVE /* "*" in the quasi-identifiers only: one class, which must satisfy every model */
} kn_suppressed;

typedef struct kn_attribute {
    const char       *name;
    kn_role           role;
    kn_type           type;   /* KN_TYPE_AUTO: found out                                               */
    const char       *format; /* of dates; NULL: none                                                  */
    bool              has_hierarchy;
    kn_ratio          weight;    /* of a quasi-identifier in the metrics; 1/1 unless given             */
    bool cut_by_order; /* partitioning: a quasi-identifier with a hierarchy is cut in the order of its leaves, and
                                       shows ranges or sets instead of nodes                           */
    const char *pseudonym_key_file; /* identifier: replaced by a keyed pseudonym instead of dropped; NULL: dropped */
    int64_t     line, column;       /* where in the release file; 0: not from a file                  */
    bool        has_role;           /* false: declared without a role, which kn_spec_check refuses      */
    int64_t     min_level, max_level; /* of a quasi-identifier: levels that may be taken; -1: any      */
    const char *separator; /* of a set: what stands between its items; NULL: a semicolon              */
    kn_hierarchy_spec KN_PRIVATE(hierarchy); /* kn_attribute_hierarchy: its texts belong to the spec; the end */
} kn_attribute;

/* One table of a database. What is not given here is taken from the catalog. */
typedef struct kn_spec_table {
    const char         *name;
    bool                has_key;
    int                 key_count; /* of the primary key's columns; 0 with has_key: it has none                  */
    const char *const  *key;
    const char         *parent; /* the table that its rows belong to; NULL: not said                          */
    int                 parent_column_count;
    const char *const  *parent_columns; /* of this table, in the order of the parent's key                       */
    int                 attribute_count;
    const kn_attribute *KN_PRIVATE(attributes); /* kn_spec_table_attribute_at */
    int64_t             line, column; /* where in the release file; 0: not from a file                           */
    bool                has_weight;
    int64_t             weight; /* how many cells a row counts beyond its quasi-identifiers; without has_weight by its
                                   cells and its table's rows (docs/databases.md)                                */
    bool                reference; /* its rows say nothing about persons: copied, with broader rows added        */
    int                 group_count; /* of a reference: columns by whose values rows become broader, narrowest first;  */
    const char *const  *groups;      /* NULL: the column of its only link to another reference                         */
    int                 ignored_count; /* columns whose foreign keys are left out                                */
    const char *const  *ignored;
    int                 link_count; /* foreign keys that no catalog declares: a column and the table it refers to */
    const char *const  *link_columns, *const *link_targets;
    const int          *link_counts; /* of each: its columns, in the order of the table's key; link_columns has the first */
    const char *const  *const *link_lists;
    bool                labels; /* of a reference: no rows are added; what refers to it is generalized by labels  */
} kn_spec_table;

/* k-mn: {k, m, n}: whoever knows up to m values of a record, and up to n ancestor-descendant relations between them, finds
 * no record or at least k (Gkountouna, Terrovitis 2013). */
typedef struct kn_kmn {
    int64_t k; /* 0: not promised */
    int     m, n;
} kn_kmn;

/* A class of tree records: nodes of one kind. */
typedef struct kn_spec_class {
    const char       *name;  /* the element's name, or the key of an object                              */
    const char       *value; /* "@v": an attribute; "text": the element's text; else a key; NULL: by the form */
    bool              has_hierarchy;
    bool              sensitive; /* role: sensitive                                                      */
    bool              negative;  /* that a record lacks a value of the class may be known, too           */
    bool              of_table;  /* a column of a database: all of its hierarchy's file is its own                */
    int64_t           line, column;
    kn_ratio          weight; /* how much a broader value of it counts as a loss; 1/1 unless given            */
    const char       *path;  /* the keys or elements to it, "terms/state", from the record or the node around it; NULL: its name */
    bool              negative_relations; /* that a value of it does not stand below another may be known, too */
    const char       *broader; /* of resources: the path at which broader values are written; NULL: where the others are */
    kn_hierarchy_spec KN_PRIVATE(hierarchy); /* kn_spec_class_hierarchy; the end                         */
} kn_spec_class;

/* A type of resources (FHIR): objects that say their type, and refer to one another. The first is that of persons. */
typedef struct kn_spec_resource {
    const char        *name; /* "Encounter"                                                               */
    int                parent_count; /* 0: the type of persons                                            */
    const char *const *parents;      /* elements that refer to what it belongs to; the first that leads there counts */
    const int         *targets;      /* ... and to which type each leads, one that stands before this     */
    int                fixed_count;  /* members that every released resource of the type has              */
    const char *const *fixed, *const *fixed_texts; /* their names, and their values as JSON               */
} kn_spec_resource;

typedef struct kn_spec {
    const char *path; /* of the release file; NULL: none                                        */
    /* Reading. */
    int                input_count;
    const char *const *inputs;     /* "-": standard input                                                  */
    const char        *population; /* a table of everybody the data may be about; NULL: none           */
    /* Roles. */
    int                 attribute_count;
    const kn_attribute *KN_PRIVATE(attributes); /* kn_spec_attribute_at: in the order they were declared: the order of
                                                   the quasi-identifiers, of a node */
    const char         *entity; /* what says whose row it is: a column, or several as "a, b"; NULL: one row per person */
    int                 entity_count;
    const char *const  *entity_columns; /* the columns that together say it; of a database the persons' key */
    const char         *entity_table; /* of a database: the table of persons; NULL: not said             */
    int                 table_count;
    const kn_spec_table *KN_PRIVATE(tables); /* kn_spec_table_at: of a database: only these are read; none: no
                                                database */
    const char          *record; /* of tree records: the element or key that is one person; NULL: "record" */
    int                  class_count;
    const kn_spec_class *KN_PRIVATE(classes); /* kn_spec_class_at: of tree records, as they nest; none: no trees */
    bool                 undeclared_refuse; /* an undeclared column is an error instead of dropped       */
    kn_missing           missing;           /* of quasi-identifiers                                      */
    /* Promises. */
    int                model_count;
    const kn_model    *models;
    kn_kmn             kmn; /* tree records                                                               */
    bool               suppression_is_count;
    kn_fraction        suppression;      /* at most this share of the rows ...                             */
    int64_t            suppression_rows; /* ... or, with suppression_is_count, this many                   */
    kn_suppressed      suppressed;
    int                dependency_count;
    const char *const *dependencies; /* "a, b -> c" as written                                          */
    bool               allow_broken; /* a dependency may fail, in the original or in the release        */
    /* How. */
    kn_method   method;
    bool        method_given; /* false: kn_spec_check takes the shape's own: optimal, miracle-x, gcs       */
    bool        method_auto;  /* "auto": the methods that fit are tried and the best is taken (kanon/advise.h); until then
                                 `method` is the shape's own                                               */
    kn_metric   utility;
    double      time_limit; /* seconds; 0: none                                                           */
    kn_choose   choose;     /* partitioning                                                               */
    const char *workload;   /* a file of queries, for mondrian-workload; NULL: none                        */
    uint64_t    seed;
    bool        seeded; /* the seed was given                                                         */
    /* How, databases. */
    kn_ratio     threshold; /* a person farther than this from every cluster starts a new one ...        */
    int64_t      climit;    /* ... while there are fewer than this                                       */
    kn_matching  matching;
    kn_leftovers leftovers;
    kn_diversity diversity;
    bool         complete;  /* bitmap: it is known what a person does not have                           */
    bool         anatomy;   /* dmiracle: quasi-identifiers as they are, sensitive values by groups       */
    bool         reference; /* the plain algorithm: the same release, slowly (databases and trees)       */
    /* How, trees. */
    int64_t      g;         /* gcs: cuts that are followed in each step                                  */
    kn_semantics semantics;
    bool         strict_structure; /* moved nodes do not show                                            */
    kn_ratio     support;   /* ml2, dml2: the share of records from which a subtree is frequent; 0: not mined */
    /* Writing. */
    const char *output;      /* "-": standard output; NULL: not given                                   */
    const char *report;      /* an HTML page for the owner, before and after (mode 0600); NULL: none    */
    const char *public_report; /* an HTML page that may be published; NULL: none                        */
    bool        summary;     /* OUTPUT.summary.csv: range and mean of each class and quasi-identifier   */
    bool        spreadsheet_safe; /* CSV: an apostrophe before what a spreadsheet would execute          */
    bool        keep_order;  /* rows stay in their order (the program warns)                            */
    bool        keep_rowmap; /* OUTPUT.rowmap stays beside the release                                  */
    bool        force;       /* publish even if a kept column is nearly unique, or nothing is left       */
    int64_t     method_unasked; /* 1: method_auto, for none was given and a quasi-identifier has no hierarchy; else 0 */
    int         keep_recipe; /* not 0: OUTPUT.recipe.json stays beside the release of a table (kanon/recipe.h)  */
    /* How, full-domain methods: levels that are asked for; kn_spec_level_bounds. */
    int                level_count;
    const char *const *level_names; /* of which quasi-identifier each is; NULL (all of them): in their order */
    const int         *levels;
    bool        expand; /* of counted rows (role count): every row as often as it is counted; else equal rows once, with their
                           count                                                                        */
    bool        input_order; /* kmsd, kmsd-ag: which of equal rows rise follows from the order of the input, as in their paper,
                                not from the order of the values                                        */
    bool        replace;     /* an existing table of a server or a SQLite file, which is not the input   */
    int64_t     clustering;  /* a kn_clustering: databases, except bitmap                               */
    int                     resource_count;
    const kn_spec_resource *KN_PRIVATE(resources); /* kn_spec_resource_at: of tree records: what they are put together from;
                                                      none: a record is one object                       */
    int64_t     disassociation; /* a kn_disassociate: trees, except ocs                                 */
    kn_csv_options KN_PRIVATE(csv); /* kn_spec_csv: of the inputs; types are those of the attributes, na is the spec's; the end */
} kn_spec;

/* NULL: there is none. What several functions take as an array (kn_records_options.classes) is the first of them. */
KN_API const kn_attribute      *kn_spec_attribute_at(const kn_spec *spec, int index);
KN_API const kn_spec_table     *kn_spec_table_at(const kn_spec *spec, int index);
KN_API const kn_attribute      *kn_spec_table_attribute_at(const kn_spec_table *table, int index);
KN_API const kn_spec_class     *kn_spec_class_at(const kn_spec *spec, int index);
KN_API const kn_spec_resource  *kn_spec_resource_at(const kn_spec *spec, int index);
KN_API const kn_hierarchy_spec *kn_attribute_hierarchy(const kn_attribute *attribute);
KN_API const kn_hierarchy_spec *kn_spec_class_hierarchy(const kn_spec_class *of);
KN_API const kn_csv_options    *kn_spec_csv(const kn_spec *spec);

/* An empty spec: no input, no attribute, no model, suppression 0, method optimal, metric lm. */
KN_API KN_CHECK kn_status kn_spec_create(kn_spec **out, kn_context *ctx, kn_error *err);

/* Reads a release file ("-": standard input). KN_INPUT with line and column: not YAML or JSON, an unknown key, a value
 * that makes no sense; or there is no such file. KN_IO: it cannot be read. */
KN_API KN_CHECK kn_status kn_spec_read(kn_spec **out, kn_context *ctx, const char *path, kn_error *err);

/* The same of a text; `name` stands for the file in messages (NULL: "the release file"). Paths in it are relative to the working
 * folder. */
KN_API KN_CHECK kn_status kn_spec_read_text(kn_spec **out, kn_context *ctx, const char *text, size_t size, const char *name,
                                            kn_error *err);

KN_API void kn_spec_free(kn_spec *spec);

/* Sets one top-level field from text in the release file's own notation, as if the file had said so: ("method",
 * "incognito"), ("suppression", "0.05"), ("privacy", "[{k: 5}, {t-closeness: {attribute: salary, t: 0.2}}]"),
 * ("input", "[a.csv, b.csv]"); an option by its own name: ("seed", "7"). A list replaces the one before; of a mapping
 * (attributes, options) only what it names changes. `what` names it in messages ("--suppression"). Paths are relative to
 * the working folder. KN_USAGE where the text makes no sense; the spec is then as before. */
KN_API KN_CHECK kn_status kn_spec_set(kn_spec *spec, const char *field, const char *text, const char *what,
                                      kn_error *err);

/* The same from plain texts, which may hold any character: one for a field with one value ("output", "method"), any
 * number for a list ("input", "na", "dependencies"). */
KN_API KN_CHECK kn_status kn_spec_set_texts(kn_spec *spec, const char *field, const char *const *texts, int count,
                                            const char *what, kn_error *err);

/* Declares an attribute or changes its role; what else is known of it stays. */
KN_API KN_CHECK kn_status kn_spec_set_role(kn_spec *spec, const char *attribute, kn_role role, kn_error *err);

/* Declares more of an attribute in the release file's notation: ("age", "{type: integer, hierarchy: {ranges: [5, 10]}}"). */
KN_API KN_CHECK kn_status kn_spec_set_attribute(kn_spec *spec, const char *attribute, const char *text,
                                                const char *what, kn_error *err);

/* Promises a model, together with all others that were set; it replaces the release file's promise of the same model
 * about the same column. Several promises of one model about one column become the one that implies them all.
 * KN_USAGE: kn_model_check refuses it. */
KN_API KN_CHECK kn_status kn_spec_set_model(kn_spec *spec, const kn_model *model, kn_error *err);

/* Promises k-mn, in place of an earlier k-mn. KN_USAGE: k or m below 1, more relations than m values have. */
KN_API KN_CHECK kn_status kn_spec_set_kmn(kn_spec *spec, kn_kmn kmn, kn_error *err);

/* Is the spec consistent: at least one input, quasi-identifier and model; every attribute with a role; every model's
 * attribute sensitive (or none named and exactly one sensitive column, which is then filled in); an output that is no
 * input; roles that exclude each other? KN_USAGE or KN_INPUT (with the file's line and column) says what does not.
 * Nothing is opened. */
KN_API KN_CHECK kn_status kn_spec_check(kn_spec *spec, kn_error *err);

/* A part of kn_spec_check, for callers that need no promises and no output: do data and method fit, and do they use
 * everything that was given? What they do not use is refused by name, with a way that works. */
KN_API KN_CHECK kn_status kn_spec_check_use(kn_spec *spec, kn_error *err);

/* What the data look like. */
typedef enum kn_shape {
    KN_SHAPE_TABLE = 0,
    KN_SHAPE_DATABASE, /* it lists tables or a table of persons, or its input is "sqlite:...", "postgresql:..." */
    KN_SHAPE_RECORDS   /* it lists classes, its method is one for trees, or it promises k-mn and leaves the method open */
} kn_shape;

KN_API kn_shape kn_spec_shape(const kn_spec *spec);

/* Is it about one table? KN_USAGE if not. kn_anonymize, kn_verify, kn_measure and kn_attack check this first;
 * `instead` says what to do (may be NULL). */
KN_API KN_CHECK kn_status kn_spec_check_one_table(const kn_spec *spec, const char *instead, kn_error *err);

/* The attribute with that name; -1: none. */
KN_API int kn_spec_find(const kn_spec *spec, const char *attribute);

/* The levels that a full-domain method may take of an attribute, by `levels` or else by its min-level and max-level; -1: any.
 * False: nothing was asked of it. */
KN_API bool kn_spec_level_bounds(const kn_spec *spec, int attribute, int *low, int *high);

/* The column of a table that holds sets of items (role: set); NULL: there is none. */
KN_API const kn_attribute *kn_spec_items_column(const kn_spec *spec);

/* Is it a column that says whose row it is, alone or with others? */
KN_API bool kn_spec_is_entity(const kn_spec *spec, const char *column);

/* Of tree records: is there a class, or a column that may become one, whose values attackers are assumed not to know? */
KN_API bool kn_spec_has_sensitive_class(const kn_spec *spec);

/* The column of a database that a text names, as "TABLE.COLUMN" or, where only one table declares it, "COLUMN": indexes of
 * spec->tables and of its attributes. False: none (attribute -1), or several. */
KN_API bool kn_spec_find_column(const kn_spec *spec, const char *text, int *table, int *attribute);

#ifdef __cplusplus
}
#endif

#endif
