/* kn_postgres_extras.c: what a schema of a PostgreSQL database holds besides plain tables and their keys. Interface:
 * kn_extras.h.
 *
 * The server's own record of dependencies is queried, not a list of kinds: whatever depends on the schema and is not
 * a table, and whatever depends on a table and is not a key, was not made by a release. Also comments and labels,
 * dropped columns, and types that are not the server's own. Names are not reported: they may be data.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_extras.h"
#include "kn_postgres_internal.h"

/* Each answers (what it is, how many of them). $1 is the schema's name. */
#define TABLES                                                                                                         \
    "WITH s AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1), t AS (SELECT c.oid FROM "                 \
    "pg_catalog.pg_class c JOIN s ON s.oid = c.relnamespace WHERE c.relkind = 'r' AND NOT c.relispartition) "

static const char *const questions[] = {
    /* in the schema */
    TABLES "SELECT i.type, count(DISTINCT (d.classid, d.objid)) FROM pg_catalog.pg_depend d JOIN s ON d.refobjid = "
           "s.oid CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) i WHERE "
           "d.refclassid = 'pg_catalog.pg_namespace'::regclass AND NOT (d.classid = 'pg_catalog.pg_class'::regclass "
           "AND d.objid IN (SELECT oid FROM t)) GROUP BY i.type ORDER BY i.type",
    /* at its tables: constraints of other tables that name one, and rules of views elsewhere, are not theirs */
    TABLES "SELECT i.type, count(DISTINCT (d.classid, d.objid)) FROM pg_catalog.pg_depend d JOIN t ON d.refobjid = "
           "t.oid CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) i WHERE "
           "d.refclassid = 'pg_catalog.pg_class'::regclass AND CASE d.classid WHEN "
           "'pg_catalog.pg_constraint'::regclass THEN EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.oid = "
           "d.objid AND c.conrelid = t.oid AND c.contype NOT IN ('p', 'u', 'f', 'n')) WHEN "
           "'pg_catalog.pg_rewrite'::regclass THEN EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.oid = d.objid "
           "AND r.ev_class = t.oid) WHEN 'pg_catalog.pg_type'::regclass THEN d.deptype <> 'i' WHEN "
           "'pg_catalog.pg_class'::regclass THEN NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = d.objid "
           "AND c.relkind = 't') ELSE true END GROUP BY i.type ORDER BY i.type",
    TABLES "SELECT 'comment', count(*) FROM pg_catalog.pg_description d WHERE (d.classoid = "
           "'pg_catalog.pg_namespace'::regclass AND d.objoid IN (SELECT oid FROM s)) OR (d.classoid = "
           "'pg_catalog.pg_class'::regclass AND (d.objoid IN (SELECT oid FROM t) OR d.objoid IN (SELECT x.indexrelid "
           "FROM pg_catalog.pg_index x WHERE x.indrelid IN (SELECT oid FROM t)))) OR (d.classoid = "
           "'pg_catalog.pg_constraint'::regclass AND d.objoid IN (SELECT c.oid FROM pg_catalog.pg_constraint c WHERE "
           "c.conrelid IN (SELECT oid FROM t))) OR (d.classoid = 'pg_catalog.pg_type'::regclass AND d.objoid IN "
           "(SELECT y.oid FROM pg_catalog.pg_type y WHERE y.typrelid IN (SELECT oid FROM t)))",
    TABLES "SELECT 'security label', count(*) FROM pg_catalog.pg_seclabel d WHERE d.objoid IN (SELECT oid FROM s) OR "
           "d.objoid IN (SELECT oid FROM t)",
    TABLES "SELECT 'dropped column, whose cells may still be stored', count(*) FROM pg_catalog.pg_attribute a WHERE "
           "a.attrelid IN (SELECT oid FROM t) AND a.attisdropped",
    TABLES "SELECT 'column of a type that is not the server''s own', count(*) FROM pg_catalog.pg_attribute a JOIN "
           "pg_catalog.pg_type y ON y.oid = a.atttypid WHERE a.attrelid IN (SELECT oid FROM t) AND a.attnum > 0 AND "
           "NOT a.attisdropped AND y.typnamespace <> 'pg_catalog'::regnamespace",
};

kn_status kn_pg_extras(kn_pg *pg, kn_extras_fn report, void *arg, kn_error *err)
{
    const char *schema = pg->schema;
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        PGresult *result = NULL;
        KN_TRY(kn_pg_query(pg, &result, questions[q], &schema, 1, err));
        for (int i = 0; i < pg->pq.ntuples(result); i++) {
            const char *what = pg->pq.getvalue(result, i, 0), *count = pg->pq.getvalue(result, i, 1);
            char        sentence[200];
            if (strcmp(count, "0") == 0) continue;
            snprintf(sentence, sizeof sentence, "the schema holds what no release makes: %.100s (%.20s)", what, count);
            report(arg, sentence);
        }
        pg->pq.clear(result);
    }
    return KN_OK;
}
