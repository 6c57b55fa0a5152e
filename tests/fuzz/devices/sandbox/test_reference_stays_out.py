"""Where only the reference's file makes the inputs, an answer in the sandbox gets those, and never the file."""

import hashlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import kfuzz
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.sandbox.box import Sandboxed, sandboxed, why_not
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox"),
    pytest.mark.slow(5),
]

HEAD = """import dataclasses
import enum
from typing import NamedTuple

import torch


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


class Window(NamedTuple):
    left: int
    right: int


@dataclasses.dataclass
class Rows:
    counts: torch.Tensor
    side: Side
    window: Window


"""
RIGHT = """def FUNCTION(x, rows, scale):
    assert int(rows.counts.sum()) == len(x) and rows.window.left == 3
    parts = [one.sum(0) for one in x.split(rows.counts.tolist())]
    return torch.stack(parts) * (1 if rows.side.name == "LEFT" else 2) * scale
"""
INPUTS = """

def get_inputs():
    counts = torch.tensor([5, 9, 2, 8])[torch.randperm(4)]
    return [torch.randn(24, 5), Rows(counts, Side.RIGHT, Window(3, 0)), 0.5]
"""
PROBLEM = HEAD + RIGHT.replace("FUNCTION", "reference") + INPUTS
NO_DATA = PROBLEM.replace(", 0.5]", ", (lambda: 0.5)]").replace("* scale", "* scale()")
ATTACK = """import ctypes, gc, glob, importlib, linecache, os, re, sys
import torch


def _way(*given):
%s


def _is_it(one):
    return callable(one) and getattr(one, "__name__", "") == "reference"


def _has_it(text):
    return 'def get_' + 'inputs' in text and 'def refer' + 'ence(' in text


def _run(text):
    space = {}
    exec(text, space)
    return space["reference"]


def _frames():
    one = sys._getframe()
    while one is not None:
        yield one
        one = one.f_back


def answer(*given):
    try:
        found = _way(*given)
    except Exception:
        found = None
    return torch.zeros(4, given[0].shape[1]) if found is None else found(*given)
"""
WAYS = {
    "import by name": "    return importlib.import_module('problem').reference",
    "import from its folder": "    sys.path.insert(0, FOLDER)\n    return importlib.import_module('problem').reference",
    "sys.modules": "    return next(one for module in list(sys.modules.values())\n"
    "                for one in list(vars(module).values()) if _is_it(one))",
    "modules of files that kfuzz has run":
    "    names = [name for name in sys.modules if name.startswith('callable_')]\n"
    "    return next(one for name in names for one in vars(sys.modules[name]).values() if _is_it(one))",
    "frames": "    spaces = [space for one in _frames() for space in (one.f_globals, one.f_locals)]\n"
    "    return next(one for space in spaces for one in list(space.values()) if _is_it(one))",
    "what the frames hold calls": "    for one in _frames():\n        for held in list(one.f_locals.values()):\n"
    "            for part in gc.get_referents(held, *gc.get_referents(held)):\n"
    "                space = getattr(getattr(part, 'func', part), '__globals__', {})\n"
    "                if _is_it(space.get('reference')):\n                    return space['reference']",
    "garbage collector": "    return next(one for one in gc.get_objects() if _is_it(one))",
    "texts in memory": "    every = [one for held in gc.get_objects() if isinstance(held, (tuple, list, dict))\n"
    "             for one in gc.get_referents(held) if isinstance(one, str)]\n"
    "    return _run(next(one for one in every if _has_it(one)))",
    "lines of tracebacks": "    every = [''.join(one[2]) for one in linecache.cache.values() if len(one) > 2]\n"
    "    return _run(next(one for one in every if _has_it(one)))",
    "its path": "    return _run(open(os.path.join(FOLDER, 'problem.py')).read())",
    "compiled forms": "    return _run(open(glob.glob(FOLDER + '/__pycache__/problem*')[0], 'rb').read())",
    "the cache of formulas": "    import json\n"
    "    every = glob.glob(os.environ['KFUZZ_CACHE'] + '/references/*/*.run.json')\n"
    "    return next(_run(json.load(open(one))['source']) for one in every)",
    "open files": "    for name in os.listdir('/proc/self/fd'):\n"
    "        try:\n            text = os.pread(int(name), 1 << 20, 0).decode()\n"
    "        except (OSError, ValueError):\n            continue\n"
    "        if _has_it(text):\n            return _run(text)",
    "the class of an argument": "    of = type(given[1])\n    return sys.modules[of.__module__].reference",
    "functions of an argument's class": "    for one in vars(type(given[1])).values():\n"
    "        space = getattr(one, '__globals__', {})\n"
    "        if _is_it(space.get('reference')):\n            return space['reference']",
    "memory": "    text = b'swor ,x(ecnerefer fed'[::-1]\n    maps = open('/proc/self/maps').read()\n"
    "    for low, high in re.findall(r'([0-9a-f]+)-([0-9a-f]+) rw', maps):\n"
    "        try:\n            size = int(high, 16) - int(low, 16)\n"
    "            raw = open('/proc/self/mem', 'rb') if size < 1 << 28 else None\n"
    "            raw.seek(int(low, 16))\n            held = raw.read(size)\n"
    "        except (OSError, AttributeError, OverflowError):\n            continue\n"
    "        for one in re.finditer(re.escape(text), held):\n            try:\n"
    "                own = held[one.start() : one.start() + 400].partition(b'def get_')[0].decode()\n"
    "                return _run('import torch\\n' + own)\n            except Exception:\n                pass",
}  # fmt: skip
IN_EVERY_RUN = ("sys.modules", "garbage collector", "its path", "the class of an argument")
"""The others are soak: they differ in the way alone."""
NOT_THERE = ("import by name", "compiled forms", "the cache of formulas", "open files", "frames")
"""Ways that find nothing without a sandbox either: the file is not beside the answer, and these places lack it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One place for all problems: a reference is described once for its path and text."""
    return tmp_path_factory.mktemp("apart")


def files_of(folder: Path, answer: str, problem: str = PROBLEM) -> tuple[Path, Path]:
    """An answer, and its problem in another folder."""
    digest = hashlib.sha256(problem.encode()).hexdigest()[:8]
    paths = folder / "answer/answer.py", folder / f"problem_{digest}/problem.py"
    for path, text in zip(paths, (answer, problem), strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return paths


def found_of(
    folder: Path, answer: str, problem: str = PROBLEM, is_boxed: bool = True, lends_reference: bool = False
) -> set[str]:
    """The kinds of what is found of an answer in two trials, in its sandbox or outside."""
    path, reference = files_of(folder, answer, problem)
    kernel = kernel_with(path, Unclaimed(op="reference", reference=reference))
    box = Sandboxed((path,), (reference,), lends_reference) if is_boxed else None
    with sandboxed(box), closing(PythonDevice()) as device:
        tried = [attempt_of(kernel, 3, index, 1 << 10) for index in range(2)]
        trials = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(tried)
        ]
    assert all(one.elements for one in trials)
    return {defect.kind for one in trials for defect in one.defects}


def attack(way: str, folder: Path, problem: str = PROBLEM) -> str:
    _, reference = files_of(folder, "", problem)
    return f"FOLDER = {str(reference.parent)!r}\n{ATTACK % WAYS[way]}"


def some_soak(every: Iterable[str]) -> list[Any]:
    return [one if one in IN_EVERY_RUN else pytest.param(one, marks=pytest.mark.soak) for one in sorted(every)]


@pytest.mark.parametrize("way", some_soak(WAYS))
def test_an_answer_finds_no_reference_in_its_sandbox(way: str, folder: Path) -> None:
    assert found_of(folder, attack(way, folder)) == {"numeric"}


@pytest.mark.parametrize("way", some_soak(WAYS.keys() - NOT_THERE))
def test_it_would_find_the_reference_beside_an_object_outside_of_a_sandbox(way: str, folder: Path) -> None:
    """Else the test above could not fail."""
    assert found_of(folder, attack(way, folder, NO_DATA), NO_DATA, is_boxed=False) == set()


@pytest.mark.parametrize("head", [HEAD, "import torch\n\n"], ids=["with the classes", "without them"])
def test_a_right_answer_to_such_inputs_is_kept(head: str, folder: Path) -> None:
    assert found_of(folder, head + RIGHT.replace("FUNCTION", "answer")) == set()


def test_objects_that_are_no_data_stay_out_of_a_sandbox_in_one_line(folder: Path) -> None:
    answer = HEAD + RIGHT.replace("FUNCTION", "answer").replace("* scale", "* scale()")
    assert found_of(folder, answer, NO_DATA, is_boxed=False) == set()
    words = r"get_inputs makes get_inputs\.<locals>\.<lambda>, a function, which is in this file alone.*--no-sandbox"
    with pytest.raises(UnsupportedError, match=words):
        found_of(folder, answer, NO_DATA)


def test_a_sandbox_that_is_only_a_default_lends_the_reference_for_such_objects_and_no_others(folder: Path) -> None:
    answer = HEAD + RIGHT.replace("FUNCTION", "answer").replace("* scale", "* scale()")
    assert found_of(folder, answer, NO_DATA, lends_reference=True) == set()
    assert found_of(folder, answer.replace("x.split", "x.abs().split"), NO_DATA, lends_reference=True) == {"numeric"}
    assert found_of(folder, attack("sys.modules", folder), lends_reference=True) == {"numeric"}


@pytest.mark.soak
def test_a_class_with_functions_has_to_be_in_the_answer_too(folder: Path) -> None:
    with_code = HEAD.replace("    window: Window\n", "    window: Window\n\n    def count(self):\n        return 4\n")
    problem, right = with_code + PROBLEM.removeprefix(HEAD), RIGHT.replace("FUNCTION", "answer")
    assert found_of(folder, with_code + right, problem) == set()
    with pytest.raises(UnsupportedError, match="makes a Rows, a class with functions of its own: write this class"):
        found_of(folder, f"import torch\n\n{right}", problem)


def test_the_judgement_says_the_same(folder: Path) -> None:
    right = "import torch\n\n" + RIGHT.replace("FUNCTION", "answer")
    for text, problem, status in (
        (right, PROBLEM, "kept"),
        (attack("garbage collector", folder), PROBLEM, "broken"),
        (right, NO_DATA, "cannot run"),
    ):
        path, reference = files_of(folder, text, problem)
        found = kfuzz.judge_file(path, reference, budget=3.0, seed=3, device="cpu")
        assert found.status == status, found


TASK = """
tests:
  - {"rows": 3, "cols": 8, "seed": 1}
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "utils.py", "source": "../utils.py"}
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "eval.py", "source": "../no_such_file.py"}
"""
TASK_REFERENCE = """
import torch
from utils import doubled


def generate_input(rows, cols, seed):
    gen = torch.Generator().manual_seed(seed)
    return torch.randn(rows, cols, generator=gen)


def ref_kernel(data):
    return doubled(data)


def check_implementation(data, output):
    return "never asked"
"""
TASK_ANSWER = """
from utils import doubled


def custom_kernel(data):
    return doubled(data)
"""
TASK_CHEAT = """
import torch
from utils import doubled


def custom_kernel(data):
    try:
        from reference import ref_kernel
        return ref_kernel(data)
    except Exception:
        return torch.zeros_like(data)
"""


@pytest.mark.parametrize(
    ("place", "text", "status"),
    [
        ("elsewhere", TASK_ANSWER, "kept"),
        pytest.param("problems/task", TASK_ANSWER, "kept", marks=pytest.mark.soak),
        pytest.param("elsewhere", TASK_CHEAT, "broken", marks=pytest.mark.soak),
        ("problems/task", TASK_CHEAT, "broken"),
    ],
)
def test_an_answer_imports_what_its_task_names_but_not_the_reference(
    place: str, text: str, status: str, tmp_path: Path
) -> None:
    task = tmp_path / "problems/task"
    task.mkdir(parents=True)
    (tmp_path / place).mkdir(exist_ok=True)
    (task / "task.yml").write_text(TASK)
    (task / "reference.py").write_text(TASK_REFERENCE)
    (tmp_path / "problems/utils.py").write_text("def doubled(x):\n    return 2 * x\n")
    (tmp_path / place / "answer.py").write_text(text)
    found = kfuzz.judge_file(tmp_path / place / "answer.py", task, budget=2.0, seed=3, device="cpu")
    assert found.status == status, found
