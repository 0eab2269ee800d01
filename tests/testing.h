/* testing.h: what every unit test needs: cmocka, a context, a seed that is printed, counted and failing memory. */
#ifndef TESTING_H
#define TESTING_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <kanon/context.h>

/* Under a sanitizer, where everything takes many times as long: tests of random data make fewer rounds. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TESTING_SANITIZED 1
#endif
#endif
#ifndef TESTING_SANITIZED
#define TESTING_SANITIZED 0
#endif

/* KANON_SEED from the environment, or a new seed; printed, so that a failure can be repeated. */
uint64_t testing_seed(void);

/* A context with that many threads (0: all). Fails the test if there is none. */
kn_context *testing_context(int threads);

/* Frees the context and fails the test if anything was left allocated in it. */
void testing_context_free(kn_context *ctx);

/* An allocator that refuses the n-th request (counting from 0) and every later one; refuse_at < 0: none. */
typedef struct testing_allocator {
    int64_t refuse_at;
    int64_t requests;
    int64_t live; /* blocks not yet released */
} testing_allocator;

kn_allocator testing_failing_allocator(testing_allocator *state);

/* Writes a file under a temporary folder that is removed at exit; returns its path (static per call site order: valid
 * until the program ends). */
const char *testing_file(const char *name, const void *data, size_t size);

#define assert_ok(call, error)                                                                                         \
    do {                                                                                                               \
        kn_status assert_ok_status_ = (call);                                                                          \
        if (assert_ok_status_ != KN_OK) fail_msg("%s: %s", #call, (error).message);                                    \
    } while (0)

#endif
