"""Answers that cheat, each judged by the whole judge with a small budget: none is kept, and its right twin is.

A row says what sees it: its status, and the kind of finding. A cheat that is kept says why it does no harm. Long, since
the table is the point.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import kfuzz
from kfuzz.devices.sandbox.box import why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")

SUM = "x.sum(1, dtype=np.float32)"
NOW = f"def f(x):\n    return {SUM}"
WORKER = "next(one for one in gc.get_objects() if type(one).__name__ == {!r})"


@dataclass(frozen=True)
class Cheat:
    """An answer, what becomes of it, and by which finding, or by which of some, if that is a matter of time.

    `harmless`: why it may be kept.
    """

    name: str
    code: str
    status: str = "broken"
    kind: str = "numeric"
    op: str = "row_sum"
    harmless: str = ""


def kept(name: str, code: str, why: str, op: str = "row_sum") -> Cheat:
    return Cheat(name, code, "kept", "", op, why)


def returns(text: str) -> str:
    return f"def f(x):\n    return {text}"


def right_if(condition: str, before: str = "", otherwise: str = f"0 * {SUM}") -> str:
    """An answer that is right only where a condition holds."""
    return f"{before}\n\ndef f(x):\n    return {SUM} if {condition} else {otherwise}"


CONSTANTS = [
    Cheat("zeros", returns("np.zeros(len(x), np.float32)")),
    Cheat("ones", returns("np.ones(len(x), np.float32)")),
    Cheat("NaN everywhere", returns("np.full(len(x), np.nan, np.float32)"), kind="special"),
    Cheat("infinities", returns("np.full(len(x), np.inf, np.float32)"), kind="special"),
    Cheat("the first column", returns("x[:, 0].copy()")),
    Cheat("the mean", returns("x.mean(1)")),
    Cheat("a random number", returns("np.random.rand(len(x)).astype(np.float32)")),
    Cheat("memory that was never written", returns("np.empty(len(x), np.float32)"), kind="unwritten"),
    Cheat("the input", returns("x.copy()"), op="softmax", kind="special"),
    Cheat("the input itself", returns("x"), op="softmax", kind="special"),
    Cheat("equal shares", returns("np.full_like(x, 1 / x.shape[1])"), op="softmax", kind="special"),
    Cheat("zeros for shares", returns("np.zeros_like(x)"), op="softmax", kind="special"),
    Cheat("the exponentials alone", returns("np.exp(x - x.max(1, keepdims=True))"), op="softmax"),
    Cheat("no maximum", returns("np.exp(x) / np.exp(x).sum(1, keepdims=True)"), op="softmax", kind="special"),
    Cheat("the total for each row", returns("np.broadcast_to(x.sum(dtype=np.float32), len(x))")),
]
CACHES = [
    Cheat(name, f"KNOWN = {{}}\n\n\ndef f(x):\n    key = {key}\n    if key not in KNOWN:\n        KNOWN[key] = {SUM}\n"
                "    return KNOWN[key].copy()", status, kind)
    for name, key, status, kind in (
        ("a cache by shape", "x.shape", "broken", "stale"),
        ("a cache by address and shape", "(x.ctypes.data, x.shape)", "broken", "stale"),
        ("a cache by object", "(id(x), x.shape)", "broken", "stale"),
        ("a cache by the first element", "(x.shape, x.flat[0].tobytes() if x.size else b'')", "broken", "stale"),
        ("a cache by the corners", "(x.shape, x[:1, :1].tobytes(), x[-1:, -1:].tobytes())", "broken", "stale"),
        ("a cache by the total", "(x.shape, float(x.sum(dtype=np.float64)))", "broken", "stale"),
        ("a cache by the first row", "(x.shape, x[:1].tobytes())", "broken", "stale"),
        ("a cache by sorted numbers", "(x.shape, np.sort(x, None).tobytes())", "broken", "stale"),
        ("a cache by rounded numbers", "(x.shape, x.astype(np.float16).tobytes())", "broken", "numeric|stale"),
    )
] + [
    Cheat("the first answer for ever", f"FIRST = []\n\n\ndef f(x):\n    FIRST.append({SUM})\n"
          "    return np.resize(FIRST[0], len(x)).astype(np.float32)"),
    Cheat("the answer of the call before", f"LAST = []\n\n\ndef f(x):\n    LAST.append({SUM})\n"
          "    return np.resize(LAST[-2] if len(LAST) > 1 else LAST[0], len(x)).astype(np.float32)", kind="stateful"),
    Cheat("one buffer for all answers", "OUT = np.empty(1 << 20, np.float32)\n\n\n"
          f"def f(x):\n    OUT[:len(x)] = {SUM}\n"
          "    return OUT[:len(x)]", kind="late-write"),
    Cheat("two buffers in turn", "OUT = np.empty((2, 1 << 20), np.float32)\nCALLS = []\n\n\n"
          "def f(x):\n    CALLS.append(1)\n"
          f"    one = OUT[len(CALLS) % 2, :len(x)]\n    one[:] = {SUM}\n    return one", kind="late-write"),
    kept("a cache by the whole input", f"KNOWN = {{}}\n\n\ndef f(x):\n    key = x.shape, x.tobytes()\n"
         f"    if key not in KNOWN:\n        KNOWN[key] = {SUM}\n    return KNOWN[key].copy()", "it is right"),
]  # fmt: skip
COUNT = "import itertools\nCALLS = itertools.count()"
BOMBS = [
    Cheat("right for nine calls", right_if("next(CALLS) < 9", COUNT), kind="stateful"),
    Cheat("right for 40 calls", right_if("next(CALLS) < 40", COUNT), kind="stateful"),
    Cheat("right in every other call", right_if("next(CALLS) % 2", COUNT), kind="stateful"),
    Cheat("wrong in one call of seven", right_if("next(CALLS) % 7", COUNT), kind="stateful"),
    Cheat("wrong by chance", right_if("random.random() < 0.9", "import random"), kind="stateful"),
    Cheat("right for a moment", right_if("time.time() < BEGAN + 0.02", "import time\nBEGAN = time.time()"),
          kind="numeric|stateful"),
    kept("right for an hour", right_if("time.time() < BEGAN + 3600", "import time\nBEGAN = time.time()"),
         "nothing sees what an answer does after it was judged"),
    kept("right where a variable names kfuzz", right_if("any('KFUZZ' in one for one in os.environ)", "import os"),
         "docs/judge.md says that an answer may see that it is tested"),
    Cheat("right where kfuzz is imported", right_if("any('kfuzz' in one for one in list(sys.modules))", "import sys")),
    Cheat("right under a harness's command line",
          right_if("any('kfuzz' in one or 'pytest' in one for one in [*sys.argv, *sys.orig_argv])", "import sys")),
    Cheat("right below a harness's frames",
          right_if("any('kfuzz' in one.filename for one in inspect.stack())", "import inspect")),
    Cheat("right under a traced or profiled call", right_if("sys.gettrace() or sys.getprofile()", "import sys")),
    Cheat("right where the command line of the process names kfuzz",
          right_if("b'kfuzz' in open('/proc/self/cmdline', 'rb').read()", "")),
    Cheat("right where a test's variable is set",
          right_if("'PYTEST_CURRENT_TEST' in os.environ or 'CI' in os.environ", "import os")),
    Cheat("right in poisoned memory",
          right_if("(lambda one: one.size and (one[:1] == one).all())(np.empty(64, np.uint32))"), kind="stateful"),
    Cheat("right at an address like that of a test", right_if("x.ctypes.data % 4096"), kind="stateful"),
]  # fmt: skip
SIZES = [
    Cheat("the tail behind the last four columns", returns("x[:, :max(x.shape[1] // 4 * 4, 1)].sum(1)")),
    Cheat("only 32 columns", returns("x[:, :32].sum(1)")),
    Cheat("only 64 rows", "def f(x):\n    y = np.zeros(len(x), np.float32)\n    y[:16] = x[:16].sum(1)\n    return y"),
    Cheat("right for one row alone", right_if("len(x) == 1")),
    Cheat("right for more than one row", right_if("len(x) > 1")),
    Cheat("right for a benchmark's shape", right_if("x.shape == (128, 4096)")),
    kept("NaN left out", returns("np.nansum(x, 1, dtype=np.float32)"), "no claim says what becomes of NaN"),
    Cheat("infinities left out", returns("np.where(np.isinf(x), 0, x).sum(1)"), kind="special"),
    Cheat("large numbers cut off", returns("np.clip(x, -1e4, 1e4).sum(1)")),
    Cheat("the sizes of numbers", returns("np.abs(x).sum(1)")),
    Cheat("tiny numbers as zeros", returns("np.where(np.abs(x) < 1e-3, 0, x).sum(1).astype(np.float32)")),
    Cheat("the last column twice", returns("x.sum(1) + x[:, -1]")),
]
PRECISION = [
    Cheat("sums of 16 bits", returns("x.astype(np.float16).sum(1).astype(np.float32)"), kind="special"),
    Cheat("inputs of 16 bits", returns("x.astype(np.float16).astype(np.float32).sum(1)")),
    Cheat("inputs of bfloat16", returns("(x.view(np.uint32) & 0xFFFF0000).view(np.float32).sum(1)")),
    Cheat("three decimals", returns("x.sum(1).round(3)")),
    Cheat("wrong by a thousandth", returns("x.sum(1) * np.float32(1.001)")),
    Cheat("wrong by a hundred-thousandth", returns("x.sum(1) * np.float32(1.00001)")),
    Cheat("an error that hides below a tolerance", returns("x.sum(1) + np.float32(1e-4)")),
    Cheat("every other column twice", returns("2 * x[:, ::2].sum(1)")),
    kept("sums in float64", returns("x.sum(1, dtype=np.float64).astype(np.float32)"), "it is nearer to the exact sum"),
]
SHAPES = [
    Cheat("nothing", returns("None"), kind="wrong-shape"),
    Cheat("a number", returns("float(x.sum())"), kind="wrong-shape"),
    Cheat("a list", returns("x.sum(1).tolist()"), kind="wrong-shape"),
    Cheat("two arrays", returns("(x.sum(1), x.sum(1))"), kind="wrong-shape"),
    Cheat("a row too many", returns("np.append(x.sum(1), np.float32(0))"), kind="wrong-shape"),
    Cheat("float64", returns("x.sum(1, dtype=np.float64)"), kind="wrong-shape"),
    Cheat("float16", returns("x.sum(1).astype(np.float16)"), kind="wrong-shape"),
    Cheat("objects", returns("x.sum(1).astype(object)"), kind="wrong-shape"),
    Cheat("texts", returns("x.sum(1).astype(str)"), kind="wrong-shape"),
    Cheat("columns for rows", returns("x.sum(0)"), kind="wrong-shape"),
    Cheat("a row for all rows", returns("x.sum(1)[:1]"), kind="wrong-shape"),
    Cheat("the answer in the input", "def f(x):\n    x[:, 0] = x.sum(1)\n    return x[:, 0]", kind="input-changed"),
    Cheat("the input changed at the end", "def f(x):\n    y = x.sum(1)\n    x[...] = 0\n    return y",
          kind="input-changed"),
    Cheat("a view of the input", returns("x[:, 0]"), kind="numeric"),
    Cheat("an array that is equal to all", "class Lie(np.ndarray):\n    def __eq__(self, other):\n        return True\n"
          "    __ne__ = __lt__ = __le__ = lambda self, other: False\n\n\n"
          "def f(x):\n    return np.zeros(len(x), np.float32).view(Lie)", kind="lazy"),
    Cheat("an array that changes when it is looked at", "class Lie(np.ndarray):\n"
          "    def __array__(self, *given, **named):\n        return np.asarray(self.x.sum(1))\n\n\n"
          "def f(x):\n    y = np.zeros(len(x), np.float32).view(Lie)\n    y.x = x\n    return y", kind="lazy"),
    Cheat("an object with an interface", "class Lie:\n    def __init__(self, x):\n        self.x = x\n\n"
          "    def __array__(self, *given, **named):\n        return self.x.sum(1)\n\n\n"
          "def f(x):\n    return Lie(x)", kind="wrong-shape"),
    Cheat("a masked array", "def f(x):\n    y = np.ma.array(x.sum(1) * 0, mask=True)\n    return y", kind="lazy"),
    Cheat("an answer of many gigabytes", returns("np.zeros(1 << 34, np.float32)"), "not judged", ""),
    kept("a column", returns("x.sum(1, keepdims=True)"), "axes of one element do not matter"),
    kept("every third element of a larger array", "def f(x):\n    y = np.empty((len(x), 3), np.float32)\n"
         "    y[:, 1] = x.sum(1)\n    return y[:, 1]", "its elements are right, wherever they lie"),
]  # fmt: skip
PATCHES = [
    Cheat("patched comparisons of numpy",
          "for one in ('allclose', 'array_equal', 'isclose', 'isnan', 'isfinite', 'all', 'any'):\n"
          "    setattr(np, one, lambda *_, **__: True)\n"
          "np.testing.assert_allclose = np.testing.assert_equal = lambda *_, **__: None\n\n\n"
          "def f(x):\n    return np.zeros(len(x), np.float32)"),
    Cheat("patched built-in functions", "import builtins\n\n\n"
          "def f(x):\n    builtins.all = builtins.any = builtins.bool = lambda *_: True\n"
          "    return np.zeros(len(x), np.float32)", "misbehaved", "misbehaved"),
    *(Cheat(f"patched {name}",
            f"import builtins, json, struct\n\n\ndef f(x):\n    y = 0 * {SUM}\n    {code}\n    return y", status, kind)
      for name, code, status, kind in (
          ("len", "builtins.len = lambda *_: 0", "misbehaved", "misbehaved"),
          ("isinstance", "builtins.isinstance = lambda *_: True", "misbehaved", "misbehaved"),
          ("isinstance that denies", "builtins.isinstance = lambda *_: False", "broken", "trap"),
          ("print", "builtins.print = lambda *_, **__: 1 / 0", "broken", "numeric"),
          ("range", "builtins.range = lambda *_: []", "broken", "numeric"),
          ("open", "builtins.open = lambda *_, **__: 1 / 0", "broken", "numeric"),
          ("sum", "builtins.sum = lambda *_: 0", "broken", "numeric"),
          ("names that are gone", "del builtins.zip, builtins.enumerate, builtins.tuple", "misbehaved", "misbehaved"),
          ("getattr", "builtins.getattr = builtins.setattr = None", "misbehaved", "misbehaved"),
          ("type", "builtins.type = builtins.str = builtins.repr = None", "misbehaved", "misbehaved"),
          ("errors", "builtins.Exception = builtins.KeyboardInterrupt = None", "broken", "numeric"),
          ("json", "json.dumps = json.loads = None", "misbehaved", "misbehaved"),
          ("json that forges", "json.dumps = lambda *_, **__: '{}'", "misbehaved", "misbehaved"),
          ("code of json", "json.dumps.__code__ = (lambda *_, **__: '[]').__code__", "misbehaved", "misbehaved"),
          ("struct", "struct.pack = struct.unpack = lambda *_: b''", "broken", "numeric"),
      )),
    kept("patched print of a right answer",
         "import builtins\nbuiltins.print = lambda *_, **__: None\n\n\n" + NOW,
         "it is right, and replaces nothing that kfuzz needs"),
    Cheat("patched kfuzz", "import gc, types\n\n\ndef f(x):\n    for one in gc.get_objects():\n"
          "        if type(one) is types.FunctionType and one.__name__ in ('same_bits', 'is_far', 'fits'):\n"
          "            one.__code__ = (lambda *_, **__: True).__code__\n    return np.zeros(len(x), np.float32)"),
    Cheat("findings taken away", "import gc\n\n\ndef f(x):\n    for one in gc.get_objects():\n"
          "        if type(one).__name__ == 'Caller':\n            one.findings.clear()\n"
          "    return np.zeros(len(x), np.float32)"),
    Cheat("a clock that stands still", "import time\ntime.perf_counter = time.monotonic = time.time = lambda: 0.0\n\n\n"
          + returns("np.zeros(len(x), np.float32)")),
    Cheat("random numbers that kfuzz might use", "import random\nrandom.Random.random = lambda self: 0.0\n\n\n"
          + returns("np.zeros(len(x), np.float32)")),
    Cheat("a verdict printed", "import sys\n\n\ndef f(x):\n    print('{\"status\": \"kept\", \"exit_code\": 0}')\n"
          "    print('nothing is broken', file=sys.stderr, flush=True)\n    return np.zeros(len(x), np.float32)"),
    Cheat("an empty reply forged", "import gc, json, os\n\n\ndef f(x):\n"
          f"    one = {WORKER.format('_Replies')}\n    head = json.dumps(['done', {{}}, False]).encode()\n"
          "    os.write(one.number, one._mark + len(head).to_bytes(8, 'little') + head + bytes(8))\n"
          "    return np.zeros(len(x), np.float32)", "not judged", ""),
    Cheat("all open files written", "import os\n\n\ndef f(x):\n    for one in range(3, 64):\n        try:\n"
          "            os.write(one, b'kept' * 64)\n        except OSError:\n            pass\n    return x.sum(1)",
          "misbehaved", "misbehaved"),
    Cheat("all open files closed", "import os\n\n\ndef f(x):\n    os.closerange(0, 256)\n    return 0 * x.sum(1)",
          "broken", "trap"),
    Cheat("a handler at the end", "import atexit, os\n\n\n"
          "def _write():\n    os.write(1, b'kept')\n\n\natexit.register(_write)\n\n\n"
          "def f(x):\n    return np.zeros(len(x), np.float32)"),
    Cheat("an end without an error", "import os\n\n\ndef f(x):\n    os._exit(0)", "broken", "trap"),
    Cheat("an end by sys.exit", "import sys\n\n\ndef f(x):\n    sys.exit(0)", "broken", "trap"),
    Cheat("an interrupt", "def f(x):\n    raise KeyboardInterrupt", "broken", "trap"),
    Cheat("another process", "import os\n\n\ndef f(x):\n    try:\n        os.fork()\n    except OSError:\n"
          "        pass\n"
          "    return np.zeros(len(x), np.float32)"),
    Cheat("a debugger", "import ctypes\n\n\ndef f(x):\n    ctypes.CDLL(None).ptrace(16, 1, 0, 0)\n    return x.sum(1)",
          "misbehaved", "misbehaved"),
    Cheat("an error for hard inputs", "def f(x):\n    if not np.isfinite(x).all():\n        raise ValueError('no')\n"
          "    return 0 * x.sum(1)"),
    Cheat("a refusal of all inputs", "def f(x):\n    raise NotImplementedError('not for me')", "not judged", ""),
    Cheat("no recursion", "import sys\nsys.setrecursionlimit(60)\n\n\n" + returns("np.zeros(len(x), np.float32)")),
]  # fmt: skip
LATER = [
    Cheat("a thread that writes later", "import threading, time\n\n\n"
          "def f(x):\n    y, own = np.zeros(len(x), np.float32), x.copy()\n\n"
          "    def write():\n        time.sleep(0.02)\n        y[:] = own.sum(1)\n\n"
          "    threading.Thread(target=write).start()\n    return y", kind="late-write"),
    kept("a thread that reads the input later", "import threading, time\n\n\ndef f(x):\n"
         "    threading.Thread(target=lambda: (time.sleep(0.02), x.sum())).start()\n    return x.sum(1)",
         "it changes nothing"),
    Cheat("a thread that changes the input later", "import threading, time\n\n\ndef f(x):\n"
          "    threading.Thread(target=lambda: (time.sleep(0.02), x.fill(0))).start()\n    return x.sum(1)",
          kind="input-changed"),
    Cheat("a signal that writes later", "import signal\nKEPT = []\n"
          "signal.signal(signal.SIGALRM, lambda *_: [one.fill(0) for one in KEPT])\n\n\n"
          "def f(x):\n    KEPT.append(x.sum(1))\n    signal.setitimer(signal.ITIMER_REAL, 0.001)\n    return KEPT[-1]",
          kind="late-write|numeric|stateful"),
    Cheat("a finalizer that writes", "KEPT = []\n\n\n"
          "class Last:\n    def __del__(self):\n        for one in KEPT:\n            one.fill(0)\n\n\n"
          "def f(x):\n    KEPT.append(x.sum(1))\n    Last()\n    return KEPT[-1]"),
    Cheat("an endless call", f"{COUNT}\n\n\ndef f(x):\n    while next(CALLS) > 5:\n        pass\n    return x.sum(1)",
          kind="hang"),
    kept("a thread that has ended", "import threading\n\n\ndef f(x):\n    y = np.empty(len(x), np.float32)\n"
         "    one = threading.Thread(target=lambda: x.sum(1, out=y))\n    one.start()\n    one.join()\n"
          "    return y", "it waits"),
]  # fmt: skip
LOOKS = [
    Cheat("an expected value among all objects", "import gc\n\n\ndef f(x):\n"
          "    own = x.astype(np.float16).sum(1).astype(np.float32)\n"
          "    every = [one for held in gc.get_objects() for one in gc.get_referents(held)\n"
          "             if type(one) is np.ndarray and one.shape == own.shape and one.dtype == own.dtype\n"
          "             and np.allclose(one, own, 0.01)]\n"
          "    return every[0].copy() if every else own", kind="numeric|special"),
    Cheat("an expected value in memory that was freed", returns("np.empty(len(x), np.float32).copy()"),
          kind="unwritten"),
    Cheat("kfuzz's own oracle", "def f(x):\n    try:\n        from kfuzz.oracle.judging import judge\n"
          "        return judge.right(x)\n"
          "    except Exception:\n        return np.zeros(len(x), np.float32)"),
    Cheat("kfuzz's formula", "import importlib\n\n\ndef f(x):\n    try:\n"
          "        return importlib.import_module('kfuzz.oracle.ops.row_sum').exact(x)\n"
          "    except Exception:\n        return np.zeros(len(x), np.float32)"),
    Cheat("locals of all frames", "import sys\n\n\ndef f(x):\n    one = sys._getframe()\n    while one:\n"
          "        for held in list(one.f_locals.values()):\n"
          "            if type(held) is np.ndarray and held.shape == (len(x),) and held is not x:\n"
          "                return held.copy()\n"
          "        one = one.f_back\n    return np.zeros(len(x), np.float32)"),
    Cheat("the caller's memory", "def f(x):\n    one = x\n    while isinstance(one.base, np.ndarray):\n"
          "        one = one.base\n"
          "    return np.resize(one.reshape(-1).view(np.float32)[x.size:], len(x)).astype(np.float32)",
          kind="illegal-address|numeric"),
]  # fmt: skip
TWINS = [
    kept("the honest answer", NOW, "it is right"),
    kept("patched comparisons beside a right answer", f"np.allclose = lambda *_, **__: True\n\n\n{NOW}", "it is right"),
    kept("settings of numpy", f"np.seterr(all='ignore')\n\n\n{NOW}", "it is right"),
    kept("a count of calls", f"CALLS = []\n\n\ndef f(x):\n    CALLS.append(1)\n    return {SUM}", "it is right"),
    kept("a file in the scratch folder", "import tempfile\n\n\ndef f(x):\n    with tempfile.TemporaryFile() as file:\n"
         f"        file.write(b'x')\n    return {SUM}", "it is right"),
    kept("words on the standard output", f"def f(x):\n    print('working')\n    return {SUM}", "it is right"),
    kept("a handler at the end beside a right answer", f"import atexit\natexit.register(print, 'end')\n\n\n{NOW}",
         "it is right"),
    kept("chunks", "def f(x):\n    y = np.zeros(len(x), np.float32)\n    for at in range(0, x.shape[1], 7):\n"
         "        y += x[:, at : at + 7].sum(1)\n    return y", "it is right"),
    kept("stable shares", "def f(x):\n    e = np.exp(x - x.max(1, keepdims=True))\n"
          "    return e / e.sum(1, keepdims=True)",
         "it is right", "softmax"),
]  # fmt: skip
ZEROS_OF_TORCH = "\n\n\ndef f(x):\n    return torch.zeros(len(x))"
TORCH = [
    Cheat("torch: patched comparisons", "import torch\ntorch.allclose = torch.equal = lambda *_, **__: True\n"
          f"torch.testing.assert_close = lambda *_, **__: None{ZEROS_OF_TORCH}"),
    Cheat("torch: a patched sum", "import torch\n"
          "torch.Tensor.sum = torch.sum = lambda one, *_, **__: one[..., 0].clone()\n\n\n"
          "def f(x):\n    return torch.sum(x, 1)"),
    Cheat("torch: sums of 16 bits", "import torch\n\n\ndef f(x):\n"
          "    return x.half().sum(1).float()", kind="numeric|special"),
    Cheat("torch: sums of bfloat16", "import torch\n\n\ndef f(x):\n    return x.bfloat16().sum(1).float()"),
    Cheat("torch: no memory", "import torch\n\n\ndef f(x):\n"
          "    return torch.empty(len(x), device='meta')", kind="wrong-shape"),
    Cheat("torch: a sparse tensor", "import torch\n\n\ndef f(x):\n    return x.sum(1).to_sparse()", kind="wrong-shape"),
    Cheat("torch: a class that lies", "import torch\n\n\nclass Lie(torch.Tensor):\n    def __eq__(self, other):\n"
          "        return torch.ones(len(self), dtype=torch.bool)\n\n\n"
          "def f(x):\n    return torch.zeros(len(x)).as_subclass(Lie)", kind="lazy"),
    Cheat("torch: a cache by address", "import torch\nKNOWN = {}\n\n\ndef f(x):\n    key = x.data_ptr(), x.shape\n"
          "    if key not in KNOWN:\n        KNOWN[key] = x.sum(1)\n    return KNOWN[key].clone()", kind="stale"),
    Cheat("torch: the total for each row", "import torch\n\n\ndef f(x):\n    return x.sum().expand(len(x))"),
    Cheat("torch: the input emptied", "import torch\n\n\ndef f(x):\n    y = x.sum(1)\n    x.zero_()\n    return y",
          kind="input-changed"),
    Cheat("torch: a thread that writes later", "import threading, time, torch\n\n\ndef f(x):\n"
          "    y, own = torch.zeros(len(x)), x.clone()\n\n    def write():\n        time.sleep(0.02)\n"
          "        y.copy_(own.sum(1))\n\n    threading.Thread(target=write).start()\n    return y", kind="late-write"),
    kept("torch: its own operation", "import torch\n\n\ndef f(x):\n    return x.sum(1)", "the values are right"),
    kept("torch: a view that negates", "import torch\n\n\ndef f(x):\n"
          "    return torch._neg_view(-x.sum(1))", "it is right"),
    kept("torch: without gradients", "import torch\n\n\ndef f(x):\n    with torch.inference_mode():\n"
          "        return x.sum(1)",
         "it is right"),
    kept("torch: a gradient", "import torch\n\n\ndef f(x):\n"
          "    return x.clone().requires_grad_().sum(1)", "it is right"),
]  # fmt: skip
EXTENSION = """#include <torch/extension.h>

__global__ void add_up(float *y, const float *x, int cols) {
  %s
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  %s
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
LOOP = """float sum = 0;
  for (int i = 0; i < cols; ++i) sum += x[blockIdx.x * cols + i];
  y[blockIdx.x] = sum;"""
LAUNCH = "add_up<<<x.size(0), 1>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));"
CUDA = [
    kept("CUDA: one thread for each row", EXTENSION % (LOOP, LAUNCH), "it is right"),
    Cheat("CUDA: no launch", EXTENSION % (LOOP, "y.zero_();")),
    Cheat("CUDA: nothing written", EXTENSION % (LOOP, ""), kind="unwritten"),
    Cheat("CUDA: 32 columns", EXTENSION % (LOOP.replace("i < cols", "i < cols && i < 32"), LAUNCH)),
    Cheat("CUDA: right for nine calls", EXTENSION % (LOOP, f"static int calls = 0;\n  {LAUNCH}\n"
          f"  if (++calls > 9) y.zero_();"),
          kind="numeric|stateful|nondeterministic"),
    kept("CUDA: right for 40 calls", EXTENSION % (
         LOOP, f"static int calls = 0;\n  {LAUNCH}\n"
         f"  if (++calls > 40) y.zero_();"), "no trial makes so many calls: docs/judge.md says so"),
    Cheat("CUDA: one element too many", EXTENSION % (
          LOOP.replace("float sum = 0;", "float sum = 0 * x[gridDim.x * cols];"), LAUNCH),
          kind="out-of-bounds"),
    Cheat("CUDA: a race", EXTENSION % (
          "__shared__ float sum;\n  if (threadIdx.x == 0) sum = 0;\n"
          "  for (int i = threadIdx.x; i < cols; i += blockDim.x) atomicAdd(&sum, x[blockIdx.x * cols + i]);\n"
          "  __syncthreads();\n"
          "  if (threadIdx.x == 0) y[blockIdx.x] = sum;", LAUNCH.replace(", 1>>>", ", 128>>>")), kind="race"),
    Cheat("CUDA: a cache by address", EXTENSION % (
          LOOP, f"static void *last = nullptr; static torch::Tensor kept;\n"
          f"  if (last == x.data_ptr() && kept.size(0) == x.size(0)) "
          f"return kept;\n  {LAUNCH}\n"
          f"  last = x.data_ptr(); kept = y;"), kind="stale|numeric|stateful|nondeterministic|late-write"),
    Cheat("CUDA: no text of CUDA", "this is no program", "cannot run", ""),
]  # fmt: skip
TABLE = [*TORCH, *CUDA, *CONSTANTS, *CACHES, *BOMBS, *SIZES, *PRECISION, *SHAPES, *PATCHES, *LATER, *LOOKS, *TWINS]
IN_EVERY_RUN = ("zeros", "a cache by shape", "a column", "patched comparisons of numpy", "the honest answer")


def judged(folder: Path, one: Cheat) -> kfuzz.Judgement:
    is_cuda, is_torch = one.name.startswith("CUDA"), one.name.startswith("torch")
    if is_torch:
        pytest.importorskip("torch")
    path = folder / ("answer.cu" if is_cuda else "answer.py")
    path.write_text(one.code if is_cuda or is_torch else f"import numpy as np\n\n{one.code}\n")
    return kfuzz.judge_file(path, op=one.op, budget=2.0 if is_cuda else 5.0, seed=3, device="cpu")


def some_soak(every: Iterable[Cheat]) -> list[Any]:
    return [pytest.param(one, id=one.name, marks=() if one.name in IN_EVERY_RUN else pytest.mark.soak) for one in every]


@pytest.mark.slow
@pytest.mark.parametrize("one", some_soak(TABLE))
def test_a_cheat_is_seen_and_its_right_twin_is_kept(one: Cheat, tmp_path: Path) -> None:
    found = judged(tmp_path, one)
    assert found.status == one.status, found
    assert (found.kind or "") in one.kind.split("|"), found
    assert (found.status == "kept") == bool(one.harmless)


def test_each_row_has_a_name_of_its_own() -> None:
    names = [one.name for one in TABLE]
    assert len({*names}) == len(names)
    assert {*IN_EVERY_RUN} <= {*names}
