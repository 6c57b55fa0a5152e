"""What runs the jobs of a language, as far as a campaign has to know it: how it starts, what it keeps, what it checks.

A job names its runner, and `campaign/device.py` has the table of the devices for each.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Runner:
    """The traits of the devices that run one kind of job, whatever their names."""

    name: str
    compiles: bool
    """kfuzz itself compiles a file, for which the device needs its compiler. Otherwise a process loads the file."""
    loads_libraries: bool
    """A process loads a file's libraries before its first job, for seconds: a campaign begins with that early."""
    is_slow: bool
    """A trial may take seconds: blocks are short, and from the first trial on each knows the earlier crashes."""
    takes_jobs_ahead: bool
    """A job may be queued while another one runs."""
    compiles_each_size: bool
    """A library may compile again for a new size: a campaign measures what new sizes cost."""
    limits_calls: bool
    """Its devices limit the time of a call themselves, whatever a campaign allows a trial."""
    keeps_state: bool
    """A file may remember its earlier calls: if runs differ, that explains it, and not a race."""
    checks_accesses: bool
    """The cpu device checks each access."""
    counts_roundings: bool
    """The cpu device counts what a kernel adds and rescales."""
    captures_graphs: bool
    """Its calls can be captured as a CUDA graph and replayed."""
    lends_strides: bool
    """In every trial it lends inputs with strides to a function that claims to take them."""
    is_timed_in_process: bool
    """To be timed, a file is loaded into the process that takes the times."""


LAUNCHER = Runner(
    name="launcher",
    compiles=True,
    loads_libraries=False,
    is_slow=False,
    takes_jobs_ahead=True,
    compiles_each_size=False,
    limits_calls=False,
    keeps_state=False,
    checks_accesses=True,
    counts_roundings=True,
    captures_graphs=False,
    lends_strides=False,
    is_timed_in_process=False,
)
"""Launches a file's kernels, or calls its host functions, in a worker of the cpu or the gpu device."""
CALLER = Runner(
    name="caller",
    compiles=False,
    loads_libraries=True,
    is_slow=True,
    takes_jobs_ahead=False,
    compiles_each_size=True,
    limits_calls=True,
    keeps_state=True,
    checks_accesses=False,
    counts_roundings=False,
    captures_graphs=True,
    lends_strides=True,
    is_timed_in_process=True,
)
"""Calls a file's functions, in a process of their own with the library of their arrays."""
