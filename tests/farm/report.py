"""The end of a test script: every failure, a last line, and the exit code.
SPDX-License-Identifier: Apache-2.0
"""
import sys


def end(name, problems, good):
    for problem in problems:
        print("FAILED: " + problem)
    print("%s: %s" % (name, "FAILED" if problems else good))
    sys.exit(1 if problems else 0)
