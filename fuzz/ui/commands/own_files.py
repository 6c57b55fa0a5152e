"""What `kfuzz fuzz` does with your files if you name none, or one that has no claim.

Knows the sorts of files and the commands for them; never how a kernel is run.
"""

import re
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from kfuzz.claims.kernel import KERNELS
from kfuzz.claims.language import front_matter
from kfuzz.claims.language.cuda import LANGUAGE
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.languages import ENDINGS, ending_of
from kfuzz.common.errors import TargetError
from kfuzz.common.printable import shown_path
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.common.text.unclosed import unclosed_words
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess import guessed, op_of
from kfuzz.measure.roundings.guess_host import BY_NAMES
from kfuzz.measure.roundings.infer import Unclaimed
from kfuzz.ui.commands.check import check
from kfuzz.ui.commands.options import console
from kfuzz.ui.reports.phases import show_phases
from kfuzz.ui.setup.look import sorts_of
from kfuzz.ui.targets.project import Kernels, files_below, find_sources
from kfuzz.ui.targets.targets import find_files

MAIN = re.compile(r"\bint\s+main\s*\(|\bauto\s+main\s*\(")
CUDA = ending_of(LANGUAGE)
WITHOUT_CLAIM = frozenset({"kernel", "extension", "triton"})
"""The sorts of files that kfuzz can test once they have a claim."""
NOT_TESTED = "NOT TESTED, without a claim:"
MOST_NAMES = 6
"""The most files that a line names."""


def own_targets(folder: Path) -> tuple[str, ...]:
    """The kernels below the folder, with a line that names them; none if it has no CUDA of its own.

    A TargetError says what to do if it has CUDA, but no claim.
    """
    if KERNELS.is_relative_to(folder.resolve()):  # a checkout of kfuzz
        return ()
    claimed = files_below(folder)
    without = [path for path in sorted(find_sources(folder, (CUDA,))) if path not in claimed]
    if not claimed and not without:
        return ()
    if not claimed:
        many = f"{names_of(without)}: no claim, and this folder has no settings"
        raise TargetError(f"{many}; kfuzz init finds a claim for each, and kfuzz fuzz FILE guesses one")
    click.echo(f"kernels of this folder: {names_of(claimed)}", err=True)
    return tuple(map(str, claimed))


def passed_over(targets: tuple[str, ...]) -> list[Path]:
    """The files below the folders among the targets that have kernels and no claim, so that none is tested."""
    folders = [Path(target) for target in targets if target and Path(target).is_dir()]
    paths = sorted({path for folder in folders for path in find_sources(folder, ENDINGS)})
    return [path for path in paths if not WITHOUT_CLAIM.isdisjoint(sorts_of(path))]


def leave_out(paths: list[Path], kernels: Kernels, is_strict: bool) -> Kernels:
    """The kernels, with the files that are passed over as faults if that is strict; else a line names them."""
    programs = [path for path in paths if path.name.endswith(CUDA) and has_main(front_matter.text_of(path))]
    others = [path for path in paths if path not in programs]
    if programs:
        click.echo(f"not tested, programs with a main: {names_of(programs)} (kfuzz check runs one)", err=True)
    if others and not is_strict:
        click.echo(f"{NOT_TESTED} {names_of(others)} (kfuzz claim FILE finds one; --strict fails for them)", err=True)
    faults = {
        path: ClaimError(f"{shown_path(path)}: no claim, so it is not tested: kfuzz claim {shown_path(path)} finds one")
        for path in (others if is_strict else [])
    }
    return replace(kernels, faults={**kernels.faults, **faults})


def why_nothing_is_fuzzed(folder: Path) -> str:
    """A line for a folder in which no kernel has a claim: the files that need one, if there are any."""
    found = passed_over((str(folder),))
    if not found:
        return f"nothing was fuzzed: no kernel with a claim is below {shown_path(folder)}"
    return f"{NOT_TESTED} {names_of(found)} (kfuzz claim FILE finds one; kfuzz init does it for all)"


def names_of(paths: tuple[Path, ...] | list[Path]) -> str:
    """The first few of the files, and how many there are beside them."""
    more = f" and {len(paths) - MOST_NAMES} more" if len(paths) > MOST_NAMES else ""
    return ", ".join(shown_path(path) for path in paths[:MOST_NAMES]) + more


def has_main(text: str) -> bool:
    """Whether a CUDA file has a main."""
    return bool(MAIN.search(blank_non_code(text)))


def files_without_claim(targets: tuple[str, ...]) -> list[Path]:
    """The .cu files that are targets themselves and have no claim."""
    named = [find_files(target) for target in targets if target.endswith(CUDA)]
    return [paths[0] for paths in named if len(paths) == 1 and not file_has_claim(paths[0])]


def check_instead(ctx: click.Context, path: Path) -> int:
    """Run a program as `kfuzz check` does, and say so in one line; its exit code."""
    words = [str(path)]
    taken = {"seed", "fail_on", *(one.name for one in check.params if one.name and one.name.endswith("_file"))}
    for one in check.params:
        value = ctx.params.get(one.name or "")
        if one.name in taken and value is not None:
            words += [one.opts[-1], str(value)]
    given = [one for one in ctx.command.params if one.name not in taken and isinstance(one, click.Option)]
    unused = [
        max(one.opts, key=len)
        for one in given
        if ctx.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
    ]
    without = f", without {', '.join(unused)}" if unused else ""
    click.echo(f"{shown_path(path)}: a program with a main and no claim, so this is kfuzz check{without}", err=True)
    with check.make_context("check", words, parent=ctx.parent) as inner:
        try:
            check.invoke(inner)
        except click.exceptions.Exit as end:
            return end.exit_code
    return 0


def claim_each(paths: list[Path]) -> Unclaimed:
    """The op of each of several files is the one that its own names suggest, a line for each."""
    for path in paths:
        op = op_of(path.stem, front_matter.text_of(path))
        said = f"its names say {op}, so this is --op {op}" if op else "and its names say no op"
        click.echo(f"{shown_path(path)}: CUDA without a claim; {said}", err=True)
    return Unclaimed(by_names=True)


def claim_instead(path: Path) -> Unclaimed:
    """The op that the file's names suggest; a ClaimError with the command if they suggest none or it is not kept."""
    where, text = shown_path(path), front_matter.text_of(path)
    is_extension = "extension" in sorts_of(path)
    what = "a PyTorch extension" if is_extension else "CUDA"
    op = op_of(path.stem, text)
    how = f"kfuzz fuzz {where} --op {op or 'OP'}"
    if op is None:
        cut = unclosed_words(where, text)
        raise ClaimError(f"{cut}{where}: {what} without a claim; say what it computes: {how}; kfuzz op lists all")
    if is_extension:  # the claim of a function of tensors is not tried otherwise, and here even its op is a guess
        try:
            with show_phases(console(to_stderr=True)):
                guessed(path, text, op, BY_NAMES)
        except ClaimError as error:
            tried = str(error).removeprefix(f"{where}: ")
            raise ClaimError(f"{where}: if it computes {op}, as its names say, run {how}; {tried}") from None
    click.echo(f"{where}: {what} without a claim; its names say {op}, so this is {how}", err=True)
    return Unclaimed(op, BY_NAMES)
