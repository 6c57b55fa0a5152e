"""The documentation as a site: docs/, a page a kind of finding and the API, with strict links; no network to read it.

python docs/site.py build/site
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
KINDS = ROOT / "fuzz" / "views" / "kinds"
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
API = ("kfuzz", "kfuzz.oracle", "kfuzz.strategies", "kfuzz.devices", "kfuzz.trials.trial")
ORDER = ("tutorial", "kernel-file", "ci", "limits", "cpu-device", "numerics", "architecture", "formats", "kernels")
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s#]+)")


def assembled(source: Path) -> None:
    """Lay out the pages as the site has them: those of docs/ beside the README, findings and API in folders."""
    for path in sorted((ROOT / "docs").glob("*.md")):
        write(source / path.name, path.read_text(encoding="utf-8"), path.parent)
    write(source / "index.md", (ROOT / "README.md").read_text(encoding="utf-8"), ROOT)
    for name in BESIDE:
        if (ROOT / name).exists():
            write(source / name, (ROOT / name).read_text(encoding="utf-8"), ROOT)
    for path in sorted(KINDS.glob("*.md")):
        write(source / "findings" / path.name, path.read_text(encoding="utf-8"), path.parent)
    pages = [f"# API\n\n{' '.join(f'[`{name}`](#{name})' for name in API)}\n", *(f"::: {name}\n" for name in API)]
    write(source / "api.md", "\n".join(pages), ROOT)


def linked(folder: Path) -> None:
    """The package as its names have it, for what reads the docstrings: fuzz/ is kfuzz, oracle/ is kfuzz.oracle."""
    (folder / "kfuzz").mkdir(parents=True)
    for path in [*(ROOT / "fuzz").iterdir(), ROOT / "oracle"]:
        (folder / "kfuzz" / path.name).symlink_to(path)


def write(path: Path, text: str, folder: Path) -> None:
    """A page, with links to what the site holds pointing there, and links to other files of the repository in words."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LINK.sub(lambda found: f"]({where(found[1], folder)}", text), encoding="utf-8")


def where(link: str, folder: Path) -> str:
    """The place of a linked file in the site."""
    target = (folder / link).resolve()
    if target == ROOT / "README.md":
        return "index.md"
    if target.parent in (ROOT / "docs", ROOT) and target.suffix == ".md":
        return target.name
    if not target.exists():
        raise SystemExit(f"{folder.relative_to(ROOT) or '.'}: the link to {link} leads nowhere")
    return f"https://example.invalid/{target.relative_to(ROOT)}"


def configuration(source: Path, package: Path, site: Path) -> dict[str, object]:
    """What MkDocs is told: the order of pages, search, and nothing from anywhere else."""
    there = {path.stem for path in source.glob("*.md")}
    chosen = [name for name in ORDER if name in there]
    rest = sorted(there - {*ORDER, "index", "api"} - {Path(name).stem for name in BESIDE})
    findings = sorted((source / "findings").glob("*.md"))
    python = {"paths": [str(package)], "options": {"heading_level": 2, "show_source": False}}
    return {
        "site_name": "kfuzz",
        "docs_dir": str(source),
        "site_dir": str(site),
        "strict": True,
        "use_directory_urls": False,
        "theme": {"name": "material", "font": False, "features": ["navigation.indexes", "content.code.copy"]},
        "plugins": ["search", "offline", {"mkdocstrings": {"handlers": {"python": python}}}],
        "markdown_extensions": ["admonition", "pymdownx.highlight", "pymdownx.superfences", "tables", "toc"],
        "nav": [
            {"kfuzz": "index.md"},
            *(f"{name}.md" for name in [*chosen, *rest]),
            {"Findings": [f"findings/{path.name}" for path in findings]},
            {"API": "api.md"},
            {"Project": [name for name in BESIDE if Path(name).stem in there]},
        ],
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
        done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", str(settings)], check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
