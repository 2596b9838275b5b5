/* Test cases and checks. SPDX-License-Identifier: Apache-2.0
 *
 *   #include "check.h"
 *   OZ_CASE(maxwell_stress_decays_exponentially) {
 *     CHECK_NEAR(stress_after(lambda), s0 * exp(-1.0), 0.01 * s0, "first-order integrator, dt =
 * lambda/200");
 *   }
 *   OZ_TEST_MAIN()      once, in one of the program's files
 *
 * A case registers itself, so there is no second list of them. A failed check prints the value it
 * found and ends its case; the others still run. `test_x word` runs the cases with
 * the word in their names, `test_x --list` names them. A case that costs more than a few seconds is
 * an OZ_CASE_SLOW: `test_x --quick` leaves it out, `test_x --slow` runs those alone, and ctest has
 * a test x_slow of them, with the label slow. Checks belong on the main thread. Runs on CMocka
 * where there is one (OZ_HAVE_CMOCKA), otherwise on the few lines at the end of this file, which
 * need nothing but a C compiler. */
#ifndef OZ_TESTS_CHECK_H
#define OZ_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ooze/ooze.h"

typedef struct oz_case {
  const char *name, *file;
  int line, slow;
  void (*run)(void);
  struct oz_case *next;
} oz_case;

/* Defined by OZ_TEST_MAIN. */
extern oz_case *oz_case_list;
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void oz_case_end(const char *file, int line, int skipped);

/* Kept in the order of file and line: constructors run in different orders on different systems. */
static inline void oz_case_add(oz_case *c) {
  oz_case **at = &oz_case_list;
  while (*at) {
    int order = strcmp((*at)->file, c->file);
    if (order > 0 || (order == 0 && (*at)->line > c->line)) break;
    at = &(*at)->next;
  }
  c->next = *at;
  *at = c;
}

#define OZ_CASE(title) OZ_CASE_(title, 0)
#define OZ_CASE_SLOW(title) OZ_CASE_(title, 1)
#define OZ_CASE_(title, slow)                                               \
  static void title(void);                                                  \
  __attribute__((constructor)) static void oz_add_##title(void) {           \
    static oz_case entry = {#title, __FILE__, __LINE__, slow, title, NULL}; \
    oz_case_add(&entry);                                                    \
  }                                                                         \
  static void title(void)

#if defined(__MINGW32__)
#define OZ_PRINTF_LIKE(f, a) __attribute__((format(gnu_printf, f, a)))
#elif defined(__GNUC__)
#define OZ_PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define OZ_PRINTF_LIKE(f, a)
#endif

static inline OZ_PRINTF_LIKE(4, 5) void oz_check_fail(const char *file, int line, const char *what,
                                                      const char *format, ...) {
  va_list args;
  fflush(stdout);
  fprintf(stderr, "%s:%d: %s ", file, line, what);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  fflush(stderr);
  oz_case_end(file, line, 0);
}

/* CHECK(condition) or CHECK(condition, "format", ...) with the facts that explain a failure. */
#define CHECK(condition, ...)                                                                      \
  do {                                                                                             \
    if (!(condition)) oz_check_fail(__FILE__, __LINE__, "CHECK(" #condition ")", " " __VA_ARGS__); \
  } while (0)

/* Whole numbers of any width. */
#define CHECK_EQ(measured, expected) \
  oz_check_eq(__FILE__, __LINE__, #measured, (int64_t)(measured), (int64_t)(expected))
static inline void oz_check_eq(const char *file, int line, const char *what, int64_t measured,
                               int64_t expected) {
  if (measured != expected)
    oz_check_fail(file, line, what, "is %lld (0x%llx), expected %lld (0x%llx)", (long long)measured,
                  (unsigned long long)measured, (long long)expected, (unsigned long long)expected);
}

#define CHECK_STR(measured, expected) \
  oz_check_str(__FILE__, __LINE__, #measured, (measured), (expected))
static inline void oz_check_str(const char *file, int line, const char *what, const char *measured,
                                const char *expected) {
  if (!measured || !expected || strcmp(measured, expected) != 0)
    oz_check_fail(file, line, what, "is \"%s\", expected \"%s\"", measured ? measured : "(null)",
                  expected ? expected : "(null)");
}

/* |measured - expected| <= tolerance, and finite. The reason explains the tolerance.
 */
#define CHECK_NEAR(measured, expected, tolerance, reason)                              \
  oz_check_near(__FILE__, __LINE__, #measured, (double)(measured), (double)(expected), \
                (double)(tolerance), (reason))
static inline void oz_check_near(const char *file, int line, const char *what, double measured,
                                 double expected, double tolerance, const char *reason) {
  if (!(fabs(measured - expected) <= tolerance))
    oz_check_fail(file, line, what, "is %.9g, expected %.9g within %.3g (off by %.3g; %s)",
                  measured, expected, tolerance, fabs(measured - expected), reason);
}

/* An ooze_result of 0 or above; otherwise the solver's sentence is printed. The solver may be NULL.
 */
#define CHECK_OK(result, solver) oz_check_ok(__FILE__, __LINE__, #result, (result), (solver))
static inline void oz_check_ok(const char *file, int line, const char *what, ooze_result r,
                               const ooze_solver *s) {
  if (r < 0)
    oz_check_fail(file, line, what, "%s: %s", ooze_result_name(r),
                  s ? ooze_solver_message(s) : "(no solver)");
}

/* A given result, with a sentence where it is a refusal. */
#define CHECK_RESULT(result, expected, solver) \
  oz_check_result(__FILE__, __LINE__, #result, (result), (expected), (solver))
static inline void oz_check_result(const char *file, int line, const char *what, ooze_result r,
                                   ooze_result expected, const ooze_solver *s) {
  if (r != expected)
    oz_check_fail(file, line, what, "%s, expected %s; %s", ooze_result_name(r),
                  ooze_result_name(expected), s ? ooze_solver_message(s) : "");
  if (r < 0 && s && !ooze_solver_message(s)[0])
    oz_check_fail(file, line, what, "%s without a message", ooze_result_name(r));
}

/* Leaves the case, which counts as neither passed nor failed. */
#define OZ_SKIP(reason)                                           \
  do {                                                            \
    printf("%s:%d: skipped: %s\n", __FILE__, __LINE__, (reason)); \
    fflush(stdout);                                               \
    oz_case_end(__FILE__, __LINE__, 1);                           \
  } while (0)

#define OZ_TEST_MAIN()   \
  oz_case *oz_case_list; \
  OZ_CASE_END_           \
  int main(int argc, char **argv) { return oz_run_cases(argc, argv); }

static inline int oz_case_wanted(const oz_case *c, int argc, char **argv) {
  if (argc < 2) return 1;
  if (strcmp(argv[1], "--quick") == 0) return !c->slow;
  if (strcmp(argv[1], "--slow") == 0) return c->slow;
  return strstr(c->name, argv[1]) != NULL;
}
static inline int oz_list_cases(void) {
  for (const oz_case *c = oz_case_list; c; c = c->next) printf("%s\n", c->name);
  return 0;
}

#ifdef OZ_HAVE_CMOCKA
#include <cmocka.h>

#define OZ_CASE_END_                                          \
  void oz_case_end(const char *file, int line, int skipped) { \
    if (skipped) _skip(file, line);                           \
    _fail(file, line);                                        \
    abort();                                                  \
  }
static inline void oz_run_case_cmocka(void **state) { ((const oz_case *)*state)->run(); }
static inline int oz_run_cases(int argc, char **argv) {
  size_t count = 0, at = 0;
  int failed;
  if (argc > 1 && strcmp(argv[1], "--list") == 0) return oz_list_cases();
  for (const oz_case *c = oz_case_list; c; c = c->next)
    count += (size_t)oz_case_wanted(c, argc, argv);
  struct CMUnitTest *tests = (struct CMUnitTest *)calloc(count + 1, sizeof *tests);
  if (!tests || !count) {
    fprintf(stderr, "no case to run\n");
    free(tests);
    return 1;
  }
  for (oz_case *c = oz_case_list; c; c = c->next)
    if (oz_case_wanted(c, argc, argv)) {
      tests[at].name = c->name;
      tests[at].test_func = oz_run_case_cmocka;
      tests[at].initial_state = c;
      at++;
    }
  failed = _cmocka_run_group_tests("cases", tests, count, NULL, NULL);
  free(tests);
  return failed ? 1 : 0;
}

#else
static jmp_buf oz_case_jump;

#define OZ_CASE_END_                                          \
  void oz_case_end(const char *file, int line, int skipped) { \
    (void)file;                                               \
    (void)line;                                               \
    longjmp(oz_case_jump, skipped ? 2 : 1);                   \
  }
static inline int oz_run_cases(int argc, char **argv) {
  static int passed, failed, skipped; /* static: they outlive longjmp */
  static const oz_case *c;
  if (argc > 1 && strcmp(argv[1], "--list") == 0) return oz_list_cases();
  for (c = oz_case_list; c; c = c->next) {
    if (!oz_case_wanted(c, argc, argv)) continue;
    printf("[ RUN      ] %s\n", c->name);
    fflush(stdout);
    int how = setjmp(oz_case_jump);
    if (how == 0) c->run();
    if (how == 0) passed++;
    if (how == 1) failed++;
    if (how == 2) skipped++;
    printf("%s %s\n",
           how == 0   ? "[       OK ]"
           : how == 1 ? "[  FAILED  ]"
                      : "[  SKIPPED ]",
           c->name);
  }
  printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed || !(passed + skipped) ? 1 : 0;
}
#endif

#endif
