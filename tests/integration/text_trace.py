# SPDX-License-Identifier: MIT
"""What text_sub.c has written: its lines, each a dict of texts."""


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            yield dict(pair.split("=", 1) for pair in line.rstrip("\n").split("\t"))
