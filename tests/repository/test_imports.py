"""Allowed imports: from a storey to those below it, no search in the oracle, one file with pycuda, no circles."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from paths import ROOT

from kfuzz.claims.language.languages import FILES

ONLY = {
    "pycuda": ("kfuzz.devices.gpu.launching",),
    "distributed": ("kfuzz.campaign.cluster",),
    "torch": ("kfuzz.devices.python", "kfuzz.claims.references.torch"),
    "mcp": ("kfuzz.ui.serving.mcp_tool",),
}
"""Packages that not everybody has: the files or folders that import them; all others ask those."""
NOT_FOR_THE_ORACLE = ("pycuda", "hypothesis", "pytest", "click", "rich")
STOREYS = {
    "ui": ("pytest", "commands", "serving", "setup", "targets", "reports"),
    "measure": ("speed", "mutants", "roundings"),
    "campaign": (".", "minimizing", "trials", "properties"),
    "cases": ("plans", "."),
    "claims": (".", "references", "language"),
    "devices": ("python", "vendors", "gpu", "cpu", "worker", "sandbox", "memory", "."),
    "common": ("text", "."),
}
"""The storeys of fuzz/, top first, and the rooms of each, top first. A storey imports from those below it, a room from
those below it in its storey; "." is what lies beside the rooms. Beside the storeys lie `kinds`, from which all import,
and, on the roof, the files of fuzz/ itself."""
ORACLE = (
    ".", "proof", "judging", "ops", "bounds", "diagnosis", "sets", "op", "words", "systems", "accuracy", "numbers",
)  # fmt: skip
"""The rooms of oracle/, top first."""
BUILT_ON: dict[str, set[str]] = {"cpu": set(), "gpu": set(), "python": {"cpu", "gpu"}}
"""The rooms that run kernels, and those of them that each is built on. What two of them share lies below: `python` runs
a file's CUDA on the cpu device, and takes its memory of a GPU from `gpu`."""
LANGUAGES = "kfuzz.claims.language.languages"
PACKAGES = {"fuzz": "kfuzz", "oracle": "kfuzz.oracle"}


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package, by its dotted name."""
    found = {}
    for folder, package in PACKAGES.items():
        for path in sorted(root.glob(f"{folder}/**/*.py")):
            below = ".".join(path.relative_to(root / folder).with_suffix("").parts)
            found[f"{package}.{below}".removesuffix(".__init__")] = path
    return found


def imports(path: Path, types_too: bool = True) -> tuple[str, ...]:
    """Every name that a file imports, wherever the import stands; `from a import b` is both a and a.b."""
    return tuple(name for name, is_for_types in imports_of(path) if types_too or not is_for_types)


@cache
def imports_of(path: Path) -> tuple[tuple[str, bool], ...]:
    """The names, and whether only type checkers see the import. The tree is not kept: to look for garbage in those of
    all files takes most of the time."""
    return tuple(find_imports(ast.parse(path.read_text(encoding="utf-8"))))


def find_imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    for_types: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for_types.update(inner for statement in node.body for inner in ast.walk(statement))
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{'.' * node.level}{node.module or ''}"
            yield module, node in for_types
            yield from ((f"{module}.{alias.name}", node in for_types) for alias in node.names)


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
            of_another = package in ONLY and not any(f"{name}.".startswith(f"{one}.") for one in ONLY[package])
            by_folder = package in ("tests", "kernels", "benchmarks", "fuzz", "oracle")
            if in_oracle or of_another or by_folder or imported.startswith("."):
                found.append(f"{name} -> {imported}")
    return found


def place_of(name: str) -> tuple[str, str]:
    """The storey and the room of a module: of its *top* folder, however deep it lies. The roof has no storey."""
    words = name.removeprefix("kfuzz").removeprefix(".").split(".")
    if words[0] == "oracle":
        return "oracle", words[1] if len(words) > 1 and words[1] in ORACLE else "."
    if words[0] not in STOREYS:
        return words[0] if words[0] == "kinds" else "", "."
    return words[0], words[1] if len(words) > 1 and words[1] in STOREYS[words[0]] else "."


def points_up(who: tuple[str, str], whom: tuple[str, str]) -> bool:
    """Whether a module of one place may not import one of the other."""
    (storey, room), (other, below) = who, whom
    if storey in ("", "oracle") or other == "oracle":
        return storey == other == "oracle" and ORACLE.index(room) > ORACLE.index(below)
    if other == "kinds":
        return False
    if other == "" or storey == "kinds":
        return True
    order = list(STOREYS)
    if storey != other:
        return order.index(storey) > order.index(other)
    return STOREYS[storey].index(room) > STOREYS[storey].index(below)


def arrows_up(root: Path) -> list[str]:
    """Every import of a module from a storey or a room above its own, as `who -> whom`."""
    known = modules(root)
    return [
        f"{name} -> {whom}"
        for name, path in known.items()
        for whom in sorted({one for one in imports(path) if one in known})
        if not known[whom].is_relative_to(path.parent) or path.name != "__init__.py"
        if whom not in PACKAGES.values() and points_up(place_of(name), place_of(whom))
    ]


def arrows_to_a_vendor(root: Path) -> list[str]:
    """Every import of a vendor's own files from a storey above `devices`, as `who -> whom`: it asks `vendors` alone."""
    known = modules(root)
    return [
        f"{name} -> {whom}"
        for name, path in known.items()
        for whom in imports(path)
        if place_of(name)[0] != "devices"
        and f"{whom}.".startswith(("kfuzz.devices.gpu.", "kfuzz.devices.vendors."))
        and (whom in known or whom.startswith("kfuzz.devices.gpu"))
        and whom != "kfuzz.devices.vendors"
    ]


def arrows_between_devices(root: Path) -> list[str]:
    """Every import of one device from another that it is not built on, as `who -> whom`."""
    found = []
    for name, path in modules(root).items():
        storey, room = place_of(name)
        if storey != "devices" or room not in BUILT_ON:
            continue
        wanted = {place_of(one) for one in imports(path) if one.startswith("kfuzz.devices.")}
        others = {one for _, one in wanted} & set(BUILT_ON) - BUILT_ON[room] - {room}
        found += [f"{name} -> kfuzz.devices.{one}" for one in sorted(others)]
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
    if LANGUAGES in graph:  # it imports them by their names
        graph[LANGUAGES] |= {f"kfuzz.claims.language.{name}" for name in FILES.values()} & graph.keys()
    for name, needs in graph.items():  # a package is imported with each of its modules, and that is no circle
        needs -= {package for package in needs if name.startswith(f"{package}.")}
    return graph


@pytest.mark.slow
def test_no_import_points_the_wrong_way() -> None:
    assert len(modules(ROOT)) > 20
    assert wrong_arrows(ROOT) == []


def test_a_device_imports_only_the_devices_that_it_is_built_on() -> None:
    assert arrows_between_devices(ROOT) == []


def test_no_storey_above_the_devices_knows_a_vendor() -> None:
    assert arrows_to_a_vendor(ROOT) == []


def test_the_check_sees_a_storey_that_knows_a_vendor(tmp_path: Path) -> None:
    for file, text in {
        "devices/vendors/__init__": "def vendor(): ...",
        "devices/vendors/nvidia": "from kfuzz.devices.gpu import driver",
        "devices/gpu/driver": "",
        "measure/speed/a": "from kfuzz.devices.vendors import vendor",
        "measure/speed/b": "def late():\n    from kfuzz.devices.vendors import nvidia",
        "ui/commands/c": "from kfuzz.devices.gpu import driver",
    }.items():
        write_module(tmp_path / f"fuzz/{file}.py", text)
    assert sorted(arrows_to_a_vendor(tmp_path)) == [
        "kfuzz.measure.speed.b -> kfuzz.devices.vendors.nvidia",
        "kfuzz.ui.commands.c -> kfuzz.devices.gpu",
        "kfuzz.ui.commands.c -> kfuzz.devices.gpu.driver",
    ]


def test_the_check_sees_a_device_that_imports_another(tmp_path: Path) -> None:
    for file, text in {
        "devices/gpu/a": "from kfuzz.devices.cpu import toolchain",
        "devices/cpu/programs/b": "def late():\n    import kfuzz.devices.python.backend",
        "devices/python/c": "from kfuzz.devices.cpu.abi import x\nfrom kfuzz.devices import Job",
    }.items():
        write_module(tmp_path / f"fuzz/{file}.py", text)
    assert arrows_between_devices(tmp_path) == [
        "kfuzz.devices.cpu.programs.b -> kfuzz.devices.python",
        "kfuzz.devices.gpu.a -> kfuzz.devices.cpu",
    ]


def folders(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.is_dir() and path.name != "__pycache__"}


def test_the_listing_is_the_storeys() -> None:
    assert folders(ROOT / "fuzz") == {*STOREYS, "kinds", "cuda_on_cpu"}
    assert len([path for path in (ROOT / "fuzz").iterdir() if path.is_file()]) <= 5
    assert folders(ROOT / "oracle") == {*ORACLE} - {"."}
    assert {path.name for path in (ROOT / "oracle").iterdir() if path.is_file()} == {"__init__.py", "__main__.py"}
    for storey, rooms in STOREYS.items():
        assert folders(ROOT / "fuzz" / storey) == {*rooms} - {"."}, storey


def unnamed_places(page: str) -> list[str]:
    """The storeys without a row on the page, the rooms that this row leaves out, and the rooms of the oracle that the
    chapter on it leaves out."""
    missing = []
    for storey, rooms in STOREYS.items():
        row = next((line for line in page.splitlines() if line.startswith(f"| `{storey}/` |")), None)
        if row is None:
            missing.append(storey)
        else:
            missing += [f"{storey}/{one}" for one in rooms if one != "." and f"`{one}/`" not in row]
    chapter = page.partition("rooms of the oracle\n")[2].partition("\n## ")[0]
    return missing + [f"oracle/{one}" for one in ORACLE if one != "." and f"`{one}/`" not in chapter]


def test_the_page_on_the_architecture_has_every_storey_and_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert unnamed_places(page) == []
    assert len(page.splitlines()) <= 60, "a newcomer reads it in two minutes"


def test_a_storey_or_a_room_that_the_page_leaves_out_is_seen() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for was, becomes, missing in (
        ("| `claims/` |", "| `cellar/` |", ["claims"]),
        ("`speed/`, ", "", ["measure/speed"]),
        ("`trials/`", "`cellar/`", ["campaign/trials"]),
        ("`numbers/` (", "(", ["oracle/numbers"]),
        ("`sets/`", "`ops/`", ["oracle/sets"]),
    ):
        assert page.count(was) == 1
        assert unnamed_places(page.replace(was, becomes)) == missing


def test_no_import_points_to_a_storey_or_a_room_above() -> None:
    assert arrows_up(ROOT) == []


@pytest.mark.parametrize(
    ("file", "text", "whom"),
    [
        (
            "devices/python/torch/trace_server",
            "from kfuzz.claims.references import running",
            "claims.references.running",
        ),
        ("claims/kernel", "def late():\n    from kfuzz.cases.case import Case", "cases.case"),
        ("claims/language/keys", "from kfuzz.claims.kernel import load", "claims.kernel"),
        ("common/text/exhibits", "from kfuzz.devices.jobs import Job", "devices.jobs"),
        ("kinds/__init__", "from kfuzz.common.errors import ClaimError", "common.errors"),
        ("campaign/schedule", "from kfuzz.api import fuzz", "api"),
    ],
)
def test_the_check_sees_an_arrow_that_points_up(tmp_path: Path, file: str, text: str, whom: str) -> None:
    for module in ("claims.references.running", "cases.case", "claims.kernel", "devices.jobs", "common.errors", "api"):
        write_module(tmp_path / "fuzz" / f"{module.replace('.', '/')}.py", "")
    write_module(tmp_path / f"fuzz/{file}.py", text)
    who = file.replace("/", ".").removesuffix(".__init__")
    assert arrows_up(tmp_path) == [f"kfuzz.{who} -> kfuzz.{whom}"]


def test_the_check_sees_the_circle_of_claims_and_callables(tmp_path: Path) -> None:
    """Until the storeys came, each subfolder was a room of its own, and this circle was none."""
    write_module(tmp_path / "fuzz/claims/keys.py", "from kfuzz.callables.libraries import names")
    write_module(tmp_path / "fuzz/callables/libraries/names.py", "")
    write_module(tmp_path / "fuzz/callables/torch/trace_server.py", "from kfuzz.claims import serving")
    write_module(tmp_path / "fuzz/claims/serving.py", "")
    assert circle(module_graph(tmp_path)) == []
    assert set(circle(folder_graph(tmp_path))) == {"claims", "callables"}


def folder_graph(root: Path) -> dict[str, set[str]]:
    """Which top folders of fuzz/ import from which."""
    graph: dict[str, set[str]] = {}
    for name, needs in module_graph(root).items():
        folder = name.split(".")[1] if "." in name else ""
        others = {need.split(".")[1] for need in needs if "." in need}
        graph[folder] = graph.get(folder, set()) | others - {folder}
    return graph


def test_no_imports_go_in_a_circle() -> None:
    assert circle(module_graph(ROOT)) == []


@pytest.mark.slow
def test_no_folders_go_in_a_circle() -> None:
    graph = folder_graph(ROOT)
    assert len(graph) > 9
    assert circle(graph) == []
    assert graph["kinds"] == set(), "every storey may import the kinds of findings"


def test_kernels_hold_no_python() -> None:
    assert list(ROOT.glob("kernels/**/*.py")) == []


@pytest.mark.parametrize(
    ("file", "text", "arrow"),
    [
        ("oracle/op/op.py", "from kfuzz.claims.kernel import load", "kfuzz.oracle.op.op -> kfuzz.claims.kernel"),
        ("oracle/op/op.py", "from kfuzz import load", "kfuzz.oracle.op.op -> kfuzz.load"),
        ("oracle/ops/softmax.py", "def late():\n    import pycuda.driver", "kfuzz.oracle.ops.softmax -> pycuda.driver"),
        ("oracle/op/op.py", "from hypothesis import given", "kfuzz.oracle.op.op -> hypothesis"),
        ("fuzz/devices/cpu/a.py", "import pycuda.driver as cuda", "kfuzz.devices.cpu.a -> pycuda.driver"),
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


def lost_headers(root: Path) -> list[str]:
    """The includes that name a file by its place, which is not there; only nvcc would notice some of them."""
    files = (path for path in (root / "fuzz").rglob("*") if path.suffix in (".h", ".cpp", ".cu", ".cuh"))
    named = (
        (path, one) for path in files for one in re.findall(r'^ *# *include *"(\.\./[^"]+)"', path.read_text(), re.M)
    )
    return [f"{path.name}: {one}" for path, one in named if not (path.parent / one).is_file()]


def test_every_header_that_is_named_by_its_place_is_there(tmp_path: Path) -> None:
    assert lost_headers(ROOT) == []
    write_module(tmp_path / "fuzz/gpu/front.h", '#include "../runtime/moved.h"\n')
    assert lost_headers(tmp_path) == ["front.h: ../runtime/moved.h"]


def test_what_not_everybody_has_is_allowed_in_its_one_file(tmp_path: Path) -> None:
    write_module(tmp_path / "fuzz/devices/gpu/launching.py", "import pycuda.driver")
    write_module(tmp_path / "fuzz/campaign/cluster.py", "import distributed")
    assert wrong_arrows(tmp_path) == []


def test_the_check_sees_a_language_that_looks_for_languages(tmp_path: Path) -> None:
    write_module(tmp_path / "fuzz/claims/language/languages.py", "from importlib import import_module")
    write_module(tmp_path / "fuzz/claims/language/cuda.py", "from kfuzz.claims.language import kernel_file")
    write_module(tmp_path / "fuzz/claims/language/kernel_file.py", f"from {LANGUAGES} import language_of")
    assert {LANGUAGES, "kfuzz.claims.language.cuda"} <= set(circle(module_graph(tmp_path)))


def test_the_check_sees_a_circle_also_through_a_late_import(tmp_path: Path) -> None:
    write_module(tmp_path / "fuzz/one.py", "from kfuzz import two")
    write_module(tmp_path / "fuzz/two.py", "def late():\n    from kfuzz.one import thing")
    assert set(circle(module_graph(tmp_path))) == {"kfuzz.one", "kfuzz.two"}
