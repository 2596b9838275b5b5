"""msvc.py SOURCE INCLUDE FOLDER: every C++ line of hdk_plugin/ in clang's MSVC mode (target
x86_64-pc-windows-msvc: 32-bit long, Microsoft's rules for templates, no GNU extensions), with the
stand-in's headers in INCLUDE. Debian has no headers of Microsoft's library, so the standard ones
are libstdc++'s; they are read first, and after them neither __GNUC__ nor __clang__ nor
__attribute__ is there, as with cl. What it cannot see: what Microsoft's library lacks, and errors
of cl itself. SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import shutil
import subprocess
import sys

source, include, folder = (os.path.abspath(p) for p in sys.argv[1:4])
clang = shutil.which("clang++") or next(iter(sorted(glob.glob("/usr/bin/clang++-*"), reverse=True)),
                                        None)
if not clang:
    print("msvc: no clang++ here, nothing was looked at")
    sys.exit(77)
told = subprocess.run([clang, "-E", "-x", "c++", "-v", os.devnull], capture_output=True,
                      text=True).stderr
listed = re.search(r"#include <\.\.\.> search starts here:\n(.*?)\nEnd of search list", told, re.S)
system = [line.strip() for line in listed.group(1).split("\n")]

os.makedirs(os.path.join(folder, "shim", "gnu"), exist_ok=True)
with open(os.path.join(folder, "shim", "gnu", "stubs-x32.h"), "w") as f:
    f.write("")  # glibc asks for it where long has 32 bits
FLAGS = ["-std=c++17", "--target=x86_64-pc-windows-msvc", "-fms-compatibility",
         "-fms-compatibility-version=19.38",
         "-fdelayed-template-parsing", "-fgnuc-version=4.2.1", "-fsyntax-only", "-nostdinc",
         "-Werror=gnu", "-Werror=vla", "-Wno-#warnings",
         "-D__STRICT_ANSI__", "-D_GNU_SOURCE", "-D__ILP32__", "-D__linux__=1", "-D__unix__=1",
         "-U_WIN32",
         "-DSTANDIN_MAJOR=21", "-DSTANDIN_MINOR=0", "-DSTANDIN_SYNTAX_ONLY", "-ferror-limit=5"]
FLAGS += ["-isystem", os.path.join(folder, "shim")] + [w for p in system for w in ("-isystem", p)]
FLAGS += ["-isystem", include, "-I", os.path.join(source, "hdk_plugin"), "-I",
          os.path.join(source, "solver_c/include")]
STANDARD = """algorithm cctype chrono cmath cstdarg cstddef cstdint cstdio cstdlib cstring exception
functional initializer_list iterator map memory mutex new numeric set stdexcept string type_traits
utility vector stddef.h stdint.h string.h""".split()


def compile_as_msvc(name, text):
    path = os.path.join(folder, name)
    headers = sorted(os.path.relpath(p, include) for p in glob.glob(include + "/*/*.h")
                     if "DSOVersion" not in p)
    with open(path, "w") as f:
        f.writelines("#include <%s>\n" % h for h in STANDARD + headers)
        f.write("#undef __GNUC__\n#undef __GNUC_MINOR__\n#undef __clang__\n"
                "#define __attribute__ cl_has_no_attribute\n")
        f.write(text)
    done = subprocess.run([clang] + FLAGS + [path], capture_output=True, text=True)
    return [line for line in done.stderr.split("\n") if "error:" in line] or ([done.stderr[-500:]]
        if done.returncode else [])


problems = []
files = sorted(glob.glob(source + "/hdk_plugin/*.cpp"))
# one file: the headers are read once
problems += compile_as_msvc("msvc_plugin.cpp", "".join('#include "%s"\n' % path for path in files))
# it finds each pattern
for what, text in (("an attribute", "__attribute__((unused)) static int x;\n"),
                   ("a statement expression", "int f() { return ({ 1; }); }\n"),
                   ("a long of 64 bits", "static_assert(sizeof(long) == 8, \"LP64\");\n"),
                   ("the guard of cl",
                    "#ifndef _MSC_VER\nint x;\n#else\n#error \"guard\"\n#endif\n")):
    if not compile_as_msvc("msvc_sample.cpp", text):
        problems.append(what + " would not be found")
for p in problems:
    print("FAILED: " + p)
print("msvc: %s" % ("FAILED" if problems else "%d files pass in clang's MSVC mode" % len(files)))
sys.exit(1 if problems else 0)
