"""The pytest plugin: kept cases are test items, and `pytest --kfuzz` fuzzes.

Every test run of everyone who has kfuzz installed loads it. So it imports nothing but pytest and the endings of kernel
files, and looks at nothing but JSON, kernel files and the heads of .py files, until it meets a case, a claim or the
option --kfuzz. The items themselves are in items.py.
"""

import functools
import importlib
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Protocol

import pytest

from kfuzz.claims.language.languages import ENDINGS

CASE = re.compile(rb'"schema"\s*:\s*"kfuzz-case/')
CLAIM = re.compile(rb"^[ \t]*(?://|/\*+|\*|#)?[ \t]*///[ \t]*kernel[ \t]*(?:\*/)?[ \t\r]*$", re.MULTILINE)
"""The same as front_matter.MEANT."""
CODE = re.compile(rb"^(?:async |def |class |import |from |@|if |try:|with |[\w.]+\s*[=(\[])", re.MULTILINE)
"""The same as CODE of claims/language/python.py: a claim in a Python file comes before the code."""
MOST_BYTES = 16 << 20
SUMMARY_LINE = "kfuzz_summary"
"""The property of an item whose value is a line of pytest's summary; reports of xdist's workers have it, too."""
WINDOW = 4096
"""Bytes at either end of a JSON file that may hold its schema: kfuzz writes it first; it is last if keys are sorted."""


class Node(Protocol):
    """A worker of xdist, as far as we use it."""

    config: pytest.Config
    workerinput: dict[str, object]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options and settings."""
    group = parser.getgroup("kfuzz", "kfuzz: kept cases are always replayed; kernels are fuzzed with --kfuzz")
    group.addoption("--kfuzz", action="store_true", help="also fuzz: one item for each kernel")
    group.addoption("--kfuzz-time", default="60s", metavar="TIME", help="time for all kernels together: 60s, 5m")
    group.addoption("--kfuzz-cases", type=int, metavar="N", help="number of cases of each kernel, instead of a time")
    group.addoption("--kfuzz-device", default="auto", choices=("auto", "cpu", "gpu"), help="where kernels run")
    group.addoption("--kfuzz-seed", type=int, metavar="N", help="seed of the cases; default: random, and printed")
    group.addoption(
        "--kfuzz-fail-on",
        choices=("error", "warning"),
        help="the least severity that fails; default: fail-on of kfuzz.toml, else error",
    )
    kernels = "globs from rootdir of the kernels to replay on and to fuzz; default: every .cu and .py file with a claim"
    parser.addini("kfuzz_kernels", kernels, type="linelist", default=[])
    corpus = "folder for cases that --kfuzz finds; default: corpus of kfuzz.toml, else tests/corpus"
    parser.addini("kfuzz_corpus", corpus, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Draw a seed if none is given, once: the header shows it, and all workers of xdist use it."""
    if config.getoption("--kfuzz") and config.getoption("--kfuzz-seed") is None:
        worker_input: dict[str, int] = getattr(config, "workerinput", {})
        config.option.kfuzz_seed = worker_input.get("kfuzz_seed", secrets.randbelow(1 << 32))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Node) -> None:
    """Pass the seed to a worker of xdist."""
    node.workerinput["kfuzz_seed"] = node.config.getoption("--kfuzz-seed")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect case files, and kernel files that carry a claim."""
    if file_path.suffix == ".json" and is_case(file_path):
        collector: pytest.Collector = _items().CaseFile.from_parent(parent, path=file_path)
        return collector
    is_chosen = parent.session.isinitpath(file_path) or not parent.config.getini("kfuzz_kernels")
    if file_path.suffix in ENDINGS and is_chosen and has_claim(file_path):
        kernel_file: pytest.Collector = _items().KernelFile.from_parent(parent, path=file_path)
        return kernel_file
    return None


@pytest.hookimpl(tryfirst=True)  # so that -k and --lf choose among our items too
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the project's kernels outside of the collected folders, if this run has anything for kfuzz.

    A run of some files of other tests has nothing for it: to read all kernels takes seconds.
    """
    ours = any(type(item).__module__ == "kfuzz.ui.pytest.items" for item in items)
    is_whole = session.config.args_source is not pytest.Config.ArgsSource.ARGS
    if ours or session.config.getoption("--kfuzz") or (is_whole and session.config.getini("kfuzz_kernels")):
        items += _items().more_items(session, items)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Announce a fuzzing run, with its seed."""
    if not config.getoption("--kfuzz"):
        return None
    cases, device = config.getoption("--kfuzz-cases"), config.getoption("--kfuzz-device")
    how_long = f"each kernel, --kfuzz-cases {cases}" if cases else f"for {config.getoption('--kfuzz-time')}"
    return f"kfuzz: fuzzing {how_long}, device {device}, --kfuzz-seed {config.getoption('--kfuzz-seed')}"


@pytest.fixture(scope="session")
def kfuzz_check(request: pytest.FixtureRequest) -> Callable[..., object]:
    """`kfuzz.testing.check` on the device of --kfuzz-device: call it with a kernel and an attempt."""
    check = importlib.import_module("kfuzz.testing").check
    return functools.partial(check, device=request.config.getoption("--kfuzz-device"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what of the answers was not judged, how far the others were from the exact ones, and a lack of kernels."""
    every = (
        one for reports in terminalreporter.stats.values() for one in reports if isinstance(one, pytest.TestReport)
    )
    lines = [
        value for one in every if one.when == "call" for name, value in one.user_properties if name == SUMMARY_LINE
    ]
    if terminalreporter.config.getoption("--kfuzz") and not lines:
        lines = _items().lines_without_kernels(terminalreporter.config)
    if lines:
        terminalreporter.section("kfuzz")
        for line in lines:
            terminalreporter.write_line(str(line))


def is_case(path: Path) -> bool:
    """Whether a JSON file says that it is one of our cases, in any version and even if it is damaged."""
    try:
        with path.open("rb") as file:
            head = file.read(WINDOW)
            size = file.seek(0, 2)
            file.seek(max(0, size - WINDOW))
            return bool(CASE.search(head) or CASE.search(file.read(WINDOW)))
    except OSError:
        return False


def has_claim(path: Path) -> bool:
    """Whether a kernel file has a claim, or something that was meant as one."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return False
        text = path.read_bytes()
        return bool(CLAIM.search(CODE.split(text, maxsplit=1)[0] if path.suffix == ".py" else text))
    except OSError:
        return False


def _items() -> ModuleType:
    """The module with the items, which imports numpy and everything else."""
    return importlib.import_module("kfuzz.ui.pytest.items")
