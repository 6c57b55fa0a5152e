"""Small files of callables, and one trial of one of them."""

from pathlib import Path

import numpy as np

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import load
from kfuzz.devices import Probe
from kfuzz.devices.python.device import PythonDevice

X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
RIGHT = "import numpy as np\ndef f(x):\n    return x.sum(1)\n"


def trial_of(folder: Path, name: str, text: str, device: PythonDevice, op: str = "row_sum") -> Trial:
    """Write a file, and try it once."""
    path = folder / f"{name}.py"
    path.write_text(f'# /// kernel\n# op = "{op}"\n# ///\n{text}')
    return run_trial(load(path), case_of(op, {"x": X}), {}, device, Probe(runs=2))
