"""`kfuzz init`: sets up kfuzz for a project with kernels, and asks before each step.

Knows questions and messages; kfuzz.ui.setup finds and writes the files.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import click

from kfuzz.cases import atomic
from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import COULD_NOT, FOUND, INTERRUPTED
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings.bug import IF_NOT_A_BUG
from kfuzz.measure.roundings.guess import Guess, guessed
from kfuzz.measure.roundings.in_hand import keep_findings
from kfuzz.measure.roundings.keep import proposed_for
from kfuzz.measure.roundings.text import claim_of
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands.options import console
from kfuzz.ui.reports.phases import show_phases
from kfuzz.ui.setup import settings
from kfuzz.ui.setup.ci_file import PLACES, ci_text, installation, service_of, top_of
from kfuzz.ui.setup.claims import put_claim
from kfuzz.ui.setup.first_cases import first_cases, keep_case
from kfuzz.ui.setup.look import DESCRIPTIONS, find_gpu_code
from kfuzz.ui.targets.project import kernels_below
from kfuzz.ui.targets.settings import FILE, settings_in

SEED, TRIALS = 0, 150
"""For the test of a proposed claim, as in kfuzz claim."""


@dataclass
class SetUp:
    """The state of the set-up: whether to ask, files written, steps that you have to do by hand, and broken kernels."""

    is_asked: bool
    written: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    guesses: list[Guess] = field(default_factory=list)
    unclaimed: list[Path] = field(default_factory=list)

    def may(self, question: str) -> bool:
        """Ask a question, unless --yes answers all of them."""
        return not self.is_asked or click.confirm(question, default=True)


@click.command(short_help="Set up a project: claims, settings, a first corpus, CI.")
@click.option("--yes", is_flag=True, help="Do everything without asking. Default: ask before each step.")
@click.pass_context
def init(ctx: click.Context, yes: bool) -> None:
    """Look at the project in this folder and set it up: claims, settings, first cases, the file for CI.

    Before each step kfuzz asks. It overwrites nothing: it puts a claim on top of a kernel file, adds settings to
    kfuzz.toml, and leaves files that exist as they are. To find a claim, it compiles kernels and runs them on the
    cpu device with your rights.

    \b
    kfuzz init        ask before each step
    kfuzz init --yes  do everything

    A kernel that looks wrong gets its claim too, and a line that says what is wrong with it. The file for CI fails for
    kernels that have no claim.

    Exit code: 0 done, 1 a kernel is broken whatever it claims, 2 no kernel here can be judged.
    """
    began = SetUp(is_asked=not yes)
    try:
        kernels = claim_kernels(began)
        set_up(kernels, began)
    except click.Abort as ended:
        is_over = isinstance(ended.__context__, EOFError)
        click.echo(f"\nended here{': no answer; --yes does everything without asking' if is_over else ''}", err=True)
        ctx.exit(COULD_NOT if is_over else INTERRUPTED)
    finally:
        print_steps(began)
    ctx.exit(FOUND if began.broken else 0 if kernels else COULD_NOT)


def claim_kernels(began: SetUp) -> tuple[Kernel, ...]:
    """Give claims to the kernels that have none; the kernels of the project."""
    found = find_gpu_code(Path())
    if not found:
        raise TargetError(f"{Path.cwd()}: no .cu file in it or below; kfuzz show --template prints one to start from")
    width = max(len(shown_path(one.path)) for one in found)
    for one in found:
        click.echo(f"{shown_path(one.path):<{width}}  {DESCRIPTIONS[one.sort]}")
    for one in found:
        if one.sort in ("kernel", "extension"):
            give_claim(one.path, began)
        elif one.sort == "triton":
            where = shown_path(one.path)
            began.by_hand.append(f"{where}: a claim; kfuzz claim {where} --op OP prints one; CI fails until then")
            began.unclaimed.append(one.path)
    return kernels_below(Path()).usable


def give_claim(path: Path, began: SetUp) -> None:
    """Propose a claim for a file, and write it if you agree."""
    where = shown_path(path)
    click.echo()
    if not began.may(f"{where}: find a claim for it? (kfuzz compiles and runs it)"):
        return
    try:
        read = path.read_bytes()
        with show_phases(console(to_stderr=True)):
            made = guessed(path, read.decode("utf-8-sig"), None)
            found = proposed_for(made, SEED, TRIALS)
    except ClaimError as error:
        click.echo(f"{error}")
        began.by_hand.append(f"{where}: a claim; kfuzz claim --help, docs/kernel-file.md; CI fails until then")
        began.unclaimed.append(path)
        return
    click.echo(f"{claim_of(found.kernel)}\n{where}: {found.verdict}")
    if found.broken:
        began.broken.append(where)
    if found.bug:
        click.echo(IF_NOT_A_BUG)
        began.by_hand.append(f"{where}: {found.bug.defects[0].sign}: repair it; kfuzz fuzz {where} shows it")
    elif found.broken:
        began.by_hand.append(f"{where}: {found.message}; repair it, or claim less: kfuzz fuzz {where} shows it")
    began.by_hand += [f"{where}: {limit}; the claim says so" for limit in found.limits]
    if began.may(f"{where}: put this claim on top of it?"):
        if put_claim(path, read, claim_of(found.kernel)):
            began.written.append(f"{where}: its claim; read it, it is yours now")
            began.guesses.append(made)
        else:
            began.by_hand.append(f"{where}: it changed in the meantime and stays as it is; run kfuzz init again")


def set_up(kernels: tuple[Kernel, ...], began: SetUp) -> None:
    """Settings, first cases and CI for these kernels."""
    if not kernels:
        return
    corpus = settings.corpus_for(Path())
    click.echo()
    write_settings(kernels, corpus, began)
    write_cases(kernels, Path(corpus), began)
    write_findings(Path(corpus), began)
    write_ci(corpus, began)


def write_settings(kernels: tuple[Kernel, ...], corpus: str, began: SetUp) -> None:
    """Add to kfuzz.toml what it does not set; to settings in another file, you add it."""
    path = Path(FILE)
    paths = [*(kernel.path for kernel in kernels), *began.unclaimed]
    added = settings.find_additions([Path(shown_path(path)) for path in paths], corpus)
    found = settings_in(Path())
    if found and found.path.name != FILE:
        missing = ", ".join(f"{key} = {json.dumps(value)}" for key, value in added.items() if key not in found.values)
        if missing:
            began.by_hand.append(f"{found.path}: [tool.kfuzz]: {missing}")
        return
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = settings.with_settings(before, added)
    if after is None:
        began.by_hand.append(f"{path}: kernels and corpus; it is written in a way that init cannot add to")
    elif after != before and began.may(f"{path}: set kernels and corpus?"):
        atomic.write(path.resolve(), after.encode())
        began.written.append(f"{path}: which kernels there are, and where cases are kept")


def write_cases(kernels: tuple[Kernel, ...], corpus: Path, began: SetUp) -> None:
    """Keep first cases, unless the corpus has cases already."""
    if corpus.is_dir() and any(corpus.rglob("*.json")):
        return
    if not began.may(f"{corpus}: keep first cases? (they detect bugs that kfuzz plants into your kernels)"):
        return
    tried = found = 0
    paths: set[Path] = set()
    with closing(CpuDevice()) as device, console(to_stderr=True).status("") as status:
        for kernel in (one for one in kernels if shown_path(one.path) not in began.broken):
            for mutant, case in first_cases(kernel, device):
                status.update(f"{kernel.name}: a planted bug in line {mutant.line}")
                tried, found = tried + 1, found + (case is not None)
                paths |= {keep_case(case, kernel, corpus)} if case is not None else set()
    if paths:
        began.written.append(f"{corpus}: {plural(len(paths), 'case')} for {found} of {plural(tried, 'planted bug')}")


def write_findings(corpus: Path, began: SetUp) -> None:
    """Keep the cases that broke a kernel while its claim was looked for."""
    with show_phases(console(to_stderr=True)):
        paths = {path for one in began.guesses for path in keep_findings(one, corpus)}
    if paths:
        began.written.append(f"{corpus}: {plural(len(paths), 'case')} that broke kernels during the search for claims")


def write_ci(corpus: str, began: SetUp) -> None:
    """Write the file for the CI service, unless it exists."""
    service = service_of(Path())
    path, (_, before) = PLACES[service], installation()
    text = ci_text(service, corpus)
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") == text:
        return
    if path.exists():
        began.by_hand.append(f"{path}: it exists already and stays as it is; docs/ci.md shows what to add")
        return
    if (top := top_of(Path())) != Path.cwd():
        began.by_hand.append(f"{top}: the file for CI belongs there, at the top of the repository; docs/ci.md")
        return
    if not began.may(f"{path}: write it?"):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path.resolve(), text.encode())
    began.written.append(f"{path}: replays the cases, fuzzes what a change touches, keeps the report")
    if before:
        began.by_hand.append(f"{before}    # CI installs this wheel: commit it")


def print_steps(began: SetUp) -> None:
    """Print what was done, and what to do next."""
    for line in lines_of(began):
        click.echo(line)


def lines_of(began: SetUp) -> Iterator[str]:
    yield from ("", "written", *(f"  {one}" for one in began.written)) if began.written else ("", "nothing was written")
    yield from ("by hand", *(f"  {one}" for one in began.by_hand)) if began.by_hand else ()
    if began.written:
        yield from (
            "next",
            "  kfuzz fuzz           a minute on your kernels",
            "  kfuzz fuzz --watch   while you work on them",
        )
