"""What `pip install .` calls (PEP 517): cmake builds the library, and a wheel holds it with the
module. It needs nothing but Python, cmake and a compiler. SPDX-License-Identifier: Apache-2.0
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "python"))
import generate  # noqa: E402


def get_requires_for_build_wheel(config_settings=None):
    return []


def version():
    header = open(os.path.join(ROOT, "solver_c/include/ooze/ooze.h")).read()
    return ".".join(re.search(r"OOZE_VERSION_%s (\d+)" % p, header).group(1)
                    for p in ("MAJOR", "MINOR", "PATCH"))


def library():
    build = os.environ.get("OOZE_BUILD", os.path.join(ROOT, "build", "python"))
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        found = ["-G", "Ninja"] if shutil.which("ninja") else []
        if shutil.which("ccache"):  # as ./dev has it, whose objects are then taken
            found += ["-DCMAKE_%s_COMPILER_LAUNCHER=ccache" % kind for kind in ("C", "CXX")]
        subprocess.check_call(["cmake", "-S", ROOT, "-B", build, "-DOOZE_TESTS=OFF"] + found)
    subprocess.check_call(["cmake", "--build", build, "--target", "ooze_full", "--parallel",
                           str(os.cpu_count() or 2)])
    return os.path.join(build, "libooze_full.so")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, tag = "ooze-%s" % version(), "py3-none-" + re.sub(r"[.-]", "_", sysconfig.get_platform())
    path = "%s-%s.whl" % (name, tag)
    made = os.path.join(wheel_directory, "_abi.py")
    generate.Headers(os.path.join(ROOT, "solver_c/include")).write(made)
    files = {"ooze/__init__.py": open(os.path.join(ROOT, "python/ooze/__init__.py"), "rb").read(),
             "ooze/_abi.py": open(made, "rb").read(),
             "ooze/libooze_full.so": open(library(), "rb").read(),
             name + ".dist-info/METADATA": (
                 "Metadata-Version: 2.1\nName: ooze\nVersion: %s\nSummary: Viscoelastic particle "
                 "fluids\nLicense: Apache-2.0\nRequires-Dist: numpy\n" % version()).encode(),
             name + ".dist-info/WHEEL": (
                 "Wheel-Version: 1.0\nGenerator: ooze\nRoot-Is-Purelib: false\nTag: %s\n"
                 % tag).encode()}
    os.remove(made)
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, path), "w", zipfile.ZIP_DEFLATED) as z:
        for where, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d" % (where, digest, len(data)))
            z.writestr(where, data)
        record.append(name + ".dist-info/RECORD,,")
        z.writestr(name + ".dist-info/RECORD", "\n".join(record) + "\n")
    return path
