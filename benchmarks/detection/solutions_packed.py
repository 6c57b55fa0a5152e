"""A list of solutions with all of their texts as one file, for a machine that has no repositories.

    python -m benchmarks.detection.solutions_packed pack LIST.json PACKED.json
    python -m benchmarks.detection.solutions_packed unpack PACKED.json FOLDER

FOLDER gets the files and list.json again.
"""

import argparse
import json
from pathlib import Path


def main() -> None:
    """Pack or unpack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("pack", "unpack"))
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    (pack if options.verb == "pack" else unpack)(options.source, options.target)


def pack(listed: Path, packed: Path) -> None:
    """Write the solutions of a list, and the texts of their files by name."""
    solutions = json.loads(listed.read_text(encoding="utf-8"))
    names = sorted({one[role] for one in solutions for role in ("solution", "problem")})
    texts = {name: (listed.parent / name).read_bytes().decode() for name in names}
    packed.write_text(json.dumps({"solutions": solutions, "texts": texts}), encoding="utf-8")


def unpack(packed: Path, folder: Path) -> None:
    """Write the files, and the list."""
    read = json.loads(packed.read_text(encoding="utf-8"))
    for name, text in read["texts"].items():
        place = folder / name
        if not place.resolve().is_relative_to(folder.resolve()):
            raise SystemExit(f"{packed}: {name} is no file in the folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    (folder / "list.json").write_text(json.dumps(read["solutions"], indent=0), encoding="utf-8")


if __name__ == "__main__":
    main()
