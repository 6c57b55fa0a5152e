"""A callable from the text of its file: kfuzz makes the module once for each text, as an import would.

Knows modules; it does not know the arguments of a callable.
Long, since modules and the objects of their classes are kept and forgotten together.
"""

import ast
import contextlib
import importlib.util
import linecache
import operator
import os
import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from kfuzz.devices import GIVEN, ClaimError, DrawnWeights, Job, NeedsGpuError, PythonCall, UnsupportedError
from kfuzz.devices.python.hiding import hidden
from kfuzz.devices.python.init_values import init_values
from kfuzz.devices.python.own_classes import in_own_classes
from kfuzz.devices.python.raising import find_lack, line_in_file, words_of

KEPT_MODULES = 256
KEPT_OBJECTS = 6
"""Those that were called last: of a layer of 8192 x 8192 each takes 256 MB."""
WEIGHTS = "kfuzz.claims.references.torch.weights"
"""It draws weights, and imports torch for it."""
TORCH = "torch"
GRADIENTS = "requires_grad_"
"""In the text of an argument that keeps its gradient."""
DRAWN, HANDED = "kfuzz.devices.python.torch.drawn_inputs", "kfuzz.devices.python.torch.handed_inputs"
SEED = 0
"""Set before kfuzz runs a file or makes an object, so that its own weights are those of its reference."""
TYPES = "task"
"""The module beside a submission to GPU MODE that names the types of its data; it does not travel with it."""
INSTALLED = f"{os.sep}site-packages{os.sep}"
BESIDE: list[str] = []
"""The folders that were put in front of Python's path for the last file."""


Literals = tuple[str, ...] | None


class Modules:
    """The modules made so far, by the path and the text of their files, and the objects of their classes.

    `on_gpu`: objects move their tensors to the GPU, as torch's modules do.
    """

    def __init__(self, on_gpu: bool = False) -> None:
        self._made: dict[tuple[Path, str], ModuleType] = {}
        self._objects: OrderedDict[tuple[Path, str, str, int, bool, Literals], Callable[..., Any]] = OrderedDict()
        self._on_gpu = on_gpu

    def function(self, job: Job, call: PythonCall) -> Callable[..., Any]:
        """The function that is called; ClaimError, in one line, if the file cannot be run to its end.

        Of a class it is `forward` of an object, made with the call's literals, else with those of get_init_inputs, and
        with the weights of its set; OtherWeightsError if the object has no such weights, OtherSizesError if it cannot
        be made at the sizes of this job, which are not the problem's own.
        """
        key, name = (job.path, job.source), call.function
        module = self._module(*key, call)
        search_beside(job.path, call.beside)  # its functions may import, too
        function = getattr(module, name, None)
        if not callable(function):
            raise ClaimError(f"{job.path}: {name} is not a function once the file is imported")
        number = set_of_weights(job, call.weights)
        if not isinstance(function, type):
            if number:
                raise OtherWeightsError(f"{name} is no class: kfuzz cannot draw its weights")
            return function  # type: ignore[no-any-return]  # whatever it is, it can be called
        init = call.init and tuple(map(repr, init_values(call.init, sizes_of_call(job, call))))
        if number and init != call.init_at_home:  # that it has the weights of a set is known of others alone
            self._object(job, call, function, module, number, call.init_at_home)
        return self._object(job, call, function, module, number, init)

    def _object(
        self, job: Job, call: PythonCall, of: type, module: ModuleType, number: int, init: Literals
    ) -> Callable[..., Any]:  # fmt: skip
        """`forward` of the object that is made with these, which is made once."""
        which = (job.path, job.source, call.function, number, call.as_made, init)
        if which not in self._objects:
            while len(self._objects) >= KEPT_OBJECTS:
                self._objects.popitem(last=False)
            self._objects[which] = self._forward_of(job, replace(call, init=init), of, module, number)
        self._objects.move_to_end(which)
        return self._objects[which]

    def given(self, job: Job, call: PythonCall) -> dict[str, Callable[..., Any]]:
        """What makes the inputs of a reference's file, as arguments call it, if one of them has a part of them.

        Without a draw it is made once, now.
        """
        if call.maker is None and not job.made:
            return {}
        make = self._maker(job, call)
        if any(GIVEN in text for text in call.arguments):
            made = make(0)
            return {GIVEN: lambda: made}
        return {GIVEN: make}

    def _maker(self, job: Job, call: PythonCall) -> Callable[[Any], Any]:
        """What makes the inputs under a draw: it reads those of the job, or calls get_inputs of the reference."""
        own, drawn = self._module(job.path, job.source, call), import_module(DRAWN)
        if call.maker is not None:
            module = self._module(call.maker.path, call.maker.source, call)
            make = partial(drawn.inputs_of_draw, module.get_inputs, call.maker.path, on_gpu=self._on_gpu)
            return lambda draw: in_own_classes(make(number_in(draw)), theirs=module, own=own)
        unpack, made = import_module(HANDED).unpack_inputs, {one.draw: one for one in job.made}

        def read(draw: Any) -> Any:  # noqa: ANN401  an array of one number
            one = made[number_in(draw)]
            if one.words:
                raise NoInputsError(one.words)
            data = unpack(one.data.tobytes(), vars(own))
            return drawn.moved_to_gpu(data) if self._on_gpu else data

        return read

    def _module(self, path: Path, source: str, call: PythonCall) -> ModuleType:
        """The module of a file, which runs once."""
        if (path, source) not in self._made:
            if len(self._made) >= KEPT_MODULES:
                self._made.clear()
                self._objects.clear()
            if call.library == TORCH:
                import_module(TORCH)  # it is there when the random numbers begin
            self._made[path, source] = execute_file(path, source, len(self._made), self._on_gpu, call.beside)
        return self._made[path, source]

    def _forward_of(
        self, job: Job, call: PythonCall, of: type, module: ModuleType, number: int
    ) -> Callable[..., Any]:  # fmt: skip
        """`forward` of an object, as in KernelBench, with weights of this set."""
        init, own = call.init, getattr(module, "get_init_inputs", None)
        inputs = own or list if init is None else partial(map, ast.literal_eval, init)
        try:
            if (torch := sys.modules.get("torch")) is not None:
                torch.manual_seed(SEED)
            with hidden(), drawn_weights(number):
                made = of(*inputs())
            sets = call.weights.sets if call.weights and init == call.init_at_home else ()
            if number and sets and (missing := difference_of_weights(made, dict(sets[number]))):
                raise OtherWeightsError(f"{of.__name__} has {missing}: kfuzz cannot draw its weights")
            if not call.as_made and callable(getattr(made, "eval", None)):
                made.eval()  # an op knows no mode: dropout drops nothing then, and statistics stay
            if self._on_gpu and hasattr(made, "cuda"):
                made = made.cuda()
        except (UnsupportedError, OtherWeightsError):
            raise
        except Exception as error:  # whatever its own code raises
            if init != call.init_at_home:
                sizes = ", ".join(f"{name}={size}" for name, size in sizes_of_call(job, call).items())
                raise OtherSizesError(f"no {of.__name__} can be made at {sizes}: {words_of(error)}") from None
            if number:
                raise OtherWeightsError(f"with drawn weights no {of.__name__} can be made: {words_of(error)}") from None
            check_has_gpu(error, job.path, self._on_gpu)
            at = line_in_file(error, str(job.path.resolve()))
            where = f"{job.path}:{at}" if at else str(job.path)
            raise ClaimError(f"{where}: no {of.__name__} can be made: {words_of(error)}") from None
        forward = made if callable(made) else made.forward
        return forward if any(GRADIENTS in text for text in call.arguments) else without_gradients(forward)


def without_gradients(forward: Callable[..., Any]) -> Callable[..., Any]:
    """An object's call as KernelBench makes it: no gradients are kept, which a function of its own may not allow.

    One that computes gradients itself is called again with them.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return forward

    def call(*args: object, **named: object) -> Any:  # noqa: ANN401  whatever it returns
        try:
            with torch.no_grad():
                return forward(*args, **named)
        except RuntimeError as error:
            if "grad" not in str(error):
                raise
        return forward(*args, **named)

    return call


def number_in(draw: Any) -> int:  # noqa: ANN401  an array of any library, or a number
    """The number of a draw, which may be that in an array of one."""
    return int(draw.item() if hasattr(draw, "item") else draw)


class NoInputsError(Exception):
    """The get_inputs of a reference's file has raised, with these words."""


class OtherWeightsError(Exception):
    """An object cannot be made with drawn weights, or not with those of its reference."""


class OtherSizesError(Exception):
    """An object cannot be made at some sizes, which are not those of its problem."""


def sizes_of_call(job: Job, call: PythonCall) -> dict[str, int]:
    """The numbers that a call is given, by name."""
    return {name: one for name, one in zip(call.declared, job.steps[0].args, strict=True) if isinstance(one, int)}


def set_of_weights(job: Job, weights: DrawnWeights | None) -> int:
    """The number of the set of weights that a job asks for; 0 for an object's own."""
    given = [one.content for one in job.buffers if weights and one.name == weights.array]
    return 0 if not given or given[0] is None else int(given[0].reshape(-1)[0])


def drawn_weights(number: int) -> AbstractContextManager[None]:
    """A context in which an object is made with the weights of this set."""
    if not number:
        return contextlib.nullcontext()
    return import_module(WEIGHTS).drawn(number)  # type: ignore[no-any-return]  # it imports torch


def difference_of_weights(made: object, wanted: Mapping[str, str]) -> str:
    """Which of the drawn weights an object does not have; empty if it has them all."""
    return str(import_module(WEIGHTS).difference(made, wanted))


def search_beside(path: Path, more: Sequence[str] = ()) -> None:
    """Let imports find what is beside this file, in the working folder and in these, and not beside another file."""
    for folder in BESIDE:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
    BESIDE[:] = [*more, os.getcwd(), str(path.resolve().parent)]
    for folder in BESIDE:
        sys.path.insert(0, folder)


def forget_modules_beside() -> dict[str, ModuleType]:
    """Import again what has come from a folder of the file that was run last; return what was imported."""
    folders, found = tuple(os.path.join(os.path.realpath(one), "") for one in BESIDE), dict[str, ModuleType]()
    others = {"kfuzz", "__main__", *sys.stdlib_module_names}  # the working folder may have all folders in it
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or INSTALLED in file or name.partition(".")[0] in others:
            continue
        file = os.path.realpath(file)  # a call of the system for each folder
        if file.startswith(folders) and INSTALLED not in file:
            found[name] = sys.modules.pop(name)
    return found


@contextlib.contextmanager
def modules_apart(own: dict[str, ModuleType]) -> Iterator[None]:
    """Let files import what is beside them once more meanwhile: `own` is what they have imported so before."""
    others = forget_modules_beside()
    sys.modules.update(own)
    try:
        yield
    finally:
        own.clear()
        own.update(forget_modules_beside())
        sys.modules.update(others)


def check_has_gpu(error: BaseException, path: Path, on_gpu: bool) -> None:
    """Raise NeedsGpuError if an error of the file says that there is no GPU."""
    lack = None if on_gpu else find_lack(error)
    if lack is not None:
        raise NeedsGpuError(f"{path}: {lack.words}") from None


def execute_file(path: Path, source: str, number: int, on_gpu: bool = False, beside: Sequence[str] = ()) -> ModuleType:
    """Run the file as its own module; it can import what is beside it, in the working folder and in these folders."""
    full = path.resolve()
    search_beside(path, beside)
    module = ModuleType(f"callable_{number}_{path.stem}")
    module.__file__ = str(full)
    sys.modules[module.__name__] = module  # dataclasses and pickle look their own module up
    # Triton asks for the text of a function: it gets this one, even if the file has changed since.
    linecache.cache[str(full)] = (len(source), None, source.splitlines(keepends=True), str(full))
    try:
        supply_types(source)
        begin_random_numbers()
        with hidden():
            exec(compile(source, str(full), "exec"), vars(module))  # noqa: S102  it is what the user asks for
    except (KeyboardInterrupt, MemoryError, UnsupportedError):
        raise
    except BaseException as error:
        del sys.modules[module.__name__]
        check_has_gpu(error, path, on_gpu)
        at = line_in_file(error, str(full))
        where = f"{path}:{at}" if at else str(path)
        raise ClaimError(f"{where}: the file cannot be imported: {words_of(error)}") from None
    return module


def begin_random_numbers() -> None:
    """Let a file draw the same numbers in each process: a table of weights that a reference's file draws is in both."""
    random.seed(SEED)
    for name, begin in (("numpy", "random.seed"), ("torch", "manual_seed")):
        if (library := sys.modules.get(name)) is not None:
            operator.attrgetter(begin)(library)(SEED)


class AnyTypes(ModuleType):
    """A module in which every name is the type Any."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return Any


def supply_types(source: str) -> None:
    """Supply the module of types that a file imports, if it is missing: a call does not need them."""
    asks = any(isinstance(node, ast.ImportFrom) and node.module == TYPES for node in ast.walk(ast.parse(source)))
    if asks and TYPES not in sys.modules and importlib.util.find_spec(TYPES) is None:
        sys.modules[TYPES] = AnyTypes(TYPES)
