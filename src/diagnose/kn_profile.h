/* kn_profile.h: what a column's name says. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_PROFILE_H
#define KN_PROFILE_H

#include <kanon/diagnose.h>

/* Is this one of the words of a column's name? In small letters; letter case does not count. Words are letters up to what is
 * none, or up to a capital behind a small letter: "birth" and "birthdate" are words of birthDate. */
bool kn_name_says(const char *name, const char *word);

#endif
