/* kn_engine_spark.c: the statement by which Spark writes a release out of counted rows. Interface: kn_engine.h.
 *
 * The rows are made where they are written: Spark gets the distinct combinations with their counts and places, and each task repeats those of
 * its parts. Nothing of the original is read, and no row is shuffled. A part is a run of equally many rows in their order, so the files
 * tell nothing but the release: neither how the original was distributed nor in which order it was read. Files are named in the order of
 * their rows. Spark's own marker of success is left out: a release is finished when it has been verified.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_engine.h"

/* So many rows are a part, unless there would be more parts than that; a task repeats a row by blocks. */
enum { MOST_PARTS = 10000, BLOCK = 65536 };

/* The combinations as c0, c1, ... (which no column of the release can collide with), n times from row s on. */
static void put_combinations(kn_buffer *to, const kn_connection *c, const kn_batches *batches, const char *table)
{
    int columns = batches->column_count - KN_ENGINE_COUNTS;
    kn_buffer_add(to, "SELECT ");
    for (int i = 0; i < columns; i++) {
        kn_connection_put_name(to, c, batches->columns[i].name);
        kn_buffer_format(to, " AS c%d, ", i);
    }
    kn_connection_put_name(to, c, batches->columns[columns].name);
    kn_buffer_add(to, " AS n, ");
    kn_connection_put_name(to, c, batches->columns[columns + 1].name);
    kn_buffer_format(to, " AS s FROM %s", table);
}

/* The same part by part: m times in part p; a task has whole parts, in order. */
static void put_pieces(kn_buffer *to, const kn_connection *c, const kn_batches *batches, const char *table,
                       int64_t part, int64_t parts)
{
    kn_buffer_format(to,
                     "SELECT /*+ REPARTITION_BY_RANGE(%" PRId64 ", p) */ *, least(s + n, (p + 1) * %" PRId64
                     ") - greatest(s, p * %" PRId64 ") AS m FROM (SELECT *, explode(sequence(s DIV %" PRId64
                     ", (s + n - 1) DIV %" PRId64 ")) AS p FROM (",
                     parts, part, part, part, part);
    put_combinations(to, c, batches, table);
    kn_buffer_add(to, ")) SORT BY p, s");
}

void kn_engine_put_spark(kn_buffer *to, const kn_connection *c, const kn_batches *batches, const char *table,
                         int64_t rows)
{
    int     columns = batches->column_count - KN_ENGINE_COUNTS;
    int64_t most = (int64_t)KN_COLUMNAR_PART * MOST_PARTS;
    int64_t part = KN_COLUMNAR_PART * (rows > most ? (rows + most - 1) / most : 1);
    kn_buffer_format(to,
                     " USING parquet OPTIONS ('compression' 'snappy', 'maxRecordsPerFile' '%" PRId64
                     "', 'mapreduce.fileoutputcommitter.marksuccessfuljobs' 'false') SELECT ",
                     part);
    for (int i = 0; i < columns; i++) {
        kn_buffer_format(to, i > 0 ? ", c%d AS " : "c%d AS ", i);
        kn_connection_put_name(to, c, batches->columns[i].name);
    }
    kn_buffer_format(to, " FROM (SELECT *, explode(sequence(0L, (m - 1) DIV %d)) AS b FROM (", BLOCK);
    put_pieces(to, c, batches, table, part, rows > 0 ? (rows + part - 1) / part : 1);
    kn_buffer_format(to, ")) LATERAL VIEW explode(sequence(1L, least(%dL, m - b * %d))) AS o", BLOCK, BLOCK);
}
