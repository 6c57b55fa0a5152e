"""The module of a worker that makes one attack, prints what came of it, and ends (tests/fuzz/devices/sandbox)."""

import json
import os
import traceback
from pathlib import Path
from types import SimpleNamespace

ATTACK, VICTIM = "MOST_ATTACK", "MOST_VICTIM"
ESCAPED, HELD = "it has escaped", "it was held"
_prepared = {}


def prepare() -> None:
    """Read the attack while that is allowed."""
    _prepared["text"] = Path(os.environ[ATTACK]).read_text(encoding="utf-8")


def backend() -> None:
    """Make the attack; do not return."""
    if not _prepared:
        prepare()
    known = json.loads(os.environ[VICTIM])
    victim = SimpleNamespace(**{name: Path(one) if isinstance(one, str) else one for name, one in known.items()})
    space: dict[str, object] = {}
    try:
        exec(_prepared["text"], space)  # noqa: S102  a file of ours
        attack = space["attack"]
        assert callable(attack)
        said = ESCAPED if attack(victim) else HELD
    except BaseException as error:
        said = f"{HELD}: {traceback.format_exception_only(error)[-1].strip()[:100]}"
    os.write(2, f"{said}\n".encode())
    os._exit(0)
