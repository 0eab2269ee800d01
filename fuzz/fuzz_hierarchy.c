/* fuzz_hierarchy.c: bytes → hierarchy file or taxonomy → binding → invariants.
 *
 * The first byte chooses the reader: 'T' a taxonomy, one of ; , | : and tab that delimiter, anything else sniffing. What
 * was read must be valid, agree with walks along the parents, and survive writing and reading again.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_hierarchy.h"
#include "kn_hierarchy_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_hierarchy: %s\n", what);
    abort();
}

static uint32_t naive_lca(const kn_hierarchy *h, uint32_t a, uint32_t b)
{
    for (uint32_t up = a; up != KN_NODE_NONE; up = h->parent[up])
        for (uint32_t other = b; other != KN_NODE_NONE; other = h->parent[other])
            if (up == other) return up;
    return KN_NODE_NONE;
}

static void check_pairs(const kn_hierarchy *h)
{
    uint32_t step = h->nodes / 24 + 1;
    for (uint32_t a = 0; a < h->nodes; a += step)
        for (uint32_t b = 0; b < h->nodes; b += step)
            demand(kn_hierarchy_lca(h, a, b) == naive_lca(h, a, b), "a lowest common ancestor is wrong");
}

/* A column with four integers, two of which small inputs are likely to name. */
static void check_binding(kn_hierarchy *h)
{
    uint8_t   codes[] = {0, 1, 2, 3};
    char      bytes[] = "-112100";
    uint64_t  offsets[] = {0, 2, 3, 4, 7};
    int64_t   integers[] = {-1, 1, 2, 100};
    char      name[] = "c";
    kn_column column = {.name = name, .type = KN_TYPE_INTEGER, .width = 1, .codes = codes, .missing = 0};
    for (uint32_t count = 4; count > 0; count--) {
        column.dict = (kn_dictionary){count, offsets, bytes, integers, NULL};
        if (kn_hierarchy_bind_column(h, &column, count, '.', true, NULL) != KN_OK) continue;
        uint32_t map[5], nodes[5], distinct;
        for (uint32_t level = 0; level <= h->height; level++) {
            kn_hierarchy_level_map(h, level, map, &distinct, nodes);
            for (uint32_t c = 0; c < count; c++) {
                demand(map[c] < distinct, "a map is not dense");
                demand(nodes[map[c]] == kn_hierarchy_of_code(h, c, level), "a map names another node");
            }
        }
        break;
    }
}

static void check_again(const kn_hierarchy *h, kn_context *ctx, char delimiter)
{
    kn_buffer     text;
    kn_hierarchy *copy = NULL;
    kn_buffer_init(&text, ctx);
    kn_hierarchy_format(h, delimiter, &text);
    demand(!text.failed, "out of memory");
    demand(kn_hierarchy_parse(&copy, ctx, "again", text.data, text.size, delimiter, NULL) == KN_OK, "not read again");
    demand(copy->nodes == h->nodes && copy->leaves == h->leaves && copy->height == h->height, "read as another tree");
    demand(memcmp(copy->parent, h->parent, h->nodes * sizeof *h->parent) == 0, "read with other parents");
    for (uint32_t n = 0; n < h->nodes; n++)
        demand(kn_string_equal(kn_hierarchy_text(h, n), kn_hierarchy_text(copy, n)), "read with other labels");
    kn_hierarchy_free(copy);
    kn_buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1 << 16) return 0;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.memory_limit = 256 << 20;
    kn_context *ctx = NULL;
    if (kn_context_create(&ctx, &options, NULL) != KN_OK) return 0;
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    const char   *text = (const char *)data + 1;
    char          delimiter = data[0] && strchr(";,|:\t", data[0]) ? (char)data[0] : 0;
    kn_status     status = data[0] == 'T' ? kn_taxonomy_parse(&h, ctx, "fuzz", text, size - 1, &err)
                                          : kn_hierarchy_parse(&h, ctx, "fuzz", text, size - 1, delimiter, &err);
    if (status == KN_OK) {
        const char *reason = "";
        demand(kn_hierarchy_validate(h, &reason), reason);
        check_pairs(h);
        check_binding(h);
        demand(kn_hierarchy_validate(h, &reason), reason);
        check_again(h, ctx, delimiter ? delimiter : ';');
        kn_hierarchy_free(h);
    } else {
        demand(status == KN_INPUT || status == KN_MEMORY, "an unexpected status");
        demand(err.message[0] != '\0', "a failure without a message");
    }
    demand(kn_context_memory_used(ctx) == 0, "memory was left");
    kn_context_free(ctx);
    return 0;
}
