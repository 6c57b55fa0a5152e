"""Allowed imports: no search in the oracle, one file with pycuda and one with Dask, no circles of files or rooms."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from paths import ROOT

ONLY = {
    "pycuda": "kfuzz.gpu.card",
    "distributed": "kfuzz.campaign.cluster",
    "torch": "kfuzz.callables",
}
"""Who wants these, which not everybody has, asks the one file, or the one folder, that imports them."""
NOT_FOR_THE_ORACLE = ("pycuda", "hypothesis", "pytest", "click", "rich")
BUILT_ON: dict[str, set[str]] = {
    "devices": set(),
    "cpu": set(),
    "gpu": set(),
    "programs": {"cpu"},
    "callables": {"cpu", "gpu"},
}
"""The rooms that run kernels, and those of them that each is built on. Everything that two of them share lies in
devices: `callables` runs a file's CUDA on the cpu device, and takes its memory of a GPU from `gpu`."""
PACKAGES = {"fuzz": "kfuzz", "oracle": "kfuzz.oracle"}


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package, by its dotted name."""
    found = {}
    for folder, package in PACKAGES.items():
        for path in sorted(root.glob(f"{folder}/**/*.py")):
            below = ".".join(path.relative_to(root / folder).with_suffix("").parts)
            found[f"{package}.{below}".removesuffix(".__init__")] = path
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path, types_too: bool = True) -> tuple[str, ...]:
    """Every name that a file imports, wherever the import stands; `from a import b` is both a and a.b."""
    return tuple(find_imports(path, types_too))


def find_imports(path: Path, types_too: bool) -> Iterator[str]:
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree_of(path)):
        if node in skipped:
            continue
        if isinstance(node, ast.If) and not types_too and "TYPE_CHECKING" in ast.unparse(node.test):
            skipped.update(inner for statement in node.body for inner in ast.walk(statement))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{'.' * node.level}{node.module or ''}"
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def is_oracle(module: str) -> bool:
    return f"{module}.".startswith("kfuzz.oracle.")


def wrong_arrows(root: Path) -> list[str]:
    """Every import that points the wrong way, as `who -> whom`."""
    found = []
    known = modules(root)
    for name, path in known.items():
        for imported in imports(path):
            package = imported.split(".")[0]
            of_the_search = package == "kfuzz" and imported != "kfuzz" and not is_oracle(imported)
            in_oracle = is_oracle(name) and (package in NOT_FOR_THE_ORACLE or of_the_search)
            of_another = package in ONLY and not f"{name}.".startswith(f"{ONLY[package]}.")
            by_folder = package in ("tests", "kernels", "benchmarks", "fuzz", "oracle")
            if in_oracle or of_another or by_folder or imported.startswith("."):
                found.append(f"{name} -> {imported}")
    return found


def arrows_between_devices(root: Path) -> list[str]:
    """Every import of one device from another that it is not built on, as `who -> whom`."""
    found = []
    for name, path in modules(root).items():
        room = name.split(".")[1] if name.startswith("kfuzz.") else ""
        allowed = BUILT_ON.get(room, set(BUILT_ON)) | {room, "devices"}
        wanted = {imported.split(".")[1] for imported in imports(path) if imported.startswith("kfuzz.")}
        found += [f"{name} -> kfuzz.{one}" for one in sorted((wanted & set(BUILT_ON)) - allowed)]
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle, or nothing."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def module_graph(root: Path) -> dict[str, set[str]]:
    known = modules(root)
    graph = {name: {one for one in imports(path, False) if one in known} - {name} for name, path in known.items()}
    for name, needs in graph.items():  # a package is imported with each of its modules, and that is no circle
        needs -= {package for package in needs if name.startswith(f"{package}.")}
    return graph


def room_of(name: str, path: Path) -> str:
    """The folder of a module; what lies beside the rooms is a room of its own."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return name if package == "kfuzz" else package


def room_graph(root: Path) -> dict[str, set[str]]:
    """Which folders import from which, but for the oracle, whose arrows another test holds.

    Who imports a folder of its own to list what lies in it (passes, operators) needs none of that.
    """
    known = {name: path for name, path in modules(root).items() if not is_oracle(name)}
    rooms = {name: room_of(name, path) for name, path in known.items()}
    graph: dict[str, set[str]] = {room: set() for room in rooms.values()}
    for name, needs in module_graph(root).items():
        if name in rooms:
            listed = {need for need in needs if need in rooms.values() and need.startswith(f"{rooms[name]}.")}
            graph[rooms[name]] |= {rooms[need] for need in needs - listed if need in rooms} - {rooms[name]}
    return graph


def test_no_import_points_the_wrong_way() -> None:
    assert len(modules(ROOT)) > 20
    assert wrong_arrows(ROOT) == []


def test_a_device_imports_only_the_devices_that_it_is_built_on() -> None:
    assert arrows_between_devices(ROOT) == []


def test_the_check_sees_a_device_that_imports_another(tmp_path: Path) -> None:
    for file, text in {
        "gpu/a": "from kfuzz.cpu import toolchain",
        "devices/b": "def late():\n    import kfuzz.gpu.driver",
        "programs/c": "from kfuzz.cpu.abi import x\nfrom kfuzz.devices import Job",
    }.items():
        write_module(tmp_path / f"fuzz/{file}.py", text)
    assert arrows_between_devices(tmp_path) == ["kfuzz.devices.b -> kfuzz.gpu", "kfuzz.gpu.a -> kfuzz.cpu"]


def test_no_imports_go_in_a_circle() -> None:
    assert circle(module_graph(ROOT)) == []


@pytest.mark.slow
def test_no_rooms_go_in_a_circle() -> None:
    rooms = room_graph(ROOT)
    assert len(rooms) > 12
    assert circle(rooms) == []
    assert rooms["kfuzz.kinds"] == set(), "every room may import the kinds of findings"


def test_kernels_hold_no_python() -> None:
    assert list(ROOT.glob("kernels/**/*.py")) == []


@pytest.mark.parametrize(
    ("file", "text", "arrow"),
    [
        ("oracle/op.py", "from kfuzz.claims.kernel import load", "kfuzz.oracle.op -> kfuzz.claims.kernel"),
        ("oracle/op.py", "from kfuzz import load", "kfuzz.oracle.op -> kfuzz.load"),
        ("oracle/ops/softmax.py", "def late():\n    import pycuda.driver", "kfuzz.oracle.ops.softmax -> pycuda.driver"),
        ("oracle/op.py", "from hypothesis import given", "kfuzz.oracle.op -> hypothesis"),
        ("fuzz/cpu/a.py", "import pycuda.driver as cuda", "kfuzz.cpu.a -> pycuda.driver"),
        ("fuzz/campaign/crew.py", "import distributed", "kfuzz.campaign.crew -> distributed"),
        ("fuzz/claims/a.py", "from tests.test_kernels import x", "kfuzz.claims.a -> tests.test_kernels"),
        ("fuzz/claims/a.py", "from fuzz.claims import x", "kfuzz.claims.a -> fuzz.claims"),
        ("fuzz/claims/a.py", "from . import claim", "kfuzz.claims.a -> ."),
    ],
)
def test_the_check_sees_an_arrow_that_points_the_wrong_way(tmp_path: Path, file: str, text: str, arrow: str) -> None:
    write_module(tmp_path / file, text)
    assert arrow in wrong_arrows(tmp_path)


def write_module(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_not_everybody_has_is_allowed_in_its_one_file(tmp_path: Path) -> None:
    write_module(tmp_path / "fuzz/gpu/card.py", "import pycuda.driver")
    write_module(tmp_path / "fuzz/campaign/cluster.py", "import distributed")
    assert wrong_arrows(tmp_path) == []


def test_the_check_sees_a_circle_also_through_a_late_import(tmp_path: Path) -> None:
    write_module(tmp_path / "fuzz/one.py", "from kfuzz import two")
    write_module(tmp_path / "fuzz/two.py", "def late():\n    from kfuzz.one import thing")
    assert set(circle(module_graph(tmp_path))) == {"kfuzz.one", "kfuzz.two"}


def test_the_check_sees_rooms_in_a_circle_whose_modules_are_in_none(tmp_path: Path) -> None:
    texts = {"a/one": "from kfuzz.b.one import x", "a/two": "", "b/one": "", "b/two": "import kfuzz.a.two"}
    for file, text in texts.items():
        write_module(tmp_path / f"fuzz/{file}.py", text)
    assert circle(module_graph(tmp_path)) == []
    assert set(circle(room_graph(tmp_path))) == {"kfuzz.a", "kfuzz.b"}
