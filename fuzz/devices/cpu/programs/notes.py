"""The notes of an object of a program: its texts by number, and facts that no symbol has."""

import json
from collections.abc import Mapping
from pathlib import Path

from kfuzz.devices import DeviceError
from kfuzz.devices.host_compiler import environment, run_compiler

NOTES = ".kfuzz_notes"
"""The section of an object that has them: a line of JSON for each object that a program is made of."""


def add_notes(made: Path, notes: Mapping[str, object], folder: Path) -> None:
    """Add notes to an object."""
    text = folder / "notes"
    text.write_text(json.dumps(notes) + "\n", encoding="utf-8")
    command = ["objcopy", "--add-section", f"{NOTES}={text}", "--set-section-flags", f"{NOTES}=readonly", str(made)]
    done = run_compiler(command, environment(folder), made.name)
    if done.returncode:
        raise DeviceError(f"objcopy failed: {done.stderr.strip()}; install binutils")
