"""Who may import whom: oracle knows nothing of fuzz, one file imports pycuda, and nothing goes in a circle."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ONLY_PYCUDA = "fuzz.devices.gpu"
NOT_FOR_THE_ORACLE = ("fuzz", "pycuda", "hypothesis", "pytest", "click", "rich")


def modules(root: Path) -> dict[str, Path]:
    """Every module of the two packages below the root, by its dotted name."""
    files = sorted([*root.glob("oracle/**/*.py"), *root.glob("fuzz/**/*.py")])
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports(path: Path, types_too: bool = True) -> Iterator[str]:
    """Every name that a file imports, wherever the import stands; `from a import b` is both a and a.b."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def wrong_arrows(root: Path) -> list[str]:
    """Every import that points the wrong way, as `who -> whom`."""
    found = []
    for name, path in modules(root).items():
        for imported in imports(path):
            package = imported.split(".")[0]
            in_oracle = name.split(".")[0] == "oracle" and package in NOT_FOR_THE_ORACLE
            of_pycuda = package == "pycuda" and name != ONLY_PYCUDA
            of_the_tests = package in ("tests", "kernels", "benchmarks")
            if in_oracle or of_pycuda or of_the_tests or imported.startswith("."):
                found.append(f"{name} -> {imported}")
    return found


def circle(root: Path) -> list[str]:
    """One circle of imports among the modules, or nothing."""
    known = modules(root)
    graph = {name: {one for one in imports(path, False) if one in known} - {name} for name, path in known.items()}
    for name, needs in graph.items():  # a package is imported with each of its modules, and that is no circle
        needs -= {package for package in needs if name.startswith(f"{package}.")}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_import_points_the_wrong_way() -> None:
    assert len(modules(ROOT)) > 20
    assert wrong_arrows(ROOT) == []


def test_no_imports_go_in_a_circle() -> None:
    assert circle(ROOT) == []


def test_kernels_hold_no_python() -> None:
    assert list(ROOT.glob("kernels/**/*.py")) == []


@pytest.mark.parametrize(
    ("file", "text", "arrow"),
    [
        ("oracle/op.py", "from fuzz.kernel import load", "oracle.op -> fuzz.kernel"),
        ("oracle/ops/softmax.py", "def late():\n    import pycuda.driver", "oracle.ops.softmax -> pycuda.driver"),
        ("oracle/op.py", "from hypothesis import given", "oracle.op -> hypothesis"),
        ("fuzz/devices/cpu.py", "import pycuda.driver as cuda", "fuzz.devices.cpu -> pycuda.driver"),
        ("fuzz/kernel.py", "from tests.test_kernels import x", "fuzz.kernel -> tests.test_kernels"),
        ("fuzz/kernel.py", "from . import claim", "fuzz.kernel -> ."),
    ],
)
def test_the_check_sees_an_arrow_that_points_the_wrong_way(tmp_path: Path, file: str, text: str, arrow: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert arrow in wrong_arrows(tmp_path)


def test_pycuda_is_allowed_in_its_one_file(tmp_path: Path) -> None:
    path = tmp_path / "fuzz/devices/gpu.py"
    path.parent.mkdir(parents=True)
    path.write_text("import pycuda.driver")
    assert wrong_arrows(tmp_path) == []


def test_the_check_sees_a_circle_also_through_a_late_import(tmp_path: Path) -> None:
    (tmp_path / "fuzz").mkdir()
    (tmp_path / "fuzz/one.py").write_text("from fuzz import two")
    (tmp_path / "fuzz/two.py").write_text("def late():\n    from fuzz.one import thing")
    assert set(circle(tmp_path)) == {"fuzz.one", "fuzz.two"}
