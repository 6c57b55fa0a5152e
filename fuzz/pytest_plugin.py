"""The pytest plugin: kept cases are test items, and `pytest --kfuzz` fuzzes.

It is loaded in every test run of everyone who has kfuzz installed, so it imports nothing but pytest, and looks at
nothing but JSON, .cu files and the heads of .py files, until there is a case, a claim, or somebody asks to fuzz. What
the items do is in pytest_items.
"""

import importlib
import re
import secrets
from pathlib import Path
from types import ModuleType
from typing import Protocol

import pytest

CASE = re.compile(rb'"schema"\s*:\s*"kfuzz-case/')
CLAIM = re.compile(rb"^[ \t]*(?://|/\*+|\*|#)?[ \t]*///[ \t]*kernel[ \t]*(?:\*/)?[ \t\r]*$", re.MULTILINE)
"""As front_matter.MEANT has it."""
CODE = re.compile(rb"^(?:async |def |class |import |from |@|if |try:|with |[\w.]+\s*[=(\[])", re.MULTILINE)
"""As front_matter.CODE has it: a claim in a Python file stands above."""
MOST_BYTES = 16 << 20
WINDOW = 4096
"""Bytes at either end of a JSON file in which its schema stands: first as we write it, last if keys are sorted."""


class Node(Protocol):
    """A worker of xdist, as far as we know it."""

    config: pytest.Config
    workerinput: dict[str, object]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options and settings."""
    group = parser.getgroup("kfuzz", "kfuzz: kept cases are replayed always, kernels are fuzzed when asked")
    group.addoption("--kfuzz", action="store_true", help="also fuzz: one item for each kernel")
    group.addoption("--kfuzz-time", default="60s", metavar="TIME", help="time for all kernels together: 60s, 5m")
    group.addoption("--kfuzz-cases", type=int, metavar="N", help="so many cases of each kernel, however long they take")
    group.addoption("--kfuzz-device", default="auto", choices=("auto", "cpu", "gpu"), help="where kernels run")
    group.addoption("--kfuzz-seed", type=int, metavar="N", help="which cases are tried; drawn if left out")
    kernels = "kernels to replay on and to fuzz, as globs from rootdir; every .cu and .py file with a claim if left out"
    parser.addini("kfuzz_kernels", kernels, type="linelist", default=[])
    parser.addini("kfuzz_corpus", "folder for cases that --kfuzz finds", default="tests/corpus")


def pytest_configure(config: pytest.Config) -> None:
    """Draw the seed where none is given, once: it is told, and the workers of xdist have the same."""
    if config.getoption("--kfuzz") and config.getoption("--kfuzz-seed") is None:
        handed: dict[str, int] = getattr(config, "workerinput", {})
        config.option.kfuzz_seed = handed.get("kfuzz_seed", secrets.randbelow(1 << 32))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Node) -> None:
    """Hand the seed to a worker of xdist."""
    node.workerinput["kfuzz_seed"] = node.config.getoption("--kfuzz-seed")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect case files, and kernel files that carry a claim."""
    if file_path.suffix == ".json" and is_case(file_path):
        collector: pytest.Collector = _items().CaseFile.from_parent(parent, path=file_path)
        return collector
    is_chosen = parent.session.isinitpath(file_path) or not parent.config.getini("kfuzz_kernels")
    if file_path.suffix in (".cu", ".py") and is_chosen and has_claim(file_path):
        found: pytest.Collector = _items().KernelFile.from_parent(parent, path=file_path)
        return found
    return None


@pytest.hookimpl(tryfirst=True)  # so that -k and --lf choose among our items too
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the project's kernels that lie outside of the folders that were collected, where anything here is for us."""
    ours = any(type(item).__module__ == "kfuzz.pytest_items" for item in items)
    if ours or session.config.getoption("--kfuzz") or session.config.getini("kfuzz_kernels"):
        items += _items().more_items(session, items)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that there will be fuzzing."""
    if not config.getoption("--kfuzz"):
        return None
    cases, device = config.getoption("--kfuzz-cases"), config.getoption("--kfuzz-device")
    how_long = f"{cases} cases of each kernel" if cases else f"for {config.getoption('--kfuzz-time')}"
    return f"kfuzz: fuzzing {how_long}, device {device}, --kfuzz-seed {config.getoption('--kfuzz-seed')}"


def is_case(path: Path) -> bool:
    """Whether a JSON file says that it is one of our cases, of whatever version and however damaged."""
    try:
        with path.open("rb") as file:
            head = file.read(WINDOW)
            size = file.seek(0, 2)
            file.seek(max(0, size - WINDOW))
            return bool(CASE.search(head) or CASE.search(file.read(WINDOW)))
    except OSError:
        return False


def has_claim(path: Path) -> bool:
    """Whether a kernel file carries a claim, or what was meant for one."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return False
        text = path.read_bytes()
        return bool(CLAIM.search(text if path.suffix == ".cu" else CODE.split(text, maxsplit=1)[0]))
    except OSError:
        return False


def _items() -> ModuleType:
    """The rest, which needs numpy and all else."""
    return importlib.import_module("kfuzz.pytest_items")
