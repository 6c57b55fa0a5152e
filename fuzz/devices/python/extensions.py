"""CUDA that a callable builds, on the cpu device: each call of one of its functions is a job of that device.

The device's findings in the job become the callable's, and the callable continues with the function's results.
Knows texts, arrays and jobs; it knows no library.
Long, since building, loading and calling share the table of functions.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kfuzz.common.text.cuda_text import blank_non_code, closing_bracket, split_commas
from kfuzz.devices import Buffer, Call, ClaimError, Finding, Job, Outcome, Probe, Refusal, Run, Step, UnsupportedError
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.ptx.products import operand_of
from kfuzz.devices.cpu.questions import CpuQuestion
from kfuzz.devices.memory.comparing import poison_mask
from kfuzz.devices.memory.layout import OUTPUT
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.handing import Argument, put_back, translate_arguments
from kfuzz.devices.worker.worker import BUILDING
from kfuzz.kinds import kinds_with
from kfuzz.oracle.numbers.elements import ELEMENTS

BOUND = re.compile(r"\bm\s*\.\s*(?:def|impl)\s*\(\s*\"(?P<name>\w+)\"\s*,\s*&?\s*(?P<function>[\w:]+|\[)")
DEFAULT = re.compile(r"\"(?P<name>\w+)\"\s*(?:_a|\))\s*=\s*(?P<value>[^,()]+(?:\([^()]*\))?)")
BODY = re.compile(r"\s*(?:noexcept\s*)?\{")
STATIC = re.compile(r"\bstatic\s+(?!(?:inline|constexpr|const|__\w+__)\b)[\w:<>,\s*&]+?\b\w+\s*[=;{\[]")
VARIABLE = re.compile(
    r"(?!(?:using|typedef|template|extern|friend|struct|class|enum|union|static_assert|constexpr|const|static)\b)"
    r"(?!.*\bconst(?:expr)?\b)(?:::\s*)?\w+(?:[\s*&<>,:]+\w+)+\s*(?:\[[^\]]*\]\s*)*(?:=.*)?"
)
"""A statement outside of all functions that declares a variable."""
SEVERAL = re.compile(r"\b(?P<kind>vector|tuple|pair|array|TensorList)\b")
OF_WHOLE_CALL = kinds_with("of-whole-call")
RUNS = 2


class RefusedByExtensionError(RuntimeError):
    """A function threw, so it does not take these arguments; the callable may have another way.

    `line`: where, if that is a line of the callable's own file.
    """

    def __init__(self, words: str, line: int | None = None) -> None:
        super().__init__(words)
        self.line = line


@dataclass(frozen=True)
class CallResult:
    """What a function returned: its arrays, of torch's types, and whether they come as one, a list or a tuple."""

    arrays: tuple[tuple[str, NDArray[np.generic]], ...]
    how: str


@dataclass(frozen=True)
class ExtensionFunction:
    """A function of the text: what it returns, and its parameters."""

    returns: str
    parameters: tuple[str, ...]

    @property
    def how(self) -> str:
        """The form in which Python gets it."""
        kind = SEVERAL.search(self.returns)
        if kind is None:
            return "nothing" if re.search(r"\bvoid\b", self.returns) else "one"
        return "tuple" if kind["kind"] in ("tuple", "pair") else "list"


class Extension:
    """A text of CUDA C++, and the functions that Python may call."""

    def __init__(self, path: Path, source: str, flags: tuple[str, ...], functions: Mapping[str, str]) -> None:
        self.path, self.source, self.flags = path, source, flags
        self._code = blank_non_code(source)
        bound = {one["name"]: one["function"].rpartition("::")[2] for one in BOUND.finditer(source)}
        self.functions = {**bound, **functions}
        self._asked: set[str] = set()
        self._keeps_state = keeps_state(self._code)
        self._shapes: dict[tuple[object, ...], tuple[tuple[str, tuple[int, ...]], ...]] = {}

    def definition(self, name: str) -> ExtensionFunction:
        """The function of this name in C++; UnsupportedError if the text does not define it."""
        for found in re.finditer(rf"\b{re.escape(name)}\s*\(", self._code):
            end = closing_bracket(self._code, found.end() - 1)
            if BODY.match(self._code, end + 1):
                head = self._code[max(self._code.rfind(mark, 0, found.start()) for mark in ";{}#") + 1 : found.start()]
                return ExtensionFunction(head, split_commas(self._code[found.end() : end]))
        raise UnsupportedError(
            f"{self.path}: {name} is not a function of the CUDA text, and the cpu device runs nothing else"
        )

    def call(
        self, name: str, args: Sequence[Argument], named: Mapping[str, Argument], calls: "DeviceCalls"
    ) -> CallResult:
        """Call a function: the arrays that it returns; it changes the arrays that are passed to it."""
        function = self.functions.get(name, name)
        if function == "[":
            raise UnsupportedError(f"{self.path}: {name} is bound to a lambda; the cpu device calls functions by name")
        calls.callers.add(calls.file)
        definition = self.definition(function)
        self._asked.add(function)
        if len(self._asked) > 1 and self._keeps_state:
            why = "its variables outlive a call, and here each of its functions is called by itself"
            raise UnsupportedError(f"{self.path}: {' and '.join(sorted(self._asked))}: {why}; use --device gpu")
        handed = translate_arguments(definition.parameters, args, named, self._defaults(name))
        call = Call(function, tuple(handed.texts), tuple(handed.declared), True, tuple(handed.tensors))
        step = Step(call, (1, 1, 1), (1, 1, 1), 0, tuple(handed.args))
        buffers = tuple(handed.buffers.values())
        job = Job(self.path.stem, self.path, self.source, self.flags, 64, buffers, (step,), (call,))
        if calls.only_launches:
            return CallResult(calls.launches_of(job), definition.how)
        returned = self._returned_shapes(job, calls) if definition.how != "nothing" else ()
        given = [result_buffer(number, one, shape, self.path) for number, (one, shape) in enumerate(returned)]
        left = calls.run(replace(job, buffers=(*buffers, *given)))
        for one, array in handed.places:
            put_back(one, left[array])
        arrays = tuple((one.element.library, left[one.name]) for one in given)
        return CallResult(arrays, definition.how)

    def _defaults(self, name: str) -> dict[str, str]:
        """The default values that py::arg gives to a function's parameters."""
        for one in BOUND.finditer(self.source):
            if one["name"] == name:
                end = self.source.find(";", one.end())
                return {
                    found["name"]: found["value"].strip() for found in DEFAULT.finditer(self.source[one.end() : end])
                }
        return {}

    def _returned_shapes(self, job: Job, calls: "DeviceCalls") -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Element types and shapes of what it returns; empty if no call shows them.

        A call that leaves its arrays may end before it returns, unless its accesses are checked.
        """
        step = job.steps[0]
        key = (
            step.entry,
            tuple(one for one in step.args if not isinstance(one, str)),
            tuple(b.shape for b in job.buffers),
        )
        for check in (False, True):
            if key not in self._shapes:
                asked = replace(calls.probe, check=check, options=(CpuQuestion(returned=True),))
                if (found := calls.run_job(job, asked).returned) is not None:
                    self._shapes[key] = found
        return self._shapes.get(key, ())


def result_buffer(number: int, found: str, shape: tuple[int, ...], path: Path) -> Buffer:
    """The buffer of a returned array; UnsupportedError if a job's arrays cannot have its element type."""
    element = ELEMENTS.get(found)
    if element is None:
        raise UnsupportedError(f"{path}: a tensor of {found} is returned, which the cpu device does not hand to Python")
    return Buffer(f"result {number}" if number else "result", element, shape, is_output=True, is_returned=True)


def keeps_state(code: str) -> bool:
    """Whether blanked code has variables that outlive a call and are not constants."""
    code = re.sub(r"\bnamespace\b[^;{]*\{", "", re.sub(r"^\s*#.*(?:\\\n.*)*", "", code, flags=re.MULTILINE))
    depth, outside = 0, []
    for letter in code:
        depth += letter == "{"
        outside.append(letter if depth == 0 else " ")
        depth = max(0, depth - (letter == "}"))
        outside.append(";" if letter == "}" and depth == 0 else "")
    statements = (" ".join(one.split()) for one in "".join(outside).split(";"))
    return bool(STATIC.search(code)) or any(VARIABLE.fullmatch(one) for one in statements)


def unfilled(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    """An array of this shape that must not be read: it has the memory of one element."""
    steps, size = [], dtype.itemsize
    for length in reversed(shape):
        steps.append(size)
        size *= max(length, 1)
    return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape, tuple(reversed(steps)))


LeftArrays = Mapping[str, NDArray[np.generic]]
"""The arrays of a job after it, by their names."""


class DeviceCalls:
    """The cpu device for the functions of extensions, and its findings in watched calls."""

    def __init__(self) -> None:
        self.probe = Probe(runs=1)
        self.file = Path()
        """The callable's file; a finding in another file names that file."""
        self.findings: list[Finding] = []
        self.trouble: ClaimError | None = None
        self.has_seen = False
        """Whether any watched call had findings since this was last set to False."""
        self.operand = ""
        """The format to which some kernel has rounded operands of float32 products since this was last set to that."""
        self.targets: dict[str, tuple[str, ...]] = {}
        """The targets for which a compiler has made what was launched since this was last emptied, each with the others
        for which it could have made it.
        """
        self.only_launches = False
        """Calls make no launch: they say which ones are refused."""
        self.callers: set[Path] = set()
        """The files that have called a function of an extension, in this process."""
        self.word = 0
        """The poison of the call that is watched; 0 if its accesses are not checked."""
        self.names: Mapping[int, str] = {}
        """The names of the arrays that the callable was given, by their addresses."""
        self._tell: Callable[[Job, LeftArrays], None] | None = None
        self._turn = 0
        self._device: CpuDevice | None = None
        self._begin: Callable[[str], None] = lambda part: None

    @property
    def device(self) -> CpuDevice:
        """Started with the first call."""
        self._device = self._device or CpuDevice()
        return self._device

    @contextmanager
    def watch(
        self,
        probe: Probe,
        word: int,
        turn: int,
        begin: Callable[[str], None] = lambda part: None,
        names: Mapping[int, str] = MappingProxyType({}),
    ) -> Iterator[list[Finding]]:
        """Collect the findings of the calls made meanwhile; with a word of 0 the calls are not checked.

        `begin` is called when a call begins, which may be compiled first, and when it has ended. `names` are those of
        the callable's arrays, by their addresses.

        Each call is run in several orders of threads; the callable continues with the answer of one of them, by `turn`.
        """
        self.findings, self.trouble, self.word, self._turn, self._begin = [], None, word, turn, begin
        self.names = names
        self.probe = replace(probe, runs=RUNS) if word else replace(probe, check=False, runs=1)
        try:
            yield self.findings
        finally:
            self.has_seen = self.has_seen or bool(word and self.findings)
            self.findings = []

    @contextmanager
    def tell_launches(self, tell: Callable[[Job, LeftArrays], None]) -> Iterator[None]:
        """Tell each job that is run meanwhile, and what it has left."""
        self._tell = tell
        try:
            yield
        finally:
            self._tell = None

    @contextmanager
    def look_at_launches(self, probe: Probe) -> Iterator[list[Finding]]:
        """Collect the launches that are refused in the calls made meanwhile, of which none runs."""
        self.findings, self.trouble, self.probe = [], None, replace(probe, check=False, runs=1)
        self.only_launches = True
        try:
            yield self.findings
        finally:
            self.only_launches, self.findings = False, []

    def launches_of(self, job: Job) -> tuple[tuple[str, NDArray[np.generic]], ...]:
        """The arrays that a call would return, which hold nothing; its refused launches become findings."""
        bare = replace(job, buffers=tuple(replace(one, content=None) for one in job.buffers))
        outcome = self.run_job(bare, replace(self.probe, options=(CpuQuestion(launches=True),)))
        if job.path != self.file:
            outcome = replace(outcome, findings=tuple(self._name_file(one, job) for one in outcome.findings))
        self.findings += outcome.findings
        if outcome.refusal:
            raise self._refusal(outcome.refusal, job.path)
        if outcome.returned is None:
            raise UnsupportedError("; ".join(outcome.notes) or f"{job.path}: not run to its end")
        elements = [(ELEMENTS.get(name), name, shape) for name, shape in outcome.returned]
        if unknown := [name for element, name, _ in elements if element is None]:
            raise UnsupportedError(f"{job.path}: a tensor of {unknown[0]} is returned")
        return tuple((one.library, unfilled(shape, one.dtype)) for one, _, shape in elements if one is not None)

    def run_job(self, job: Job, probe: Probe) -> Outcome:
        """What comes of a job on the cpu device."""
        self._begin(BUILDING)
        try:
            return self.device.run(job, probe)
        finally:
            self._begin("running")

    def run(self, job: Job, words: Mapping[str, str] = MappingProxyType({})) -> dict[str, NDArray[np.generic]]:
        """The arrays after a job; Fault if it does not reach its end, RefusedByExtensionError if it throws.

        `words`: what its language says for words of CUDA.
        """
        self.operand = self.operand or operand_of(job)
        # a kernel of programs is compiled for each size, once instead of twice if all calls are checked
        outcome = self.run_job(job, replace(self.probe, check=self.probe.check or job.is_tiled))
        if job.path != self.file:
            outcome = replace(outcome, findings=tuple(self._name_file(one, job) for one in outcome.findings))
        for of_cuda, own in words.items():
            named = (replace(one, message=one.message.replace(of_cuda, own)) for one in outcome.findings)
            outcome = replace(outcome, findings=tuple(named))
        if any(one.kind == "wrong-shape" for one in outcome.findings):
            raise UnsupportedError(
                f"{job.path}: {job.steps[0].entry}: what it returns has another size from call to call"
            )
        self.findings += [one for one in outcome.findings if one.kind not in OF_WHOLE_CALL]
        if outcome.refusal:
            raise self._refusal(outcome.refusal, job.path)
        if not outcome.runs:
            raise self._end(outcome)
        chosen = outcome.runs[self._turn % len(outcome.runs)].outputs
        left = {name: self._in_our_poison(array, name, outcome.runs) for name, array in chosen.items()}
        if self._tell is not None:
            self._tell(job, left)
        return left

    def _name_file(self, found: Finding, job: Job) -> Finding:
        """A finding of a job with another file than the callable's: a line of the callable's own stays one."""
        own = str(self.file.resolve())
        if job.is_tiled and found.line is None:  # its text is a file of Triton's cache
            return found
        file, other = found.file or str(job.path), found.other_file or (str(job.path) if found.other_line else "")
        return replace(found, file="" if file == own else file, other_file="" if other == own else other)

    def _refusal(self, refusal: Refusal, path: Path) -> RefusedByExtensionError:
        """The exception for a refusal by a function of this file."""
        if refusal.line is None or path == self.file:
            return RefusedByExtensionError(refusal.words, refusal.line)
        return RefusedByExtensionError(f"{path.name}:{refusal.line}: {refusal.words}")

    def _end(self, outcome: Outcome) -> Exception:
        """The exception for a job without an answer."""
        errors = [one for one in outcome.findings if one.severity == "error"]
        if errors:
            return Fault(errors[0])
        if outcome.findings:
            return MemoryError()
        return RefusedByExtensionError("; ".join(outcome.notes) or "not run to its end")

    def _in_our_poison(self, array: NDArray[np.generic], name: str, runs: Sequence[Run]) -> NDArray[np.generic]:
        """An array whose unwritten elements hold the same poison as the callable's other arrays."""
        if len(runs) < 2 or not array.nbytes:
            return array
        words = [run.circumstances.poison for run in runs]
        never = np.logical_and.reduce(
            [poison_mask(run.outputs[name], word) for run, word in zip(runs, words, strict=True) if word is not None]
        )
        if len(set(words)) < 2 or not never.any():
            return array
        array = array.copy()
        whole = np.full(array.nbytes // 4 + 1, self.word + OUTPUT, "<u4").view(np.uint8)[: array.nbytes]
        array.reshape(-1)[never] = whole.view(array.dtype)[never]
        return array


CALLS = DeviceCalls()
"""The calls of this process, which makes one at a time."""
