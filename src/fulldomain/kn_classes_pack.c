/* kn_classes_pack.c: sets of classes packed into a third of their memory or less while they are not used.
 *
 * A class is written as the bytes of its key that the layout uses, and its count in groups of seven bits, the lowest
 * first, each but the last marked by its eighth bit: most classes are small and take one byte. Order is kept. A
 * packed frequency set keeps its layout and its numbers of rows and classes; its keys and counts are NULL.
 *
 * Cost: one pass in either direction.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_classes.h"
#include "kn_error.h"

#define WHAT "keeping classes"

/* The bytes that a word of the key takes. */
static int word_bytes(const kn_layout *layout, int word)
{
    int bits = 0;
    for (int c = 0; c < layout->columns; c++) {
        kn_field f = layout->fields[c];
        if (f.word == word && f.shift + f.bits > bits) bits = f.shift + f.bits;
    }
    return (bits + 7) / 8;
}

static size_t packed_size(const kn_freq *freq)
{
    size_t width = 0, size = 0;
    for (int w = 0; w < freq->layout.words; w++) width += (size_t)word_bytes(&freq->layout, w);
    for (int64_t i = 0; i < freq->classes; i++) {
        size += width;
        for (uint64_t count = (uint64_t)freq->counts[i]; count >= 128; count >>= 7) size++;
        size++;
    }
    return size;
}

static void write_all(uint8_t *to, const kn_freq *freq)
{
    int words = freq->layout.words, bytes[UINT8_MAX];
    for (int w = 0; w < words; w++) bytes[w] = word_bytes(&freq->layout, w);
    for (int64_t i = 0; i < freq->classes; i++) {
        for (int w = 0; w < words; w++) {
            uint64_t word = freq->keys[i * words + w];
            for (int b = 0; b < bytes[w]; b++) *to++ = (uint8_t)(word >> 8 * b);
        }
        uint64_t count = (uint64_t)freq->counts[i];
        for (; count >= 128; count >>= 7) *to++ = (uint8_t)(count | 128);
        *to++ = (uint8_t)count;
    }
}

static void read_all(kn_freq *freq, const uint8_t *from)
{
    int words = freq->layout.words, bytes[UINT8_MAX];
    for (int w = 0; w < words; w++) bytes[w] = word_bytes(&freq->layout, w);
    for (int64_t i = 0; i < freq->classes; i++) {
        for (int w = 0; w < words; w++) {
            uint64_t word = 0;
            for (int b = 0; b < bytes[w]; b++) word |= (uint64_t)*from++ << 8 * b;
            freq->keys[i * words + w] = word;
        }
        uint64_t count = 0;
        int      shift = 0;
        for (; *from >= 128; shift += 7) count |= (uint64_t)(*from++ & 127) << shift;
        freq->counts[i] = (int64_t)(count | (uint64_t)*from++ << shift);
    }
}

static kn_freq *freq_of(const kn_classes *set, int i)
{
    return i < set->part_count ? set->parts[i] : set->population;
}

kn_status kn_classes_pack(kn_classes *set, kn_error *err)
{
    uint8_t **packed = kn_alloc_array_zero(set->ctx, (size_t)set->part_count + 1, sizeof(uint8_t *));
    bool      fine = packed != NULL;
    size_t    total = 0;
    for (int i = 0; i <= set->part_count && fine; i++) {
        const kn_freq *freq = freq_of(set, i);
        if (!freq) continue;
        size_t size = packed_size(freq);
        packed[i] = kn_alloc(set->ctx, size);
        fine = packed[i] != NULL;
        if (fine) write_all(packed[i], freq);
        total += size;
    }
    for (int i = 0; i <= set->part_count && packed; i++) {
        kn_freq *freq = freq_of(set, i);
        if (fine && freq) {
            KN_FREE(freq->keys, freq->counts);
            freq->keys = NULL;
            freq->counts = NULL;
        } else if (!fine) {
            kn_free(packed[i]);
        }
    }
    if (!fine) {
        kn_free(packed);
        return kn_fail_memory(err, set->ctx, WHAT);
    }
    set->packed = packed;
    set->packed_bytes = total;
    return KN_OK;
}

kn_status kn_classes_unpack(kn_freq *out, const kn_classes *set, int i, kn_error *err)
{
    *out = *freq_of(set, i); /* its layout is borrowed */
    if (!set->packed) return KN_OK;
    if (!KN_ALLOC(set->ctx, out->keys, (size_t)(out->classes * out->layout.words)) ||
        !KN_ALLOC(set->ctx, out->counts, (size_t)out->classes)) {
        kn_classes_unpacked_free(out, set);
        return kn_fail_memory(err, set->ctx, WHAT);
    }
    read_all(out, set->packed[i]);
    return KN_OK;
}

void kn_classes_unpacked_free(kn_freq *freq, const kn_classes *set)
{
    if (!set->packed) return;
    KN_FREE(freq->keys, freq->counts);
}
