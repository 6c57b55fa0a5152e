"""Where a campaign's trials run: on a device of this machine, or on a cluster.

Dask is loaded only if you name a cluster.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import click

from kfuzz.campaign.campaign import Lane
from kfuzz.campaign.device import lane_of, lane_of_torch, lanes_for, names_of
from kfuzz.campaign.errand import Spread
from kfuzz.common.installation import install_line
from kfuzz.devices import DeviceError

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Run the trials on the Dask cluster of this scheduler, such as tcp://HOST:8786 (docs/cluster.md). "
    "Default: run them on this machine.",
)


@dataclass(frozen=True)
class Workplace:
    """The devices with the number of processes on each, or the cluster that runs the trials."""

    lanes: tuple[Lane, ...]
    spread: Spread | None = None
    address: str = ""

    @property
    def jobs(self) -> int:
        """How many processes of this machine run trials."""
        return 1 if self.spread else sum(lane.jobs for lane in self.lanes)

    @property
    def devices(self) -> str:
        """The names of the devices, in words."""
        return names_of(self.lanes)

    def __str__(self) -> str:
        return f"{self.devices} of {self.address}" if self.address else self.devices


@contextmanager
def workplace_for(
    device: str,
    jobs: int | None,
    address: str | None,
    sanitize: bool,
    with_torch: bool = False,
    guard_all: bool = False,
    worthwhile: int | None = None,
    through: str = "",
) -> Iterator[Workplace]:
    """The place that the options name; the connection to a cluster is closed at the end."""
    if address is None:
        second = (lane_of_torch(),) if with_torch else ()
        yield Workplace((*lanes_for(device, jobs, sanitize, guard_all, worthwhile, through), *second))
        return
    if with_torch:
        raise click.UsageError("--torch works only on this machine: leave out --torch or --cluster")
    if jobs is not None:
        raise click.UsageError(
            "--jobs works only on this machine: the operator of a cluster sets its number of processes"
        )
    try:
        dask = importlib.import_module("kfuzz.campaign.cluster")
    except ModuleNotFoundError as error:
        raise DeviceError(f"--cluster needs {error.name}: {install_line('cluster')}") from None
    with dask.connect(address) as cluster:
        if device == "gpu" and not cluster.has_gpu:
            raise DeviceError(f"{address}: no worker offers a GPU: start one with dask worker --resources GPU=1")
        names = ["gpu", "cpu"] if device == "auto" and cluster.has_gpu else ["cpu" if device == "auto" else device]
        lanes = tuple(lane_of(name, 1, sanitize, guard_all and name == "gpu", through) for name in names)
        yield Workplace(lanes, partial(dask.spread, cluster), address)
