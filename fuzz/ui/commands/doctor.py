"""`kfuzz doctor`: shows what this machine can run, and the command that installs what is missing.

Every answer comes from the device itself: a device works if a kernel runs on it and gives a right answer.
"""

import platform
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib import metadata
from pathlib import Path

import click
import numpy as np

from kfuzz import oracle
from kfuzz.campaign.device import NAMES, open_device
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.common.exit_codes import COULD_NOT
from kfuzz.common.installation import install_line, install_package_line
from kfuzz.common.text.json_lines import write_document
from kfuzz.devices import Device, DeviceError, Probe, host_compiler
from kfuzz.devices.python.installed import installed_release
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.sandbox.box import describe, why_not
from kfuzz.devices.vendors import vendor
from kfuzz.measure.roundings import exp_model
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands.options import console

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"
SPECIMEN = KERNELS / "softmax" / "three_pass_thread.cu"


@dataclass(frozen=True)
class Check:
    """One thing that kfuzz looked for: what it found, or what you can do about it."""

    name: str
    found: str
    missing: str = ""


@click.command(short_help="Show what this machine can run.")
@click.option("--measure-exp", is_flag=True,
              help="Measure the error of expf and __expf, for `exp = [a0, kappa]` in a claim. Prints JSON on standard "
              "output and a summary on standard error.")  # fmt: skip
@click.option(
    "--device",
    "name",
    type=click.Choice(NAMES),
    default="auto",
    show_default=True,
    help="The device that --measure-exp measures.",
)
@click.pass_context
def doctor(ctx: click.Context, measure_exp: bool, name: str) -> None:
    """Show what this machine can run, and for everything that is missing the command that installs it.

    To test a device, kfuzz runs one kernel on it. `ok` means that the device works, `--` that something is missing.

    \b
    kfuzz doctor                                      devices, compilers and packages
    kfuzz doctor --measure-exp --device cpu > e.json  errors of the exponential functions
    """
    if measure_exp:
        with closing(open_device(name)) as device:
            sweeps = []
            for function, flags in exp_model.SWEEPS:
                sweeps.append(exp_model.sweep_exp(device, function, flags, exp_model.STRIDES[device.name]))
                click.echo(exp_model.describe_sweep(sweeps[-1]), err=True)
            click.echo(write_document(exp_model.as_document(sweeps, provenance(device.name)), deepest=2), nl=False)
        return
    works = False
    for check in (python(), *packages(), *tools(), sandbox()):
        print_check(check)
    screen = console(to_stderr=True)
    for one in ("cpu", "gpu"):
        with screen.status(f"trying the {one} device; the first time it compiles what it needs"):
            tried = try_device(one, partial(open_device, one))
        print_check(tried)
        works |= bool(tried.found)
    if not works:
        click.echo("no device works on this machine, so kfuzz cannot run any kernel", err=True)
        ctx.exit(COULD_NOT)


def print_check(check: Check) -> None:
    """Print a line: what was found, or what to do."""
    click.echo(f"{'ok' if check.found else '--'}  {check.name:<18} {check.found or check.missing}")


def packages() -> Iterator[Check]:
    """How to install this kfuzz elsewhere; the packages that it, a device or a library needs."""
    yield Check("kfuzz", f"to install the same elsewhere: {install_line()}")
    for name in (*required(), *vendor().packages):
        try:
            yield Check(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Check(name, "", f"not installed: {install_package_line(name)}")
    for library in libraries().values():
        if library.extra:
            yield Check(library.name, installed_release(library), f"not installed: {install_line(library.extra)}")


def required() -> tuple[str, ...]:
    """The names of the packages that the installed project, or its checkout, requires."""
    try:
        wanted = metadata.requires("kfuzz") or []
    except metadata.PackageNotFoundError:
        wanted = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    plain = [line for line in wanted if "extra ==" not in line]
    return tuple(re.split(r"[^\w.-]", line)[0] for line in plain)


def tools() -> Iterator[Check]:
    """Compilers, driver and sanitizer."""
    yield check_tool("c++", host_compiler.find_compiler)
    for name, question in vendor().tools().items():
        yield check_tool(name, question)


def sandbox() -> Check:
    """The sandbox that this machine gives an answer on the cpu device."""
    missing = why_not()
    return Check("sandbox", "" if missing else describe(), missing)


def check_tool(name: str, question: Callable[[], str]) -> Check:
    """The answer, or the text of the error."""
    try:
        return Check(name, question())
    except DeviceError as error:
        return Check(name, "", str(error))


def try_device(name: str, opened: Callable[[], Device]) -> Check:
    """Check that a kernel runs on the device and gives a right answer."""
    try:
        device = opened()
        try:
            return Check(name, run_specimen(device))
        finally:
            device.close()
    except DeviceError as error:
        return Check(name, "", str(error))


def run_specimen(device: Device) -> str:
    """Run one softmax. Raises DeviceError if its answer is wrong."""
    kernel = load(SPECIMEN)
    inputs = {"x": np.linspace(-3, 3, 66, dtype=np.float32).reshape(2, 33)}
    bound = kernel.bind(inputs, {"threads": 32})
    outcome = device.run(bound.job, Probe())
    for run in outcome.runs:
        got = kernel.outputs(run.outputs, bound.sizes)
        verdict = oracle.judge(kernel.op, inputs, got, bound.accuracy, kernel.special)
        if verdict.status != "kept":
            raise DeviceError(f"{kernel.name} ran, and its answer is wrong here: {verdict.diagnosis}")
    if outcome.findings or not outcome.runs:
        said = outcome.findings[0].message if outcome.findings else "no answer"
        raise DeviceError(f"{kernel.name} should run without a finding: {said}")
    return f"runs kernels: {kernel.name} was kept in {plural(len(outcome.runs), 'run')}"


def python() -> Check:
    return Check("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def provenance(device: str) -> dict[str, str]:
    """The device, compiler and day of a measurement."""
    built_by = vendor().describe_compiler() if device == "gpu" else host_compiler.find_compiler()
    where = f"{platform.processor() or platform.machine()}, {platform.libc_ver()[1]}"
    if device == "gpu":
        where = vendor().describe_gpu()
    return {"device": device, "on": where, "compiler": built_by, "day": date.today().isoformat()}
