"""The files for `kfuzz check --inputs`: those of a folder, or generated ones in the format that the program reads.

To detect the format, kfuzz gives the program a graph in each format, until the program makes arrays of its size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kfuzz.cases.plans.graphs import COUNT, GRAPHS, LISTS, PROBE
from kfuzz.cases.plans.input_files import OF_GRAPHS, OF_LISTS
from kfuzz.common.errors import TargetError
from kfuzz.devices import cache
from kfuzz.devices.cpu.abi import RawBuffer
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.programs.check import read_structs
from kfuzz.devices.cpu.programs.messages import ProgramRun
from kfuzz.devices.cpu.programs.server import Server
from kfuzz.devices.memory.layout import POISONS

GENERATED = "generated"
PLACE = "{input}"
"""Stands for the name of the file among the arguments; without it the file is the last argument."""


@dataclass(frozen=True)
class FileReader:
    """A program, its arguments, and how long it may take for one input."""

    library: Library
    words: tuple[str, ...]
    timeout: float
    server: Server

    def arguments_with(self, file: Path) -> tuple[str, ...]:
        """The program's arguments with this file."""
        return with_input(self.words, file)


def with_input(words: Sequence[str], file: Path) -> tuple[str, ...]:
    """The arguments with a file in its place."""
    if any(PLACE in one for one in words):
        return tuple(one.replace(PLACE, str(file)) for one in words)
    return (*words, str(file))


def files_of(folder: Path) -> list[Path]:
    """All files of a folder, by name."""
    files = sorted(one for one in folder.iterdir() if one.is_file()) if folder.is_dir() else []
    if not files:
        raise TargetError(f"--inputs {folder}: not a folder with files; `{GENERATED}` makes files")
    return files


def generate_files(reader: FileReader) -> list[Path]:
    """Write files with graphs, or with lists of numbers, in the format that this program reads."""
    folder = cache.folder() / "inputs"
    folder.mkdir(parents=True, exist_ok=True)
    for ending, content in _contents_by_format():
        probe = _write_file(folder, f"probe.{ending}", content[0])
        if _has_understood(reader, probe, ending in OF_GRAPHS):
            names = [one.name for one in (GRAPHS if ending in OF_GRAPHS else LISTS)]
            return [
                _write_file(folder, f"{name}.{ending}", text) for name, text in zip(names, content[1:], strict=True)
            ]
    raise TargetError(
        f"--inputs {GENERATED}: {Path(reader.words[0]).name} reads none of these formats: it made no arrays as large "
        f"as the content: {', '.join([*OF_GRAPHS, *OF_LISTS])}; write {PLACE} where the file goes, or name a folder"
    )


def _contents_by_format() -> Iterator[tuple[str, list[bytes]]]:
    """Each format's ending and contents; the first content tests whether the program reads the format."""
    for ending, write in OF_GRAPHS.items():
        yield ending, [write(one) for one in (PROBE, *GRAPHS)]
    for ending, write_list in OF_LISTS.items():
        yield ending, [write_list(one) for one in (LISTS[0], *LISTS)]


def _write_file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _has_understood(reader: FileReader, probe: Path, is_graph: bool) -> bool:
    """Whether the program launches kernels, and makes arrays of as many elements as the file has."""
    manner = Manner(0, POISONS[0])
    end, _ = reader.server.run(ProgramRun(reader.library, manner, reader.timeout), reader.arguments_with(probe))
    if not end.launches:
        return False
    sizes = [one.bytes for one in read_structs(end.buffers, RawBuffer) if one.bytes]
    wanted = [(PROBE.vertices, PROBE.vertices + 1), (len(PROBE.edges) // 2,)] if is_graph else [(COUNT,)]
    return all(any(size % number == 0 for size in sizes for number in numbers) for numbers in wanted)
