"""What `kfuzz fuzz` does with your files if you name none, or one that has no claim.

Knows the sorts of files and the commands for them; never how a kernel is run.
"""

import re
from pathlib import Path

import click
from click.core import ParameterSource

from kfuzz.claims.kernel import KERNELS
from kfuzz.claims.language import front_matter
from kfuzz.claims.language.cuda import LANGUAGE
from kfuzz.claims.language.languages import ending_of
from kfuzz.common.errors import TargetError
from kfuzz.common.printable import shown_path
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess import guessed, op_of
from kfuzz.measure.roundings.infer import Unclaimed
from kfuzz.ui.commands.check import check
from kfuzz.ui.commands.options import console
from kfuzz.ui.reports.phases import show_phases
from kfuzz.ui.setup.look import sorts_of
from kfuzz.ui.targets.project import files_below, find_sources
from kfuzz.ui.targets.targets import find_files

MAIN = re.compile(r"\bint\s+main\s*\(|\bauto\s+main\s*\(")
CUDA = ending_of(LANGUAGE)
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
        raise TargetError(f"{many}; kfuzz init finds a claim for each, kfuzz fuzz FILE takes one file")
    left = f"; without a claim: {names_of(without)} (kfuzz init finds one for each)" if without else ""
    click.echo(f"kernels of this folder: {names_of(claimed)}{left}", err=True)
    return tuple(map(str, claimed))


def names_of(paths: tuple[Path, ...] | list[Path]) -> str:
    """The first few of the files, and how many there are beside them."""
    more = f" and {len(paths) - MOST_NAMES} more" if len(paths) > MOST_NAMES else ""
    return ", ".join(shown_path(path) for path in paths[:MOST_NAMES]) + more


def has_main(text: str) -> bool:
    """Whether a CUDA file has a main."""
    return bool(MAIN.search(blank_non_code(text)))


def file_without_claim(targets: tuple[str, ...]) -> Path | None:
    """The .cu file that is the only target, if it has no claim."""
    if len(targets) != 1 or not targets[0].endswith(CUDA):
        return None
    paths = find_files(targets[0])
    return paths[0] if len(paths) == 1 and not front_matter.has_claim(front_matter.text_of(paths[0])) else None


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


def claim_instead(path: Path) -> Unclaimed:
    """The op that the file's names suggest; a ClaimError with the command if they suggest none or it is not kept."""
    where, text = shown_path(path), front_matter.text_of(path)
    is_extension = "extension" in sorts_of(path)
    what = "a PyTorch extension" if is_extension else "CUDA"
    op = op_of(path.stem, text)
    how = f"kfuzz fuzz {where} --op {op or 'OP'}"
    if op is None:
        raise ClaimError(f"{where}: {what} without a claim; say what it computes: {how}; kfuzz op lists all")
    if is_extension:  # the claim of a function of tensors is not tried otherwise, and here even its op is a guess
        try:
            with show_phases(console(to_stderr=True)):
                guessed(path, text, op)
        except ClaimError as error:
            tried = str(error).removeprefix(f"{where}: ")
            raise ClaimError(f"{where}: if it computes {op}, as its names say, run {how}; {tried}") from None
    click.echo(f"{where}: {what} without a claim; its names say {op}, so this is {how}", err=True)
    return Unclaimed(op)
