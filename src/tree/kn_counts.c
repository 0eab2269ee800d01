/* kn_counts.c: supports by key.
 *
 * Interface: kn_counts.h. Open addressing, at most 4 / 5 full.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_counts.h"

#include <string.h>

#include "kn_alloc.h"

enum { FEWEST = 256 };

void kn_counts_free(kn_counts *c)
{
    KN_FREE(c->keys, c->counts);
    *c = (kn_counts){.ctx = c->ctx};
}

void kn_counts_clear(kn_counts *c)
{
    if (c->slots > FEWEST && c->used * 16 < c->slots)
        kn_counts_free(c);
    else if (c->slots)
        memset(c->keys, 0, c->slots * sizeof *c->keys);
    c->used = 0;
}

static bool make(kn_counts *c, size_t slots)
{
    c->keys = kn_alloc_array_zero(c->ctx, slots, sizeof *c->keys);
    c->counts = kn_alloc_array(c->ctx, slots, sizeof *c->counts);
    c->slots = slots;
    c->used = 0;
    if (c->keys && c->counts) return true;
    kn_counts_free(c);
    return false;
}

/* With that many slots. */
static bool resize(kn_counts *c, size_t slots)
{
    kn_counts grown = {.ctx = c->ctx};
    if (!make(&grown, slots)) return false;
    for (size_t i = 0; i < c->slots; i++) {
        if (c->keys[i] == 0) continue;
        size_t at = kn_counts_first(&grown, c->keys[i]);
        while (grown.keys[at]) at = kn_counts_next(&grown, at);
        grown.keys[at] = c->keys[i];
        grown.counts[at] = c->counts[i];
    }
    grown.used = c->used;
    kn_counts_free(c);
    *c = grown;
    return true;
}

bool kn_counts_reserve(kn_counts *c, size_t used)
{
    size_t slots = used + used / 4 + 2;
    return slots <= c->slots || resize(c, slots);
}

bool kn_counts_grow(kn_counts *c)
{
    return resize(c, c->slots ? c->slots * 2 : FEWEST);
}

bool kn_counts_fit(kn_counts *c)
{
    size_t slots = c->used + c->used / 4 + 2;
    return c->slots < slots + slots / 4 || resize(c, slots);
}
