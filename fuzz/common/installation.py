"""The commands that install a package, and kfuzz from where it was installed here: no package index has it."""

import json
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kfuzz.common.printable import one_line

CHECKOUT = Path(__file__).resolve().parents[2]
ANYWHERE = "path/to/kfuzz"
"""A checkout or a wheel, as in the README: on an index the bare name would be somebody else's package."""


def install_package_line(name: str) -> str:
    """The command that installs a package of the index."""
    return f"python -m pip install {name}"


def install_line(extra: str = "") -> str:
    """The command that installs kfuzz from where it was installed here."""
    try:
        direct_url = metadata.distribution("kfuzz").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        direct_url = None
    return install_line_for(direct_url, CHECKOUT, extra)


def install_line_for(direct_url: str | None, checkout: Path, extra: str) -> str:
    """The same from direct_url.json, which the installer wrote, or without it from the checkout that runs."""
    extras = f"[{extra}]" if extra else ""
    if direct_url is None:
        what = f"{checkout if (checkout / 'pyproject.toml').is_file() else ANYWHERE}{extras}"
    else:
        origin = json.loads(direct_url)
        url, version = origin["url"], origin.get("vcs_info")
        if version:
            what = f"kfuzz{extras} @ {version['vcs']}+{url}@{version['commit_id']}"
        elif url.startswith("file:"):
            what = f"{unquote(urlsplit(url).path)}{extras}"
        else:
            what = f"kfuzz{extras} @ {url}"
    return f"python -m pip install {shlex.quote(one_line(what))}"
