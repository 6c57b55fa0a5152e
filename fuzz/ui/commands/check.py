"""`kfuzz check`: a whole CUDA program under the checker. kfuzz.devices.cpu.programs builds and runs it.

Long, since it has the options and the progress of a program's runs.
"""

import re
import secrets
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache as cache_calls
from pathlib import Path

import click
from rich.status import Status

from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.defect import Defect, Scene
from kfuzz.campaign.trials.judging import device_defect
from kfuzz.common.exit_codes import READER_GONE
from kfuzz.common.printable import printable, shown_path
from kfuzz.common.text.silences import check_silences
from kfuzz.common.time_limits import limited, time_limits
from kfuzz.devices import Finding, cache
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.programs.ahead import count_processors, writes_no_files
from kfuzz.devices.cpu.programs.build import Through, compile_source, is_program, link, load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.programs.made_up import NOTHING_MADE_UP, Guesses, MadeUpInput
from kfuzz.devices.cpu.programs.sampling import NOTHING_CHECKED, NOTHING_SAMPLED, USUAL_SAMPLING
from kfuzz.devices.cpu.programs.server import Server, build_own_parts
from kfuzz.devices.cpu.programs.through_nvcc import TAKEN
from kfuzz.devices.host_compiler import compiling_for
from kfuzz.kinds import Severity
from kfuzz.ui.commands.completing import FILE_NAME
from kfuzz.ui.commands.documents import ReportFiles, format_options
from kfuzz.ui.commands.inputs import GENERATED, FileReader, files_of, generate_files, with_input
from kfuzz.ui.commands.nvcc import LINES_OF_NVCC
from kfuzz.ui.commands.options import (
    Screen,
    compile_time_option,
    console,
    fail_on_option,
    parse_duration,
    through_option,
)
from kfuzz.ui.reports.phases import show_phases
from kfuzz.ui.reports.program import ProgramReport, blocks, document, last_lines, share_notes, verdict
from kfuzz.ui.reports.silenced import silence_texts

LINE_EVERY = 10.0
"""Seconds between two lines of progress without a terminal."""
TO_REPORT = 3.0
"""Seconds of --max-time for ending the last runs, which may have many GB of memory, and for the report."""
GUESSES_IN_TIME = 3
"""A run with made-up input that launches nothing ends after this part of the time left: the next gets smaller sizes."""
FOLDER = click.Path(file_okay=False, path_type=Path)


class WithArguments(click.Command):
    """A command whose words after `--` belong to the checked program; click's own hook for that is a subclass."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words after the dashes."""
        at = args.index("--") if "--" in args else len(args)
        ctx.obj = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.command(
    cls=WithArguments, short_help="Run a whole CUDA program under the checker.", context_settings=LINES_OF_NVCC
)
@click.argument("words", nargs=-1, type=FILE_NAME, metavar="PROGRAM... [-- ARGUMENT...]")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True,
              help="Number of runs, each with another order of threads.")  # fmt: skip
@click.option(
    "--inputs",
    type=FOLDER,
    metavar="DIR|generated",
    help="Run the program with each file in this folder, or with generated graphs and lists of numbers that make "
    "threads collide, in the format that the program reads. {input} among the arguments stands for the file; without "
    "it the file is the last argument. Default: run the program once with its own arguments.",
)
@click.option("--max-time", type=parse_duration, default="60s", show_default=True, metavar="TIME",
              help="End by this time, with a verdict on what ran: 90s, 5m, 1h. Compiling counts, too.")  # fmt: skip
@click.option("--timeout", type=parse_duration, metavar="TIME",
              help="Longest processor time of one run. Default: what --max-time leaves.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of the orders. Default: random, and printed.")
@click.option("--warp-synchronous", is_flag=True,
              help="The program is for GPUs before Volta: the lanes of a warp run in step, without "
              "__syncwarp().")  # fmt: skip
@click.option("--whole", is_flag=True,
              help="Check every block of every launch in full. Default: of a large launch, once a run has made "
              "64 million accesses, a sample of the blocks; the others are checked for their bounds, and where they "
              "access what the sample has accessed.")  # fmt: skip
@through_option
@compile_time_option
@fail_on_option
@format_options("check")
@click.pass_context
def check(
    ctx: click.Context,
    words: tuple[str, ...],
    runs: int,
    inputs: Path | None,
    max_time: float,
    timeout: float | None,
    seed: int | None,
    warp_synchronous: bool,
    whole: bool,
    through: str,
    fail_on: Severity,
    outputs: ReportFiles,
) -> None:
    """Build a CUDA program for the cpu device, run its main, and check every memory access of its kernels.

    PROGRAM is one or more source files (.cu, .cpp, .c) with nvcc's own options (-I -D -std -arch; kfuzz names the
    options that it ignores), or a program that kfuzz nvcc built. You need no GPU. kfuzz runs the program several times,
    each time with another order of threads and other content in fresh memory. It reports races, accesses out of
    bounds, reads of uninitialised memory, barriers and warp collectives that some threads never reach, launches that
    no GPU accepts, and device memory that the host uses: each with its line and the calls that lead to it. The program
    runs with your rights.

    \b
    kfuzz check scan.cu
    kfuzz check main.cu scan.cu -Iinclude -DN=64 -- 1024 data.txt
    kfuzz check ./scan --inputs graphs/ --runs 5
    kfuzz check bfs.cu --inputs generated -- {input} 256
    make NVCC="kfuzz nvcc" && kfuzz check ./scan --json scan.json

    The first run gets the time that it needs. Others go on beside it on free processors, or begin if enough time is
    left; the report says how many ended, and where a run was that did not.

    A program that wants arguments or numbers to read, and gets none, gets small numbers that kfuzz makes up; the
    report says which, and all findings are warnings. `< FILE` gives it your file.

    Exit code: 0 nothing is broken in what ran, 1 something is (or there is a warning, with --fail-on warning), 2 no
    kernel was checked, or the program could not be run on, 130 interrupted.
    """
    began: float = ctx.find_root().obj or time.monotonic()  # kfuzz loads for a second or two
    loaded = time.monotonic()
    first = next((word for word in words if not word.startswith("-")), "")
    with show_phases(console(to_stderr=True)), compiling_for(Path(first)):
        build_own_parts()
    began += time.monotonic() - loaded
    ctx.with_resource(limited(replace(time_limits(), until=began + max_time)))
    screen = console(to_stderr=outputs.uses_stdout)
    seed = secrets.randbelow(1 << 16) if seed is None else seed
    server = ctx.with_resource(closing(Server()))
    server.start()
    with show_phases(console(to_stderr=True)):
        library, path = build_program(words, through)
    for one in library.files.values():
        check_silences(one.path, one.text, ())
    given: tuple[str, ...] = ctx.obj
    flags = {"--warp-synchronous": warp_synchronous, "--whole": whole}
    valued = {"--through": through, "--inputs": inputs}
    chosen = [word for name, value in valued.items() if value for word in (name, str(value))]
    chosen += [flag for flag, is_set in flags.items() if is_set]
    again = shlex.join(["kfuzz", "check", *words, *chosen, "--seed", str(seed), *(["--", *given] if given else [])])
    own = (str(path.with_suffix("")), *given)
    longest = min(timeout or max_time, max_time)
    lists = tuple(lists_of(library, own, inputs, longest))
    deadline = began + max_time - min(TO_REPORT, max_time / 10)
    asked = CheckPlan(library, path, lists, runs, longest, deadline, seed, warp_synchronous, whole, again)
    found = replace(run_inputs(asked, server, console(to_stderr=True)), fail_on=fail_on)
    try:
        for text in (*blocks(found), *found.troubles, *found.own_ends, *share_notes(found)):
            screen.print(text, "", sep="\n", markup=False, highlight=False, soft_wrap=True)
        for line in silence_texts(found.silenced):
            screen.print(line, markup=False, highlight=False, soft_wrap=True)
        screen.print(verdict(found), markup=False, highlight=False, soft_wrap=True)
    finally:
        outputs.write([document(found)])
    ctx.exit(READER_GONE if screen.is_abandoned else found.exit_code)


@dataclass(frozen=True)
class CheckPlan:
    """A program, the arguments of each run, and how closely to check it."""

    library: Library
    path: Path
    lists: tuple[tuple[str, ...], ...]
    runs: int
    timeout: float
    deadline: float
    """When everything ends, as time.monotonic() counts."""
    seed: int
    warp_synchronous: bool
    whole: bool
    again: str


def run_inputs(asked: CheckPlan, loaded: Server, screen: Screen) -> ProgramReport:
    """Run the program with each list of arguments; an interruption keeps the findings so far."""
    started, began = datetime.now(UTC), time.monotonic()
    programs: list[CheckedProgram] = []
    found: dict[str, Discovery] = {}
    is_interrupted = False
    side_by_side = min(count_processors(), asked.runs) if writes_no_files(asked.library.path) else 1
    with screen.status("running") as status, ExitStack() as servers:
        more = cache_calls(lambda numbers: servers.enter_context(closing(Server(numbers=numbers))))

        def check_list(words: tuple[str, ...], number: int, guess: MadeUpInput = NOTHING_MADE_UP) -> CheckedProgram:
            words = (*words, *guess.arguments)
            what = command_text(words)
            what += f", input {number} of {len(asked.lists)}" if len(asked.lists) > 1 else ""
            teller = RunProgress(screen, status, what, asked.library.files[0].path)
            sampling = None if asked.whole else USUAL_SAMPLING
            deadline = share_of_time(asked.deadline, len(asked.lists) - number + 1)
            server = loaded if guess.numbers == loaded.numbers else more(guess.numbers)
            program = CheckedProgram(
                *(asked.library, words, asked.timeout, server, teller, asked.warp_synchronous, sampling),
                deadline=deadline,
                launch_within=(deadline - time.monotonic()) / GUESSES_IN_TIME,
                side_by_side=side_by_side,
                report_finding=teller.report_finding,
                has_made_up_arguments=bool(guess.arguments),
            )
            programs.append(program)
            findings: Sequence[Finding] = ()
            try:
                findings = program.examine(asked.runs, asked.seed).findings
            except KeyboardInterrupt:
                findings = program.certain
                raise
            finally:
                add_discoveries(found, list(defects_of(asked, program, findings)), number)
            return program

        try:
            for number, words in enumerate(asked.lists, 1):
                before = dict(found)
                first = last = check_list(words, number)
                shown = dict(found)
                guesses = Guesses([one.text for one in asked.library.files.values()], has_own_arguments=len(words) > 1)
                while is_idle(last) and time.monotonic() < asked.deadline and (guess := next_guess(guesses, last)):
                    restore(found, before)  # what it does without its input says nothing
                    last = check_list(words, number, guess)
                if not last.launches:
                    restore(found, shown)
                programs = [*programs[: number - 1], last if last.launches else first]
        except KeyboardInterrupt:
            is_interrupted = True
    return ProgramReport(
        name=asked.path.stem,
        path=asked.path,
        source=asked.library.files[0].text,
        command=("kfuzz", *sys.argv[1:]),
        again=asked.again,
        started=started,
        seconds=time.monotonic() - began,
        seed=asked.seed,
        inputs=len(asked.lists),
        runs=sum(len(one.printed) for one in programs),
        finished=sum(printed.exit_code is not None for one in programs for printed in one.printed),
        planned=(sum(one.ended for one in programs), asked.runs * len(asked.lists)),
        thread_steps=sum(one.thread_steps for one in programs),
        share=sum((one.share for one in programs), NOTHING_CHECKED),
        sampled=sum((one.sampled for one in programs), NOTHING_SAMPLED),
        discoveries=tuple(found.values()),
        troubles=tuple(trouble for one in programs for trouble in troubles_of(one)),
        own_ends=tuple(end for one in programs for end in own_ends(one)),
        cut=tuple(f"{command_text(one.words)}: {one.stopped}" for one in programs if one.stopped),
        made_up=tuple(dict.fromkeys(words for one in programs for words in made_up_input(one))),
        is_interrupted=is_interrupted,
    )


def is_idle(program: CheckedProgram) -> bool:
    """Whether a program launches nothing; a launch that is refused does not count if its sizes are made up."""
    return not (program.share.blocks if program.has_made_up_arguments else program.launches)


def next_guess(guesses: Guesses, program: CheckedProgram) -> MadeUpInput | None:
    """Other input for a program that has launched nothing."""
    printed = "".join(one.output + one.errors for one in program.printed[:1])
    return guesses.next_after(printed, program.has_made_up_input, bool(program.stopped))


def restore(found: dict[str, Discovery], earlier: dict[str, Discovery]) -> None:
    """Forget what was found later."""
    found.clear()
    found.update(earlier)


def made_up_input(program: CheckedProgram) -> Iterator[str]:
    """What a program got that kfuzz made up."""
    if program.has_made_up_arguments:
        yield f"it launched nothing without arguments, and ran as `{command_text(program.words)}`: write yours after --"
    if program.has_made_up_input:
        numbers = ", ".join(map(str, program.server.numbers))
        yield f"it read the numbers {numbers}, then 1, from its standard input: write `< FILE` to give it yours"


def share_of_time(deadline: float, lists: int) -> float:
    """When the runs with one list of arguments end, if there are so many lists for the time that is left."""
    now = time.monotonic()
    return now + max(0.0, deadline - now) / lists


def add_discoveries(found: dict[str, Discovery], defects: Sequence[Defect], number: int) -> None:
    """Add the defects that the input of this number shows."""
    shown_here = {defect.bucket: defect for defect in reversed(defects)}
    for defect in reversed(shown_here.values()):
        known = found.get(defect.bucket)
        one = Discovery(defect, number, number, 1, False, None, devices=("cpu",))
        found[defect.bucket] = replace(known, count=known.count + 1) if known else one


def defects_of(asked: CheckPlan, program: CheckedProgram, findings: Iterable[Finding]) -> Iterator[Defect]:
    """The defects that these findings of a program with one list of arguments are."""
    texts = {str(one.path): one.text for one in asked.library.files.values()}
    own = str(asked.library.files[0].path)
    scene = Scene(asked.path.stem, own, command_text(program.words), 0, {}, {}, True)
    for finding in findings:
        yield device_defect(scene, finding, lambda file: texts.get(file or own, ""))


def troubles_of(program: CheckedProgram) -> Iterator[str]:
    """Why the runs of a program show less than they could."""
    if program.refusal:
        yield f"{command_text(program.words)}: cannot run: {program.refusal}"


def own_ends(program: CheckedProgram) -> Iterator[str]:
    """How a program itself ends each time, with an error."""
    codes = [one.exit_code for one in program.printed if one.exit_code is not None]
    if codes and all(codes):
        ended = own_end(program.printed[0].errors, codes[0])
        said = last_lines(program.printed[0].output + program.printed[0].errors)
        yield f"{command_text(program.words)}: the program itself ends {ended}\n{said}".rstrip()


UNCAUGHT = re.compile(r"terminate called after throwing an instance of '(?P<type>.*)'(?:\n +what\(\): +(?P<what>.*))?")
"""What the C++ library prints when no handler takes an exception."""
ASSERTED = re.compile(r"^assertion failed: .*", re.MULTILINE)


def own_end(errors: str, exit_code: int) -> str:
    """How a program ended itself, in one line, with its own message."""
    if thrown := UNCAUGHT.search(errors):
        words = ": ".join(filter(None, (thrown["type"], thrown["what"])))
        return printable(f"by an exception, {words} (exit code {exit_code})")
    asserted = ASSERTED.search(errors)
    return printable(f"with exit code {exit_code}{f': {asserted[0]}' if asserted else ''}")


def command_text(words: Sequence[str]) -> str:
    """A command line as you would type it."""
    return shlex.join([shown_path(Path(words[0])), *words[1:]])


@dataclass
class RunProgress:
    """Shows the progress: on a terminal all the time, elsewhere by a line now and then."""

    screen: Screen
    status: Status
    what: str
    own: Path
    """The file of a finding that names none."""
    last_line: float = field(default_factory=time.monotonic)
    count: int = 0

    def report_finding(self, finding: Finding) -> None:
        """Show an error as soon as a run sees it; the report at the end has the rest."""
        path = Path(finding.file) if finding.file else self.own
        where = f"{shown_path(path)}:{finding.line}: " if finding.line else ""
        line = f"found {finding.kind}: {where}{finding.message}"
        self.screen.print(line, markup=False, highlight=False, soft_wrap=True)

    def __call__(self, manner: str) -> None:
        """Show that a run begins."""
        self.count += 1
        line = f"{self.what}: run {self.count} ({manner})"
        self.status.update(line)
        if not self.screen.is_terminal and time.monotonic() - self.last_line >= LINE_EVERY:
            self.last_line = time.monotonic()
            self.screen.print(line, markup=False, highlight=False, soft_wrap=True)


def build_program(words: Sequence[str], through: str = "") -> tuple[Library, Path]:
    """The program that these words name, built if necessary, and the file that gives it its name."""
    if len(words) == 1 and is_program(Path(words[0])):
        return load_program(Path(words[0])), Path(words[0])
    command = parse(words)
    if not command.sources:
        raise click.UsageError("name the source files of a program, or a program that kfuzz nvcc built")
    ignored = [one for one in command.ignored if not (through and TAKEN.fullmatch(one))]
    if ignored:
        click.echo(f"ignored options: {' '.join(ignored)}", err=True)
    by = Through(command.ignored) if through else None
    objects = [compile_source(one, command.flags, through=by).object for one in command.sources]
    with cache.scratch() as folder:
        link(objects, command, folder / "program", through=by)
        return load_program(folder / "program"), command.sources[0].path


def lists_of(
    library: Library, words: tuple[str, ...], inputs: Path | None, timeout: float
) -> Iterator[tuple[str, ...]]:
    """The arguments of each run, the program's own name first."""
    if inputs is None:
        yield words
        return
    if str(inputs) != GENERATED:
        yield from (with_input(words, one) for one in files_of(inputs))
        return
    with closing(Server()) as server:
        yield from (with_input(words, one) for one in generate_files(FileReader(library, words, timeout, server)))
