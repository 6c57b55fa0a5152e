"""Units of the runtime, each compiled with the few others that it needs and driven by a program of units/."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kfuzz.devices import host_compiler
from kfuzz.devices.cpu import toolchain

UNITS = Path(__file__).parent / "units"
FLAGS = ("-std=c++17", "-O0", "-Wall", "-Wextra", "-fno-exceptions", "-fno-rtti", "-fno-pie", f"-I{toolchain.HOME}")
UNRESOLVED = ("-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-Wl,-z,lazy")
"""What a driver does not call need not be there."""
FAULTS = {
    "shadow": ("mask << 4 : 0", "mask << 3 : 0"),
    "knowledge": ("return x.left >= y.left ? a : b;", "return a;"),
    "messages": ("m.knowledge = joined(m.knowledge, knowledge);", "m.knowledge = knowledge;"),
    "ordering": ("if (scope == Scope::device) me.known = joined(joined(me.known, me.pending), ", "("),
    "arena": ("last_change(before, run.poison)", "first_change(before, 16, run.poison)"),
    "stacks": ("% stride < guard_bytes", "% stride > guard_bytes"),
    "memory_map": ("array.is_guard &&", "!array.is_guard &&"),
    "lower_halves": ("while (met < count && is_apart(made, others[met])) met++;", "met = count;"),
    "held_races": ("h.met.writes && !has_changed(h)", "h.met.writes && has_changed(h)"),
    "chunks": ("15u >> (4 - rest % 4)", "15u"),
    "vast": ("if (mapping.region) munmap(mapping.region, mapping.region_bytes);", ""),
    "work": ("if (work.triggers_after_wait) join(trigger, {work.after_wait, work.after_wait});", ""),
    "tensor_maps": ("if (inner % 16) return RefusedMap::inner_side;", ""),
    "growing": ("if (!range->is_open(number) && !open_piece(*range, number)) return false;", ""),
    "report": ("if (damage.is_damaged && may_follow_from_damage(kind))", "if (may_follow_from_damage(Kind::race))"),
}
"""For each unit a line of it and what makes it wrong."""

Compile = Callable[[Path], Path]


@pytest.fixture(scope="module")
def compile_once(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles a file to an object, once."""
    folder = tmp_path_factory.mktemp("objects")
    made: dict[Path, Path] = {}

    def compile_(source: Path) -> Path:
        if source not in made:
            made[source] = folder / f"{len(made)}.o"
            where = (f"-iquote{toolchain.HOME / 'runtime'}", "-c", str(source), "-o", str(made[source]))
            subprocess.run([host_compiler.find_compiler(), *FLAGS, *where], check=True)
        return made[source]

    return compile_


def run_driver(
    name: str, compile_: Compile, folder: Path, replaced: dict[str, Path]
) -> subprocess.CompletedProcess[str]:
    """Links a driver with its units, some of them replaced, and runs it."""
    driver = UNITS / f"{name}.cpp"
    units = driver.read_text(encoding="utf-8").splitlines()[0].removeprefix("// units: ").split()
    sources = [driver, *(replaced.get(unit, toolchain.HOME / "runtime" / f"{unit}.cpp") for unit in units)]
    program = folder / name
    objects = [str(compile_(source)) for source in sources]
    subprocess.run(
        [host_compiler.find_compiler(), *UNRESOLVED, *objects, "-o", str(program)], check=True, capture_output=True
    )
    return subprocess.run([program], capture_output=True, text=True, check=False)


def test_each_driver_has_a_fault_that_it_must_find() -> None:
    assert {one.stem for one in UNITS.glob("*.cpp")} == set(FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_unit_does_what_its_driver_expects(name: str, compile_once: Compile, tmp_path: Path) -> None:
    ran = run_driver(name, compile_once, tmp_path, {})
    assert (ran.returncode, ran.stdout) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_driver_finds_a_fault_in_its_unit(name: str, compile_once: Compile, tmp_path: Path) -> None:
    before, after = FAULTS[name]
    text = (toolchain.HOME / "runtime" / f"{name}.cpp").read_text(encoding="utf-8")
    assert text.count(before) == 1
    wrong = tmp_path / f"{name}.cpp"
    wrong.write_text(text.replace(before, after), encoding="utf-8")
    assert run_driver(name, compile_once, tmp_path, {name: wrong}).returncode
