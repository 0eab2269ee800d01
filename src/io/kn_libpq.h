/* kn_libpq.h: libpq, loaded when a server is first used; one table of all its functions that are called.
 *
 * Neither the program nor the library is linked with libpq: users of files need neither it nor Kerberos and LDAP, on
 * which it depends. Each connection fills its own table, so threads share no state (the loader counts the uses of a
 * library, and locks itself). Types and signatures are those of libpq's header.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_LIBPQ_H
#define KN_LIBPQ_H

#include <kanon/context.h>
#include <libpq-fe.h>

/* The functions, without their PQ; the table has a member for each. */
#define KN_LIBPQ_FUNCTIONS(each)                                                                                   \
    each(clear) each(cmdStatus) each(connectdbParams) each(conninfoFree) each(conninfoParse) each(db)              \
    each(errorMessage) each(exec) each(execParams) each(finish) each(fname) each(freemem) each(ftype) each(getCopyData)         \
    each(getResult) each(getvalue) each(host) each(nfields) each(ntuples) each(putCopyData) each(putCopyEnd) each(resultErrorField)              \
    each(resultStatus) each(setNoticeReceiver) each(status)

typedef struct kn_libpq {
    void *handle; /* NULL: not loaded */
#define KN_LIBPQ_MEMBER(name) __typeof__(PQ##name) *name;
    KN_LIBPQ_FUNCTIONS(KN_LIBPQ_MEMBER)
#undef KN_LIBPQ_MEMBER
} kn_libpq;

/* Fills the table; freed by kn_libpq_close. KN_IO: libpq is not installed, or lacks a function. */
KN_CHECK kn_status kn_libpq_open(kn_libpq *out, kn_error *err);
void               kn_libpq_close(kn_libpq *pq);

#endif
