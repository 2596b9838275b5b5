"""Cached points of a run, read number by number, and the time that a run may take.
SPDX-License-Identifier: Apache-2.0"""
import math
import resource
import struct


def fastest(path):
    """The greatest speed in a .ply, or nan where a number is not finite."""
    with open(path, "rb") as file:
        data = file.read()
    head, _, body = data.partition(b"end_header\n")
    sizes = {"float": ("f", 4), "float32": ("f", 4), "double": ("d", 8), "int": ("i", 4),
             "int32": ("i", 4), "uint": ("I", 4), "uint32": ("I", 4), "uchar": ("B", 1),
             "uint8": ("B", 1), "short": ("h", 2), "ushort": ("H", 2), "char": ("b", 1)}
    rows, form, names = 0, "<", []
    for line in head.decode().splitlines():
        word = line.split()
        if word[:2] == ["element", "vertex"]:
            rows = int(word[2])
        elif word[:1] == ["property"]:
            form += sizes[word[1]][0]
            names.append(word[2])
    at = [names.index(n) for n in names if n in ("vx", "vy", "vz")] if "vx" in names else []
    most = 0.0
    for row in struct.iter_unpack(form, body[: rows * struct.calcsize(form)]):
        if not all(math.isfinite(v) for v in row):
            return math.nan
        if at:
            most = max(most, math.sqrt(sum(row[i] ** 2 for i in at)))
    return most


def limit():  # of its own time: a busy machine is no hang
    resource.setrlimit(resource.RLIMIT_CPU, (20, 25))
