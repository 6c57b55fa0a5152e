"""The documentation as a site: docs/, findings, ops, measurements, the API; strict links, and no network to read it.

python docs/site.py build/site
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from kfuzz.kinds import FOLDER, KINDS
from kfuzz.oracle.judging.find_op import find, op_names
from kfuzz.ui.reports.ops_page import section

ROOT = Path(__file__).resolve().parent.parent
MEASURED = {
    path.resolve(): f"measured/{path.parent.name}.md" for path in sorted((ROOT / "benchmarks").glob("**/README.md"))
}
"""The pages of measurements, each by its place in the site; that of benchmarks/ itself says what there is."""
OPS = ROOT / "oracle" / "ops"
"""The files of the ops. A link to one leads to what `kfuzz op NAME` prints."""
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
API = {
    "kfuzz.api": "fuzz, load",
    "kfuzz.oracle.judging.judge.judge": "",
    "kfuzz.oracle.judging.exact_answers.want": "",
    "kfuzz.oracle.accuracy.rounding.Accuracy": "",
    "kfuzz.oracle.numbers.verdict.Special": "",
    "kfuzz.oracle.numbers.verdict.Verdict": "",
    "kfuzz.claims.kernel.Kernel": "",
    "kfuzz.ui.reports.report.Report": "",
    "kfuzz.testing": "",
}
"""The docstrings of the ten names, below the page on them; of a module only these members where some are named."""
GROUPS = {
    "Start": ["tutorial", "glossary"],
    "Use": ["languages", "kernel-file", "formulas", "callables", "judge", "pytest", "ci", "bench", "cluster"],
    "Understand": ["limits", "cpu-device", "gpu-device", "numerics", "found"],
    "Look up": ["api", "ops", "kernels", "formats"],
    "Inside": ["architecture"],
}
"""The pages of docs/ by what you want to do; a page that is in no group comes under `More`."""
SCHEMES = (("(prefers-color-scheme: light)", "default", "weather-night", "Dark"),
           ("(prefers-color-scheme: dark)", "slate", "weather-sunny", "Light"))  # fmt: skip
"""When each colour scheme is used by itself, and the button that leads to the other."""
LINK = re.compile(r"(?ms:^```.*?^```$)|`[^`\n]*`|\[([^\]]+)\]\((?!https?://|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
"""A link to a file; also code, in which nothing is a link."""
SHIM = re.compile(r'<script src="https://[^"]*/iframe-worker/shim"></script>')
"""What the theme would fetch to search a site that is opened from disk; we have our own."""
FETCHED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="https?://""")


def assembled(source: Path) -> None:
    """Lay out the pages as the site has them: those of docs/ beside the README, all others in folders."""
    for path in sorted((ROOT / "docs").glob("*.md")):
        write(source / path.name, path.read_text(encoding="utf-8"), path.parent)
    write(source / "index.md", (ROOT / "README.md").read_text(encoding="utf-8"), ROOT)
    for name in BESIDE:
        if (ROOT / name).exists():
            write(source / name, (ROOT / name).read_text(encoding="utf-8"), ROOT)
    for kind in KINDS.values():
        write(source / "findings" / f"{kind.name}.md", kind.page, FOLDER, up="../")
    for name in op_names():  # one heading of the first level, as every page has
        write(source / "ops" / f"{name}.md", section(find(name)).removeprefix("#"), OPS, up="../")
    for path, place in MEASURED.items():
        write(source / place, path.read_text(encoding="utf-8"), path.parent, up="../")
    chosen = {name: f"    options:\n      members: [{members}]\n" if members else "" for name, members in API.items()}
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    parts = [page, "## In full\n", *(f"::: {name}\n{options}" for name, options in chosen.items())]
    write(source / "api.md", "\n".join(parts), ROOT / "docs")


def linked(folder: Path) -> None:
    """The package as its names have it, for what reads the docstrings: fuzz/ is kfuzz, oracle/ is kfuzz.oracle."""
    (folder / "kfuzz").mkdir(parents=True)
    for path in [*(ROOT / "fuzz").iterdir(), ROOT / "oracle"]:
        (folder / "kfuzz" / path.name).symlink_to(path)


def write(path: Path, text: str, folder: Path, up: str = "") -> None:
    """Write a page. Links to pages of the site lead there, by way of `up`; links to other files become their names."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def replaced(found: re.Match[str]) -> str:
        return linked_to(*found.groups(default=""), folder, up) if found[1] else found[0]  # code is left as it is

    path.write_text(LINK.sub(replaced, text), encoding="utf-8")


def linked_to(label: str, link: str, anchor: str, folder: Path, up: str) -> str:
    """A link to a page of the site; of another file of the repository its name."""
    place = where(link, folder)
    return f"[{label}]({up}{place}{anchor})" if place else f"{label} (`{name_of(folder / link)}`)"


def name_of(path: Path) -> str:
    return path.resolve().relative_to(ROOT).as_posix()


def where(link: str, folder: Path) -> str:
    """The place of a linked file in the site; nothing where the site does not hold it."""
    target = (folder / link).resolve()
    if not target.exists():
        raise SystemExit(f"{folder.relative_to(ROOT) or '.'}: the link to {link} leads nowhere")
    if target == ROOT / "README.md":
        return "index.md"
    if target.parent in (ROOT / "docs", ROOT) and target.suffix == ".md":
        return target.name
    if target.parent == FOLDER and target.stem in KINDS:
        return f"findings/{target.name}"
    if target.parent == OPS and target.stem in op_names():
        return f"ops/{target.stem}.md"
    return MEASURED.get(target / "README.md" if target.is_dir() else target, "")


def configuration(source: Path, package: Path, site: Path) -> dict[str, object]:
    """What MkDocs is told: the order of pages, search, and nothing from anywhere else."""
    there = {path.stem for path in source.glob("*.md")}
    groups = {title: [f"{name}.md" for name in names if name in there] for title, names in GROUPS.items()}
    placed = {name for names in GROUPS.values() for name in names} | {"index"}
    groups["More"] = [f"{name}.md" for name in sorted(there - placed - {Path(one).stem for one in BESIDE})]
    findings = sorted((source / "findings").glob("*.md"))
    measured = [place for place in MEASURED.values() if (source / place).exists()]
    python = {"paths": [str(package)], "options": {"heading_level": 2, "show_source": False}}
    return {
        "site_name": "kfuzz",
        "docs_dir": str(source),
        "site_dir": str(site),
        "strict": True,
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.indexes", "navigation.sections", "content.code.copy"],
            "palette": [
                {"media": media, "scheme": scheme, "toggle": {"icon": f"material/{icon}", "name": f"{other} colours"}}
                for media, scheme, icon, other in SCHEMES
            ],
        },
        "plugins": ["search", "offline", {"mkdocstrings": {"handlers": {"python": python}}}],
        "markdown_extensions": ["admonition", "pymdownx.highlight", "pymdownx.superfences", "tables", "toc"],
        "nav": [
            {"kfuzz": "index.md"},
            *({title: pages} for title, pages in groups.items() if pages),
            {"Findings": [f"findings/{path.name}" for path in findings]},
            {"Measurements": measured},
            {"Project": [name for name in BESIDE if Path(name).stem in there]},
        ],
        "not_in_nav": "/ops/",  # the list of ops leads to them
        "validation": {"links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"}},
    }


def main() -> None:
    """Build the site into the folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path, help="the folder to build into; what is in it is replaced")
    site = parser.parse_args().site.resolve()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "docs"
        package = Path(folder) / "package"
        assembled(source)
        linked(package)
        settings = Path(folder) / "mkdocs.yml"
        settings.write_text(yaml.safe_dump(configuration(source, package, site), sort_keys=False), encoding="utf-8")
        shutil.rmtree(site, ignore_errors=True)
        run = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", str(settings)]
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(run, env=quiet, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    made_offline(site)


def made_offline(site: Path) -> None:
    """Let no page fetch anything: what searches a site from disk is written into it, and nothing else is left."""
    own = f"<script>{(ROOT / 'docs' / 'search_from_disk.js').read_text(encoding='utf-8')}</script>"
    for path in site.rglob("*.html"):
        text = SHIM.sub(lambda _: own, path.read_text(encoding="utf-8"))
        if found := FETCHED.search(text):
            raise SystemExit(f"{path.relative_to(site)}: it would fetch something: {found[0]}")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
