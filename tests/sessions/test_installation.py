"""The installation line that doctor, a repro.py and the README print installs kfuzz."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from installed import ROOT, Machine

from kfuzz.common.installation import ANYWHERE, install_line_for

LINE = re.compile(r"python -m pip install (?P<what>.*)")
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def installed_by(line: str, target: Path) -> str:
    """Where kfuzz lies once pip has done what the line says, without what it needs and without a network."""
    found = LINE.fullmatch(line)
    assert found, line
    alone = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "install", *alone, *shlex.split(found["what"])]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return str(next(target.glob("kfuzz/__init__.py")))


@pytest.mark.parametrize(
    ("reported", "extra", "wanted"),
    [
        ({"url": "file:///a/b/kfuzz-0.1.0-py3-none-any.whl"}, "", "/a/b/kfuzz-0.1.0-py3-none-any.whl"),
        ({"url": "file:///a%20b/kfuzz", "dir_info": {"editable": True}}, "gpu", "'/a b/kfuzz[gpu]'"),
        ({"url": "https://there/kfuzz.whl"}, "gpu", "'kfuzz[gpu] @ https://there/kfuzz.whl'"),
        (
            {"url": "https://there/kfuzz.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "gpu",
            "'kfuzz[gpu] @ git+https://there/kfuzz.git@c0ffee'",
        ),
        (None, "", str(ROOT)),
        (None, "gpu", f"'{ROOT}[gpu]'"),
    ],
)
def test_it_names_where_kfuzz_came_from(reported: dict[str, object] | None, extra: str, wanted: str) -> None:
    text = None if reported is None else json.dumps(reported)
    assert install_line_for(text, ROOT, extra) == f"python -m pip install {wanted}"


def test_it_never_is_the_name_alone(tmp_path: Path) -> None:
    """Who takes that name on an index would be believed; from an index of one's own nothing is written down."""
    assert install_line_for(None, tmp_path, "") == f"python -m pip install {ANYWHERE}"
    assert install_line_for(None, tmp_path, "gpu") == f"python -m pip install '{ANYWHERE}[gpu]'"


@pytest.mark.soak
def test_what_doctor_and_a_repro_print_installs_kfuzz(machine: Machine, tmp_path: Path) -> None:
    doctor = next(line for line in machine.kfuzz("doctor").stdout.splitlines() if " kfuzz " in line)
    code = "from kfuzz.common.installation import install_line; print(install_line())"
    printed = machine.run("python", "-c", code).stdout.strip()
    assert doctor.endswith(printed)
    assert installed_by(printed, tmp_path / "target") == str(tmp_path / "target" / "kfuzz" / "__init__.py")
    with pytest.raises(subprocess.CalledProcessError):
        installed_by("python -m pip install kfuzz", tmp_path / "other")


def test_the_extras_that_pages_name_are_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = [one for page in DOCUMENTS for one in re.findall(r"kfuzz\[([\w,]+)\]", page.read_text())]
    assert len(named) >= 3
    assert {extra for one in named for extra in one.split(",")} <= extras.keys()
