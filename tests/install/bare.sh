#!/bin/sh
# bare.sh SOURCE CC: the files with optional parts, compiled without Jansson, TBB, Blosc, zstd,
# libpng, OpenVDB and CUDA. SPDX-License-Identifier: Apache-2.0
source=$1 cc=$2
cd "$source/solver_c" || exit 1
failed=0
for file in cli/*.c geo/*.c render/*.c surface/*.c core/registry.c; do
  "$cc" -std=c11 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-parameter -I. -Iinclude -I.. \
    "$file" || { echo "FAILED: $file"; failed=1; }
done
exit $failed
