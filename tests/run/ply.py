"""Particles of a PLY file as dictionaries. SPDX-License-Identifier: Apache-2.0"""
import struct

KINDS = {"float": "f", "double": "d", "int": "i", "uint": "I", "uchar": "B", "char": "b"}


def particles(file):
    with open(file, "rb") as opened:
        head, body = opened.read().split(b"end_header\n", 1)
    names, kinds = [], "<"
    for line in head.decode().splitlines():
        word = line.split()
        if word[0] == "property":
            kinds += KINDS[word[1]]
            names.append(word[2])
    return [dict(zip(names, row)) for row in struct.iter_unpack(kinds, body)]
