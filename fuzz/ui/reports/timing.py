"""The text of a benchmark: a table, bars for a terminal, an SVG, and JSON.

Knows recorded races; it does not know how a time is taken.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from kfuzz.measure.speed.bench import KernelTimes
from kfuzz.measure.speed.figures import Heat, Recording, chance_of_no_change, describe_change, describe_rank
from kfuzz.measure.speed.sizes import size_text

WIDTH = 40
EIGHTHS = " ▏▎▍▌▋▊▉"
COLOURS = ("#1a73e8", "#e8710a", "#188038", "#a142f4")
FORMAT = 2

Earlier = Mapping[tuple[str, str], tuple[float, tuple[float, ...]]]
"""By kernel and size: its fraction, and the fraction of each of its replays."""


def table(timed: KernelTimes) -> list[str]:
    """One line for each contestant and size: rate, fraction of the reference, spread, and which is ahead.

    The heading names the reference, and is repeated where the reference changes.
    """
    lines = [title := heading(next((race for race in timed.races if race.copies), None))]
    for race in timed.races:
        if race.copies and heading(race) != title:
            lines.append(title := heading(race))
        size = size_text(tuple(race.axes.values()))
        held = race.products if race.products else (race.copy,) if race.copies and race.is_of_bytes else ()
        for one in (*race.kernels, *race.rivals, *held):
            word = describe_rank(one, race.rivals) if one in race.kernels else ""
            tune = " ".join(f"{name}={value}" for name, value in one.tune)
            lines.append(
                f"{size:>14}  {one.name.rpartition('/')[2]:<22} {one.median * 1e6:>9.2f} {race.rate(one) / 1e12:>7.2f} "
                f"{race.fraction(one):>9.3f} {one.spread:>6.1%}  {', '.join(filter(None, (word, tune)))}".rstrip()
            )
            size = ""
        for name, why in race.refused.items():
            is_own = name == timed.kernel
            lines.append(f"{size:>14}  {name}: no figure: {why}" if is_own else without_figure(size, name, why))
    return lines


def without_figure(size: str, rival: str, why: str) -> str:
    """The line of a rival that does not take a size."""
    return f"{size:>14}  {rival:<22} {'-':>9} {'-':>7} {'-':>9} {'-':>6}  it does not take this: {why}"


def heading(race: Heat | None) -> str:
    """The heading above the figures of a race."""
    of, rate = ("copy", "TB/s") if race is None or race.is_of_bytes else (race.measure.name, "TFLOP/s")
    return f"{'size':>14}  {'':<22} {'us':>9} {rate:>7} {'of ' + of:>9} {'spread':>7}"


def bars(timed: KernelTimes) -> list[str]:
    """Fractions of the reference as bars, the rivals below the kernel."""
    lines = []
    for race in timed.races:
        size = size_text(tuple(race.axes.values()))
        for one in (*race.kernels, *race.rivals):
            part = min(race.fraction(one), 1.25)
            eighths = round(part * WIDTH * 8)
            bar = "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
            lines.append(f"{size:>14}  {one.name.rpartition('/')[2]:<22} {bar} {race.fraction(one):.2f}")
            size = ""
    return lines


def as_document(every: Sequence[KernelTimes], gpu: str, versions: Mapping[str, str]) -> str:
    """All that was recorded, as JSON (docs/bench.md says which fields)."""
    document = {
        "format": FORMAT,
        "gpu": gpu,
        "versions": dict(versions),
        "kernels": [
            {
                "kernel": timed.kernel,
                "op": timed.op,
                "refused": timed.refused,
                "sizes": [_race(race) for race in timed.races],
            }
            for timed in every
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _race(race: Heat) -> dict[str, Any]:
    return {
        "axes": race.axes,
        "bytes": {"read": race.traffic.read, "written": race.traffic.written},
        "kernels": [_recorded(race, one) for one in race.kernels],
        "rivals": [_recorded(race, one) for one in race.rivals],
        "copies": [_recorded(race, one) for one in race.copies],
        "products": [_recorded(race, one) for one in race.products],
        "operations": race.cost.operations,
        "of": race.measure.name if race.copies else "",
        "refused": race.refused,
    }


def _recorded(race: Heat, one: Recording) -> dict[str, Any]:
    return {
        "name": one.name,
        "tune": dict(one.tune),
        "seconds": one.seconds,
        "median": one.median,
        "spread": one.spread,
        "fraction": race.fraction(one),
    }


def read_earlier(text: str) -> Earlier:
    """The figures in an earlier --json file by kernel and size. Raises ValueError or KeyError for another file."""
    found = {}
    for kernel in json.loads(text)["kernels"]:
        for race in kernel["sizes"]:
            for one in race["kernels"]:
                size = size_text(tuple(race["axes"].values()))
                held = one["fraction"] * one["median"]
                found[kernel["kernel"], size] = (one["fraction"], tuple(held / taken for taken in one["seconds"]))
    return found


def compare_figures(every: Sequence[KernelTimes], earlier: Earlier) -> list[str]:
    """How each fraction has changed since."""
    lines = []
    for timed in every:
        for race in timed.races:
            size = size_text(tuple(race.axes.values()))
            for one in race.kernels:
                if (known := earlier.get((timed.kernel, size))) is None:
                    lines.append(f"{timed.kernel} {size}: not timed before")
                    continue
                now = [race.measure.seconds / taken for taken in one.seconds]
                chance = chance_of_no_change(known[1], now)
                change = describe_change(known[0], race.fraction(one), chance, race.measure.name)
                lines.append(f"{timed.kernel} {size}: {change}")
    return lines


def as_svg(timed: KernelTimes) -> str:
    """Fraction against size, a line for the kernel and one for each rival."""
    names = list(dict.fromkeys(one.name for race in timed.races for one in (*race.kernels, *race.rivals)))
    measures = dict.fromkeys(race.measure.name for race in timed.races if race.copies)
    width, height, left, top = 120 * max(2, len(timed.races)) + 90, 320, 60, 20
    step, tall = (width - left - 30) / max(1, len(timed.races) - 1), height - top - 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 20 * len(names)}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(timed.kernel)}: fraction of {' and '.join(measures) or 'copy'}</title>",
    ]
    for tenth in range(0, 11, 2):
        y = top + tall * (1 - tenth / 10)
        parts.append(f'<path d="M{left} {y:.1f}H{width - 30}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    for at, race in enumerate(timed.races):
        size = size_text(tuple(race.axes.values()))
        parts.append(f'<text x="{left + at * step:.1f}" y="{top + tall + 20}" text-anchor="middle">{size}</text>')
    for number, name in enumerate(names):
        colour = COLOURS[number % len(COLOURS)]
        points = [
            (left + at * step, top + tall * (1 - min(race.fraction(one), 1.0)))
            for at, race in enumerate(timed.races)
            for one in (*race.kernels, *race.rivals)
            if one.name == name
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(f'<text x="{left}" y="{top + tall + 45 + 18 * number}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])
