"""`kfuzz nvcc`: nvcc's command line for programs on the cpu device. kfuzz.devices.cpu.programs builds them."""

import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import click

from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.programs.as_nvcc import DRIVER, verbose_output, write_wrapper
from kfuzz.devices.cpu.programs.build import compile_source, empty_object, link
from kfuzz.devices.cpu.programs.command_line import Command, parse

LINES_OF_NVCC = {"ignore_unknown_options": True, "help_option_names": ["--help"]}
"""Without `-h`, which occurs in `-arch`."""


@click.command(short_help="Build programs for the cpu device, with nvcc's options.", context_settings=LINES_OF_NVCC)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="NVCC'S OPTIONS...")
@click.option("--path", is_flag=True, help="Print the path of an executable that does the same, for CMake.")
def nvcc(words: tuple[str, ...], path: bool) -> None:
    """Compile and link CUDA programs for the cpu device, with nvcc's own command line.

    The result is a program that runs on any Linux machine, and that `kfuzz check` can check. You build a project as it
    is, with `kfuzz nvcc` in place of its compilers. These options of nvcc have an effect: -c -o -x -I -isystem -D -U
    -include -std -arch -gencode -Xcompiler -l -L -MD -MF. kfuzz names the others and ignores them.

    \b
    kfuzz nvcc scan.cu main.cu -o scan
    make NVCC="kfuzz nvcc" CXX="kfuzz nvcc"
    NVCC=$(kfuzz nvcc --path); cmake -B build -DCMAKE_CUDA_COMPILER=$NVCC -DCMAKE_CXX_COMPILER=$NVCC
    kfuzz check ./scan -- 1024

    Exit code: 0 it was built, 2 it was not, and the compiler's messages say why.
    """
    if path:
        click.echo(write_wrapper())
        return
    if "-v" in words or "--verbose" in words:
        click.echo(verbose_output(write_wrapper()), err=True)
    command = parse(words)
    os.environ.pop("CXX", None)  # make and cmake pass on the name of their compiler, which is this program
    if command.asks_version:
        click.echo(f"kfuzz nvcc {metadata.version('kfuzz')}, by the command line of nvcc: release 13.0, V13.0.0")
        return
    if not command.sources and not command.linked:
        message = f"no source file and no object file; kfuzz nvcc --help has examples (it replaces {DRIVER})"
        raise click.UsageError(message)
    if command.ignored:
        click.echo(f"kfuzz nvcc: ignored options: {' '.join(command.ignored)}", err=True)
    if command.links_device:
        write(command.output or Path("a_dlink.o"), empty_object())
        return
    objects = list(objects_of(command))
    if not command.compiles_only:
        link(objects, command, command.output or Path("a.out"))


def objects_of(command: Command) -> Iterator[Path]:
    """Compile each source; with -c write its object, with -MD also a rule for make."""
    if command.compiles_only and command.output and len(command.sources) > 1:
        raise ClaimError(f"-o {command.output}: several sources make several objects; leave -o out")
    for source in command.sources:
        built = compile_source(source, command.flags)
        place = built.object
        if command.compiles_only:
            place = command.output or (command.folder or Path()) / f"{source.path.stem}.o"
            write(place, built.object.read_bytes())
        if command.depends:
            target = command.depends_target or str(place)
            rule = f"{target}: {' '.join(str(one).replace(' ', chr(92) + ' ') for one in built.files)}\n"
            write(command.depends_file or place.with_suffix(".d"), rule.encode())
        yield place


def write(path: Path, content: bytes) -> None:
    """Write an output file of the compiler."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise ClaimError(f"{path}: cannot be written: {error.strerror}") from None
