"""A figure with both axes logarithmic, as an SVG: one line per column of a CSV."""
import csv
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 70, 170, 20, 50


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def draw(rows, along, along_label, marked, series, unit=""):
    """The SVG. `along` is the column of the x axis, `marked` its values with a label; series: (name, column, colour)."""
    xs = [row[along] for row in rows]
    values = [row[key] for row in rows for _, key, _ in series]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(min(xs)), math.log10(max(xs))

    def x(n):
        return LEFT + (math.log10(n) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for power in range(low, high + 1):
        at = y(10.0**power)
        out.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}{unit}</text>')
    for n in filter(marked, xs):
        out.append(f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{int(n):,}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{along_label}</text>')
    for name, key, colour in series:
        points = " ".join(f"{x(row[along]):.1f},{y(row[key]):.1f}" for row in rows)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(row[along]):.1f}" cy="{y(row[key]):.1f}" r="3" fill="{colour}"/>' for row in rows]
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y(rows[-1][key]) + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join(out + ["</svg>"])
