#!/bin/sh
# submit.sh SCENE OUT [options of ooze run]
# One array task for each row of the scene's wedge table; OUT must be on a disk that every
# node sees.
#   OOZE_SBATCH   options of sbatch, such as "--time=4:00:00 --cpus-per-task=16 --partition=sim"
#   OOZE          the program, where it is not on the PATH of the nodes
# SPDX-License-Identifier: Apache-2.0
set -eu
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 1; }
scene=$(realpath "$1") out=$(realpath -m "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)

# The program itself counts the rows: a scene that it would refuse is refused here, not on
# every node.
about=$("${OOZE:-ooze}" info "$scene" --json)
rows=$(printf '%s\n' "$about" | sed -n 's/.*"wedge_count":\([0-9]*\).*/\1/p')
[ "${rows:-0}" -gt 0 ] || {
  echo "submit.sh: $scene has no wedge table (docs/guide/scene.md, wedge)" >&2
  exit 2
}

mkdir -p "$out"
# shellcheck disable=SC2086
exec sbatch --parsable --array="0-$((rows - 1))" --output="$out/wedge%a.log" ${OOZE_SBATCH:-} \
  "$here/wedge.sbatch" "$scene" "$out" "$@"
