#!/usr/bin/python3
"""Runs the code blocks of the documentation and checks its links, change notes and option tables.

usage: tools/check_docs.py --static                 links and change notes: needs nothing built
       tools/check_docs.py --prefix DIR [FILE...]   the blocks, against an installed bagwise
       tools/check_docs.py --prefix DIR --update [FILE...]   and rewrites shown output that is no longer true
       ... --python DIR                             where the Python package is, if not in build/check/python

Blocks, by the words after the opening fence:
  sh            run by bash -eu in order, all blocks of a document in one temporary folder; `bagwise` is in PATH.
                Lines that call scripts/ or git are left out: they are run elsewhere.
  sh exit=N     the same, and the block must end with status N
  sh norun      not run
  python        run by /usr/bin/python3, all blocks of a document in one session, in the folder of its sh blocks and in
                order with them; `import bagwise` finds the package, and that there is none is a fault
  python raises the same, and the block must end with an exception, whose last line counts as printed
  python norun  not run
  text output   what the block before must have printed; "..." stands for anything, alone on a line for any
                number of lines; decimals may differ by 1 %, as the last bits depend on the machine
  cpp           compiled against the installed package and run, if it has a main
Every block that is run or compared is one check. Ends with "N passed, N failed"; exit status 1 if any failed.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT_SECONDS = 300
CHANGE_KINDS = ("added", "changed", "fixed", "removed")
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(block LANGUAGES CXX)
find_package(bagwise REQUIRED)
add_executable(block block.cpp)
target_link_libraries(block bagwise::bagwise)
"""
PYTHON = "/usr/bin/python3"
# What runs the Python blocks of a document: takes one block a line, as JSON, and answers with one line. What is printed
# goes to files meanwhile, by whatever way; the lines of a block are those of the document, as its tracebacks show them.
SESSION = """
import json, os, sys, tempfile, traceback
answers = os.fdopen(os.dup(1), "w")
files = [tempfile.TemporaryFile() for _ in range(2)]
for number, file in enumerate(files, 1):
    os.dup2(file.fileno(), number)
def kept(file):
    file.seek(0)
    text = file.read().decode("utf-8", "replace")
    file.seek(0)
    file.truncate()
    return text
names = {"__name__": "__main__"}
for request in sys.stdin:
    block = json.loads(request)
    raised = trace = None
    try:
        exec(compile("\\n" * block["line"] + block["text"], block["path"], "exec"), names)
    except BaseException as error:
        raised = traceback.format_exception_only(type(error), error)[-1]
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__.tb_next))
    sys.stdout.flush()
    sys.stderr.flush()
    answer = {"printed": kept(files[0]), "said": kept(files[1]), "raised": raised, "trace": trace}
    answers.write(json.dumps(answer) + "\\n")
    answers.flush()
"""


@dataclasses.dataclass
class Block:
    line: int  # of the opening fence, from 1
    words: list
    text: str

    @property
    def language(self):
        return self.words[0] if self.words else ""


def documents(root):
    """README and its neighbours, docs/ and every other Markdown file that is ours."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in ("build", ".git"))
        found += [Path(folder, f) for f in sorted(files) if f.endswith(".md")]
    return found


def blocks(text):
    """The fenced blocks of a Markdown text, in order."""
    found, fence, start, words, kept = [], None, 0, [], []
    for number, line in enumerate(text.split("\n"), 1):
        if fence is None:
            opening = re.match(r"\s*(```+|~~~+)\s*(.*)$", line)
            if opening:
                fence, start, words, kept = opening.group(1), number, opening.group(2).split(), []
        elif line.strip() == fence:
            found.append(Block(start, words, "".join(f"{kept_line}\n" for kept_line in kept)))
            fence = None
        else:
            kept.append(line)
    if fence is not None:
        found.append(Block(start, ["unclosed"], ""))
    return found


def prose(text):
    """The text with fenced blocks and inline code blanked, line numbers kept."""
    out, fence = [], None
    for line in text.split("\n"):
        opening = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and opening:
            fence = opening.group(1)
            out.append("")
        elif fence is not None:
            if line.strip() == fence:
                fence = None
            out.append("")
        else:
            out.append(re.sub(r"`[^`]*`", "", line))
    return "\n".join(out)


def anchors(text):
    """The names GitHub gives to the headings of a text."""
    names = set()
    fenced = re.sub(r"^\s*(```+|~~~+).*?^\s*\1\s*$", "", text, flags=re.S | re.M)
    for heading in re.findall(r"^#+\s+(.*?)\s*#*\s*$", fenced, flags=re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = 0
        while (f"{name}-{number}" if number else name) in names:
            number += 1
        names.add(f"{name}-{number}" if number else name)
    return names


def link_faults(path, root):
    """Relative links of a document that lead nowhere, as (line, message)."""
    text = path.read_text(encoding="utf-8")
    pattern = r'\]\(\s*<?([^)>\s]+)>?(?:\s+"[^"]*")?\s*\)|\b(?:src|href|srcset)="([^"]+)"|^\[[^\]]+\]:\s*(\S+)'
    for number, line in enumerate(prose(text).split("\n"), 1):
        for match in re.finditer(pattern, line):
            target = next(g for g in match.groups() if g)
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            name, _, anchor = unquote(target).partition("#")
            there = (root / name[1:] if name.startswith("/") else path.parent / name) if name else path
            if not there.exists():
                yield number, f"{target} leads nowhere"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text(encoding="utf-8")):
                yield number, f"{target}: no such heading in {there.name}"


def change_faults(root):
    """Change notes whose name or text is not as changes/README.md asks, as (path, message)."""
    for path in sorted((root / "changes").glob("*")):
        if path.name == "README.md":
            continue
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*\.(%s)\.md" % "|".join(CHANGE_KINDS), path.name):
            yield path, f"a change note is called NAME.KIND.md, KIND one of {', '.join(CHANGE_KINDS)}"
        elif not path.read_text(encoding="utf-8").strip():
            yield path, "an empty change note"


def documented_options(text):
    """The options named in the first cells of a document's tables, with their lines.

    `--C` gives "C" in any table; in a table whose first column is headed "option", `C` does too.
    """
    found, header = {}, None
    for number, line in enumerate(text.split("\n"), 1):
        cell = re.match(r"\s*\|((?:\\.|[^|\\])*)\|", line)
        if cell is None:
            header = None
            continue
        if header is None:
            header = cell.group(1).strip().lower()
        dashes = "(?:--)?" if header in ("option", "options") else "--"
        for name in re.findall(rf"`{dashes}([A-Za-z][\w-]*)[^`]*`", cell.group(1)):
            found.setdefault(name, number)
    return found


def option_faults(text, options):
    """Options in the tables of a method's page that the method has not, and the reverse, as (line, message)."""
    named = documented_options(text)
    for name, line in named.items():
        if name not in options:
            yield line, f"the method has no option --{name}"
    for name in options:
        if name not in named:
            yield 1, f"option --{name} is in no table of this page"


def options_by_method(listing):
    """From what `bagwise methods --json` prints: method name -> names of its options."""
    methods = listing["methods"] if isinstance(listing, dict) else listing
    return {m["name"]: [o["name"] for o in m["options"]] for m in methods}


def runnable(text):
    """The lines of an sh block that are run here."""
    return "".join(f"{line}\n" for line in text.rstrip("\n").split("\n")
                   if not re.match(r"\s*(\./)?(scripts/|git |cd bagwise\b)", line))


def output_matches(expected, actual):
    """Whether `actual` is what a document shows: "..." stands for anything, decimals may differ by 1 %."""
    pattern, numbers = "", []
    for line in expected.rstrip().split("\n"):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
            continue
        for piece in re.split(r"(\.\.\.|(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d+)?(?![\w.]))|(\s+)", line.rstrip()):
            if piece is None:
                continue
            if piece == "...":
                pattern += ".*"
            elif re.fullmatch(r"[-+]?\d+\.\d+(e[-+]?\d+)?", piece):
                pattern += r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
                numbers.append(float(piece))
            else:
                pattern += r"\s+" if piece.isspace() else re.escape(piece)
        pattern += r"[ \t]*\n"
    match = re.fullmatch(pattern, actual.rstrip() + "\n")
    if match is None:
        return False
    return all(abs(float(found) - shown) <= 0.01 * abs(shown) for found, shown in zip(match.groups(), numbers))


class Session:
    """One Python for all blocks of a document, started with the first of them."""

    def __init__(self, path, folder, environment):
        self.path, self.folder, self.environment = path, folder, environment
        self.process = None

    def run(self, block):
        """What SESSION answers, or None where the interpreter ended or was ended."""
        if self.process is None:
            self.process = subprocess.Popen([PYTHON, "-B", "-c", SESSION], cwd=self.folder, env=self.environment,
                                            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
        limit = threading.Timer(TIME_LIMIT_SECONDS, self.process.kill)
        limit.start()
        try:
            request = {"path": str(self.path), "line": block.line, "text": block.text}
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        limit.cancel()
        return json.loads(answer) if answer else None

    def close(self):
        if self.process is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()


class Runner:
    """Runs the blocks of documents and counts."""

    def __init__(self, prefix, update=False, python=None):
        self.prefix = Path(prefix).resolve() if prefix else None
        self.python = Path(python).resolve() if python else None
        self.update = update
        self.passed = self.failed = 0
        self.environment = dict(os.environ, MPLBACKEND="Agg")
        if self.prefix:
            self.environment["PATH"] = f"{self.prefix / 'bin'}:{os.environ['PATH']}"
        if self.python:
            self.environment["PYTHONPATH"] = str(self.python)

    def count(self, where, fault):
        if fault:
            self.failed += 1
            print(f"{where}: {fault}", flush=True)
        else:
            self.passed += 1

    def execute(self, command, folder):
        try:
            run = subprocess.run(command, cwd=folder, env=self.environment, capture_output=True, text=True,
                                 stdin=subprocess.DEVNULL, timeout=TIME_LIMIT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return -1, "", f"no end after {TIME_LIMIT_SECONDS} s"
        return run.returncode, run.stdout, run.stderr

    def shell(self, block, folder):
        """(fault or None, stdout)"""
        wanted = next((int(w[5:]) for w in block.words if w.startswith("exit=")), 0)
        status, out, err = self.execute(["bash", "-eu", "-o", "pipefail", "-c", runnable(block.text)], folder)
        if status == wanted:
            return None, out + err if wanted else out
        return f"exit status {status}, expected {wanted}\n{block.text}{out}{err}", out

    def program(self, block, folder):
        """Compiles and runs; the fault or None, and stdout."""
        source = Path(folder, f"cpp-{block.line}")
        source.mkdir()
        (source / "block.cpp").write_text(block.text, encoding="utf-8")
        (source / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
        build = source / "build"
        for command in (["cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                         f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                        ["cmake", "--build", build], [build / "block"]):
            status, out, err = self.execute([str(c) for c in command], folder)
            if status != 0:
                return f"{command[0]} ended with {status}\n{out}{err}", ""
        return None, out

    def session(self, block, session):
        """Runs a Python block; the fault or None, and what it printed."""
        if self.python is None or not (self.python / "bagwise").is_dir():
            return f"there is no Python package bagwise in {self.python}; build it, or say --python DIR", None
        answer = session.run(block)
        if answer is None:
            return f"the interpreter ended within this block, or was ended after {TIME_LIMIT_SECONDS} s", None
        if "raises" in block.words:
            if answer["raised"] is None:
                return "ended without an exception, which was expected", answer["printed"]
            return None, answer["printed"] + answer["raised"]
        if answer["raised"] is not None:
            return "\n" + answer["trace"] + answer["printed"] + answer["said"], answer["printed"]
        return None, answer["printed"]

    def document(self, path, root):
        name = path.relative_to(root)
        printed = None
        rewritten = []  # (block, what it should show)
        with tempfile.TemporaryDirectory(prefix="check_docs.") as folder, \
                contextlib.closing(Session(path, folder, self.environment)) as session:
            for block in blocks(path.read_text(encoding="utf-8")):
                where = f"{name}:{block.line}"
                if block.language == "unclosed":
                    self.count(where, "this block is never closed")
                elif block.language in ("sh", "bash", "shell"):
                    printed = None
                    if "norun" not in block.words and runnable(block.text).strip():
                        fault, printed = self.shell(block, folder)
                        self.count(where, fault)
                elif block.language in ("python", "py"):
                    printed = None
                    if "norun" not in block.words:
                        fault, printed = self.session(block, session)
                        self.count(where, fault)
                elif block.words[:2] == ["text", "output"]:
                    if printed is None:
                        self.count(where, "no block was run whose output this could be")
                    elif not output_matches(block.text, printed):
                        self.count(where, f"this is not what was printed:\n{printed}")
                        rewritten.append((block, printed.rstrip() + "\n"))
                    else:
                        self.count(where, None)
                elif block.language == "cpp" and re.search(r"\bint main\(", block.text):
                    fault, printed = self.program(block, folder)
                    self.count(where, fault)
        if self.update and rewritten:
            lines = path.read_text(encoding="utf-8").split("\n")
            for block, shown in reversed(rewritten):
                lines[block.line:block.line + block.text.count("\n")] = shown.rstrip("\n").split("\n")
            path.write_text("\n".join(lines), encoding="utf-8")

    def option_tables(self, root):
        status, out, err = self.execute(["bagwise", "methods", "--json"], root)
        if status != 0:
            self.count("bagwise methods --json", f"exit status {status}\n{err}")
            return
        for method, options in options_by_method(json.loads(out)).items():
            page = root / "docs" / "methods" / f"{method}.md"
            if not page.exists():
                self.count(page.relative_to(root), "a method without its page")
                continue
            faults = list(option_faults(page.read_text(encoding="utf-8"), options))
            self.count(page.relative_to(root), "\n".join(f"line {n}: {m}" for n, m in faults))

    def static(self, root):
        for path in documents(root):
            faults = list(link_faults(path, root))
            self.count(path.relative_to(root), "\n".join(f"line {n}: {m}" for n, m in faults))
        faults = [f"{p.relative_to(root)}: {m}" for p, m in change_faults(root)]
        self.count("changes/", "\n".join(faults))


def main():
    parser = argparse.ArgumentParser(description="run the documentation's code blocks, check its links")
    parser.add_argument("--static", action="store_true", help="only what needs no build")
    parser.add_argument("--prefix", help="where bagwise is installed")
    parser.add_argument("--python", default=ROOT / "build/check/python", help="where the Python package is")
    parser.add_argument("--update", action="store_true", help="rewrite shown output that is no longer true")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    if not options.static and not options.prefix:
        parser.error("--static or --prefix DIR is needed")
    runner = Runner(options.prefix, options.update, options.python)
    if options.static:
        runner.static(ROOT)
    else:
        for path in [f.resolve() for f in options.files] or documents(ROOT):
            runner.document(path, ROOT)
        if not options.files:
            runner.option_tables(ROOT)
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
