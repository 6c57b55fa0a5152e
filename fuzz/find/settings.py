"""The settings of a project: the table [tool.kfuzz] of the nearest pyproject.toml at or above the working folder.

A key is an option of the command line without its dashes, and `kernels` stands for its TARGETs. Knows the file; never
what an option does.
"""

import tomllib
from collections.abc import Collection
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from kfuzz.find.errors import TargetError

FILE = "pyproject.toml"
KERNELS = "kernels"
Value = str | int | float | bool | list[str]


def read_settings(folder: Path, known: Collection[str]) -> dict[str, Value]:
    """The settings for this folder; a TargetError of one line if one of them is wrong."""
    path = next((place / FILE for place in (folder, *folder.parents) if (place / FILE).is_file()), None)
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("kfuzz", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise TargetError(f"{path}: cannot be read: {error}") from None
    if not isinstance(table, dict):
        raise TargetError(f"{path}: tool.kfuzz: a table is expected, [tool.kfuzz]")
    return {key: _check_value(path, key, value, known) for key, value in table.items()}


def _check_value(path: Path, key: str, value: object, known: Collection[str]) -> Value:
    where = f"{path}: tool.kfuzz.{key}"
    if key != KERNELS and key not in known:
        near = get_close_matches(key, [KERNELS, *known], 1)
        raise TargetError(f"{where}: there is no such option" + (f", did you mean {near[0]}?" if near else ""))
    if key == KERNELS:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise TargetError(f'{where}: a list of names, globs, files or folders is expected, such as ["cuda/*.cu"]')
        return [target if not _is_path(path.parent, target) else str(path.parent / target) for target in value]
    if not isinstance(value, str | int | float):
        raise TargetError(f"{where}={value!r}: a string or a number is expected, as on the command line")
    return value


def _is_path(folder: Path, target: str) -> bool:
    """Whether a target names files of the project, which must be found from any folder below it."""
    if Path(target).is_absolute():
        return False
    with suppress(ValueError, NotImplementedError):  # not a pattern that pathlib accepts
        return (folder / target).exists() or any(folder.glob(target))
    return False
