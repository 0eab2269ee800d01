/* testing.h: what every unit test needs: cmocka, a context, a seed that is printed, counted and failing memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTING_H
#define TESTING_H

/* clang-format off */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <kanon/context.h>

/* Under a sanitizer everything takes many times as long: tests make fewer rounds there. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESTING_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define TESTING_THREAD_SANITIZER 1
#endif
#endif
#ifndef TESTING_ADDRESS_SANITIZER
#define TESTING_ADDRESS_SANITIZER 0
#endif
#ifndef TESTING_THREAD_SANITIZER
#define TESTING_THREAD_SANITIZER 0
#endif
#define TESTING_SANITIZED (TESTING_ADDRESS_SANITIZER || TESTING_THREAD_SANITIZER)

/* Is this `make test-full` (KANON_TEST_FULL in the environment)? */
bool testing_full(void);

/* How many rounds of random data to go: n, and an eighth of that under a sanitizer; in `make test-full` four times n, and n
 * under a sanitizer. At least one. */
int testing_rounds(int n);

/* How often something must have turned up in those rounds, where n is enough for n rounds: less where they are few. */
int testing_least(int n);

/* From one refused request to the next, in loops over all that a call makes: 1 in `make test-full`, else more, and most under
 * a sanitizer. */
int testing_step(void);

/* In the place of cmocka_unit_test, for a case that starts no thread and makes no context with several; it fails if it does. The
 * thread sanitizer could find nothing in it: there it is left out. */
#define testing_alone(f)                                                                                               \
    {                                                                                                                  \
#f, TESTING_THREAD_SANITIZER ? NULL : (f), TESTING_THREAD_SANITIZER ? NULL : testing_alone_begins,             \
            TESTING_THREAD_SANITIZER ? NULL : testing_alone_ends, NULL                                                 \
    }
int testing_alone_begins(void **state);
int testing_alone_ends(void **state);

/* KANON_SEED from the environment, or 1, the same in every run; printed, so that a failure can be repeated. */
uint64_t testing_seed(void);

/* A context with that many threads (0: all). Fails the test if there is none. */
kn_context *testing_context(int threads);

/* Frees the context and fails the test if anything was left allocated in it. */
void testing_context_free(kn_context *ctx);

/* An allocator that refuses the n-th request (counting from 0) and, unless once, every later one; refuse_at < 0: none. */
typedef struct testing_allocator {
    int64_t refuse_at;
    bool    once;
    int64_t requests;
    int64_t live; /* blocks not yet released */
} testing_allocator;

kn_allocator testing_failing_allocator(testing_allocator *state);

/* A context with such an allocator, and that many threads; its creation may be what is refused. */
kn_status testing_refusing_context(kn_context **out, testing_allocator *state, int threads, kn_error *err);

/* The whole file, with a NUL behind it, to be freed; size may be NULL. Fails the test if it cannot be read. */
char *testing_contents(const char *path, size_t *size);

/* Writes a file under a temporary folder (in TMPDIR) that is removed at exit; returns its path (static per call site order: valid
 * until the program ends). */
const char *testing_file(const char *name, const void *data, size_t size);

/* Fails the test unless both numbers are equal but for rounding, or both NaN. */
void assert_close(double a, double b);

#define assert_ok(call, error)                                                                                         \
    do {                                                                                                               \
        kn_status assert_ok_status_ = (call);                                                                          \
        if (assert_ok_status_ != KN_OK) fail_msg("%s: %s", #call, (error).message);                                    \
    } while (0)

#endif
