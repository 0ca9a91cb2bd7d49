"""Accuracy by bag size as an SVG figure: a panel for each kind of data, a line for each method."""
import math

WIDTH, HEIGHT, LEFT, TOP, COLUMNS = 300, 240, 46, 34, 3


def draw(path, panels, lines):
    """panels: {title: {(line name, bag size): mean accuracy}}; lines: [(name, text, colour, dashes)]."""
    rows = (len(panels) + COLUMNS - 1) // COLUMNS
    columns = min(COLUMNS, len(panels))
    bottom = 22 * ((len(lines) + 3 * columns // 2 - 1) // (3 * columns // 2)) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * WIDTH} {rows * HEIGHT + bottom}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{columns * WIDTH}" height="{rows * HEIGHT + bottom}" fill="white"/>']
    for number, (title, points) in enumerate(panels.items()):
        out += panel(number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT, title, points, lines)
    wide = 200
    for i, (_, text, colour, dashes) in enumerate(lines):
        per_row = max(1, columns * WIDTH // wide)
        x0, y0 = LEFT + wide * (i % per_row), rows * HEIGHT + 12 + 22 * (i // per_row)
        out.append(f'<line x1="{x0}" y1="{y0}" x2="{x0 + 30}" y2="{y0}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        out.append(f'<text x="{x0 + 36}" y="{y0 + 4}">{text}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")


def panel(x0, y0, title, points, lines):
    sizes = sorted({size for _, size in points})
    low = math.floor(min(points.values()) * 20) / 20
    high = math.ceil(max(points.values()) * 20) / 20
    first, last = math.log2(sizes[0]), math.log2(sizes[-1])

    def x(size):
        return x0 + LEFT + (math.log2(size) - first) / max(last - first, 1) * (WIDTH - LEFT - 20)

    def y(value):
        return y0 + HEIGHT - 40 - (value - low) / (high - low) * (HEIGHT - 40 - TOP)

    out = [f'<text x="{x0 + LEFT}" y="{y0 + 20}" font-weight="bold">{title}</text>']
    for i in range(round((high - low) / 0.05) + 1):
        at = low + 0.05 * i
        out.append(f'<line x1="{x0 + LEFT}" y1="{y(at):.1f}" x2="{x0 + WIDTH - 20}" y2="{y(at):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 + LEFT - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{at:.2f}</text>')
    for size in sizes:
        out.append(f'<text x="{x(size):.1f}" y="{y0 + HEIGHT - 22}" text-anchor="middle">{size}</text>')
    for name, _, colour, dashes in lines:
        route = " ".join(f"{x(s):.1f},{y(points[name, s]):.1f}" for s in sizes if (name, s) in points)
        if route:
            out.append(f'<polyline points="{route}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
    return out
