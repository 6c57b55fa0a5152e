"""How kfuzz came to be installed here, and so how it is installed once more, or with an extra: no index has it."""

import json
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from kfuzz.printable import one_line

CHECKOUT = Path(__file__).resolve().parents[1]


def install_line(extra: str = "") -> str:
    """The command that installs kfuzz from where it was installed here."""
    try:
        told = metadata.distribution("kfuzz").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        told = None
    url = json.loads(told)["url"] if told else str(CHECKOUT)
    place = url2pathname(urlsplit(url).path) if url.startswith("file:") else url
    return f"python -m pip install {shlex.quote(one_line(place) + (f'[{extra}]' if extra else ''))}"
