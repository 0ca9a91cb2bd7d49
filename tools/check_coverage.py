#!/usr/bin/python3
"""Says how many lines of each file the tests reach, and which they do not, from what gcovr --json counted.

usage: tools/check_coverage.py LINES_JSON [--least PERCENT]

tools/coverage.txt explains lines that no test reaches. Fails if less than PERCENT (90) of all lines are reached, or if
an explanation is of no line any more.
"""

import argparse
import fnmatch
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPLANATIONS = ROOT / "tools/coverage.txt"
LEAST = 90


def read_explanations(text):
    """[(reason, file pattern, text)]: a paragraph begins with its reason; then lines "FILE | TEXT", of which FILE may
    have a *, and TEXT is part of the lines that are meant, or * for all."""
    out = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip() and not line.startswith("#")]
        reason = " ".join(line for line in lines if " | " not in line)
        places = [line.split(" | ", 1) for line in lines if " | " in line]
        if lines and (not reason or not places):
            raise ValueError(f"coverage.txt: expected a reason and lines 'FILE | TEXT', found: {lines[0]}")
        out += [(reason, file, part) for file, part in places]
    return out


def counted(report):
    """{file: {line: times}} of gcovr's JSON."""
    out = {}
    for file in report["files"]:
        lines = out.setdefault(file["file"], {})
        for line in file["lines"]:
            if not line.get("gcovr/noncode", False):
                lines[line["line_number"]] = max(line["count"], lines.get(line["line_number"], 0))
    return {file: lines for file, lines in sorted(out.items()) if lines}


def split(missed, explanations, text_of):
    """(explained, unexplained, stale): lines {file: {line: reason}} and {file: [line]}, and explanations of no line."""
    explained, unexplained, used = {}, {}, set()
    for file, lines in missed.items():
        for line in lines:
            text = text_of(file, line)
            for number, (reason, pattern, part) in enumerate(explanations):
                if fnmatch.fnmatchcase(file, pattern) and (part == "*" or part in text):
                    used.add(number)
                    explained.setdefault(file, {})[line] = reason
                    break
            else:
                unexplained.setdefault(file, []).append(line)
    return explained, unexplained, [entry for number, entry in enumerate(explanations) if number not in used]


def ranges(lines):
    """Line numbers as text, neighbours joined: 3-5, 9."""
    out = []
    for line in sorted(lines):
        if out and out[-1][1] == line - 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def report_of(lines, explanations, text_of, least):
    """(text, whether all is well)"""
    missed = {file: [line for line, times in counts.items() if times == 0] for file, counts in lines.items()}
    explained, unexplained, stale = split(missed, explanations, text_of)
    total = sum(map(len, lines.values()))
    reached = total - sum(map(len, missed.values()))
    rate = 100 * reached / total if total else 0.0
    out = ["lines reached, of all, per cent"]
    for file, counts in lines.items():
        good = len(counts) - len(missed[file])
        out.append(f"{good:6} {len(counts):6} {100 * good / len(counts):6.1f}  {file}")
    out += ["", "lines that no test reaches, explained in tools/coverage.txt"]
    for file, found in explained.items():
        for reason in dict.fromkeys(found.values()):
            out.append(f"{file}: {ranges(line for line, why in found.items() if why == reason)}: {reason}")
    out += ["", "lines that no test reaches, others"]
    out += [f"{file}: {ranges(found)}" for file, found in unexplained.items()]
    out += [""] + [f"tools/coverage.txt explains no line any more: {file} | {part}" for _, file, part in stale]
    out.append(f"{reached} of {total} lines of src/ are reached by tests: {rate:.1f} % (at least {least:g} %); "
               f"{sum(map(len, explained.values()))} of the others are explained, "
               f"{sum(map(len, unexplained.values()))} are not")
    return "\n".join(out), rate >= least and not stale


def main():
    parser = argparse.ArgumentParser(description="which lines the tests reach")
    parser.add_argument("lines", type=Path)
    parser.add_argument("--least", type=float, default=LEAST)
    options = parser.parse_args()
    sources = {}

    def text_of(file, line):
        if file not in sources:
            sources[file] = (ROOT / file).read_text().splitlines()
        return sources[file][line - 1]

    text, good = report_of(counted(json.loads(options.lines.read_text())), read_explanations(EXPLANATIONS.read_text()),
                           text_of, options.least)
    print(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
