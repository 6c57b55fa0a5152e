"""The kernels and callables that read or write codes of narrow types, and their trials."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from our_kernels import every_kernel
from paths import DATA
from wrong_twins import list_callables

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.plans.choose import seed_of, seeded_choices
from kfuzz.cases.plans.plan import plan
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Device, Probe

FILES = list_callables(DATA / "callables" / "narrow")
NEEDS_GPU = ("cupy",)
NAMED = ("numpy", "torch", "triton", "cupy", "jax")


def narrow_kernels(broken: bool) -> list[Kernel]:
    """The kernels of the project whose op has arrays of narrow types."""
    return [one for one in every_kernel() if one.roles.grids and bool(one.broken) == broken]


def library_of(path: Path) -> str:
    """The library that a file needs, by its name."""
    return next(name for name in NAMED if name in path.stem)


def lacks(path: Path, on_gpu: bool) -> str:
    """Why a file cannot run here; empty if it can."""
    library = library_of(path)
    if not on_gpu and (library in NEEDS_GPU or path.stem.endswith("_on_gpu")):
        return f"{library} needs a GPU"
    if on_gpu and path.stem.endswith("_on_cpu"):
        return f"{library} computes it otherwise on a GPU"
    needed = (library, "ml_dtypes") if library == "jax" else (library, "torch") if library == "triton" else (library,)
    missing = [name for name in needed if find_spec(name) is None]
    return f"{', '.join(missing)} is not installed" if missing else ""


def trials_of(kernel: Kernel, device: Device, count: int) -> Iterator[Trial]:
    """So many trials from fixed seeds."""
    for number in range(count):
        attempt = plan(kernel, seeded_choices(seed_of("narrow", kernel.name, number)))
        yield run_trial(kernel, attempt.case, attempt.tune, device, Probe(seed=number))


def check_callable(path: Path, device: Device, count: int) -> None:
    """A right callable is kept in every trial, and a wrong one is found in one of them."""
    kernel = load(path)
    found = [defect.message for trial in trials_of(kernel, device, count) for defect in trial.errors]
    assert bool(found) == path.stem.startswith("wrong"), found[:1]
