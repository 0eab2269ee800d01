/* kn_uniques.h: how many records of a population are unique in it, estimated from a random sample. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_UNIQUES_H
#define KN_UNIQUES_H

#include <kanon/risk.h>

#include "kn_freq.h"

/* Both take the sample's class sizes and the size of the population (at least the sample's). Pure: no memory, no error;
 * what cannot be estimated is NaN with a status. */
kn_uniques_estimate kn_uniques_zayatz(const kn_size_histogram *sizes, int64_t population);
kn_uniques_estimate kn_uniques_pitman(const kn_size_histogram *sizes, int64_t population);

#endif
