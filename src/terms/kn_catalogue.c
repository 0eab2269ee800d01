/* kn_catalogue.c: what there is to choose from: methods, privacy models and metrics (kanon/catalogue.h).
 *
 * Three tables of texts, and which method keeps which model. Names are those of kn_terms.c and kn_model_terms.c; a
 * test compares them. Cost: one look-up.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/catalogue.h>

#include "kn_model_terms.h"

/* ---- Shapes ---- */

const char *kn_shape_name(kn_shape shape)
{
    static const char *const names[KN_SHAPES] = {"table", "database", "records"};
    return names[shape];
}

kn_shape kn_method_shape(kn_method method)
{
    kn_family family = kn_method_family(method);
    if (family == KN_FAMILY_TREE) return KN_SHAPE_RECORDS;
    return family == KN_FAMILY_RELATIONAL ? KN_SHAPE_DATABASE : KN_SHAPE_TABLE;
}

bool kn_method_has_nodes(kn_method method)
{
    return kn_method_family(method) == KN_FAMILY_FULL_DOMAIN;
}

bool kn_method_is_default(kn_method method)
{
    return method == KN_METHOD_OPTIMAL || method == KN_METHOD_MIRACLE_X || method == KN_METHOD_GCS;
}

/* ---- Methods ---- */

#define FULL_DOMAIN "one level for a whole column"
#define PARTITION "ranges and groups as narrow as each crowd allows"
#define BY_ATTRIBUTE "rows raised one by one, dependencies kept"
#define PERSONS "persons with all their rows, in classes that show one tree"
#define TREES "one cut through the hierarchies, and relations that vanish"
#define INCOGNITO "LeFevre, DeWitt, Ramakrishnan 2005, Incognito, "
#define MONDRIAN "LeFevre, DeWitt, Ramakrishnan 2006, Mondrian, "
#define MIRACLE "Nergiz, Clifton, Nergiz 2009, MultiRelational k-Anonymity, "
#define KMN "Gkountouna, Terrovitis 2013, "
#define KMSD "Huang, Song, Gao, Cai 2014, "

static const kn_method_entry methods[KN_CATALOGUE_METHODS] = {
    [KN_METHOD_OPTIMAL] =
        {"optimal", FULL_DOMAIN, "own: bounds over the generalization lattice of Samarati 2001 and Sweeney 2002",
         "counts the rows for a few nodes of the lattice: some hundred of ten thousand, some thousand of a hundred "
         "million; the lattice itself is not kept in memory",
         "take it first: no other choice of levels loses less, and that is proved"},
    [KN_METHOD_HEURISTIC] = {"heuristic", FULL_DOMAIN,
                             "own: chains, climbing and restarts guided by a model of what counting would say",
                             "as long as it is given (--time-limit); without one until it has found nothing better for "
                             "a while, at most 10 seconds",
                             "many columns or deep hierarchies, where optimal takes too long"},
    [KN_METHOD_SAMARATI] = {"samarati", FULL_DOMAIN,
                            "Samarati 2001, Protecting respondents' identities, binary search on the height",
                            "one pass over the rows for each node tried, on at most log2(height) + 1 heights; large "
                            "lattices by bounds, as optimal, but for more nodes",
                            "to compare: some solution of least height, whatever it loses"},
    [KN_METHOD_BOTTOM_UP] = {"bottom-up", FULL_DOMAIN, INCOGNITO "bottom-up breadth-first search",
                             "one pass over the rows for each node that is not known to be good",
                             "to compare: all solutions, without any shortcut"},
    [KN_METHOD_BOTTOM_UP_ROLLUP] = {"bottom-up-rollup", FULL_DOMAIN,
                                    INCOGNITO "bottom-up breadth-first search with roll-up",
                                    "one pass over the rows, then sums over classes for each node tried",
                                    "all solutions of a small lattice"},
    [KN_METHOD_INCOGNITO] =
        {"incognito", FULL_DOMAIN, INCOGNITO "the basic algorithm",
         "looks at all subsets of the columns: grows with 2 to the number of columns; one pass over "
         "the rows for each root",
         "all solutions; few columns"},
    [KN_METHOD_INCOGNITO_SUPERROOTS] = {"incognito-superroots", FULL_DOMAIN,
                                        INCOGNITO "the optimization by super-roots",
                                        "as incognito, with one pass over the rows for each subset of the columns",
                                        "all solutions; few columns, many rows"},
    [KN_METHOD_INCOGNITO_CUBE] = {"incognito-cube", FULL_DOMAIN, INCOGNITO "the optimization by a cube",
                                  "as incognito, with one pass over the rows; the classes of all subsets are in memory",
                                  "all solutions; few columns, many rows, enough memory"},
    [KN_METHOD_DATAFLY] = {"datafly", FULL_DOMAIN, "Sweeney 1997, Datafly",
                           "one pass over the rows, then at most as many steps as the hierarchies have levels together",
                           "to compare: quick and coarse, what older tools do"},
    [KN_METHOD_MONDRIAN] = {"mondrian", PARTITION, MONDRIAN "the greedy partitioning algorithm, strict",
                            "rows x columns x log2(rows / k): millions of rows in seconds",
                            "the data are for analysis, and a value may be shown more or less exactly from row to row"},
    [KN_METHOD_MONDRIAN_RELAXED] = {"mondrian-relaxed", PARTITION,
                                    MONDRIAN "the greedy algorithm, relaxed (local recoding)", "as mondrian",
                                    "many equal values: classes stay below 2k rows where mondrian cannot cut"},
    [KN_METHOD_MONDRIAN_1D] = {"mondrian-1d", PARTITION, MONDRIAN "single-dimensional partitioning",
                               "two passes over the rows of an interval for each cut",
                               "each value must be shown the same way in all rows, and there is no hierarchy"},
    [KN_METHOD_MONDRIAN_BEST] =
        {"mondrian-best", PARTITION,
         "own: mondrian, then k-member clustering (Byun, Kamra, Bertino, Li 2007) in small regions, then annealing",
         "many times mondrian: the square of a few hundred rows for each region, a few rounds of exchanges between "
         "classes",
         "the least loss matters more than time; it never loses more than mondrian"},
    [KN_METHOD_MONDRIAN_WORKLOAD] = {"mondrian-workload", PARTITION,
                                     MONDRIAN "workload-driven quality; the choice of cuts is our own",
                                     "as mondrian, times the queries that a region affects",
                                     "you know the queries that the release must answer (--workload)"},
    [KN_METHOD_KMSD] = {"kmsd", BY_ATTRIBUTE, KMSD "section 5 (K-MSD)", "the square of the columns x rows",
                        "few rows differ: only those that stand out are raised"},
    [KN_METHOD_KMSD_AG] = {"kmsd-ag", BY_ATTRIBUTE, KMSD "section 6 (K-MSD-AG)",
                           "as kmsd, and a few passes over the rows for each dependency",
                           "columns determine others, and the release must not break that (--dependency)"},
    [KN_METHOD_MIRACLE] = {"miracle", PERSONS, MIRACLE "section 4.2, Algorithms 2 to 4",
                           "persons x open clusters (climit) x pairs of whole subtrees: the dearest of its kind",
                           "deep schemas, small enough: rows are paired by everything below them"},
    [KN_METHOD_MIRACLE_X] = {"miracle-x", PERSONS, MIRACLE "section 4.3, Algorithm 5",
                             "persons x open clusters (climit) x pairs of rows", "take it first for a database"},
    [KN_METHOD_MIRACLE_X_LEVEL] = {"miracle-x-level", PERSONS, MIRACLE "section 4.3 (matching by levels)",
                                   "as miracle-x, with cheaper pairing",
                                   "persons with very many rows, where miracle-x takes too long"},
    [KN_METHOD_DMIRACLE] = {"dmiracle", PERSONS, MIRACLE "section 5.2, Algorithm 6 (top-down: clustering top-down)",
                            "as miracle, and merging classes that break a promise",
                            "sensitive values must be hidden too: the default where something is promised of them"},
    [KN_METHOD_BITMAP] = {"bitmap", PERSONS, MIRACLE "section 3.3 (bitmap), clustered as in CDGH",
                          "persons x open clusters (climit) x different facts / 64",
                          "to compare: what is lost when a database is squeezed into one table"},
    [KN_METHOD_ACS] = {"acs", TREES, KMN "section III-C, Algorithm 4 (AllCutSearch)",
                       "every cut through the hierarchies: exponential in their size",
                       "small hierarchies: no cut is better by rpda"},
    [KN_METHOD_GCS] = {"gcs", TREES, KMN "section III-D (GreedyCutSearch)",
                       "steps x g cuts; for each, the combinations of m values that the changed records have",
                       "take it first for trees"},
    [KN_METHOD_OCS] = {"ocs", TREES, KMN "section IV (OnlyCutSearch)", "as gcs, without rounds of disassociation",
                       "no relation may vanish: values become coarser instead"},
    [KN_CATALOGUE_AUTO] =
        {"auto", "what the method that is chosen decides", "own",
         "that of every method that fits, one after the other, within --time-limit",
         "you do not know which: those that fit are tried, the one that loses least is taken, and why"},
};

const kn_method_entry *kn_catalogue_method(int method)
{
    return &methods[method];
}

/* ---- Models ---- */

#define SENSITIVE "a sensitive column"
#define PEOPLE "a population or a column of weights"

static const kn_model_entry models[KN_CATALOGUE_MODELS] = {
    [KN_MODEL_K] = {"k", NULL, "k:k=5", "it has at least k people", NULL, "Samarati, Sweeney 1998; Sweeney 2002",
                    "always: nobody stands in a smaller crowd"},
    [KN_MODEL_DISTINCT] = {"l-diversity", "distinct", "l-diversity:kind=distinct,l=3", "at least l different values",
                           SENSITIVE, "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006",
                           "a first protection of a sensitive column"},
    [KN_MODEL_ENTROPY] = {"l-diversity", "entropy", "l-diversity:kind=entropy,l=2",
                          "as good as l equally frequent values", SENSITIVE,
                          "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006", "one value must not dominate"},
    [KN_MODEL_RECURSIVE] = {"l-diversity", "recursive", "l-diversity:kind=recursive,l=2,c=3",
                            "the most frequent value is less than c times all from the l-th on", SENSITIVE,
                            "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006", "the same, less strict"},
    [KN_MODEL_T_EQUAL] = {"t-closeness", "equal", "t-closeness:distance=equal,t=0.2",
                          "its shares differ from the table's by at most t", SENSITIVE,
                          "Li, Li, Venkatasubramanian 2007", "nothing may be learned beyond the table's shares"},
    [KN_MODEL_T_ORDERED] = {"t-closeness", "ordered", "t-closeness:distance=ordered,t=0.2",
                            "the same; 30 is nearer to 40 than to 90", SENSITIVE, "Li, Li, Venkatasubramanian 2007",
                            "numbers and dates"},
    [KN_MODEL_T_HIERARCHICAL] = {"t-closeness", "hierarchical", "t-closeness:distance=hierarchical,t=0.2",
                                 "the same; flu is nearer to a cold than to a fracture",
                                 "a sensitive column with a hierarchy", "Li, Li, Venkatasubramanian 2007",
                                 "values with a hierarchy"},
    [KN_MODEL_ALPHA_K] = {"alpha-k", NULL, "alpha-k:alpha=0.5,k=5",
                          "no value has more than the share alpha of at least k people", SENSITIVE,
                          "Wong, Li, Fu, Wang 2006", "a plain bound on certainty"},
    [KN_MODEL_BETA_BASIC] = {"beta-likeness", "basic", "beta-likeness:kind=basic,beta=2",
                             "no value is more than 1 + beta times as frequent as in the table", SENSITIVE,
                             "Cao, Karras 2012", "rare values matter most"},
    [KN_MODEL_BETA_ENHANCED] = {"beta-likeness", "enhanced", "beta-likeness:kind=enhanced,beta=2",
                                "the same, and at most -ln of the value's share in the table", SENSITIVE,
                                "Cao, Karras 2012", "rare and frequent values matter"},
    [KN_MODEL_DELTA] = {"delta-disclosure", NULL, "delta-disclosure:delta=1",
                        "no value's share moves by the factor e^delta, up or down", SENSITIVE,
                        "Brickell, Shmatikov 2008", "very strict: each class needs each value"},
    [KN_MODEL_K_MAP] = {"k-map", NULL, "k-map:k=5", "at least k people of the population look like that", PEOPLE,
                        "Sweeney 2002", "the release is a sample"},
    [KN_MODEL_PRESENCE] = {"delta-presence", NULL, "delta-presence:min=0,max=0.5",
                           "of the people who look like that, the share in the table is from min to max",
                           "a population", "Nergiz, Atzori, Clifton 2007", "being in the table is the secret"},
    [KN_MODEL_MAX_RISK] = {"max-risk", NULL, "max-risk:risk=0.2", "nobody is found with a chance above risk", NULL,
                           "El Emam 2013 (prosecutor risk)", "a risk is what the rule book asks for"},
    [KN_MODEL_AVERAGE_RISK] = {"average-risk", NULL, "average-risk:risk=0.1",
                               "over the whole release, people are found with the chance risk on average", NULL,
                               "Dankar, El Emam 2010 (marketer risk)",
                               "beside k, where the rule book asks for an average"},
    [KN_CATALOGUE_KMN] = {"k-mn", NULL, "3,2,1",
                          "whoever knows m values of a record and n relations between them finds none or at least k",
                          NULL, KMN "section II-C", "records that are trees; with n = 0 it is k^m, for baskets"},
};

const kn_model_entry *kn_catalogue_model(int model)
{
    return &models[model];
}

static bool is_of_values(int model)
{
    return model >= 0 && model < KN_MODEL_KINDS && kn_model_needs_attribute((kn_model_kind)model);
}

bool kn_method_keeps(kn_method method, int model)
{
    switch (kn_method_family(method)) {
    case KN_FAMILY_FULL_DOMAIN: return model != KN_CATALOGUE_KMN;
    case KN_FAMILY_PARTITION:
    case KN_FAMILY_KMSD: return model != KN_CATALOGUE_KMN && model != KN_MODEL_K_MAP && model != KN_MODEL_PRESENCE;
    case KN_FAMILY_RELATIONAL:
        return model == KN_MODEL_K || model == KN_MODEL_PRESENCE ||
               (method == KN_METHOD_DMIRACLE && is_of_values(model));
    case KN_FAMILY_TREE:
        return model == KN_CATALOGUE_KMN || (model >= KN_MODEL_DISTINCT && model <= KN_MODEL_RECURSIVE);
    }
    return false;
}

bool kn_model_diagnosed(int model)
{
    return model < KN_MODEL_K_MAP;
}

/* ---- Metrics ---- */

#define TABLE (1u << KN_SHAPE_TABLE)
#define DATABASE (1u << KN_SHAPE_DATABASE)
#define RECORDS (1u << KN_SHAPE_RECORDS)

static const kn_metric_entry metrics[KN_CATALOGUE_METRICS] = {
    [KN_METRIC_LM] = {"lm", TABLE | DATABASE, false, "how many of a column's values a cell may stand for, on average",
                      "0 every cell as it was, 1 everything lost", "Iyengar 2002",
                      "the default: easy to read, the same for every kind of cell"},
    [KN_METRIC_NCP] = {"ncp", TABLE, false, "the same, as a share of all values of the column",
                       "0 every cell as it was, 1 everything lost", "Xu et al. 2006; Ghinita et al. 2007 (GCP)",
                       "to compare with papers that use it; a pair of values costs more than by lm"},
    [KN_METRIC_PREC] = {"prec", TABLE, true, "how many levels of its hierarchy a cell kept, on average",
                        "1 every cell as it was, 0 everything at the top", "Sweeney 2002",
                        "steps of a hierarchy matter, not how many values lie below"},
    [KN_METRIC_ENTROPY] = {"entropy", TABLE, false, "bits by which the cells say less than they did",
                           "0 nothing lost; no upper end", "Gionis, Tassa 2009",
                           "rare values: hiding one among frequent ones costs much"},
    [KN_METRIC_DM] = {"dm", TABLE | DATABASE, false, "squares of class sizes; a suppressed row costs all rows",
                      "k x rows or more is usual; smaller is better", "Bayardo, Agrawal 2005",
                      "small classes matter, whatever the cells show"},
    [KN_METRIC_DM_STAR] = {"dm_star", TABLE, false, "the same with suppressed rows left in their classes", "as dm",
                           "after Bayardo, Agrawal 2005", "suppression is counted elsewhere"},
    [KN_METRIC_C_AVG] = {"c_avg", TABLE, false, "the average class, in units of k",
                         "1 classes as small as they may be; no upper end", "LeFevre, DeWitt, Ramakrishnan 2006",
                         "to see how far from k the classes are"},
    [KN_METRICS] = {"rpd", RECORDS, false, "reverse path domain: how little the paths of a record say, on average",
                    "the original's, which is reported beside it", KMN "section II-E",
                    "how coarse values and paths became"},
    [KN_METRICS + 1] = {"rpda", RECORDS, false, "the same, from the synopsis tree and weighted by support", "as rpd",
                        KMN "section III-A", "what the search goes by"},
    [KN_METRICS + 2] = {"ml2", RECORDS, false,
                        "the share of frequent subtrees that are not frequent any more (with --support)",
                        "0 all are still found, 1 none is", KMN "section II-E (multi-level mining loss)",
                        "the release is for mining"},
    [KN_METRICS + 3] = {"dml2", RECORDS, false, "the same, by how much the support of each changed (with --support)",
                        "0 as it was, 1 all gone", KMN "section II-E", "how often something occurs matters too"},
    [KN_METRICS + 4] = {"node_survival", RECORDS, true, "the share of nodes that still show their own value",
                        "1 all, 0 none", "own", "read it beside rpd: a moved node may lower rpd"},
    [KN_METRICS +
        5] = {"relation_survival", RECORDS, true,
              "the share of ancestor-descendant pairs that are still there, between the same or broader values",
              "1 all, 0 none", "own", "how much structure is left"},
    [KN_METRICS + 6] = {"relation_unchanged", RECORDS, true,
                        "the share of ancestor-descendant pairs that are still there as they were, values and all",
                        "1 all, 0 none", "own", "beside relation_survival: how much of it is blurred"},
    [KN_METRICS + 7] = {"loss", RECORDS, false, "how broad values became on average, by the weights of their classes",
                        "0 as they were, 1 nothing is left", "own",
                        "classes weigh differently: what the search then goes by"},
};

const kn_metric_entry *kn_catalogue_metric(int metric)
{
    return &metrics[metric];
}
