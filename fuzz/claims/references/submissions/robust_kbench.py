"""robust-kbench: CUDA exports `forward` or `backward`; `config_NAME.json` beside `func_NAME.py` says at which sizes.

Knows names of files; what is in them is for the process that traces the problem.
"""

from collections.abc import Mapping
from pathlib import Path

from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references.format import Format, FormatNames

PREFIX, CONFIG = "func_", "config_{}.json"
"""The beginning of a problem's name, and the file beside it with the arguments for its inputs."""


def files_beside(reference: Path) -> Mapping[str, str]:
    """The file with the arguments of a problem."""
    return {"config": CONFIG.format(reference.stem.removeprefix(PREFIX))}


def poses(reference: Reference) -> bool:
    """Whether there is such a file beside a reference."""
    return reference.path.resolve().with_name(files_beside(reference.path)["config"]).is_file()


FORMAT = Format(title="robust-kbench", names=FormatNames(entries={"forward": 2}), beside=files_beside, poses=poses)
