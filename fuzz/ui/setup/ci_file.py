"""The file that makes a CI service replay and fuzz. Knows which service a project uses and where kfuzz came from.

The template of the file lies beside this one.
"""

import json
import subprocess
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse

PLACES = {"github": Path(".github/workflows/kfuzz.yml"), "gitlab": Path(".gitlab-ci.yml")}
WHEELS = "wheels"


def service_of(folder: Path) -> str:
    """The service that the folder is set up for, or that hosts its remote; GitHub by default."""
    if (folder / ".gitlab-ci.yml").exists():
        return "gitlab"
    if (folder / ".github").is_dir():
        return "github"
    return "gitlab" if "gitlab" in ask_git(folder, "remote", "-v") else "github"


def top_of(folder: Path) -> Path:
    """The top of the repository that the folder is in, or the folder itself."""
    return Path(ask_git(folder, "rev-parse", "--show-toplevel").rstrip("\n") or folder).resolve()


def ask_git(folder: Path, *words: str) -> str:
    """The output of a git command; empty if there is no git or no repository."""
    try:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def ci_text(service: str, corpus: str) -> str:
    """The file of a service."""
    text = Path(__file__).with_name(f"{service}.yml").read_text(encoding="utf-8")
    return text.replace("$install", installation()[0]).replace("$corpus", corpus)


def installation() -> tuple[str, str]:
    """What pip installs in CI, and the command that you have to run before, if any.

    No package index has kfuzz. If kfuzz was installed here from a repository, the service installs it from there, and
    otherwise from a wheel in the project.
    """
    distribution = metadata.distribution("kfuzz")
    direct_url = json.loads(distribution.read_text("direct_url.json") or "{}")
    url = str(direct_url.get("url", ""))
    if commit := direct_url.get("vcs_info", {}).get("commit_id"):
        return f'"kfuzz @ git+{url}@{commit}"', ""
    wheel = f"{WHEELS}/kfuzz-{distribution.version}-py3-none-any.whl"
    place = unquote(urlparse(url).path) if url.startswith("file:") else "path/to/kfuzz"
    if place.endswith(".whl"):
        return wheel, f"mkdir -p {WHEELS} && cp {place} {WHEELS}/"
    return wheel, f"python -m pip wheel --no-deps --wheel-dir {WHEELS} {place}"
