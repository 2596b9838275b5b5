#!/bin/sh
# pip.sh SOURCE BUILD PYTHON: `pip install` of the tree, offline, and the module that it installs.
# Without pip it is skipped (77). SPDX-License-Identifier: Apache-2.0
source=$1 build=$2 python=$3
"$python" -m pip --version >/dev/null 2>&1 || {
  echo "skipped: $python has no pip (Debian: python3-pip)"
  exit 77
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export OOZE_BUILD="$build" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CACHE_DIR="$folder/cache"
# numpy is there already: nothing is fetched
"$python" -m pip install --no-index --no-build-isolation --no-deps --quiet \
  --root-user-action=ignore --target "$folder/site" "$source" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  echo 'FAILED: pip install'
  exit 1
}
for file in ooze/__init__.py ooze/_abi.py ooze/libooze_full.so; do
  [ -s "$folder/site/$file" ] || { echo "FAILED: $file is not installed"; exit 1; }
done
cd "$folder" || exit 1
unset OOZE_LIBRARY
PYTHONPATH="$folder/site" "$python" -c '
import ooze, os, sys
from importlib import metadata
assert os.path.dirname(ooze.__file__) == os.path.join(sys.argv[1], "site/ooze"), ooze.__file__
assert metadata.version("ooze") == ooze.version().split()[0], ooze.version()
s = ooze.Solver(separation=0.02, substeps=2)
s.add_particles([[0, 1, 0], [0.02, 1, 0]], material=s.add_material("honey"))
s.step(1 / 24)
assert s["P"][:, 1].max() < 1
print("pip install: ooze", ooze.version())
' "$folder"
