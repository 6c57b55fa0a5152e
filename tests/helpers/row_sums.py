"""A callable that sums rows, and a device that answers for it in this process, for tests of campaigns."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Circumstances, Job, Outcome, Probe, Run

SUM = '# /// kernel\n# op = "row_sum"\n{}# ///\nimport numpy as np\ndef f(x):\n    return x.sum(1)\n'


def sum_kernel(folder: Path, claimed: str = "") -> Kernel:
    """The callable's kernel, in a file of this folder; `claimed` are further lines of its claim."""
    path = folder / "sums.py"
    path.write_text(SUM.format(claimed))
    return load(path)


class RowSums:
    """A device whose answers are the sums of what `seen` makes of the numbers; `seen` may also end the process."""

    name = "cpu"

    def seen(self, given: NDArray[np.float64]) -> NDArray[np.float64] | Outcome:
        """The numbers that the device adds up, or the outcome of the whole job."""
        return given

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Sum the rows of the job's input."""
        found = self.seen(next(one.content for one in job.buffers if one.content is not None).astype(np.float64))
        if isinstance(found, Outcome):
            return found
        (name,) = (one.name for one in job.buffers if one.is_output)
        with np.errstate(all="ignore"):
            return Outcome((Run(Circumstances(), {name: found.sum(-1).astype(np.float32)}),) * 2)

    def close(self) -> None:
        """Nothing to end."""
