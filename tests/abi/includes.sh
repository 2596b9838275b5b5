#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# includes.sh ROOT: reads every #include line of the sources and checks it against
# docs/dev/architecture.md. Quoted includes are taken by their folder: "physics/math.h", or
# "frame.h" beside the file itself.
root=$1
cd "$root" || exit 1
find . -type f \
  \( -path './solver_c/*' -o -path './cuda/*' -o -path './hdk_plugin/*' -o -path './verify/*' \) \
  \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' \
  -o -name '*.cuh' -o -name '*.def' -o -name '*.inl' \) | sed 's,^\./,,' | sort | xargs awk '
function refuse(why) {
  printf "%s:%d: %s includes %s: %s\n", FILENAME, FNR, from, target, why
  bad = 1
}
BEGIN {
  # folder -> folders of ours that it may include; its own is always allowed
  # base: the interface of a backend passes the frame; physics stands below everything
  may["base"] = "physics public"
  may["physics"] = ""
  may["models"] = "base physics public"
  may["core"] = "base models physics public"
  may["cpu"] = "base physics public"
  may["cuda"] = "base physics public"
  may["geo"] = "base public"
  may["scene"] = "base geo public"
  may["surface"] = "base geo public"
  may["render"] = "base geo surface public"
  may["session"] = "base geo scene surface render public"
  may["verify"] = "base public"
  may["cli"] = "base verify public"
  may["hdk_plugin"] = "public"
  may["public"] = ""
  ours = "base physics models core cpu cuda geo scene surface render session verify cli"
  ours = ours " hdk_plugin public"
}
FNR == 1 {
  files++
  n = split(FILENAME, part, "/")
  from = part[1] == "solver_c" ? part[2] : part[1]
  if (from == "include") from = "public"
  file = part[n]
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
  lines++
  target = $0
  sub(/^[ \t]*#[ \t]*include[ \t]*/, "", target)
  quoted = substr(target, 1, 1) == "\""
  target = substr(target, 2)
  sub(/[>"].*/, "", target)
  if (!(from in may)) { refuse("the folder " from " has no rule"); next }

  if (target ~ /^(tbb|oneapi)\//) {
    if (FILENAME != "solver_c/base/tasks_tbb.cpp") refuse("only base/tasks_tbb.cpp meets TBB")
    next
  }
  if (target ~ /^openvdb\//) {
    if (FILENAME !~ /^solver_c\/surface\/vdb[^\/]*\.cpp$/)
      refuse("only surface/vdb*.cpp meet OpenVDB")
    next
  }

  to = target
  if (to ~ /^ooze\//) to = "public"
  else if (!quoted) to = ""
  else {
    while (sub(/^\.\//, "", to)) ;
    if (to ~ /^\.\.\//) { refuse("write the path from solver_c"); next }
    m = split(to, word, "/")
    to = m == 1 ? from : word[1]
    if (to == "solver_c") to = word[2]
    if (index(" " ours " ", " " to " ") == 0) to = from # a folder inside our own
  }
  if (to == "") { # of the system
    if (from == "physics" &&
        target !~ /^(math|stdint|stddef|arm_neon|immintrin|x86intrin|cuda_fp16)\.h$/)
      refuse("physics may use math.h, stdint.h, stddef.h and intrinsics")
    next
  }
  if (to != from && index(" " may[from] " ", " " to " ") == 0) refuse(from " may not include " to)
}
END {
  printf "%d includes in %d files\n", lines, files
  exit bad || files == 0
}'
