"""Whether a guessed claim that trials broke is right, and the kernel wrong.

A wrong guess of sizes, arrays or launch is wrong nearly everywhere; a bug leaves ordinary cases right, in some order of
threads at least. Knows trials and verdicts; never how a guess is made.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ge
from textwrap import shorten

from kfuzz.campaign.schedule import attempt_of
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.plans.plan import Attempt
from kfuzz.cases.plans.sizes import row_axis
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device, DeviceError, Finding, Probe
from kfuzz.measure.roundings.grounds import inputs_of, is_too_much, nearest_size
from kfuzz.oracle import judge

ROWS = (37, 5, 130)
LONG = (200, 1000, 64, 1500, 129, 300)
"""Sizes of ordinary cases, none of them equal, so that a guess that confuses two is wrong."""
SHORT = (24, 40, 12)
"""Sizes of an op with three axes or more, whose cases would be large; a sum of 12 terms is one turn of most loops."""
FIRST, STEP = ((5, 8), (3, 16), (2, 264)), 8
"""Rows, the size of the first other axis, and by how much each further one is longer: multiples of a vector. The
last is for kernels that go wrong in rows shorter than a block."""
TIMES = 16
"""How much larger one of these cases may be than one at which roundings are counted: 264 x 272 is."""
MOST_TUNES = 2
ORDERS = 4
"""Runs of one case, each with another order of threads: a race leaves one of them right."""
ENOUGH = 0.5
"""The share of ordinary cases that a claim must get right; of the wrong guesses for the kernels of kfuzz none does."""
LOOKED = 12
"""The most claims to examine: the likeliest come first."""
TRIALS = 8
MOST_SIGNS, WIDEST = 3, 300
ClaimLayout = tuple[tuple[str, ...], str, str, str, str]
NOT_PROVED = "this claim fits some inputs, but the kernel is wrong for others"
IF_NOT_A_BUG = "if it was never meant for such an input, write that into axes, where or [values] of the claim"


@dataclass(frozen=True)
class FailedGuess:
    """The trial that broke a guess, and its first error."""

    attempt: Attempt
    probe: Probe
    defect: Defect

    def __str__(self) -> str:
        return self.defect.message


BrokenClaim = tuple[Kernel, FailedGuess]


@dataclass(frozen=True)
class LikelyBug:
    """What breaks a claim that fits: the defects of some trials, one for each bucket, and the first failure.

    `share`: the share of ordinary cases that the kernel gets right. `is_scaled`: the grid grows with the sizes.
    `is_launch_sure`: the text writes the launch, or nothing in ordinary cases may come from another one. `is_op_sure`:
    the user says the op; a leaky_relu.cu is right as a relu wherever all values are positive.
    """

    failure: FailedGuess
    defects: tuple[Defect, ...]
    share: float = 1.0
    is_scaled: bool = True
    is_launch_sure: bool = True
    is_op_sure: bool = True

    @property
    def is_proved(self) -> bool:
        """Whether it accuses the kernel: all ordinary answers are right, so that the claim is what the file means.

        A kernel that takes fewer sizes than the claim allows, such as multiples of 8, is wrong at some ordinary ones,
        and one that a program launches as `<<<1024, 256>>>` was launched so for its own size.
        """
        is_sure = self.is_op_sure or any(one.is_placed for one in self.defects)  # a race is one whatever it computes
        return self.share == 1 and self.is_scaled and self.is_launch_sure and is_sure

    def __str__(self) -> str:
        one = self.defects[0]
        place = f"{one.file}:{one.line}: " if one.line else ""
        said = shorten(one.message, WIDEST, placeholder=" ...")
        more = (
            f"; also {'; '.join(each.sign for each in self.defects[1 : MOST_SIGNS + 1])}"
            if len(self.defects) > 1
            else ""
        )
        return f"{place}{one.sign}: {said} ({one.scene.words}){more}"


def find_likeliest(
    failed: Sequence[BrokenClaim], device: Device, is_launch_written: bool
) -> tuple[Kernel, LikelyBug] | None:
    """Of claims that trials broke, the one that gets most ordinary cases right, the first of several; None if few.

    If a layout gets some right, a claim of it for fewer sizes may be what is meant: rows of vectors, or of a block.
    `is_launch_written`: the launch stands in the text; else it is kfuzz's own.
    """
    best, most = None, 0.0
    for one in distinct(failed, layout_of):
        share = share_of_right(one[0], device)
        if share > most:
            best, most = one, share
        if 0 < share < 1:
            fewer = of_fewer_sizes(one[0], failed)
            meant = next((each for each in fewer if share_of_right(each[0], device) == 1), None)
            best, most = (meant, 1.0) if meant else (best, most)
        if most == 1:
            break
    if best is None or most < ENOUGH:
        return None
    if not is_launch_written and (other := without_races(best[0], failed, device)):
        best, most = other
    is_sure = is_launch_written or not any(may_be_launched_wrong(best[0], *one, device) for one in ordinary(best[0]))
    return best[0], replace(bug_of(*best, most, device), is_launch_sure=is_sure)


def without_races(kernel: Kernel, failed: Sequence[BrokenClaim], device: Device) -> tuple[BrokenClaim, float] | None:
    """Another launch of the same arrays that gets most ordinary cases right without a race, and the share; None if the
    kernel has no race, or in any launch. A kernel for one warp races in a block of two, and its own bug is another.
    """

    def races(one: Kernel) -> bool:
        return any(has_race(one, *each, device) for each in ordinary(one))

    others = [one for one in distinct(failed, layout_of) if arrays_of(one[0]) == arrays_of(kernel)]
    quiet = (one for one in others if not races(one[0])) if races(kernel) else ()
    shares = ((one, share_of_right(one[0], device)) for one in quiet)
    return next(((one, share) for one, share in shares if share >= ENOUGH), None)


def arrays_of(kernel: Kernel) -> tuple[str, ...]:
    """The arrays of a claim, with their sizes."""
    return tuple(map(str, kernel.arrays.values()))


def of_fewer_sizes(wide: Kernel, failed: Sequence[BrokenClaim]) -> Iterator[BrokenClaim]:
    """The claims of the same layout for fewer sizes, with as many different ordinary ones: one size shows little."""
    same = [one for one in failed if layout_of(one[0]) == layout_of(wide)]
    for one in distinct(same, sizes_of):
        if sizes_of(one[0]) != sizes_of(wide) and all(map(ge, count_sizes(one[0]), count_sizes(wide))):
            yield one


def count_sizes(kernel: Kernel) -> list[int]:
    """How many different sizes each axis has in the ordinary cases."""
    cases = [axes for axes, _ in ordinary(kernel)]
    return [len({axes[name] for axes in cases}) for name in kernel.axes]


def sizes_of(kernel: Kernel) -> tuple[str, str]:
    """The sizes that a claim allows."""
    return str(kernel.axes), str(kernel.where)


def distinct(failed: Sequence[BrokenClaim], key: Callable[[Kernel], Hashable]) -> Iterator[BrokenClaim]:
    """The first claim of each layout and launch, or of each key: others only allow fewer sizes or values."""
    seen: set[Hashable] = set()
    for kernel, failure in failed:
        if key(kernel) not in seen and len(seen) < LOOKED:
            seen.add(key(kernel))
            yield kernel, failure


def layout_of(kernel: Kernel) -> ClaimLayout:
    """What claims that differ only in sizes and values have in common."""
    arrays = tuple(map(str, kernel.arrays.values()))
    return arrays, str(kernel.launches), str(kernel.tune), str(kernel.scalars), str(kernel.written.quantize)


def may_fit(kernel: Kernel, device: Device) -> bool:
    """Whether one of a few small ordinary cases is not wrong, in one order of threads at least.

    Each guess of sizes and values allows the small ones, so a layout that gets all wrong is wrong with any. If all are
    too much, as with six axes, it may fit. Raises what the device says of a file that does not compile.
    """
    if kernel.roles.integers or kernel.roles.structures or kernel.random:
        return True  # its ordinary inputs are not floats of one sign
    is_asked = False
    for rows, start in FIRST:
        axes = {
            name: nearest_size(kernel, name, rows if name == row_axis(kernel) else start + STEP * place)
            for place, name in enumerate(kernel.axes)
        }
        for tune in [one for one in kernel.tunes(axes) if not kernel.where.broken({**axes, **one})][-1:]:
            try:
                if is_too_much(kernel, axes, tune, TIMES):
                    continue
            except ClaimError:  # another claim may be right about this
                is_asked = True
                continue
            is_asked = True
            if any(one != "broken" for one in verdicts_of(kernel, axes, tune, device)):
                return True
    return not is_asked


def share_of_right(kernel: Kernel, device: Device) -> float:
    """The share of ordinary cases whose answer is right in one order of threads at least.

    A case in which threads race, and no order is right, does not count: a missing barrier may spoil all of them.
    """
    right = wrong = 0
    for axes, tune in ordinary(kernel):
        if is_right(kernel, axes, tune, device):
            right += 1
        elif not has_race(kernel, axes, tune, device):
            wrong += 1
        if wrong == 2 and not right:
            return 0.0
    return right / (right + wrong) if right else 0.0


def ordinary(kernel: Kernel) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Some sizes and launches that the claim allows."""
    rows, few = row_axis(kernel), len(kernel.axes) > 2
    for number in range(len(LONG)):
        axes = {}
        for place, (name, axis) in enumerate(kernel.axes.items()):
            wanted = ROWS if name == rows else SHORT if few else LONG
            start = wanted[(number + place) % len(wanted)] + (place if few else 0)
            axes[name] = next((size for size in range(start, start + 64) if size in axis), axis.hi)
        tunes = [one for one in kernel.tunes(axes) if not kernel.where.broken({**axes, **one})]
        for tune in tunes[number % len(tunes) :: max(1, len(tunes) - 1)][:MOST_TUNES] if tunes else ():
            if not is_too_much(kernel, axes, tune):
                yield axes, dict(tune)


def is_right(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], device: Device) -> bool:
    """Whether the answer to an ordinary case is right in one order of threads at least; not if it does not run."""
    try:
        return "kept" in verdicts_of(kernel, axes, tune, device)
    except (ClaimError, DeviceError):
        return False


def verdicts_of(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], device: Device) -> Iterator[str]:
    """The verdicts on an ordinary case, one for each of a few orders of threads."""
    inputs = inputs_of(kernel, axes)
    bound = kernel.bind(inputs, tune)
    outcome = device.run(bound.job, Probe(runs=ORDERS, seed=1, timeout=2.0))
    claimed = (bound.accuracy, kernel.special, bound.scalars)
    given = kernel.stored(inputs)
    answers = (kernel.outputs(one.outputs, bound.sizes) for one in outcome.runs)
    return (judge(kernel.op, given, answer, *claimed).status for answer in answers)


def is_scaled(kernel: Kernel) -> bool:
    """Whether the blocks of a launch grow with the sizes, or the op has one answer, which one block may give."""
    if all(dimensions == ("1",) for dimensions in kernel.roles.outputs.values()):
        return True
    return all(one.on_host or any(size.names & kernel.axes.keys() for size in one.grid) for one in kernel.launches)


def has_race(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], device: Device) -> bool:
    """Whether the device sees a race in an ordinary case."""
    return any(one.kind == "race" for one in findings_of(kernel, axes, tune, device))


def may_be_launched_wrong(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], device: Device) -> bool:
    """Whether the device sees in an ordinary case what another launch would not have: an access beyond dynamic shared
    memory, say, or a race between blocks. Threads of one block race in any launch.
    """
    found = findings_of(kernel, axes, tune, device)
    return any(one.kind != "race" or one.block is None or one.block != one.other_block for one in found)


def findings_of(
    kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], device: Device
) -> tuple[Finding, ...]:
    """The errors that the device sees in an ordinary case; none if it does not run."""
    try:
        job = kernel.bind(inputs_of(kernel, axes), tune).job
        outcome = device.run(job, Probe(check=True, runs=2, seed=1, timeout=2.0))
    except (ClaimError, DeviceError):
        return ()
    return tuple(one for one in outcome.findings if one.severity == "error")


def bug_of(kernel: Kernel, failure: FailedGuess, share: float, device: Device) -> LikelyBug:
    """The failure of a claim, and what else breaks it in a few trials."""
    found = {failure.defect.bucket: failure.defect}
    for index in range(TRIALS):
        attempt = attempt_of(kernel, 1, index)
        probe = Probe(check=index % 2 == 1, runs=2, timeout=2.0)
        for defect in run_trial(kernel, attempt.case, attempt.tune, device, probe).errors:
            found.setdefault(defect.bucket, defect)
    placed = sorted(found.values(), key=lambda one: not one.is_placed)
    return LikelyBug(failure, tuple(placed), share, is_scaled(kernel))
