"""build.py SOURCE FOLDER [--build]: the build that owners of Houdini run (hdk_plugin/README.md),
against the Houdini of tests/hdk/houdini: what it says to a Houdini that is missing, too old, known
and too new. With --build it also compiles, installs, and looks at what was linked.
SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
import subprocess
import sys

source, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
fake = os.path.join(source, "tests/hdk/houdini")
problems = []
environment = {k: v for k, v in os.environ.items() if k != "HFS"}


def expect(condition, text):
    if not condition:
        problems.append(text)


def cmake(*arguments, **variables):
    done = subprocess.run(["cmake"] + list(arguments), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=dict(environment, **variables))
    return done.returncode, " ".join(done.stdout.split())


def configure(*more, **variables):
    launcher = ["-DCMAKE_%s_COMPILER_LAUNCHER=ccache" % l
                for l in ("C", "CXX")] if shutil.which("ccache") else []
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    return cmake("-S", source, "-B", folder, "-DOOZE_HOUDINI=ON", "-DOOZE_TESTS=OFF",
                 "-DCMAKE_BUILD_TYPE=Debug", *generator, *launcher, *more, **variables)


shutil.rmtree(folder, ignore_errors=True)
code, said = configure()
expect(code and "no Houdini found; set HFS" in said, "without a Houdini: " + said[-300:])
code, said = configure("-DFAKE_HOUDINI=20.0.506", "-DCMAKE_PREFIX_PATH=" + fake + "/toolkit/cmake")
expect(code and "this is Houdini 20.0.506; expected 20.5, 21.0 or 22.0" in said, "20.0: "
       + said[-300:])
code, said = configure("-DFAKE_HOUDINI=23.0.1", HFS=fake)
expect(not code and "Houdini 23.0.1 is newer than those that Ooze knows" in said, "23.0: "
       + said[-300:])
code, said = configure("-DFAKE_HOUDINI=21.0.100", HFS=fake)
expect(not code and "plug-in for 21.0.100, C++17" in said and "CMake Warning" not in said, "21.0: "
       + said[-300:])
expect("OpenVDB OFF" in said, "this machine's OpenVDB was looked for: " + said[-300:])

if "--build" in sys.argv:
    # the plug-in, and the program that writes its help when it is installed; the rest of the tree
    # is built by every other test
    code, said = cmake("--build", folder, "--parallel", "2", "--target", "ooze_houdini", "ooze")
    expect(not code, "build: " + said[-2000:])
    code, said = cmake("--install", folder, "--component", "houdini", "--prefix", folder + "/tree")
    dso = folder + "/tree/linux-21.0/dso/ooze.so"
    expect(not code and os.path.exists(dso), "install: " + said[-300:])
    with open(os.path.join(folder, "build.ninja" if shutil.which("ninja")
                           else "hdk_plugin/CMakeFiles/ooze_houdini.dir/link.txt")) as f:
        text = f.read()
    link = text[text.index("dso/ooze.so:"):] if "dso/ooze.so:" in text else text
    libraries = [w for w in link[:link.index("\n\n")].split() if w.endswith(".so") and "tbb" in w
                 or "openvdb" in w and w.endswith(".so")]
    expect(libraries, "no TBB and no OpenVDB is linked")
    for name in libraries:
        expect("fake_houdini/dsolib/" in name, "linked but not Houdini's: " + name)
    words = subprocess.run(["nm", "-D", "--defined-only", dso], capture_output=True,
                           text=True).stdout.split("\n")
    shown = {w.split()[-1] for w in words if w and "openvdb" not in w}
    expect(shown == {"HoudiniDSOVersion", "HoudiniCompilerVersion", "newSopOperator",
                     "initializeSIM"}, "visible: %s" % sorted(shown))

for p in problems:
    print("FAILED: " + p)
print("houdini build: %s"
      % ("FAILED" if problems else "missing, old, known and new ones are told apart"))
sys.exit(1 if problems else 0)
