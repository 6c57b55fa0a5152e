"""Tasks of robust-kbench: the first test's sizes make the model and the inputs."""

import json
from types import ModuleType

from kfuzz.claims.references.torch.configs import configure

CONFIG = json.dumps({
    "single_input_configs": [{"batch_size": 1}],
    "single_init_configs": [{"init_method": "random"}],
    "single_shared_configs": [{"wide": 64}],
    "multi_input_configs": [{"batch_size": 8}],
})  # fmt: skip


class Model:
    def __init__(self, wide: int, eps: float = 1e-5, init_method: str = "standard") -> None:
        self.made = wide, eps, init_method


def task() -> ModuleType:
    module = ModuleType("func_forward")
    module.Model = Model  # type: ignore[attr-defined]
    module.get_inputs = lambda batch_size=16, wide=4, rest=2: (batch_size, wide, rest)  # type: ignore[attr-defined]
    return module


def test_a_model_and_its_inputs_are_made_as_the_first_test_makes_them() -> None:
    module = task()
    configure(module, CONFIG, "Model")
    assert module.get_init_inputs() == [64, 1e-5, "random"]
    assert module.get_inputs() == (1, 64, 2)


def test_a_task_that_says_it_itself_or_nowhere_stays_as_it_is() -> None:
    module = task()
    configure(module, "", "Model")
    assert not hasattr(module, "get_init_inputs")
    module.get_init_inputs = lambda: [8]  # type: ignore[attr-defined]
    configure(module, CONFIG, "Model")
    assert module.get_init_inputs() == [8]
