"""Inputs as bytes: the reader has the same bits, strides and shared memory, and nothing of the file that made them."""

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kfuzz.devices import UnsupportedError  # noqa: E402  torch may be missing
from kfuzz.devices.python.torch.drawn_inputs import inputs_of_draw  # noqa: E402
from kfuzz.devices.python.torch.handed_inputs import NoDataError, pack_inputs, unpack_inputs  # noqa: E402

FILE = """
import collections
import dataclasses
import enum
import functools

import numpy as np
import torch

Window = collections.namedtuple("Window", "left right", defaults=[0])


class Side(enum.Enum):
    LEFT = "l"
    RIGHT = "r"


class Level(enum.IntEnum):
    LOW = 1


class Bits(enum.Flag):
    A = 1
    B = 2


class Word(str, enum.Enum):
    ONE = "one"


@dataclasses.dataclass(frozen=True)
class Cache:
    keys: torch.Tensor
    side: Side
    window: Window = Window(1)
    SCALE = 3.0

    def __post_init__(self):
        object.__setattr__(self, "total", float(self.keys.sum()))


@dataclasses.dataclass
class Slotted:
    __slots__ = ("n",)
    n: int


class Args:
    bias = 2

    def __init__(self, n):
        self.n = n


class Coded(Args):
    def double(self):
        return 2 * self.n


class Layer(torch.nn.Module):
    pass


class Keyed(dict):
    def size(self):
        return len(self)


def reference(x):
    return x


def data():
    x = torch.randn(4, 6)
    return {
        "shared": [x, x[1:], x.T, x[:, ::2], x.expand(3, 4, 6)],
        "types": [torch.randn(3).half(), torch.randn(3).bfloat16(), torch.randint(0, 9, (3,)), torch.rand(2) < 0.5,
                  torch.randn(3).to(torch.float8_e4m3fn), torch.randn(2, dtype=torch.complex64), torch.zeros(0, 3)],
        "leaf": torch.randn(2, requires_grad=True),
        "sparse": torch.eye(3).to_sparse(),
        "plain": (1, 2.5, float("nan"), float("-inf"), -0.0, True, None, "text", b"raw", 1 << 80, [], {}, {3: ()}),
        "numpy": [np.arange(4, dtype=np.int16), np.asfortranarray(np.random.rand(2, 3)), np.float32(1.5)],
        "torch": [torch.float16, torch.device("cpu"), torch.Size([2, 3]), torch.nn.LayerNorm(4), torch.relu,
                  torch.ops.aten.relu, torch.ops.aten.relu.default],
        "own": [Cache(x, Side.RIGHT, Window(2)), Args(5), Level.LOW, Bits.A | Bits.B, Word.ONE, Slotted(7)],
        "twice": [Window(1, 2)] * 2,
    }


NO_DATA = {
    "reference, a function": reference,
    "<lambda>, a function": lambda: 0,
    "Coded, a class": Coded,
    "double, a function": Coded(3).double,
    "a Keyed": {"deep": [(1, Keyed(a=1))]},
    "reference, a function, in another": functools.partial(reference, 1),
    "what cannot be written down": (one for one in ()),
}
"""


def module_of(folder: Path, name: str, text: str = FILE) -> types.ModuleType:
    (folder / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look it up
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    return module_of(tmp_path_factory.mktemp("theirs"), "problem_of_theirs")


def passed(data: Any, theirs: types.ModuleType, own: dict[str, object] | None = None) -> Any:  # noqa: ANN401
    return unpack_inputs(pack_inputs(data, theirs, keeps_out=True), own or {})


def outline(one: Any) -> object:  # noqa: ANN401  anything that an input may be
    """All that a reader may see of a value, but for the identity of its class."""
    if isinstance(one, torch.Tensor):
        if one.is_sparse:
            return "sparse", outline(one.to_dense())
        raw = torch.view_as_real(one) if one.is_complex() else one
        bits = raw.detach().contiguous().reshape(-1).view(torch.uint8).tolist()
        return one.dtype, one.shape, one.stride(), one.storage_offset(), one.requires_grad, bits
    if isinstance(one, np.ndarray):
        return one.dtype, one.shape, one.strides, one.tobytes()
    if isinstance(one, torch.nn.Module):
        return type(one).__name__, {name: outline(each) for name, each in one.state_dict().items()}
    if isinstance(one, dict):
        return {key: outline(each) for key, each in one.items()}
    if isinstance(one, list | tuple):
        return type(one).__name__, [outline(each) for each in one]
    if hasattr(one, "__dict__") and type(one).__module__ in ("problem_of_theirs", "types", __name__):
        return type(one).__name__, repr(one) if hasattr(one, "value") else {
            name: outline(each) for name, each in vars(one).items() if not name.startswith("_")
        }
    return type(one).__name__, repr(one)


def test_the_reader_has_the_same_bits_strides_and_shared_memory(theirs: types.ModuleType) -> None:
    made, again = (inputs_of_draw(theirs.data, theirs.__file__, 6) for _ in range(2))
    read = passed(made, theirs)
    assert outline(again) == outline(made)
    for name in made.keys() - {"own"}:
        assert outline(read[name]) == outline(made[name]), name
    read["shared"][0][1, 0] = 7
    assert read["shared"][1][0, 0] == read["shared"][2][0, 1] == read["shared"][4][2, 1, 0] == 7
    assert made["shared"][0][1, 0] != 7
    assert read["twice"][0] is read["twice"][1]
    cache, args, level, flag, word, slotted = read["own"]
    assert outline(cache.keys) != outline(made["own"][0].keys)  # 7 lies in it
    assert (cache.side.name, cache.side.value, cache.window, cache.SCALE) == ("RIGHT", "r", (2, 0), 3.0)
    assert cache.total == made["own"][0].total
    with pytest.raises(AttributeError):
        cache.side = None
    assert (args.n, args.bias, type(args).__name__) == (5, 2, "Args")
    assert (level, flag.value, word, slotted.n) == (1, 3, "one", 7)


def test_nothing_of_the_file_is_in_the_bytes_or_in_what_is_read(theirs: types.ModuleType) -> None:
    made = inputs_of_draw(theirs.data, theirs.__file__, 2)
    assert theirs.__name__.encode() not in pack_inputs(made, theirs, keeps_out=True)
    for one in passed(made, theirs)["own"]:
        assert type(one).__module__ != theirs.__name__


def test_values_are_of_the_readers_own_classes(theirs: types.ModuleType, tmp_path: Path) -> None:
    own = module_of(tmp_path, "own_of_reader")
    made = inputs_of_draw(theirs.data, theirs.__file__, 2)
    cache, _, level, flag, _, slotted = passed(made, theirs, vars(own))["own"]
    assert (type(cache), type(slotted)) == (own.Cache, own.Slotted)
    assert (cache.side, cache.window, level, flag) == (own.Side.RIGHT, own.Window(2), own.Level.LOW, own.Bits(3))
    assert type(cache.window) is own.Window


def test_what_only_the_file_can_have_is_no_data(theirs: types.ModuleType) -> None:
    for words, one in theirs.NO_DATA.items():
        with pytest.raises(NoDataError, match=words.partition(", in another")[0]):
            pack_inputs([one], theirs, keeps_out=True)


def test_functions_of_a_class_are_those_of_the_readers_class(theirs: types.ModuleType, tmp_path: Path) -> None:
    """An object with functions of its own was no data, although the answer had its class, too."""
    own = module_of(tmp_path, "own_with_code")
    made = [theirs.Coded(3), torch.nn.Sequential(theirs.Layer())]
    coded, (layer,) = passed(made, theirs, vars(own))
    assert (type(coded), coded.double(), type(layer), layer.training) == (own.Coded, 6, own.Layer, True)
    other = {"Coded": own.Args, "Layer": torch.nn.Linear}
    for one in made:
        with pytest.raises(UnsupportedError, match="a class with functions of its own: write this class in the answer"):
            passed([one], theirs, other)


def test_where_the_file_may_run_its_classes_with_functions_are_no_data(theirs: types.ModuleType) -> None:
    with pytest.raises(NoDataError, match="a Coded"):
        pack_inputs([theirs.Coded(3)], theirs, keeps_out=False)


def test_a_class_that_the_reader_cannot_import_is_said(theirs: types.ModuleType, tmp_path: Path) -> None:
    beside = module_of(tmp_path, "beside_it", "class One:\n    pass\n")
    raw = pack_inputs([beside.One()], theirs, keeps_out=True)
    del sys.modules["beside_it"]
    with pytest.raises(UnsupportedError, match=r"get_inputs makes a beside_it\.One: ModuleNotFoundError"):
        unpack_inputs(raw, {})
