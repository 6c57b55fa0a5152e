"""The settings of a project: kfuzz.toml, or [tool.kfuzz] of pyproject.toml, of the nearest folder that has settings.

A key is an option of the command line without its dashes, and `kernels` stands for its TARGETs. Knows the files; never
what an option does.
"""

import tomllib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from kfuzz.common.errors import TargetError

FILE = "kfuzz.toml"
SHARED = "pyproject.toml"
"""The other tools' file, in which the settings may be a table, [tool.kfuzz]."""
KERNELS = "kernels"
COMPILE_TIME, CALL_TIME = "compile-time", "call-time"
Value = str | int | float | bool | list[str]


@dataclass(frozen=True)
class Settings:
    """The settings of one folder: the file, the prefix of its keys, and the values as written."""

    path: Path
    prefix: str = ""
    values: Mapping[str, object] = field(default_factory=dict)


def read_settings(folder: Path, known: Collection[str]) -> dict[str, Value]:
    """The settings for this folder; a TargetError of one line if one of them is wrong."""
    found = settings_for(folder)
    return {key: _check_value(found, key, value, known) for key, value in found.values.items()} if found else {}


def setting_for(folder: Path, key: str) -> str:
    """The text that the settings give a key, such as the folder for cases; empty if they do not set it."""
    found = settings_for(folder)
    value = found.values.get(key, "") if found else ""
    return value if isinstance(value, str) else ""


def limits_for(folder: Path) -> dict[str, object]:
    """The limits of time that the settings name, as written."""
    found = settings_for(folder)
    return {key: found.values[key] for key in (COMPILE_TIME, CALL_TIME) if key in found.values} if found else {}


def settings_for(folder: Path) -> Settings | None:
    """The settings of the nearest folder, this one or one above it, that has some."""
    return next((found for place in (folder, *folder.parents) if (found := settings_in(place))), None)


def settings_in(folder: Path) -> Settings | None:
    """The settings of one folder; a TargetError if they are in two files, or cannot be read."""
    own, shared = folder / FILE, folder / SHARED
    table: object = _read(shared).get("tool", {}) if shared.is_file() else {}
    table = table.get("kfuzz") if isinstance(table, dict) else None
    if own.is_file():
        if table:
            raise TargetError(f"{own}: there are settings in {SHARED} too; move its [tool.kfuzz] here")
        return Settings(own, "", _read(own))
    if table is None:
        return None
    if not isinstance(table, dict):
        raise TargetError(f"{shared}: tool.kfuzz: a table is expected, [tool.kfuzz]")
    return Settings(shared, "tool.kfuzz.", table)


def _read(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise TargetError(f"{path}: cannot be read: {error}") from None


def _check_value(found: Settings, key: str, value: object, known: Collection[str]) -> Value:
    path, where = found.path, f"{found.path}: {found.prefix}{key}"
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
