#!/usr/bin/env python3
"""Draws the CSV of `bench_tl_count forms FILE.csv` as an SVG: the error of the normal form against the size of bags.

usage: bench/tl_count/plot.py forms.csv > count-forms.svg
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
import log_plot  # noqa: E402


def main() -> None:
    series = [("slopes, relative", "slope_error", "#b2541f"), ("log-likelihood", "nll_error", "#1f6fb2")]
    print(log_plot.draw(log_plot.read(sys.argv[1]), "size", "rows in a bag", lambda n: True, series))


if __name__ == "__main__":
    main()
