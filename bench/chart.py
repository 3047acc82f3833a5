"""The chart of the README: how many times as long as tutti its peers take. python bench/chart.py FILE OUT.svg

FILE is one of bench/results. Every row in which tutti and a peer were measured is shown, also those that tutti loses.
"""

import json
import math
import sys
from xml.sax.saxutils import escape

COLOURS = {"numpy": "#6c757d", "numexpr": "#b56576", "numba": "#e9c46a", "jax": "#f4a261", "torch": "#e76f51"}
LABEL, LEFT, RIGHT, TOP, STEP = 250, 260, 740, 56, 17
LEAST, MOST = 0.5, 1000.0


def place(factor):
    """Where a factor stands: the scale is logarithmic."""
    part = math.log(min(max(factor, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + part * (RIGHT - LEFT)


def compared(rows):
    """(name, {peer: times tutti's}) of the rows that have both."""
    for row in rows:
        own = row["seconds"].get("tutti")
        times = {k: s / own for k, s in row["seconds"].items() if own and k in COLOURS}
        if times:
            yield row["name"], times


def scale(bottom):
    for factor in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        x, width = place(factor), 1.5 if factor == 1 else 0.5
        yield f'<line x1="{x:.1f}" y1="{TOP - 12}" x2="{x:.1f}" y2="{bottom}" stroke="#ced4da" stroke-width="{width}"/>'
        yield f'<text x="{x:.1f}" y="{TOP - 15}" text-anchor="middle" font-size="9">{factor:g}</text>'


def chart(result):
    rows = list(compared(result["rows"]))
    bottom = TOP + STEP * len(rows)
    machine = result["machine"][0].split("  ", 2)[-1].strip()
    title = f"Time of others over tutti's (right of 1: tutti is faster). {machine}, {result['date']}"
    out = ['<rect width="100%" height="100%" fill="white"/>', f'<text x="10" y="16">{escape(title)}</text>']
    out += scale(bottom)
    for k, (name, times) in enumerate(rows):
        y = TOP + STEP * k + 4
        out.append(f'<text x="{LABEL}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        for peer, factor in times.items():
            tip = f"<title>{peer}: {factor:.2f}</title>"
            out.append(f'<circle cx="{place(factor):.1f}" cy="{y}" r="4.5" fill="{COLOURS[peer]}">{tip}</circle>')
    for k, peer in enumerate(n for n in COLOURS if n in result["peers"]):
        x = LEFT + 110 * k
        out.append(f'<circle cx="{x}" cy="{bottom + 14}" r="4.5" fill="{COLOURS[peer]}"/>')
        out.append(f'<text x="{x + 9}" y="{bottom + 18}">{peer} {escape(result["peers"][peer].split("+")[0])}</text>')
    size = f'width="780" height="{bottom + 28}" font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, *out, "</svg>\n"])


def main(source, out):
    with open(source, encoding="utf-8") as f:
        result = json.load(f)
    with open(out, "w", encoding="utf-8") as f:
        f.write(chart(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
