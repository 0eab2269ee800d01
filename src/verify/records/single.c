/* records/single.c: how many nodes were given up in single records, if nobody says which record became which?
 *
 * Interface: kn_vrecords_count_single (kn_verify_records.h). A label is given up in as many records as more originals have it than released records do,
 * whichever became which; records that are left out may be among those: the least number assumes so, the greatest is that of one assignment, which says how many
 * of these records have it. How many nodes of the original that is depends on the records, since several of a
 * record may show one label: so there is a least number and a greatest. Where every node shows its own value they are the same.
 *
 * Cost: sorting the labels of all records. Memory: 8 bytes for each label of a record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_verify_records.h"

/* Per label of a record of the original: label << 32 | nodes that show it there. How many there are. */
static size_t list_labels(const kn_records_verifier *v, uint64_t *keys, uint64_t *at)
{
    const kn_vforest *o = &v->original;
    size_t            count = 0;
    for (int64_t r = 0; r < o->count; r++) {
        size_t first = count;
        for (uint64_t i = o->start[r]; i < o->start[r + 1]; i++) {
            uint32_t image = v->image[o->label[i]];
            if (image == KN_V_NONE) continue;
            if (at[image] <= first || at[image] > count) { /* its key's place, counted from 1 */
                keys[count++] = (uint64_t)image << 32;
                at[image] = count;
            }
            keys[at[image] - 1]++;
        }
    }
    return count;
}

/* Per label: the released records that have it. */
static void count_released(const kn_records_verifier *v, uint64_t *at, int64_t *with)
{
    const kn_vforest *f = &v->release;
    for (uint32_t l = 0; l <= v->labels; l++) at[l] = 0;
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++) {
            with[f->label[i]] += at[f->label[i]] != (uint64_t)r + 1;
            at[f->label[i]] = (uint64_t)r + 1;
        }
}

/* The keys of one label, ascending: those of the fewest nodes, and those of the most. `unpaired`: originals with it that became nothing. */
static void add_up(const kn_records_verifier *v, const uint64_t *keys, size_t count, int64_t released, int64_t unpaired,
                   int64_t *least, int64_t *most)
{
    int64_t gone = (int64_t)count - released, left_out = v->original.count - v->release.count;
    for (int64_t i = 0; i < gone; i++) {
        if (i < gone - left_out) *least += (int64_t)(uint32_t)keys[i];
        if (i < gone - unpaired) *most += (int64_t)(uint32_t)keys[count - 1 - (size_t)i];
    }
}

kn_status kn_vrecords_count_single(kn_records_verifier *v, const int64_t *unpaired, int64_t *least, int64_t *most,
                                   kn_error *err)
{
    kn_arena  room = {.ctx = v->ctx};
    size_t    labels = (size_t)v->labels + 1, count = 0;
    uint64_t *keys = kn_arena_array(&room, v->original.start[v->original.count] + 1, sizeof *keys);
    uint64_t *at = kn_arena_array_zero(&room, labels, sizeof *at);
    int64_t  *with = kn_arena_array_zero(&room, labels, sizeof *with);
    *least = *most = 0;
    if (!room.failed) {
        count = list_labels(v, keys, at);
        qsort(keys, count, sizeof *keys, kn_compare_u64);
        count_released(v, at, with);
    }
    for (size_t i = 0, j = 0; i < count; i = j) {
        while (j < count && keys[j] >> 32 == keys[i] >> 32) j++;
        add_up(v, keys + i, j - i, with[keys[i] >> 32], unpaired[keys[i] >> 32], least, most);
    }
    bool failed = room.failed;
    kn_arena_free(&room);
    return failed ? kn_vrecords_no_memory(v, err) : KN_OK;
}
