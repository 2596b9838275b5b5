#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report.sh OOZE: a validation page has its rows, curves and verdicts, the commit and the command,
# and asks for nothing from a network.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" verify laws.oldroyd --quick --report "$folder/page" >/dev/null
page="$folder/page/index.html"
for part in 'laws.oldroyd.shear' '<polyline class="expected"' '<polyline class="measured"' \
  'class="pass">pass' 'commit ' 'ooze verify laws.oldroyd --quick --report' '</html>'; do
  grep -qF "$part" "$page" || { echo "FAILED: the page lacks $part"; exit 1; }
done
if grep -nF "$folder" "$page"; then
  echo "FAILED: the page names a folder of this machine"
  exit 1
fi
if grep -nE 'https?:|<script|<link|src=' "$page"; then
  echo "FAILED: the page asks for something outside"
  exit 1
fi
if "$1" verify laws.oldroyd --quick --report "$folder/page/index.html" \
  >/dev/null 2>"$folder/said"; then
  echo "FAILED: a page was written into a file"
  exit 1
fi
grep -q 'verify: ' "$folder/said"
