/* json_valid KEY...: reads standard input, which must be exactly one JSON value (RFC 8259) with a
 * new line after it and each KEY somewhere among its keys. Says where it stops being so.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text, *at;
static char **wanted;
static int wanted_count, seen[64];

static int fail(const char *why) {
  fprintf(stderr, "json_valid: %s at byte %ld: %.40s\n", why, (long)(at - text), at);
  return 0;
}
static void blanks(void) { at += strspn(at, " \t\r\n"); }

static int string(int is_key) {
  const char *begin = ++at;
  for (; *at != '"'; ++at) {
    if ((unsigned char)*at < 0x20) return fail("a control character or the end inside a string");
    if (*at != '\\') continue;
    ++at;
    if (*at == 'u') {
      for (int i = 0; i < 4; ++i)
        if (!isxdigit((unsigned char)*++at)) return fail("a bad \\u");
    } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
      return fail("a bad escape");
    }
  }
  if (is_key)
    for (int i = 0; i < wanted_count && i < 64; ++i)
      if (strlen(wanted[i]) == (size_t)(at - begin) &&
          memcmp(wanted[i], begin, (size_t)(at - begin)) == 0)
        seen[i] = 1;
  ++at;
  return 1;
}

static int number(void) {
  if (*at == '-') ++at;
  if (*at == '0')
    ++at;
  else if (isdigit((unsigned char)*at))
    at += strspn(at, "0123456789");
  else
    return fail("not a value");
  if (*at == '.') {
    ++at;
    if (!isdigit((unsigned char)*at)) return fail("no digit after the point");
    at += strspn(at, "0123456789");
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    if (!isdigit((unsigned char)*at)) return fail("no digit in the exponent");
    at += strspn(at, "0123456789");
  }
  return 1;
}

static int value(int depth) {
  static const char *const words[] = {"true", "false", "null"};
  if (depth > 100) return fail("too deep");
  blanks();
  if (*at == '"') return string(0);
  for (int i = 0; i < 3; ++i)
    if (strncmp(at, words[i], strlen(words[i])) == 0) {
      at += strlen(words[i]);
      return 1;
    }
  if (*at != '{' && *at != '[') return number();
  char close = *at == '{' ? '}' : ']';
  int object = *at == '{';
  ++at;
  blanks();
  if (*at == close) {
    ++at;
    return 1;
  }
  for (;;) {
    blanks();
    if (object) {
      if (*at != '"') return fail("a key is missing");
      if (!string(1)) return 0;
      blanks();
      if (*at != ':') return fail("a colon is missing");
      ++at;
    }
    if (!value(depth + 1)) return 0;
    blanks();
    if (*at == close) {
      ++at;
      return 1;
    }
    if (*at != ',') return fail("a comma is missing");
    ++at;
  }
}

int main(int argc, char **argv) {
  size_t size = 0, capacity = 1 << 16;
  char *buffer = malloc(capacity);
  wanted = argv + 1;
  wanted_count = argc - 1;
  while (buffer) {
    size_t n = fread(buffer + size, 1, capacity - size - 1, stdin);
    size += n;
    if (!n) break;
    if (size + 1 == capacity) {
      char *grown = realloc(buffer, capacity *= 2);
      if (!grown) free(buffer);
      buffer = grown;
    }
  }
  if (!buffer) return 1;
  buffer[size] = 0;
  text = at = buffer;
  int bad = !value(0);
  blanks();
  if (!bad && *at) bad = !fail("something after the value");
  if (!bad && (!size || buffer[size - 1] != '\n')) bad = !fail("no new line");
  for (int i = 0; !bad && i < wanted_count; ++i)
    if (!seen[i]) {
      fprintf(stderr, "json_valid: there is no key \"%s\"\n", wanted[i]);
      bad = 1;
    }
  free(buffer);
  return bad;
}
