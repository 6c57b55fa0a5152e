"""The documentation as a site: strict links, a page for each finding, nothing fetched; completion."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from paths import ROOT

import kfuzz
from kfuzz.kinds import KINDS
from kfuzz.oracle.judging.find_op import op_names

IS_THERE = importlib.util.find_spec("mkdocstrings") is not None and importlib.util.find_spec("material") is not None
needs_mkdocs = pytest.mark.skipif(not IS_THERE, reason="MkDocs is not installed: pip install --group docs")


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_of_docs", ROOT / "docs" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(script), str(folder)], capture_output=True, text=True, check=False)


@needs_mkdocs
@pytest.mark.slow
def test_the_site_is_built_strictly_and_fetches_nothing(tmp_path: Path) -> None:
    done = built(ROOT / "docs" / "site.py", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.stem for path in (tmp_path / "findings").glob("*.html")} == set(KINDS)
    assert {path.stem for path in (tmp_path / "ops").glob("*.html")} == set(op_names())
    softmax = (tmp_path / "ops" / "softmax.html").read_text()
    assert "def formula(" in softmax
    assert 'href="ops/softmax.html"' in (tmp_path / "ops.html").read_text()
    measured = {path.parent.name for path in (ROOT / "benchmarks").glob("**/README.md")}
    assert {path.stem for path in (tmp_path / "measured").glob("*.html")} == measured
    reported = {
        name.rpartition(".")[2] for name in re.findall(r'id="(kfuzz[^"]*)"', (tmp_path / "api.html").read_text())
    }
    assert set(kfuzz.__all__) - reported == set()
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= {path.stem for path in tmp_path.glob("*.html")}
    for path in tmp_path.rglob("*.html"):
        assert not re.search(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="https?:', path.read_text()), path


def test_the_pages_are_grouped_and_the_site_has_a_dark_scheme(site: ModuleType, tmp_path: Path) -> None:
    pages = [path.stem for path in (ROOT / "docs").glob("*.md")]
    for name in [*pages, "newly_written"]:
        (tmp_path / f"{name}.md").touch()
    made = site.configuration(tmp_path, tmp_path, tmp_path)
    groups = {title: names for entry in made["nav"] for title, names in entry.items() if isinstance(names, list)}
    assert groups["More"] == ["newly_written.md"]  # every page of docs/ has a group
    assert {name for names in groups.values() for name in names} >= {f"{name}.md" for name in pages}
    assert [one["scheme"] for one in made["theme"]["palette"]] == ["default", "slate"]


def test_a_link_leads_to_a_page_of_the_site_or_becomes_a_name(site: ModuleType, tmp_path: Path) -> None:
    text = "[a](limits.md#x) [b](../README.md) [c](../benchmarks) [f](../Makefile) `[1](x)` [d](https://x.y) [e](#here)"
    site.write(tmp_path / "page.md", text, ROOT / "docs")
    assert (tmp_path / "page.md").read_text() == (
        "[a](limits.md#x) [b](index.md) [c](measured/benchmarks.md) f (`Makefile`) `[1](x)` [d](https://x.y) [e](#here)"
    )
    site.write(tmp_path / "page.md", "[a](../oracle/ops/softmax.py) [b](../oracle/ops/__init__.py)", ROOT / "docs")
    assert (tmp_path / "page.md").read_text() == "[a](ops/softmax.md) b (`oracle/ops/__init__.py`)"
    site.write(tmp_path / "page.md", "[a](../../docs/limits.md) [b](race.md)", ROOT / "fuzz" / "kinds", up="../")
    assert (tmp_path / "page.md").read_text() == "[a](../limits.md) [b](../findings/race.md)"


def test_a_link_that_leads_nowhere_ends_the_build(site: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"the link to nowhere\.md leads nowhere"):
        site.write(tmp_path / "page.md", "[a](nowhere.md)", ROOT / "docs")


def test_a_page_that_would_fetch_something_ends_the_build(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<img alt="" src="https://example.org/a.png">')
    with pytest.raises(SystemExit, match=r"page\.html: it would fetch something"):
        site.made_offline(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "wanted"), [("kfuzz fu", "plain,fuzz"), ("kfuzz fuzz --wat", "plain,--watch")])
def test_the_shell_completes_commands_and_options(words: str, wanted: str) -> None:
    asked = {"_KFUZZ_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    program = Path(sys.executable).with_name("kfuzz")
    done = subprocess.run([program], env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [wanted]
