/* kn_hash.c: hashing of byte strings by XXH3 (libxxhash). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_hash.h"

#include <xxhash.h>

uint64_t kn_hash_bytes(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}
