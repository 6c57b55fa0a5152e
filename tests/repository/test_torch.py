"""`make test-torch`: it runs every file of tests that skips something without torch or Triton."""

import re
import subprocess

from paths import ROOT, TESTS

ASKS = re.compile(r"(importorskip|find_spec)\(\"(torch|triton|kfuzz\.[\w.]+\.torch)\b")


def test_the_tests_of_torch_are_those_that_skip_without_it() -> None:
    made = subprocess.run(["make", "-n", "test-torch"], cwd=ROOT, capture_output=True, text=True, check=True)
    run = {ROOT / word for word in made.stdout.split() if word.startswith("tests/")}
    skipping = [path for path in TESTS.rglob("test_*.py") if ASKS.search(path.read_text(encoding="utf-8"))]
    assert len(skipping) > 20
    assert [path for path in skipping if not run & {path, *path.parents}] == []
