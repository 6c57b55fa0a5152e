"""The sizes of a task follow from the arguments of its tests; no torch is needed."""

from pathlib import Path

import numpy as np

from kfuzz.claims.references.submissions.gpu_mode import folders_of
from kfuzz.claims.references.torch.task_sizes import sizes_of
from kfuzz.devices import names_together, value_with

HOME = {"size": 32, "kernelsize": 4, "channels": 16, "seed": 1}


def shapes(arguments: dict[str, int]) -> dict[str, tuple[int, ...]]:
    size, kernel, channels = arguments["size"], arguments["kernelsize"], arguments["channels"]
    return {
        "x": (channels, size, size),
        "w": (channels, kernel, kernel),
        "scale": ((size + 15) // 16, 3),
        "out": (channels, size - kernel + 1),
    }


def probes(*more: tuple[str, int]) -> dict[str, list[tuple[dict[str, int], dict[str, tuple[int, ...]]]]]:
    every = [(name, {**HOME, name: HOME[name] + by}) for name, by in more]
    names = dict.fromkeys(name for name, _ in every)
    return {name: [(args, shapes(args)) for of, args in every if of == name] for name in names}


def test_a_size_is_the_argument_that_it_follows_in_every_probe() -> None:
    found = sizes_of(HOME, shapes(HOME), probes(("size", 1), ("size", 32), ("kernelsize", 1), ("channels", 1)))
    assert found.dims["x"] == ["channels", "size", "size"]
    assert found.dims["scale"] == ["(size + 15) // 16", "3"]
    assert found.dims["out"] == ["channels", "size - kernelsize + 1"]
    assert found.home == {"channels": 16, "size": 32, "kernelsize": 4}
    assert found.multiples == {}


def test_a_size_that_only_grows_by_16_is_a_multiple_of_16() -> None:
    found = sizes_of(HOME, shapes(HOME), probes(("size", 16), ("size", 32), ("channels", 1)))
    assert found.multiples == {"size": 16}
    assert found.dims["w"] == ["channels", "4", "4"], "an argument that was not varied is a number"


def test_the_folders_of_a_task_are_those_of_its_files(tmp_path: Path) -> None:
    own, other = '{"name": "submission.py", "source": "@SUBMISSION@"}', '{"name": "u.py", "source": "../u.py"}'
    text = f"files:\n  - {own}\n  - {other}\n"
    assert folders_of(text, tmp_path / "task") == [str(tmp_path / "task"), str(tmp_path)]


def test_data_may_hold_an_array_with_its_axes_in_another_order() -> None:
    class Array:
        def permute(self, *order: int) -> object:
            return np.ones((2, 3)).transpose(order)

    text = "(a.permute(1, 0), {'n': 2})"
    assert names_together(text) == ["a"]
    made = value_with(text, {"a": Array()})
    assert isinstance(made, tuple)
    assert made[0].shape == (3, 2)
    assert names_together("(a.clone(1),)") == [], "only a view is data"


def test_a_view_of_data_has_sizes_and_a_type_of_its_own_library() -> None:
    text = "(tiles.reshape((rows + 127) // 128, 2 * 4).view('uint8'),)"
    assert names_together(text) == ["tiles", "rows"]
    made = value_with(text, {"tiles": np.zeros(16, np.int8), "rows": 129})
    assert isinstance(made, tuple)
    assert (made[0].shape, made[0].dtype) == ((2, 8), np.dtype(np.uint8))


def test_a_size_that_is_divided_into_groups_has_whole_groups() -> None:
    """260 columns in groups of 64 make 4 scales; the task would take them as 4 groups of 65."""
    home = {"rows": 2, "cols": 256}

    def made(cols: int) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
        return {**home, "cols": cols}, {"x": (2, cols), "scales": (2, cols // 64)}

    found = sizes_of(home, made(256)[1], {"cols": [made(260), made(512)]})
    assert found.dims["scales"] == ["2", "cols // 64"]
    assert found.multiples == {"cols": 64}
