#!/usr/bin/env python3
"""Draws the CSV of `bench_tl_llp bags FILE.csv` as an SVG: time of a solve and of 200 products against bags.

usage: bench/tl_llp/plot.py bags.csv > scaling.svg
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
import log_plot  # noqa: E402


def main() -> None:
    series = [("joint solve, gap 1e-5", "solve_seconds", "#1f6fb2"), ("200 products X w", "products_seconds", "#b2541f")]
    print(log_plot.draw(log_plot.read(sys.argv[1]), "bags", "bags of 100 features",
                        lambda n: math.log10(n) == round(math.log10(n)), series, " s"))


if __name__ == "__main__":
    main()
