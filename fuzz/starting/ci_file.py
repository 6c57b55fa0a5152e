"""The file that has a CI service replay and fuzz. Knows which service a project is at and where kfuzz came from.

What stands in the file lies beside this one.
"""

import json
import subprocess
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse

PLACES = {"github": Path(".github/workflows/kfuzz.yml"), "gitlab": Path(".gitlab-ci.yml")}
WHEELS = "wheels"


def service_of(folder: Path) -> str:
    """The service that the folder is set up for, or its remote is at; GitHub where nothing tells."""
    if (folder / ".gitlab-ci.yml").exists():
        return "gitlab"
    if (folder / ".github").is_dir():
        return "github"
    return "gitlab" if "gitlab" in ask_git(folder, "remote", "-v") else "github"


def top_of(folder: Path) -> Path:
    """The top of the repository that the folder is in, or the folder itself."""
    return Path(ask_git(folder, "rev-parse", "--show-toplevel").rstrip("\n") or folder).resolve()


def ask_git(folder: Path, *words: str) -> str:
    """What git says; nothing where there is no git or no repository."""
    try:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def ci_text(service: str, corpus: str) -> str:
    """The file of a service."""
    text = Path(__file__).with_name(f"{service}.yml").read_text(encoding="utf-8")
    return text.replace("$install", installation()[0]).replace("$corpus", corpus)


def installation() -> tuple[str, str]:
    """What pip is told to install in CI, and the command that has to be run before, if any.

    No package index has kfuzz: a machine of the service takes it from where it was taken here if that is a repository
    that others reach, and else from a wheel in the project.
    """
    found = metadata.distribution("kfuzz")
    told = json.loads(found.read_text("direct_url.json") or "{}")
    url = str(told.get("url", ""))
    if commit := told.get("vcs_info", {}).get("commit_id"):
        return f'"kfuzz @ git+{url}@{commit}"', ""
    wheel = f"{WHEELS}/kfuzz-{found.version}-py3-none-any.whl"
    place = unquote(urlparse(url).path) if url.startswith("file:") else "path/to/kfuzz"
    if place.endswith(".whl"):
        return wheel, f"mkdir -p {WHEELS} && cp {place} {WHEELS}/"
    return wheel, f"python -m pip wheel --no-deps --wheel-dir {WHEELS} {place}"
