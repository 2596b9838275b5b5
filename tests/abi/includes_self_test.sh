#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The include rule finds breaches: each line below breaks it, or does not, as said.
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
try() { # try good|bad FILE INCLUDE
  rm -rf "$folder/solver_c" "$folder/cuda" "$folder/hdk_plugin" "$folder/verify"
  mkdir -p "$folder/$(dirname "$2")"
  printf '#include %s\n' "$3" >"$folder/$2"
  if sh "$here/includes.sh" "$folder" >"$folder/said" 2>&1; then found=good; else found=bad; fi
  [ $found = "$1" ] || {
    echo "$2 with #include $3: found $found, expected $1"
    cat "$folder/said"
    failed=1
  }
}
try good solver_c/core/step.c '"models/models.h"'
try good solver_c/core/step.c '"base/result.h"'
try good solver_c/core/step.c '"step.h"'
try good solver_c/core/step.c '"ooze/ooze.h"'
try bad solver_c/core/step.c '"cpu/backend.h"'
try bad solver_c/core/step.c '"../cpu/backend.h"'
try good solver_c/models/conformation.c '"physics/frame.h"'
try bad solver_c/models/conformation.c '"core/solver.h"'
try bad solver_c/cpu/sort.c '"core/solver.h"'
try bad solver_c/cpu/sort.c '"models/models.h"'
try good solver_c/cpu/stages.c '"physics/stages.def"'
try bad solver_c/base/tasks.c '<tbb/tbb.h>'
try bad solver_c/render/picture.c '<tbb/tbb.h>'
try bad solver_c/surface/vdb.cpp '<tbb/task_arena.h>'
try good solver_c/base/tasks_tbb.cpp '<tbb/parallel_for.h>'
try good solver_c/physics/vec.h '<math.h>'
try good solver_c/physics/lanes.h '<arm_neon.h>'
try bad solver_c/physics/vec.h '<stdio.h>'
try bad solver_c/physics/vec.h '"base/result.h"'
try good solver_c/surface/vdb.cpp '<openvdb/openvdb.h>'
try bad solver_c/geo/bgeo.c '<openvdb/openvdb.h>'
try good solver_c/geo/bgeo.c '"base/memory.h"'
try bad solver_c/geo/bgeo.c '"core/solver.h"'
try bad solver_c/geo/bgeo.c '"scene/read.h"'
try good solver_c/scene/read.c '"geo/geo_internal.h"'
try bad solver_c/scene/read.c '"surface/level_set.h"'
try good solver_c/surface/cells.c '"geo/geo_internal.h"'
try bad solver_c/surface/cells.c '"render/rays.h"'
try good solver_c/render/shade.c '"surface/level_set.h"'
try bad solver_c/render/shade.c '"session/session.h"'
try good solver_c/session/session.c '"scene/scene_internal.h"'
try good solver_c/cli/main.c '"ooze/ooze_io.h"'
try bad solver_c/cli/main.c '"core/solver.h"'
try bad solver_c/cli/main.c '"solver_c/core/solver.h"'
try good solver_c/cli/verify.c '"verify/verify.h"'
try good verify/verify.c '"base/seconds.h"'
try bad verify/verify.c '"cli/cli.h"'
try bad verify/heat.c '"core/solver.h"'
try bad solver_c/session/session.c '"verify/verify.h"'
try good solver_c/base/backend.h '"physics/frame.h"'
try bad solver_c/base/arena.c '"core/solver.h"'
try good cuda/sort.cu '"physics/frame.h"'
try bad cuda/sort.cu '"cpu/backend.h"'
try bad hdk_plugin/sop.cpp '"base/result.h"'
try good hdk_plugin/sop.cpp '<SOP/SOP_Node.h>'
try bad solver_c/other/x.c '"base/result.h"'
exit $failed
