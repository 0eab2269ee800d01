/* records_testing.h: tree records as one line of text, and files of them: for tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDS_TESTING_H
#define RECORDS_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_records.h"
#include "testing.h"

/* Figure 4 of the paper. */
static const char figure_4[] = "Flu;Lung Disease;Disease;*\n"
                               "Bronchitis;Lung Disease;Disease;*\n"
                               "Diarrhea;Stomach Disorder;Disease;*\n"
                               "Gastritis;Stomach Disorder;Disease;*\n"
                               "Neurological;Physiotherapy;Treatment;*\n"
                               "Orthopedic;Physiotherapy;Treatment;*\n"
                               "Pain killer;Medicine;Treatment;*\n"
                               "Antibiotics;Medicine;Treatment;*\n"
                               "Hospital1;General Hosp.;Medical Center;*\n"
                               "Hospital2;General Hosp.;Medical Center;*\n"
                               "Rea;Maternity Hosp.;Medical Center;*\n"
                               "Gaia;Maternity Hosp.;Medical Center;*\n";

/* The record of figure 2. */
static const char figure_2[] = "<records>\n"
                               " <record id=\"A\">\n"
                               "  <MedicalCenter v=\"Hospital1\">\n"
                               "   <Disease v=\"Gastritis\" />\n"
                               "  </MedicalCenter>\n"
                               "  <MedicalCenter v=\"Hospital2\">\n"
                               "   <Disease v=\"Flu\"><Treatment v=\"Pain killer\" /></Disease>\n"
                               "   <Disease v=\"Bronchitis\"><Treatment v=\"Antibiotics\" /></Disease>\n"
                               "  </MedicalCenter>\n"
                               " </record>\n"
                               "</records>\n";

/* MedicalCenter > Disease > Treatment, with the hierarchy of that path. */
static inline void hospital_classes(kn_spec_class classes[3], const char *path)
{
    static const char *const names[] = {"MedicalCenter", "Disease", "Treatment"};
    for (int i = 0; i < 3; i++) {
        classes[i] = (kn_spec_class){.name = names[i], .has_hierarchy = true, .hierarchy = KN_HIERARCHY_SPEC_INIT};
        classes[i].hierarchy.path = path;
    }
}

/* "Hospital1(Gastritis) Hospital2(Flu(Pain killer))": the record in its own order. Static: valid until the next call. */
static inline const char *record_line(const kn_records *r, int64_t record)
{
    static char line[1 << 16];
    size_t      at = 0;
    int64_t     open[256];
    int         depth = 0;
    line[0] = '\0';
    for (uint32_t i = 0; i < kn_records_size(r, record); i++) {
        int64_t parent = kn_records_parent(r, record, i);
        while (depth > 0 && open[depth - 1] != parent) {
            at += (size_t)snprintf(line + at, sizeof line - at, ")");
            depth--;
        }
        size_t      size;
        const char *label = kn_records_label(r, record, i, &size);
        bool        first = i == 0 || line[at - 1] == '(';
        at += (size_t)snprintf(line + at, sizeof line - at, "%s%.*s", first ? "" : " ", (int)size, label);
        bool inner = i + 1 < kn_records_size(r, record) && kn_records_parent(r, record, i + 1) == (int64_t)i;
        if (inner) {
            at += (size_t)snprintf(line + at, sizeof line - at, "(");
            open[depth++] = (int64_t)i;
        }
    }
    for (; depth > 0; depth--) at += (size_t)snprintf(line + at, sizeof line - at, ")");
    return line;
}

#endif
