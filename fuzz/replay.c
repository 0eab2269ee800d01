/* replay.c: runs a fuzz target over every file of the folders given, without a fuzzer. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    size_t   size = 0, capacity = 1 << 16;
    uint8_t *data = malloc(capacity);
    for (size_t n; data && (n = fread(data + size, 1, capacity - size, f)) > 0;) {
        size += n;
        if (size == capacity) data = realloc(data, capacity *= 2);
    }
    fclose(f);
    if (!data) exit(1);
    /* An exact copy, so that a read past the end is seen by ASan. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) exit(1);
    memcpy(exact, data, size);
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

int main(int argc, char **argv)
{
    int replayed = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entries = NULL;
        int             n = scandir(argv[i], &entries, NULL, alphasort);
        if (n < 0) { /* a single file */
            replay_file(argv[i]);
            replayed++;
            continue;
        }
        for (int e = 0; e < n; e++) {
            if (entries[e]->d_name[0] != '.') {
                char path[4096];
                snprintf(path, sizeof path, "%s/%s", argv[i], entries[e]->d_name);
                replay_file(path);
                replayed++;
            }
            free(entries[e]);
        }
        free(entries);
    }
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
