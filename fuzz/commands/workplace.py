"""Where a campaign's trials are run: on a device of this machine, or on a cluster that somebody else operates.

Knows what a person may ask for; Dask itself is loaded only where a cluster is named.
"""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import click

from kfuzz.campaign.errand import Spread
from kfuzz.devices import DeviceError
from kfuzz.find.device import device_named

cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler, tcp://HOST:8786: docs/cluster.md."
)


@dataclass(frozen=True)
class Workplace:
    """A device, and how many processes are at work there, or who else has the trials run."""

    device: str
    jobs: int
    spread: Spread | None = None
    address: str = ""

    def __str__(self) -> str:
        return f"{self.device} of {self.address}" if self.address else self.device


@contextmanager
def workplace_for(device: str, jobs: int | None, address: str | None) -> Iterator[Workplace]:
    """The place that a person asks for; the connection to a cluster is closed in the end."""
    if address is None:
        name = device_named(device)
        yield Workplace(name, jobs or (len(os.sched_getaffinity(0)) if name == "cpu" else 1))
        return
    if jobs is not None:
        raise click.UsageError("--jobs is of this machine; a cluster's own operator says how many are at work there")
    try:
        dask = importlib.import_module("kfuzz.campaign.cluster")
    except ModuleNotFoundError as error:
        raise DeviceError(f"--cluster needs {error.name}: pip install 'kfuzz[cluster]'") from None
    with dask.connect(address) as cluster:
        if device == "gpu" and not cluster.has_gpu:
            raise DeviceError(f"{address}: no worker has a GPU to give: start one with dask worker --resources GPU=1")
        name = "gpu" if device != "cpu" and cluster.has_gpu else "cpu"
        yield Workplace(name, 1, partial(dask.spread, cluster, name), address)
