/* transport.h: the cheapest transport by shortest augmenting paths: a twin of the earth mover's distance that knows
 * nothing of lines and trees.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stdint.h>
#include <string.h>

enum { TRANSPORT_MOST = 10 };

/* Moves supply to demand (equal totals) at the cheapest total cost; cost[i][j] per unit. Bellman-Ford on the residual
 * graph: supplies are nodes 0 .. n - 1, demands n .. 2n - 1. */
static int64_t transport(int n, const int64_t *supply, const int64_t *demand, int64_t cost[TRANSPORT_MOST][TRANSPORT_MOST])
{
    int64_t flow[TRANSPORT_MOST][TRANSPORT_MOST] = {{0}}, have[TRANSPORT_MOST], want[TRANSPORT_MOST], total = 0;
    memcpy(have, supply, (size_t)n * sizeof *have);
    memcpy(want, demand, (size_t)n * sizeof *want);
    for (;;) {
        int64_t distance[2 * TRANSPORT_MOST];
        int     before[2 * TRANSPORT_MOST];
        for (int i = 0; i < 2 * n; i++) {
            distance[i] = i < n && have[i] > 0 ? 0 : INT64_MAX / 4;
            before[i] = -1;
        }
        for (int round = 0; round < 2 * n; round++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    if (distance[i] + cost[i][j] < distance[n + j]) {
                        distance[n + j] = distance[i] + cost[i][j];
                        before[n + j] = i;
                    }
                    if (flow[i][j] > 0 && distance[n + j] - cost[i][j] < distance[i]) {
                        distance[i] = distance[n + j] - cost[i][j];
                        before[i] = n + j;
                    }
                }
        int end = -1;
        for (int j = 0; j < n; j++)
            if (want[j] > 0 && (end < 0 || distance[n + j] < distance[n + end])) end = j;
        if (end < 0) return total;
        int64_t amount = want[end];
        int     at = n + end;
        for (; before[at] >= 0; at = before[at])
            if (at < n && flow[at][before[at] - n] < amount) amount = flow[at][before[at] - n];
        if (have[at] < amount) amount = have[at];
        have[at] -= amount;
        want[end] -= amount;
        total += amount * distance[n + end];
        for (at = n + end; before[at] >= 0; at = before[at]) {
            if (at >= n)
                flow[before[at]][at - n] += amount;
            else
                flow[at][before[at] - n] -= amount;
        }
    }
}

#endif
