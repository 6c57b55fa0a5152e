"""One name, one thing: no two classes or type names in kfuzz are the same, in whatever room."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import ROOT


def types_of(path: Path) -> Iterator[str]:
    """Every class of a file, and every name that its top level gives to a type; `_Name` counts as `Name`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from (node.name.lstrip("_") for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (target.id.lstrip("_") for target in targets if isinstance(target, ast.Name))
            yield from (name for name in names if name[:1].isupper() and not name.isupper())


def homonyms(root: Path) -> dict[str, list[str]]:
    """Names that stand for several things, with the files in which they do."""
    found = defaultdict(list)
    for folder in ("fuzz", "oracle"):
        for path in sorted(root.glob(f"{folder}/**/*.py")):
            for name in types_of(path):
                found[name].append(path.relative_to(root).as_posix())
    return {name: places for name, places in found.items() if len(places) > 1}


@pytest.mark.slow
def test_no_two_things_have_one_name() -> None:
    assert homonyms(ROOT) == {}


def test_a_second_thing_of_a_name_is_seen(tmp_path: Path) -> None:
    texts = {"fuzz/devices": "class _Trial: ...", "fuzz/campaign/trials": "class Trial: ...", "oracle": "T = 1"}
    for folder, text in texts.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "some.py").write_text(f"{text}\nStatus = str\n")
    assert homonyms(tmp_path) == {
        "Trial": ["fuzz/campaign/trials/some.py", "fuzz/devices/some.py"],
        "Status": ["fuzz/campaign/trials/some.py", "fuzz/devices/some.py", "oracle/some.py"],
    }
