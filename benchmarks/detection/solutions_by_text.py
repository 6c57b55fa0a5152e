"""What kernelguard says of solutions, by their text alone: a detector of hacks by rules, from the package index.

    python -m benchmarks.detection.solutions_by_text LIST.json --keep FOLDER [--first 1000]

Needs `pip install kernelguard==0.3.2`. FOLDER keeps its class, its rules that matched and the seconds.
"""

import argparse
import time
from importlib import import_module
from pathlib import Path

from benchmarks.detection.kept_lines import add_line
from benchmarks.detection.solutions import CHECKS, read_list


def main() -> None:
    """Ask about each solution; the rules are asked once before, since the first call compiles them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--first", type=int, default=1000, help="so many of the list")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    guard = import_module("kernelguard")
    guard.analyze_code("", compute_structural_hash=False)
    for one in read_list(options.list)[: options.first]:
        began = time.perf_counter()
        said = guard.analyze_code(one.solution.read_text(encoding="utf-8"), compute_structural_hash=False)
        found = {
            "class": said["classification"],
            "filtered": said["should_filter"],
            "rules": sorted({match["pattern"] for match in said["matched_patterns"]}),
            "seconds": round(time.perf_counter() - began, 4),
        }
        add_line(options.keep / CHECKS["by_text"], one.key, found)


if __name__ == "__main__":
    main()
