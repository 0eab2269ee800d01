/* kn_synthetic_text.c: texts, digits and dates as the cells of synthetic tables. Interface: kn_kind.h. */
#include <string.h>

#include "kn_kind.h"
#include "kn_value.h"

char *kn_synthetic_text(char *to, const char *text)
{
    size_t size = strlen(text);
    memcpy(to, text, size);
    return to + size;
}

char *kn_synthetic_digits(char *to, uint32_t number, int digits)
{
    for (int i = digits - 1; i >= 0; i--, number /= 10) to[i] = (char)('0' + number % 10);
    return to + digits;
}

char *kn_synthetic_date(char *to, int64_t days)
{
    int year, month, day;
    kn_civil_from_days(days, &year, &month, &day);
    to = kn_synthetic_digits(to, (uint32_t)year, 4);
    *to++ = '-';
    to = kn_synthetic_digits(to, (uint32_t)month, 2);
    *to++ = '-';
    return kn_synthetic_digits(to, (uint32_t)day, 2);
}
