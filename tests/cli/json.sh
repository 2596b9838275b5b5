#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# json.sh OOZE JSON_VALID KEYS ARGUMENTS...: standard output is one JSON value with the keys (comma
# between them), nothing else.
ooze=$1 valid=$2 keys=$3
shift 3
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
"$ooze" "$@" >"$out" || exit 1
# shellcheck disable=SC2046
"$valid" $(echo "$keys" | tr , ' ') <"$out" || { cat "$out"; exit 1; }
if command -v python3 >/dev/null 2>&1; then
  python3 -c 'import json, sys; json.load(sys.stdin)' <"$out" || exit 1
fi
exit 0
