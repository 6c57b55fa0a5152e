"""Judge the public functions of Python libraries, as they are installed here.

    python -m benchmarks.libraries measure functions --out FOLDER [--device gpu] [LIBRARY ... LIBRARY/FUNCTION ...]
    python -m benchmarks.libraries measure functions --out FOLDER --cluster tcp://HOST:8786

functions.py reads the list of functions of floats; `narrow/LIBRARY` are claims of functions of 8 and 4 bits. The
functions of a library are tried one after the other, each for so many seconds after its first trial. The gravest wrong
answer is made small, and mpmath computes it a second time: an accusation that this does not confirm is withdrawn, and
is a bug of kfuzz.

FOLDER keeps the files that were tried and each result: the same command goes on where it was interrupted. A result of
another entry of the list, another rule, another version of the library or another kfuzz is judged again, and this says
which; with `--older`, those of another kfuzz alone hold, and the page counts them. With `--table` nothing is tried:
results of other entries and rules are left out. `try functions` in place of `measure functions` prints the section.

With `--cluster` the workers of a Dask cluster judge, and FOLDER stays here (docs/cluster.md). They need the same kfuzz,
this repository in PYTHONPATH and the libraries, which this machine does not need. Each errand is some functions of one
library; if a worker is lost, another one repeats its errand.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.libraries import functions, narrow
from benchmarks.libraries.judging import Claim, Result, judge
from benchmarks.libraries.records import Records, installed
from benchmarks.measurement import Figures
from kfuzz.campaign.errand import errand
from kfuzz.devices import Device
from kfuzz.devices.python.device import PythonDevice
from kfuzz.ui.commands.workplace import workplace_for

GROUP = 40
"""The most claims of one process: it imports the library once, and several of them work at the same time."""
GRACE = 240.0
"""Seconds without a result, after which the claim that is tried has no end."""
MOST_OF_ERRAND = 8
"""The most claims of one errand: what a worker has judged is lost with it."""
ROOT = Path(__file__).parents[2]


def claims_of(asked: str, device: str) -> Iterator[Claim]:
    """The claims of a library, of one function of it, or one claim: LIBRARY/FUNCTION/CLAIM."""
    if asked.startswith(narrow.PREFIX):
        library, _, function = asked.removeprefix(narrow.PREFIX).partition("/")
        yield from (one for one in narrow.claims_of(library) if function in ("", one.name, one.key))
        return
    library, _, function = asked.partition("/")
    listed = functions.library(library)
    if device in listed.devices:
        yield from (one for one in listed.functions() if function in ("", one.name, one.key))


def measure(arguments: Sequence[str]) -> Figures:
    """Try them all, a process for some functions of a library; each result is a record."""
    asked = parse(arguments)
    records = records_of(asked)
    claims = {name: list(claims_of(name, asked.device)) for name in asked.names or functions.libraries()}
    every = list(chain(*claims.values()))
    if not asked.table:
        for words in records.drop_others(every):
            print(f"judged again: {words}", file=sys.stderr)
        for library in try_all(claims, asked, records):
            print(library, file=sys.stderr, flush=True)
    kept = {one: record for one in every if (record := records.read(one)) and not records.differs(one)}
    results = {one: record.result for one, record in kept.items()}
    versions = {one.package: record.made.version for one, record in kept.items()}
    rows = [{"library": one.library, "key": one.key, **asdict(result)} for one, result in results.items()]
    commits = Counter(record.made.commit for record in kept.values())
    numbers = {"device": asked.device, "versions": versions, "commits": dict(commits.most_common())}
    machines = dict.fromkeys(record.made.machine for record in kept.values())
    return Figures(numbers, {"results": rows}, "; ".join(machines))


def records_of(asked: argparse.Namespace) -> Records:
    """The folder of results. Where nothing is tried, no library has to be installed."""
    is_elsewhere = asked.table or asked.cluster
    ignored = {name for name, held in (("kfuzz", asked.table or asked.older), ("version", is_elsewhere)) if held}
    return Records(asked.out.resolve(), asked.device, frozenset(ignored))


def try_all(claims: Mapping[str, Sequence[Claim]], asked: argparse.Namespace, records: Records) -> Iterator[str]:
    """Judge what has no result yet, here or on a cluster; the library of each part that is done."""
    if asked.cluster:
        left = {name: [one for one in of_it if not records.path(one).exists()] for name, of_it in claims.items()}
        yield from try_on_cluster(list(groups_of(left, 1, MOST_OF_ERRAND)), asked, records)
        return
    with ThreadPoolExecutor(asked.jobs) as pool:
        yield from pool.map(lambda group: try_group(group, asked.seconds, records), groups_of(claims, asked.jobs))


def groups_of(claims: Mapping[str, Sequence[Claim]], jobs: int, most: int = GROUP) -> Iterator[Sequence[Claim]]:
    """The claims of each name, in parts that a process each judges, small enough to end at about the same time."""
    most = max(1, min(most, -(-sum(map(len, claims.values())) // (3 * jobs))))
    for of_it in claims.values():
        yield from (of_it[first : first + most] for first in range(0, len(of_it), most))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="LIBRARY[/FUNCTION]", help="default: all functions of floats")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time on this machine")
    parser.add_argument("--cluster", metavar="ADDRESS", help="judge on the Dask cluster of this scheduler")
    parser.add_argument("--table", action="store_true", help="try nothing; take the results that there are")
    parser.add_argument("--older", action="store_true", help="take results of another kfuzz as they are")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, required=True, help="where the files that are tried, and the results, lie")
    return parser.parse_args(arguments)


def main() -> None:
    """Judge the claims of one library in this process: `try_group` starts it."""
    asked = parse(None)
    claims = [one for name in asked.names for one in claims_of(name, asked.device)]
    judge_group(claims, asked.device, asked.seconds, records_of(asked))


def judge_group(claims: Sequence[Claim], device: str, seconds: float, records: Records) -> None:
    """Judge those that have no result, in this process."""
    modules = tuple(dict.fromkeys(name for one in claims for name in one.modules))
    for one in claims:
        os.environ.update(one.environment)
    opened = PythonDevice(device, modules=modules)
    try:
        for one in claims:
            if not records.path(one).exists():
                records.started(one).touch()
                records.keep(one, judge(one, opened, seconds, records.folder))
    finally:
        opened.close()


@dataclass(frozen=True)
class Part:
    """Some claims of a library, for a worker of a cluster."""

    names: tuple[str, ...]
    device: str
    seconds: float


def try_on_cluster(parts: Sequence[Sequence[Claim]], asked: argparse.Namespace, records: Records) -> Iterator[str]:
    """Have the workers of a cluster judge some claims each, and keep each part's results when they come."""
    open_device = partial(PythonDevice, asked.device)
    with workplace_for(asked.device, None, asked.cluster, sanitize=False) as place:
        assert place.spread is not None, "a cluster was asked for"
        tasks = [Part(tuple(f"{one.library}/{one.key}" for one in part), asked.device, asked.seconds) for part in parts]
        errands = [errand(one.names[0], (), open_device, judge_part, one, asked.device) for one in tasks]
        for number, results in place.spread([iter([one]) for one in errands], None):
            for one, text in zip(parts[number], results, strict=True):
                records.take(one, text)
            yield parts[number][0].library


def judge_part(device: Device, part: Part) -> Iterator[str]:
    """On a worker: the records of some claims, as text. The processes of try_group open devices of their own."""
    claims = [one for name in part.names for one in claims_of(name, part.device)]
    with TemporaryDirectory() as folder:
        records = Records(Path(folder), part.device)
        try_group(claims, part.seconds, records)
        yield from (records.path(one).read_text(encoding="utf-8") for one in claims)


def try_group(claims: Sequence[Claim], seconds: float, records: Records) -> str:
    """Have another process judge a library's claims; an import or a call that never ends takes one claim alone."""
    if not claims:
        return ""
    folder = records.folder / claims[0].library
    folder.mkdir(parents=True, exist_ok=True)
    while left := [one for one in claims if not records.path(one).exists()]:
        if not installed(left[0]):
            for one in left:
                records.keep(one, Result("not judged", one.absent))
            break
        command = [sys.executable, "-m", "benchmarks.libraries.judge", "--device", records.device, "--alone"]
        command += ["--seconds", str(seconds), "--out", str(records.folder)]
        command += [f"{one.library}/{one.key}" for one in left]
        with (folder / "log").open("a") as log:
            run = subprocess.Popen(command, stderr=log, cwd=ROOT, start_new_session=True)
            words = wait(run, left, records)
        stopped = [one for one in left if records.started(one).exists() and not records.path(one).exists()]
        for one in stopped or left[:1]:
            if not records.path(one).exists():
                records.keep(one, Result("not judged", words))
    return claims[0].library


def wait(run: "subprocess.Popen[bytes]", left: Sequence[Claim], records: Records) -> str:
    """Wait for a process as long as results come; say how it ended."""
    done, since = 0, time.monotonic()
    while True:
        try:
            return f"exit code {run.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            now = sum(records.path(one).exists() for one in left)
            if now > done:
                done, since = now, time.monotonic()
            if time.monotonic() - since > GRACE:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
                return f"no end after {GRACE:.0f} s"


if __name__ == "__main__":
    main()
