"""Replays a job under NVIDIA's compute-sanitizer and reads its report as findings.

Knows the tool's words. It must not import pycuda: the replay is a separate process.
"""

import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from kfuzz.common.text.headers import sources
from kfuzz.devices import Buffer, Finding, Job, Outcome, Probe
from kfuzz.devices.gpu import nvidia
from kfuzz.devices.memory.layout import nbytes
from kfuzz.kinds import Kind, Severity
from kfuzz.oracle.numbers.plural import plural

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
OPTIONS = ("--show-backtrace", "no", "--print-limit", "10000")
SLOWDOWN = 20
"""How many times the time-out of a plain run a watched run may take."""

ENDED = "the replay ended"
"""The last line that a replay prints, whatever its launches did."""

NEAR = 1 << 20
"""An address further than this from every array is attributed to none of them."""

LINE = re.compile(r"^========= ?(.*)$", re.MULTILINE)
ARRAY = re.compile(r"^array (\S+) at (0x[0-9a-f]+)$", re.MULTILINE)
PLACE = re.compile(r"\bin (\S+):(\d+)")
THREAD = re.compile(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)")
ADDRESS = re.compile(r"(?:Address|Access at|Access to) (0x[0-9a-f]+)")
ACCESS = re.compile(r"^Invalid __(\w+)__ (read|write|atomic) of size (\d+)")
UNWRITTEN = re.compile(r"^Uninitialized __(\w+)__ memory (read) of size (\d+)")
BARRIER = re.compile(r"^Barrier error detected\. (.*)$")
TRAP = "Trace/breakpoint trap"
RACE = re.compile(r"^(?:Error|Warning): Race reported between (\w+) access .* and (\w+) access")


OF_MBARRIERS = "mbarrier_"
"""CUDA's headers of these instructions. In clusters racecheck reports a thread's own init and arrive as a hazard."""


@dataclass(frozen=True)
class Complaint:
    """One complaint of the tool: its first line, and the indented ones under it."""

    head: str
    details: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join((self.head, *self.details))


def watch_replay(job: Job, probe: Probe, outcome: Outcome) -> Outcome:
    """An outcome, with the findings of the four tools on a replay of its job merged in."""
    tool_path = nvidia.find_sanitizer()
    with tempfile.TemporaryDirectory(prefix="kfuzz-sanitizer-") as folder:
        file = Path(folder) / "job"
        file.write_bytes(pickle.dumps((job, probe)))
        limit = 60 + SLOWDOWN * probe.timeout
        with ThreadPoolExecutor(len(TOOLS)) as pool:
            reports = list(pool.map(lambda tool: _run_tool(tool_path, tool, file, limit), TOOLS))
    findings = outcome.findings
    for report, _ in reports:
        findings = merge_findings(findings, tuple(read_report(report, job)))
    return replace(outcome, findings=findings, notes=outcome.notes + tuple(note for _, note in reports if note))


def _run_tool(tool_path: str, tool: str, file: Path, limit: float) -> tuple[str, str]:
    """One tool's report on a replay, after the arrays' addresses; or why there is none."""
    log = file.with_name(f"{tool}.log")
    command = [tool_path, "--tool", tool, "--log-file", str(log), *OPTIONS]
    if tool == "memcheck":
        command += ["--report-api-errors", "no"]
    command += [sys.executable, "-m", "kfuzz.devices.gpu.launching", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return "", f"{tool} had not ended after {limit:g} s"
    said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if ENDED not in done.stdout.splitlines():
        last = (done.stderr or done.stdout or said).strip().splitlines()[-1:] or ["it said nothing"]
        return "", f"{tool} could not watch this job: {last[0]}"
    return f"{done.stdout}\n{said}", ""


def merge_findings(findings: tuple[Finding, ...], more: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Both lists of findings in one: a known finding without a line gets its line, and the others are added.

    A hazard is an error if the runs also left different bits. Alone it stays a warning, because a compiler's
    speculative load can cause a harmless one.
    """
    result = list(findings)
    varies = any(found.kind == "nondeterministic" for found in findings)
    for found in more:
        if found.kind == "race" and varies:
            result.append(replace(found, severity="error"))
            continue
        known = next(
            (one for one in result if (one.kind, one.array) == (found.kind, found.array) and one.line is None), None
        )
        if known is None:
            result.append(found)
        else:
            message = f"{known.message}; {found.message}"
            where = replace(known, line=found.line, thread=found.thread, block=found.block, message=message)
            result[result.index(known)] = where
    return tuple(result)


def read_report(report: str, job: Job) -> Iterator[Finding]:
    """The findings of a report that begins with the replay's output: each place once, with its count."""
    bases = {name: int(address, 16) for name, address in ARRAY.findall(report)}
    seen: dict[tuple[object, ...], Finding] = {}
    for record in split_complaints(report):
        if (found := _interpret(record, job, bases)) is not None:
            key = (found.kind, found.line, found.other_line, found.array)
            before = seen.get(key)
            seen[key] = replace(before, count=before.count + 1) if before else found
    yield from seen.values()


def split_complaints(report: str) -> Iterator[Complaint]:
    """The complaints of a report: a line that is not indented begins one."""
    head, details = "", list[str]()
    for line in LINE.findall(report):
        if line.startswith(" "):
            details.append(line.strip())
        else:
            if head:
                yield Complaint(head, tuple(details))
            head, details = line.strip(), []
    if head:
        yield Complaint(head, tuple(details))


def _interpret(record: Complaint, job: Job, bases: Mapping[str, int]) -> Finding | None:
    """The finding that a complaint means; None for the banner, the summary and complaints not about the kernel."""
    text = record.text
    if access := ACCESS.match(record.head):
        kind: Kind = "misaligned" if "is misaligned" in text else "out-of-bounds"
        return _place_at_array(_make_finding(kind, record.head, text, job), access, text, job, bases)
    if access := UNWRITTEN.match(record.head):
        return _place_at_array(_make_finding("uninitialised", record.head, text, job), access, text, job, bases)
    if barrier := BARRIER.match(record.head):
        return _make_finding("divergent-barrier", f"barrier: {barrier[1]}", text, job)
    if record.head == TRAP:
        return _make_finding("trap", record.head, text, job)
    if race := RACE.match(text):
        files = [Path(file).name for file, _ in PLACE.findall(text)]
        if files and all(name.startswith(OF_MBARRIERS) for name in files):
            return None
        words = f"{race[1].lower()} and {race[2].lower()} of shared memory without a barrier between them"
        return _make_finding("race", words, text, job, "warning")
    return None


def _make_finding(kind: Kind, message: str, text: str, job: Job, severity: Severity = "error") -> Finding:
    """A finding with the lines of the kernel file and the thread that a complaint names."""
    files = {
        job.path.name: "",
        **{one.path.name: str(one.path) for one in sources(job.path, job.source, job.flags)[1:]},
    }
    places = [(files[Path(file).name], int(line)) for file, line in PLACE.findall(text) if Path(file).name in files]
    (file, line), (other_file, other_line) = [*places, ("", None), ("", None)][:2]
    who = THREAD.search(text)
    numbers = tuple(int(number) for number in who.groups()) if who else (0,) * 6
    return Finding(
        kind,
        message,
        severity,
        line=line,
        other_line=other_line,
        file=file,
        other_file=other_file,
        thread=(numbers[0], numbers[1], numbers[2]) if who else None,
        block=(numbers[3], numbers[4], numbers[5]) if who else None,
    )


def _place_at_array(found: Finding, access: re.Match[str], text: str, job: Job, bases: Mapping[str, int]) -> Finding:
    """The finding with the array whose bytes are nearest to the address, and the index in it."""
    space, verb, size = access.groups()
    words = f"{found.kind} {verb} of {plural(int(size), 'byte')} of {space} memory"
    where = ADDRESS.search(text)
    near: tuple[int, Buffer, int] | None = None
    for buffer in job.buffers if where and space == "global" else ():
        byte = int(where[1], 16) - bases[buffer.name] if where else 0
        distance = max(-byte, byte + int(size) - nbytes(buffer), 0)
        if distance < (near[0] if near else NEAR):
            near = distance, buffer, byte
    if near is None:
        return replace(found, message=words)
    _, buffer, byte = near
    index = byte // buffer.element.bytes
    return replace(found, message=f"{words}, at {buffer.name}[{index}]", array=buffer.name, index=index)
