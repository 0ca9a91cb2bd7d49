#!/usr/bin/python3
"""Draws the pictures of docs/guide/python.md anew: runs its Python blocks and keeps what they save as python-*.png.

usage: tools/draw_python_guide.py [--python DIR]     DIR: where the Python package is, if not in build/check/python
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import check_docs

GUIDE = check_docs.ROOT / "docs/guide/python.md"
IMAGES = check_docs.ROOT / "docs/images"


def main():
    parser = argparse.ArgumentParser(description="draw the pictures of the guide to Python anew")
    parser.add_argument("--python", default=check_docs.ROOT / "build/check/python", help="where the Python package is")
    environment = dict(os.environ, MPLBACKEND="Agg", PYTHONPATH=str(Path(parser.parse_args().python).resolve()))
    with tempfile.TemporaryDirectory() as folder, \
            contextlib.closing(check_docs.Session(GUIDE, folder, environment)) as session:
        for block in check_docs.blocks(GUIDE.read_text(encoding="utf-8")):
            if block.language != "python" or "norun" in block.words:
                continue
            answer = session.run(block)
            if answer is None or (answer["raised"] and "raises" not in block.words):
                fault = answer["trace"] if answer else "the interpreter ended"
                print(f"{GUIDE}:{block.line}: {fault}", file=sys.stderr)
                return 1
        for picture in sorted(Path(folder).glob("python-*.png")):
            shutil.copyfile(picture, IMAGES / picture.name)
            print(IMAGES / picture.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
