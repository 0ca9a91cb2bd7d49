#!/usr/bin/python3
"""Checks who includes whom, and the other habits of the source tree that a machine can check.

usage: tools/check_layers.py [ROOT]

Prints one line per fault, FILE:LINE: what is wrong, and a count. Exit status 1 if there is any fault.
The layers are those of docs/architecture.md; src/bagwise/CMakeLists.txt must say the same in its link lines.
"""

import re
import sys
from pathlib import Path

# A module may include itself and these. The order is bottom up.
MAY_INCLUDE = {
    "core": "",
    "linalg": "core",
    "comm": "core linalg",
    "data": "core linalg",
    "bags": "core linalg data",
    "solver": "core linalg comm",
    "methods": "core linalg comm data bags solver",
    "evaluate": "core linalg comm data bags solver methods",
    "report": "core linalg comm data bags solver methods evaluate",
}
# Folders outside src/bagwise that include the library: which modules each may see.
OUTSIDE = {
    "cli": set(MAY_INCLUDE),
    "mpi": {"core", "linalg", "comm"},
    "python": set(MAY_INCLUDE),
    "tests": set(MAY_INCLUDE),
    "bench": set(MAY_INCLUDE),
    "examples": set(MAY_INCLUDE),
}
# Third-party headers that belong to one folder only.
ONLY_IN = {
    "mpi.h": ("mpi",),
    "CLI/": ("cli",),
    "pybind11/": ("python",),
    "catch2/": ("tests",),  # and *_test.cpp anywhere
    "svm.h": ("bench", "tests"),
    "linear.h": ("bench", "tests"),
    "benchmark/": ("bench",),
}
# What the library never does: it is silent, returns its errors, and takes its randomness as an argument.
NEVER_IN_LIBRARY = [
    (re.compile(r"#\s*include\s*<(iostream|random)>"), "the library must not include <{0}>"),
    (re.compile(r"\b(?:std::)?(cout|cerr|clog)\b"), "the library is silent: no {0}"),
    (re.compile(r"(?<![\w.>])(?:std::|fmt::)?(printf|fprintf|puts|putchar|print)\s*\("),
     "the library is silent: no {0}()"),
    (re.compile(r"(?<![\w.>])(?:std::)?(exit|_exit|abort|quick_exit|terminate)\s*\("),
     "the library never ends the process: no {0}()"),
    (re.compile(r"\bthrow\s+(?!std::bad_alloc\b)([\w:]+)"), "bad input is a Result, not an exception: throw {0}"),
    (re.compile(r"(?<![\w.>])(?:std::)?(rand|srand)\s*\("), "randomness is a parameter: no {0}()"),
    (re.compile(r"\b(random_device)\b"), "randomness is a parameter: no {0}"),
    (re.compile(r"(?<!operator )\b(new)\s+[A-Za-z_(]"), "values, span and unique_ptr: no {0}"),
]
# "unit: a sentence that is true", and tags. CMake splits names at ; and loses tests behind an odd [ without a word.
TEST_NAME = re.compile(r'\bTEST_CASE\s*\(\s*"((?:\\.|[^"\\])*)"\s*(,\s*"\[)?')
MAX_LINES = 1000
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SKIPPED_FOLDERS = {"build", ".git", "__pycache__"}


def without_comments(text):
    """The same text with comments and the insides of literals blanked; line numbers and #includes stay."""
    token = (r'(?P<raw>R"(?P<mark>[^(\s]{0,16})\(.*?\)(?P=mark)")'
             r'|(?P<include>^[ \t]*#[ \t]*include[^\n]*)'
             r"|//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'")

    def blank(match):
        if match.group("include"):
            return match.group(0)
        return re.sub(r"[^\n]", " ", match.group(0))

    return re.sub(token, blank, text, flags=re.S | re.M)


def place_of(path):
    """(folder, module): ("src", "bags") for src/bagwise/bags/x.h, ("cli", None) for cli/x.cpp."""
    parts = path.parts
    if parts[:2] == ("src", "bagwise"):
        return "src", parts[2] if len(parts) > 3 else None
    return parts[0], None


def allowed_modules(folder, module):
    if folder == "src":
        return set(MAY_INCLUDE.get(module, "").split()) | {module}
    return OUTSIDE.get(folder, set())


def include_faults(path, number, style, target):
    folder, module = place_of(path)
    is_test = path.name.endswith("_test.cpp")
    for prefix, homes in ONLY_IN.items():
        if target == prefix or (prefix.endswith("/") and target.startswith(prefix)):
            if folder not in homes and not (prefix == "catch2/" and is_test):
                yield number, f"<{target}> belongs to {' and '.join(homes)} only"
    if target.startswith("bagwise/"):
        parts = target.split("/")
        wanted = parts[1]
        if style == "<" and folder != "examples":
            yield number, f'<{target}>: our own headers are included with quotes'
        if wanted not in MAY_INCLUDE:
            yield number, f"{target}: there is no module {wanted}"
        elif wanted not in allowed_modules(folder, module):
            yield number, f"{module or folder} must not include {wanted}"
        if "internal" in parts[2:-1] and module != wanted and path.parts[:2] != ("tests", "fuzz"):
            yield number, f"{target} is internal to {wanted}"
    elif style == '"' and folder == "src" and not (is_test and target.startswith("support/")):
        yield number, f'"{target}": write the path from the include root, "bagwise/MODULE/..."'


def file_faults(path, text):
    """Yields (line number, message) for one C++ file; `path` is relative to the root."""
    folder, module = place_of(path)
    lines = text.split("\n")
    if len(lines) - 1 > MAX_LINES:
        yield len(lines) - 1, f"{len(lines) - 1} lines; {MAX_LINES} at most (500 wanted)"
    for number, line in enumerate(lines, 1):
        if not line.isascii():
            bad = next(c for c in line if ord(c) > 127)
            yield number, f"{bad!r} is not ASCII"
    if path.suffix == ".h":
        if not lines[0].startswith("// "):
            yield 1, "the first line of a header is a comment that says what it holds"
        if "#pragma once" not in lines:
            yield 1, "no #pragma once"
    if folder == "src" and module not in MAY_INCLUDE:
        yield 1, f"{module or 'src/bagwise itself'} is no module; known: {', '.join(MAY_INCLUDE)}"
    for test in TEST_NAME.finditer(text):
        number = text.count("\n", 0, test.start()) + 1
        if re.search(r"[;\[\]]", test.group(1)):
            yield number, f'"{test.group(1)}": a test name must not have ; [ or ] in it, ctest would lose the test'
        if not re.match(r"[a-z0-9_ -]+: ", test.group(1)) or not test.group(2):
            yield number, f'"{test.group(1)}": a test is called "unit: a sentence that is true" and has tags'
    is_library = folder in ("src", "mpi") and not path.name.endswith("_test.cpp")
    code = without_comments(text)
    for number, line in enumerate(code.split("\n"), 1):
        include = INCLUDE.match(line)
        if include:
            yield from include_faults(path, number, *include.groups())
        if is_library:
            for pattern, message in NEVER_IN_LIBRARY:
                found = pattern.search(line)
                # What is thrown and caught in one file does not cross the library's boundary.
                if found and f"catch (const {found.group(1)}&" not in code:
                    yield number, message.format(found.group(1))


def link_faults(text):
    """Link lines of src/bagwise/CMakeLists.txt that say more than the layers allow, or modules they forget."""
    code = re.sub(r"#[^\n]*", "", text)
    declared = {}
    for name, arguments in re.findall(r"bagwise_module\(\s*(\w+)([^)]*)\)", code):
        declared[name] = re.findall(r"bagwise::(\w+)", arguments)
    for name, linked in declared.items():
        if name not in MAY_INCLUDE:
            yield 1, f"module {name} is not in tools/check_layers.py"
        for other in linked:
            if other in MAY_INCLUDE and other not in MAY_INCLUDE.get(name, "").split():
                yield 1, f"{name} must not link {other}"
    for name in MAY_INCLUDE:
        if name not in declared:
            yield 1, f"module {name} has no bagwise_module() line"


def check_tree(root):
    """All faults below `root` as (path, line, message), and the number of files looked at."""
    root = Path(root)
    faults, files = [], 0
    for folder in ("src", *OUTSIDE):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp") or SKIPPED_FOLDERS & set(path.parts[len(root.parts):]):
                continue
            files += 1
            relative = path.relative_to(root)
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                faults.append((relative, 1, "not UTF-8, let alone ASCII"))
                continue
            faults += [(relative, number, message) for number, message in file_faults(relative, text)]
    links = root / "src" / "bagwise" / "CMakeLists.txt"
    if links.exists():
        relative = links.relative_to(root)
        faults += [(relative, n, m) for n, m in link_faults(links.read_text(encoding="utf-8"))]
    return faults, files


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    faults, files = check_tree(root)
    for path, number, message in faults:
        print(f"{path}:{number}: {message}")
    if files == 0:
        print(f"{root}: no C++ file found")
        return 1
    print(f"{files} files looked at, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
