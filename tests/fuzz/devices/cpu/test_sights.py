"""The entries of sights.def: C++ and Python number them alike, and Python has every word that they use."""

import ast
import re
import string
import subprocess
from pathlib import Path

import pytest
from paths import ROOT

from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.sights import SIGHTS, read_sights, sight_type
from kfuzz.devices.cpu.wording import Wording
from kfuzz.kinds import KINDS

RUNTIME = toolchain.HOME / "runtime"


def numbers_in_cpp(folder: Path, include: Path) -> list[str]:
    """The number of each sight as a C++ compiler counts them, by the entries that it finds in `include`."""
    (folder / "numbers.cpp").write_text(
        '#include <cstdio>\n#include "sights.h"\nint main() {\n'
        '#define SIGHT(name, ...) std::printf("%s %u\\n", #name, static_cast<unsigned>(cuda_on_cpu::Kind::name));\n'
        '#include "sights.def"\n}\n'
    )
    program = folder / "numbers"
    build = [toolchain.find_compiler(), "-std=c++17", f"-I{include}", str(folder / "numbers.cpp"), "-o", str(program)]
    subprocess.run(build, check=True, capture_output=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def test_cpp_and_python_number_the_sights_alike(tmp_path: Path) -> None:
    assert numbers_in_cpp(tmp_path, RUNTIME) == [f"{one.name} {number}" for number, one in enumerate(SIGHTS, 1)]
    assert all(sight_type(number) is one for number, one in enumerate(SIGHTS, 1))


def test_another_order_on_one_side_is_noticed(tmp_path: Path) -> None:
    text = (RUNTIME / "sights.def").read_text()
    first, second = re.findall(r"^SIGHT\(.*\)$", text, re.MULTILINE)[:2]
    (tmp_path / "sights.def").write_text(text.replace(first, "@").replace(second, first).replace("@", second))
    (tmp_path / "sights.h").write_text((RUNTIME / "sights.h").read_text())
    assert numbers_in_cpp(tmp_path, tmp_path) != [f"{one.name} {number}" for number, one in enumerate(SIGHTS, 1)]


def test_every_sight_has_a_name_and_a_message_of_its_own_and_a_kind_with_a_file() -> None:
    assert len({one.name for one in SIGHTS}) == len({one.message for one in SIGHTS}) == len(SIGHTS)
    assert {one.kind for one in SIGHTS} <= KINDS.keys()
    assert {one.kind for one in SIGHTS if "cpu" not in KINDS[one.kind].devices} == set()


def test_messages_use_all_words_that_exist_and_no_others() -> None:
    words = {word for one in SIGHTS for _, word, _, _ in string.Formatter().parse(one.message) if word}
    assert words == {name for name, one in vars(Wording).items() if isinstance(one, property) and name[0] != "_"}


def traits_asked(text: str) -> set[str]:
    """The traits that a piece of Python asks a sight for."""
    return {
        node.left.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if re.search(r"\.traits$", ast.unparse(node.comparators[0])) and "sight" in ast.unparse(node.comparators[0])
    }


def test_python_asks_only_for_traits_of_the_header() -> None:
    declared = re.search(r"enum Trait[^{]*\{(.*?)\};", (RUNTIME / "sights.h").read_text(), re.DOTALL)
    assert declared is not None
    known = set(re.findall(r"(\w+) = ", declared[1]))
    asked = set[str]().union(*(traits_asked(path.read_text()) for path in (ROOT / "fuzz/devices/cpu").glob("*.py")))
    assert asked == known - {"plain", "follows_damage"}
    assert traits_asked('"is_rase" in sight.traits') == {"is_rase"}


@pytest.mark.parametrize(
    "entry",
    [
        'SIGHT(odd, "race", fatal, certain, plain, "{me}")',
        'SIGHT(odd, "race", error, doubtful, plain, "{me}")',
        'SIGHT(odd, "race", error, certain, "{me}")',
        'SIGHT("odd", "race", error, certain, plain, "{me}")',
        "SITE(odd)",
    ],
)
def test_an_entry_with_a_mistake_is_refused(tmp_path: Path, entry: str) -> None:
    (tmp_path / "sights.def").write_text(f"// one\n{entry}\n")
    with pytest.raises(ValueError, match=r"sights\.def: malformed entry: "):
        read_sights(tmp_path / "sights.def")
