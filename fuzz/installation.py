"""How kfuzz came to be installed here, and so how it is installed once more, or with an extra: no index has it."""

import json
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from kfuzz.printable import one_line

CHECKOUT = Path(__file__).resolve().parents[1]
ANYWHERE = "path/to/kfuzz"
"""A checkout or a wheel, as the README has it: the name alone would be somebody else's package."""


def install_line(extra: str = "") -> str:
    """The command that installs kfuzz from where it was installed here."""
    try:
        told = metadata.distribution("kfuzz").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        told = None
    return install_line_for(told, CHECKOUT, extra)


def install_line_for(told: str | None, checkout: Path, extra: str) -> str:
    """The same from what the installer has written down, direct_url.json, or else from the checkout that runs."""
    extras = f"[{extra}]" if extra else ""
    if told is None:
        what = f"{checkout if (checkout / 'pyproject.toml').is_file() else ANYWHERE}{extras}"
    else:
        origin = json.loads(told)
        url, version = origin["url"], origin.get("vcs_info")
        if version:
            what = f"kfuzz{extras} @ {version['vcs']}+{url}@{version['commit_id']}"
        elif url.startswith("file:"):
            what = f"{url2pathname(urlsplit(url).path)}{extras}"
        else:
            what = f"kfuzz{extras} @ {url}"
    return f"python -m pip install {shlex.quote(one_line(what))}"
