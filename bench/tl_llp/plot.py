#!/usr/bin/env python3
"""Draws the CSV of `bench_tl_llp bags FILE.csv` as an SVG: time of a solve and of 200 products against bags.

usage: bench/tl_llp/plot.py bags.csv > scaling.svg
"""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 70, 170, 20, 50


def main() -> None:
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    bags = [row["bags"] for row in rows]
    series = [("joint solve, gap 1e-5", "solve_seconds", "#1f6fb2"), ("200 products X w", "products_seconds", "#b2541f")]
    values = [row[key] for row in rows for _, key, _ in series]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(min(bags)), math.log10(max(bags))

    def x(n: float) -> float:
        return LEFT + (math.log10(n) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(seconds: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(seconds) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for power in range(low, high + 1):
        at = y(10.0**power)
        out.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    for n in bags:
        if math.log10(n) == round(math.log10(n)):
            out.append(f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{int(n):,}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">bags of 100 features</text>')
    for name, key, colour in series:
        points = " ".join(f"{x(row['bags']):.1f},{y(row[key]):.1f}" for row in rows)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(row["bags"]):.1f}" cy="{y(row[key]):.1f}" r="3" fill="{colour}"/>' for row in rows]
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y(rows[-1][key]) + 4:.1f}" fill="{colour}">{name}</text>')
    print("\n".join(out + ["</svg>"]))


if __name__ == "__main__":
    main()
