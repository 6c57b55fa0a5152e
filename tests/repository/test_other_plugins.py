"""The suite starts beside other people's pytest plugins, and every other warning is still an error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT, TESTS

PLUGIN = """
import warnings
def pytest_configure(config):
    warnings.warn({text!r}, UserWarning)
"""
OF_BENCHMARK = (
    "Benchmarks are automatically disabled because xdist plugin is active."
    "Benchmarks cannot be performed reliably in a parallelized environment."
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "starts"),
    [(OF_BENCHMARK, True), pytest.param("Something else is deprecated.", False, marks=pytest.mark.soak)],
)
def test_the_suite_starts_beside_a_plugin_that_warns_of_xdist(tmp_path: Path, text: str, starts: bool) -> None:
    (tmp_path / "warns_at_start.py").write_text(PLUGIN.format(text=text))
    command = [sys.executable, "-m", "pytest", "-p", "warns_at_start", "-p", "no:cacheprovider", "--collect-only", "-q"]
    command += ["-o", "kfuzz_kernels=kernels/transpose/*.cu"]  # to read every kernel takes 4 s
    done = subprocess.run(
        [*command, str(TESTS / "repository" / "test_names.py")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) == starts, done.stdout + done.stderr
