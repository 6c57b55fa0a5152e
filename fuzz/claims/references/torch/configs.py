"""Tasks of robust-kbench: `config_forward.json` beside a reference says with what its model and its inputs are made.

Knows a file of JSON and the parameters of a class; it knows no set.
"""

import inspect
import json
from functools import partial
from types import ModuleType
from typing import Any

PARTS = ("single_shared_configs", "single_init_configs", "single_input_configs")
"""The sizes for a single test, by what they are for; a later one of a name counts."""


def configure(module: ModuleType, text: str, name: str) -> None:
    """Let a module make its model and its inputs as the task's first test does."""
    if hasattr(module, "get_init_inputs") or not text:
        return
    values = values_in(text)
    made, inputs = getattr(module, name, None), getattr(module, "get_inputs", None)
    if isinstance(made, type):
        arguments = arguments_of(made, values)
        module.get_init_inputs = lambda: arguments  # type: ignore[attr-defined]  # the benchmark's name
    if callable(inputs):
        known = inspect.signature(inputs).parameters
        module.get_inputs = partial(inputs, **{key: one for key, one in values.items() if key in known})  # type: ignore[attr-defined]


def values_in(text: str) -> dict[str, Any]:
    """The values of a task's first test."""
    config = json.loads(text)
    return {key: value for part in PARTS for key, value in (config.get(part) or [{}])[0].items()}


def arguments_of(made: type, values: dict[str, Any]) -> list[Any]:
    """The values for the parameters of a class, up to the last that has one."""
    found = []
    for parameter in inspect.signature(made).parameters.values():
        value = values.get(parameter.name, parameter.default)
        if value is inspect.Parameter.empty:
            break
        found.append(value)
    return found
