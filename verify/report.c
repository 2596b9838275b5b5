/* The validation page. SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(_WIN32)
#include <direct.h>
#else
#include <sys/stat.h>
#include <sys/utsname.h>
#endif

#include "base/result.h"
#include "verify_commit.h"

static const char STYLE[] =
    "body{font:15px/1.5 system-ui,sans-serif;color:#222;max-width:70em;margin:2em auto;padding:0 "
    "1em}"
    "h1,h2{font-weight:600}h2{margin-top:2.2em;border-top:1px solid #ddd;padding-top:.8em}"
    "table{border-collapse:collapse;width:100%;font-size:14px}"
    "td,th{padding:.25em .6em;text-align:left;border-bottom:1px solid "
    "#eee;vertical-align:top}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".pass{color:#176b2c}.fail{color:#b00020;font-weight:600}.missed{color:#a35200;font-weight:600}"
    ".reported{color:#777}.note{color:#666}code{background:#f4f4f4;padding:.1em .3em}"
    "svg{max-width:34em;width:100%;height:auto;margin:.6em 1em .6em 0}"
    ".axis{stroke:#999;fill:none}.grid{stroke:#eee}.expected{stroke:#1c4f9c;fill:none;stroke-width:"
    "2}"
    ".measured{stroke:#c2410c;fill:none;stroke-width:1.5}.dot{fill:#c2410c}text{font:12px "
    "system-ui,sans-serif;fill:#444}";

static void escaped(FILE *f, const char *text) {
  static const char marks[] = "<>&\"";
  static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
  for (; *text; ++text) {
    const char *mark = strchr(marks, *text);
    if (mark)
      fputs(names[mark - marks], f);
    else
      fputc(*text, f);
  }
}

static void number(FILE *f, double x, const char *unit) {
  if (!isfinite(x)) {
    fputs("-", f);
    return;
  }
  fprintf(f, "%.4g", x);
  if (unit[0]) {
    fputc(' ', f);
    escaped(f, unit);
  }
}

/* ---- curves: expected as a line, measured as a line with dots ---- */

enum { WIDE = 520, HIGH = 300, LEFT = 62, RIGHT = 12, TOP = 26, BOTTOM = 40 };

typedef struct span {
  double low, high;
} span;

/* A step of 1, 2 or 5 times a power of ten that cuts the span into about five. */
static double tick(span s) {
  const double raw = (s.high - s.low) / 5.0, ten = pow(10.0, floor(log10(raw))), part = raw / ten;
  return ten * (part < 1.5 ? 1.0 : part < 3.5 ? 2.0 : part < 7.5 ? 5.0 : 10.0);
}

static void widen(span *s, double x) {
  if (!isfinite(x)) return;
  s->low = fmin(s->low, x);
  s->high = fmax(s->high, x);
}

static void settle(span *s, double share) {
  if (!(s->high > s->low)) s->low -= 0.5, s->high += 0.5;
  const double more = share * (s->high - s->low);
  s->low -= more, s->high += more;
}

static double across(span x, double at) {
  return LEFT + (WIDE - LEFT - RIGHT) * (at - x.low) / (x.high - x.low);
}
static double upward(span y, double at) {
  return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * (at - y.low) / (y.high - y.low);
}

static int on_curve(const verify_spot *a, const verify_spot *of) {
  return a->check == of->check && strcmp(a->curve, of->curve) == 0;
}

static void line(FILE *f, const verify_result *r, size_t first, span x, span y, int expected) {
  fprintf(f, "<polyline class=\"%s\" points=\"", expected ? "expected" : "measured");
  for (size_t i = first; i < r->spot_count; ++i) {
    const verify_spot *s = &r->spots[i];
    const double v = expected ? s->expected : s->measured;
    if (on_curve(s, &r->spots[first]) && isfinite(v))
      fprintf(f, "%.1f,%.1f ", across(x, s->x), upward(y, v));
  }
  fputs("\"/>\n", f);
}

static void curve(FILE *f, const verify_result *r, size_t first) {
  span x = {1e300, -1e300}, y = {1e300, -1e300};
  for (size_t i = first; i < r->spot_count; ++i) {
    const verify_spot *s = &r->spots[i];
    if (!on_curve(s, &r->spots[first])) continue;
    widen(&x, s->x);
    widen(&y, s->measured);
    widen(&y, s->expected);
  }
  settle(&x, 0.02);
  settle(&y, 0.06);
  fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n<text x=\"%d\" y=\"16\">", WIDE, HIGH,
          LEFT);
  escaped(f, r->spots[first].curve);
  fputs("</text>\n", f);
  const double dx = tick(x), dy = tick(y);
  for (double at = ceil(x.low / dx) * dx; at <= x.high; at += dx)
    fprintf(f,
            "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text x=\"%.1f\" "
            "y=\"%d\" text-anchor=\"middle\">%.4g</text>\n",
            across(x, at), across(x, at), TOP, HIGH - BOTTOM, across(x, at), HIGH - BOTTOM + 16,
            fabs(at) < 1e-9 * dx ? 0.0 : at);
  for (double at = ceil(y.low / dy) * dy; at <= y.high; at += dy)
    fprintf(f,
            "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" "
            "y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
            LEFT, WIDE - RIGHT, upward(y, at), upward(y, at), LEFT - 6, upward(y, at) + 4,
            fabs(at) < 1e-9 * dy ? 0.0 : at);
  fprintf(f, "<path class=\"axis\" d=\"M%d %d V%d H%d\"/>\n", LEFT, TOP, HIGH - BOTTOM,
          WIDE - RIGHT);
  line(f, r, first, x, y, 1);
  line(f, r, first, x, y, 0);
  for (size_t i = first; i < r->spot_count; ++i)
    if (on_curve(&r->spots[i], &r->spots[first]) && isfinite(r->spots[i].measured))
      fprintf(f, "<circle class=\"dot\" r=\"2.5\" cx=\"%.1f\" cy=\"%.1f\"/>",
              across(x, r->spots[i].x), upward(y, r->spots[i].measured));
  fprintf(f,
          "\n<text x=\"%d\" y=\"%d\"><tspan fill=\"#1c4f9c\">expected</tspan> <tspan "
          "fill=\"#c2410c\">measured</tspan></text>\n</svg>\n",
          LEFT, HIGH - 6);
}

static void curves(FILE *f, const verify_result *r, const char *check) {
  for (size_t i = 0; i < r->spot_count; ++i) {
    if (strcmp(r->spots[i].check, check) != 0) continue;
    size_t first = 0;
    while (!on_curve(&r->spots[first], &r->spots[i])) ++first;
    if (first == i) curve(f, r, i);
  }
}

/* ---- rows ---- */

static void row(FILE *f, const verify_row *r, int reference) {
  const char *verdict = r->relation == VERIFY_REPORTED ? "reported"
                        : r->pass                      ? "pass"
                        : reference                    ? "missed"
                                                       : "fail";
  fputs("<tr><td><code>", f);
  escaped(f, r->name);
  fputs("</code></td><td class=\"n\">", f);
  number(f, r->measured, r->unit);
  fputs("</td><td class=\"n\">", f);
  if (r->relation == VERIFY_AT_MOST) fputs("&le; ", f);
  if (r->relation == VERIFY_AT_LEAST) fputs("&ge; ", f);
  number(f, r->expected, r->unit);
  if (r->relation == VERIFY_WITHIN) fprintf(f, " &plusmn;%.3g%%", 100.0 * r->tolerance);
  fprintf(f, "</td><td class=\"%s\">%s</td><td class=\"n\">%.1f</td><td class=\"note\">", verdict,
          verdict, r->seconds);
  escaped(f, r->note);
  fputs("</td></tr>\n", f);
}

static void check(FILE *f, const verify_check *c, const verify_result *r) {
  const size_t n = strlen(c->name);
  fprintf(f, "<h2 id=\"%s\">%s</h2>\n<p>", c->name, c->name);
  escaped(f, c->about);
  fprintf(f, ". <code>ooze verify %s</code></p>\n", c->name);
  curves(f, r, c->name);
  fputs("<table><tr><th>row</th><th>measured</th><th>expected</th><th>verdict</th><th>s</th>"
        "<th></th></tr>\n",
        f);
  for (size_t i = 0; i < r->count; ++i)
    if (strncmp(r->rows[i].name, c->name, n) == 0 && r->rows[i].name[n] == '.')
      row(f, &r->rows[i], verify_is_reference(c));
  fputs("</table>\n", f);
}

/* ---- the page ---- */

static void machine(FILE *f, const verify_desc *desc) {
#if !defined(_WIN32)
  struct utsname u;
  if (uname(&u) == 0) fprintf(f, "%s %s, ", u.sysname, u.machine);
#endif
  char text[256] = "", *model = NULL;
  FILE *cpu = fopen("/proc/cpuinfo", "r");
  while (cpu && !model && fgets(text, sizeof text, cpu))
    if (strncmp(text, "model name", 10) == 0) model = strchr(text, ':');
  if (cpu) fclose(cpu);
  if (model) {
    model[strcspn(model, "\n")] = 0;
    escaped(f, model + 2);
    fputs(", ", f);
  }
  static const char *const backends[] = {"backend auto", "cpu", "cuda"};
  fputs(desc->machine.backend < 3 ? backends[desc->machine.backend] : "", f);
  if (desc->machine.threads) fprintf(f, ", %u threads", desc->machine.threads);
}

static void head(FILE *f, const char *command, const verify_desc *desc, const verify_result *r) {
  static const char *const levels[] = {"quick", "normal", "long"};
  char when[32] = "";
  const time_t now = time(NULL);
  const struct tm *utc = gmtime(&now);
  if (utc) strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", utc);
  fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Ooze: "
        "validation</title><style>",
        f);
  fputs(STYLE, f);
  fputs("</style></head><body>\n<h1>Ooze: validation</h1>\n<table>\n", f);
  fprintf(f, "<tr><th>version</th><td>%s, commit %s</td></tr>\n<tr><th>build</th><td>",
          ooze_version_text(), VERIFY_COMMIT);
  escaped(f, ooze_build_text());
  fputs("</td></tr>\n<tr><th>machine</th><td>", f);
  machine(f, desc);
  fputs("</td></tr>\n<tr><th>command</th><td><code>", f);
  escaped(f, command);
  fprintf(f, "</code>, level %s, %s, %.0f s</td></tr>\n", levels[desc->level], when, r->seconds);
  fprintf(f,
          "<tr><th>verdict</th><td><span class=\"pass\">%u passed</span>, <span "
          "class=\"fail\">%u failed</span>, <span class=\"missed\">%u of the group reference "
          "missed</span>, %u reported</td></tr>\n</table>\n",
          r->passed, r->failed, r->missed, r->reported);
  fputs("<p>Each row is what the solver gave, beside a closed form or a published value, with the "
        "tolerance that judges it. Rows of the group <em>reference</em> are bars from outside the "
        "project, at default settings; what is missed there is shown as missed and is no gate. "
        "Pictures have the expected curve in blue and the measured one in orange.</p>\n",
        f);
}

ooze_result verify_report_write(const char *folder, const char *command, const verify_desc *desc,
                                const verify_result *result, ooze_message *why) {
  char path[4096];
#if defined(_WIN32)
  const int made = _mkdir(folder);
#else
  const int made = mkdir(folder, 0777);
#endif
  if (made && errno != EEXIST)
    return oz_fail(why, OOZE_ERROR_IO, "%s: %s", folder, strerror(errno));
  if (snprintf(path, sizeof path, "%s/index.html", folder) >= (int)sizeof path)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: the name is too long", folder);
  FILE *f = fopen(path, "w");
  if (!f) return oz_fail(why, OOZE_ERROR_IO, "%s: %s", path, strerror(errno));
  head(f, command, desc, result);
  for (int reference = 1; reference >= 0; --reference)
    for (uint32_t i = 0; i < verify_check_count; ++i) {
      int ran = 0;
      for (uint32_t t = 0; t < result->time_count; ++t)
        ran |= strcmp(result->times[t].name, verify_checks[i].name) == 0;
      if (ran && verify_is_reference(&verify_checks[i]) == reference)
        check(f, &verify_checks[i], result);
    }
  fputs("</body></html>\n", f);
  const int bad = ferror(f);
  if (fclose(f) || bad) return oz_fail(why, OOZE_ERROR_IO, "%s: %s", path, strerror(errno));
  return OOZE_OK;
}
