#!/usr/bin/python3
"""Deals source files into batches that can be compiled as one source: no two of a batch use a name for two things.

usage: tools/batches.py SIZE FILE...

Prints one line per batch, its files separated by ";". Most of the time of a compiler goes into the headers of
others, which a batch reads once. What files define is read from lines without indent, as clang-format leaves
them; a clash that this does not see is one the compiler reports.
"""

import functools
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE_ROOTS = (ROOT / "src", ROOT, ROOT / "tests")

QUOTED_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
MACRO = re.compile(r"^#\s*define\s+(\w+)")
NAMESPACE = re.compile(r"^(?:inline )?namespace(?: [\w:]+)? \{$")
UNNAMED = "namespace {"
TYPE = re.compile(r"^(?:template <.*> )?(?:struct|class|union|enum class|enum) (?:\[\[\w+\]\] )?(\w+)[^;]*$")
ALIAS = re.compile(r"^using (\w+) = (.*)")
# The last word before a bracket, an equals sign or the end: what a function, a constant or an array is called.
OTHER = re.compile(r"^(?!using |namespace |template <[^>]*>$|return )[A-Za-z_][^(={;\[]*?(?<![\w:])(\w+)\s*[(={;\[]")


def names_of(text):
    """(own, all): the names a source keeps to itself, and all it defines, with what an alias stands for. A type must
    not be defined twice even where it is not hidden, so types, aliases and macros count as its own."""
    own, others, open_namespaces = {}, {}, []
    for line in text.splitlines():
        if NAMESPACE.match(line):
            open_namespaces.append(line == UNNAMED)
        elif line.startswith("}") and "// namespace" in line:
            if open_namespaces:
                open_namespaces.pop()
        elif found := ALIAS.match(line):
            own[found[1]] = found[2]
        elif found := MACRO.match(line) or TYPE.match(line):
            own[found[1]] = None
        elif (found := OTHER.match(line)) and not found[1].isupper():
            (own if any(open_namespaces) or line.startswith("static ") else others)[found[1]] = None
    return own, others | own


@functools.cache
def read(path):
    """(own names, all names, included headers of ours) of one file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    headers = set()
    for name in QUOTED_INCLUDE.findall(text):
        for folder in (path.parent, *INCLUDE_ROOTS):
            if (folder / name).is_file():
                headers.add((folder / name).resolve())
                break
    return (*names_of(text), frozenset(headers))


@functools.cache
def headers_of(path):
    """Every header of ours that a file sees."""
    seen, todo = set(), list(read(path)[2])
    while todo:
        header = todo.pop()
        if header not in seen:
            seen.add(header)
            todo.extend(read(header)[2])
    return frozenset(seen)


def differ(own, others):
    """Whether a name is in both and means two things; aliases of the same type mean one."""
    return any(name in others and (meaning is None or meaning != others[name]) for name, meaning in own.items())


@functools.cache
def clash(a, b):
    """Whether something one of two sources keeps to itself is defined by the other or by a header only that sees."""
    for one, other in ((a, b), (b, a)):
        own = read(one)[0]
        unseen = headers_of(other) - headers_of(one)
        if differ(own, read(other)[1]) or any(differ(own, read(header)[1]) for header in unseen):
            return True
    return False


def batches(files, size):
    """The files in order, each in the first batch that has room for it."""
    out = []
    for path in files:
        for batch in out:
            if len(batch) < size and not any(clash(path, other) for other in batch):
                batch.append(path)
                break
        else:
            out.append([path])
    return out


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        sys.exit("usage: tools/batches.py SIZE FILE...")
    for group in batches([Path(f).resolve() for f in sys.argv[2:]], int(sys.argv[1])):
        print(";".join(str(path) for path in group))
