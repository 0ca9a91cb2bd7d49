#!/usr/bin/python3
"""Checks the habits of Python files that a machine can check without a linter.

usage: tools/check_python.py [FILE...]

Looked for are files that do not begin with a docstring, what is not ASCII, tabs and spaces at the end of lines,
imports that nothing uses, and functions and classes that are defined twice. Prints one line per fault, FILE:LINE: what
is wrong, and a count.
"""

import ast
import re
import sys
from pathlib import Path

from fault_report import report_faults

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("bench", "examples", "python", "scripts", "tools")
LONGEST_ANNOTATION = 120


def line_faults(text):
    for number, line in enumerate(text.split("\n"), 1):
        if not line.isascii():
            yield number, f"{next(c for c in line if ord(c) > 127)!r} is not ASCII"
        if "\t" in line or line != line.rstrip():
            yield number, "a tab, or a space at the end of the line"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "the last line has no end"


def imported(tree):
    """{name as used: line} of the imports of a file, wherever they stand; "import a as a" and __future__ say more."""
    out = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__":
            for alias in node.names:
                if alias.asname != alias.name:
                    out[(alias.asname or alias.name).split(".")[0]] = node.lineno
    return out


def used_names(tree):
    """Names that are read, also those in annotations that are text, and those listed in __all__."""
    out = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < LONGEST_ANNOTATION:
            out.update(re.findall(r"\w+", node.value))
    return out


def twice(tree):
    """(line, name) of functions and classes that a later one of the same body replaces; overloads are meant so."""
    for body in (node.body for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef))):
        seen = set()
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.decorator_list:
                if node.name in seen:
                    yield node.lineno, node.name
                seen.add(node.name)


def file_faults(text, is_package_init=False):
    """[(line, message)] of one file, in order."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return [(error.lineno or 1, f"not Python: {error.msg}")]
    out = list(line_faults(text))
    if text.strip() and not ast.get_docstring(tree):
        out.append((1, "the file does not begin with a docstring that says what it holds"))
    if not is_package_init:
        used = used_names(tree)
        out += [(line, f"{name} is imported and not used") for name, line in imported(tree).items() if name not in used]
    out += [(line, f"{name} is defined twice") for line, name in twice(tree)]
    return sorted(out)


def main(arguments):
    files = [Path(a).resolve() for a in arguments] or sorted(
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py*") if path.suffix in (".py", ".pyi"))
    return report_faults(
        files, ROOT, lambda path: file_faults(path.read_text(encoding="utf-8"), path.name == "__init__.py"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
