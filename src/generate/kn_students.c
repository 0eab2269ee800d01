/* kn_students.c: students, their courses and books: the synthetic database of the multirelational paper (section 6).
 *
 * Each student takes one obligatory course, two or three technical and two or three other electives out of 22 courses;
 * each course has two to four textbooks, of which a student has one, sometimes two. Popular courses are drawn more often.
 * What a student has depends on the seed and their number alone, so each file is made by drawing everything anew.
 * Linear in the students; memory is the file. The paper does not give its distribution of courses; ours is below.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_students.h"

#include <stdio.h>

#include "kn_rng.h"

enum { COURSES = 22, OBLIGATORY = 4, TECHNICAL = 9, MOST_TAKEN = 7, MOST_BOOKS = 2 };

/* Obligatory courses first, then technical electives, then the others. */
static const struct {
    const char *name, *subject, *field;
    int         weight;
} courses[COURSES] = {
    {"Calculus", "Mathematics", "Science", 4},
    {"Mechanics", "Physics", "Science", 3},
    {"Composition", "Languages", "Humanities", 2},
    {"Statistics", "Mathematics", "Science", 1},
    {"Algorithms", "Computing", "Science", 9},
    {"Databases", "Computing", "Science", 8},
    {"Networks", "Computing", "Science", 6},
    {"Graphics", "Computing", "Science", 3},
    {"Algebra", "Mathematics", "Science", 6},
    {"Number Theory", "Mathematics", "Science", 2},
    {"Optics", "Physics", "Science", 3},
    {"Circuits", "Engineering", "Science", 5},
    {"Signals", "Engineering", "Science", 4},
    {"Ancient History", "History", "Humanities", 5},
    {"Modern History", "History", "Humanities", 8},
    {"Ethics", "Philosophy", "Humanities", 6},
    {"Logic", "Philosophy", "Humanities", 4},
    {"Microeconomics", "Economics", "Humanities", 7},
    {"Macroeconomics", "Economics", "Humanities", 5},
    {"Drawing", "Arts", "Humanities", 3},
    {"Music", "Arts", "Humanities", 4},
    {"French", "Languages", "Humanities", 3},
};

typedef struct student {
    int gpa; /* hundredths */
    int count;
    int course[MOST_TAKEN], grade[MOST_TAKEN];
    int book_count[MOST_TAKEN], book[MOST_TAKEN][MOST_BOOKS], price[MOST_TAKEN][MOST_BOOKS];
} student;

static int books_of(int course)
{
    return 2 + course % 3;
}

static int below(kn_rng *rng, int bound)
{
    return (int)kn_rng_below(rng, (uint64_t)bound);
}

/* Adds `count` different courses out of [first, last), by weight. */
static void take_courses(student *s, kn_rng *rng, int first, int last, int count)
{
    bool taken[COURSES] = {false};
    while (count-- > 0) {
        int total = 0, at = first;
        for (int c = first; c < last; c++) total += taken[c] ? 0 : courses[c].weight;
        int draw = below(rng, total);
        for (; taken[at] || draw >= courses[at].weight; at++) draw -= taken[at] ? 0 : courses[at].weight;
        taken[at] = true;
        s->course[s->count++] = at;
    }
}

static void draw_student(student *s, int64_t number, uint64_t seed)
{
    kn_rng rng;
    *s = (student){0};
    kn_rng_init(&rng, seed, (uint64_t)number);
    s->gpa = 200 + below(&rng, 201);
    take_courses(s, &rng, 0, OBLIGATORY, 1);
    take_courses(s, &rng, OBLIGATORY, OBLIGATORY + TECHNICAL, 2 + below(&rng, 2));
    take_courses(s, &rng, OBLIGATORY + TECHNICAL, COURSES, 2 + below(&rng, 2));
    for (int i = 0; i < s->count; i++) {
        s->grade[i] = 50 + below(&rng, 51);
        s->book_count[i] = 1 + (below(&rng, 10) == 0);
        s->book[i][0] = below(&rng, books_of(s->course[i]));
        s->book[i][1] = (s->book[i][0] + 1) % books_of(s->course[i]);
        for (int b = 0; b < MOST_BOOKS; b++) s->price[i][b] = 10 + below(&rng, 90);
    }
}

/* ---- Files ---- */

static void write_students(kn_buffer *to, int64_t students, uint64_t seed)
{
    student s;
    kn_buffer_add(to, "Sid,GPA\n");
    for (int64_t i = 0; i < students; i++) {
        draw_student(&s, i, seed);
        kn_buffer_format(to, "S%lld,%d.%02d\n", (long long)i + 1, s.gpa / 100, s.gpa % 100);
    }
}

static void write_courses(kn_buffer *to, int64_t students, uint64_t seed)
{
    student   s;
    long long number = 0;
    kn_buffer_add(to, "SCid,Sid,Course,Grade\n");
    for (int64_t i = 0; i < students; i++) {
        draw_student(&s, i, seed);
        for (int c = 0; c < s.count; c++)
            kn_buffer_format(to, "SC%lld,S%lld,%s,%d\n", ++number, (long long)i + 1, courses[s.course[c]].name,
                             s.grade[c]);
    }
}

static void write_books(kn_buffer *to, int64_t students, uint64_t seed)
{
    student   s;
    long long number = 0;
    kn_buffer_add(to, "SCid,Book,Price\n");
    for (int64_t i = 0; i < students; i++) {
        draw_student(&s, i, seed);
        for (int c = 0; c < s.count; c++) {
            number++;
            for (int b = 0; b < s.book_count[c]; b++)
                kn_buffer_format(to, "SC%lld,%s %c,%d\n", number, courses[s.course[c]].name, 'A' + s.book[c][b],
                                 s.price[c][b]);
        }
    }
}

static void write_course_hierarchy(kn_buffer *to)
{
    for (int c = 0; c < COURSES; c++)
        kn_buffer_format(to, "%s;%s;%s;Any\n", courses[c].name, courses[c].subject, courses[c].field);
}

static void write_book_hierarchy(kn_buffer *to)
{
    for (int c = 0; c < COURSES; c++)
        for (int b = 0; b < books_of(c); b++)
            kn_buffer_format(to, "%s %c;%s book;%s book;%s book;Any book\n", courses[c].name, 'A' + b, courses[c].name,
                             courses[c].subject, courses[c].field);
}

static void write_release_file(kn_buffer *to)
{
    kn_buffer_add(
        to,
        "kanon: 1\n"
        "input: .\n"
        "entity: {table: students, key: Sid}\n"
        "tables:\n"
        "  students: {key: Sid, attributes: {GPA: {role: sensitive}}}\n"
        "  courses: {key: SCid, parent: {table: students, column: Sid},\n"
        "            attributes: {Course: {role: quasi, hierarchy: {file: course.dgh}}, Grade: {role: sensitive}}}\n"
        "  books: {parent: {table: courses, column: SCid},\n"
        "          attributes: {Book: {role: quasi, hierarchy: {file: book.dgh}}, Price: {role: sensitive}}}\n"
        "privacy: [{k: 5}]\n");
}

const char *kn_students_file_name(int file)
{
    static const char *const names[] = {"students.csv", "courses.csv", "books.csv",
                                        "course.dgh",   "book.dgh",    "release.yaml"};
    return file >= 0 && file < (int)(sizeof names / sizeof *names) ? names[file] : NULL;
}

void kn_students_file(kn_buffer *to, int file, int64_t students, uint64_t seed)
{
    switch (file) {
    case 0: write_students(to, students, seed); break;
    case 1: write_courses(to, students, seed); break;
    case 2: write_books(to, students, seed); break;
    case 3: write_course_hierarchy(to); break;
    case 4: write_book_hierarchy(to); break;
    default: write_release_file(to);
    }
}
