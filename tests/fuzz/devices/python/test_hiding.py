"""While a callable's code runs, kfuzz's modules are hidden, and its own late imports still get them."""

import importlib
import sys

from kfuzz.devices.python import hiding, probes
from kfuzz.devices.python.hiding import hidden, is_own


def test_no_module_of_kfuzz_is_listed_and_all_come_back() -> None:
    before, spec = dict(sys.modules), probes.__spec__
    with hidden():
        assert not any(is_own(name) for name in sys.modules)
        assert sys.argv == [""]
        assert "/" not in sys.orig_argv[0], "the folder of an environment may be called kfuzz: git clone calls it so"
        assert not hasattr(sys.modules["__main__"], "__file__")
        assert importlib.import_module("kfuzz.devices.python.probes") is probes
        assert importlib.import_module("kfuzz.devices.python.hiding") is hiding
    assert before.items() <= sys.modules.items()
    assert probes.__spec__ is spec
    assert not any(isinstance(one, hiding.HiddenModules) for one in sys.meta_path)


def test_modules_of_others_are_not_hidden() -> None:
    assert [name for name in ("kfuzz", "kfuzz.claims", "my_kfuzz", "kfuzzy", "numpy") if is_own(name)] == [
        "kfuzz", "kfuzz.claims"
    ]  # fmt: skip


def test_an_error_in_the_callable_brings_them_back() -> None:
    try:
        with hidden():
            raise KeyError
    except KeyError:
        pass
    assert sys.modules["kfuzz.devices.python.hiding"] is hiding


def test_no_frame_names_kfuzz_and_its_modules_are_named_again() -> None:
    space: dict[str, object] = {"__name__": "kfuzz.caller", "__file__": "caller.py", "hidden": hidden}
    exec("with hidden():\n    seen = (__name__, globals().get('__file__'))", space)  # noqa: S102  our own text
    assert space["seen"] == ("__main__", None)
    assert (space["__name__"], space["__file__"]) == ("kfuzz.caller", "caller.py")
