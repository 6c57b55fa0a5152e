"""The self-check as a user runs it, and the example in the oracle's own documentation."""

import doctest
import subprocess
import sys

import pytest
from paths import ROOT

from kfuzz import oracle
from tests.oracle.selfcheck.__main__ import check


def test_the_example_in_the_documentation_is_true() -> None:
    result = doctest.testmod(oracle, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.slow(2)
def test_a_sixtieth_of_the_self_check_holds() -> None:
    assert check(full=False, every=60) == []


@pytest.mark.soak
def test_the_self_check_holds() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.oracle.selfcheck"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.rstrip().endswith("the oracle holds"), done.stdout + done.stderr
    assert done.returncode == 0
