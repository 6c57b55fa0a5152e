"""docs/kernel-file.md: its examples are claims, its wrong ones get the errors shown, and it leaves out no key."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pages import Block, anchor_of, blocks
from paths import ROOT

from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language import arrays
from kfuzz.claims.language.expression import FUNCTIONS, PREDICATES
from kfuzz.claims.language.keys import TABLES, WrittenClaim, keys_of
from kfuzz.devices import ClaimError
from kfuzz.kinds import Severity
from kfuzz.oracle.numbers.elements import ELEMENTS

PAGE = ROOT / "docs" / "kernel-file.md"
FIRST, *OTHERS = blocks(PAGE.read_text(), "toml")
WRONG = blocks(PAGE.read_text(), "toml wrong", "text")

Values = dict[str, Any]


def whole(block: Block) -> Values:
    """The claim of a block: the first of the page, with the block's own keys in their place."""
    own = tomllib.loads(block.text)
    return {
        name: value for name, value in tomllib.loads(FIRST.text).items() if name != "launch" or "host" not in own
    } | own


def as_toml(value: object) -> str:
    """A value of TOML on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {as_toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


def functions(values: Values) -> Iterator[str]:
    """A __global__ function for each launch, with the parameters that its args want."""
    for launch in values.get("launch") or [values["host"]]:
        function, _, written = launch.get("call", launch.get("entry")).partition("(")
        name, _, parameter = function.partition("<")
        given = written.rstrip(")").split(",") if written else map(str, launch["args"])
        takes = ", ".join(parameter_for(one, values) for one in given)
        kind = "" if "host" in values else "__global__ "
        yield f"{'template <int> ' if parameter else ''}{kind}void {name}({takes}) {{}}"


def parameter_for(argument: str, values: Values) -> str:
    """A parameter that takes the argument."""
    if argument in values["arrays"]:
        element = values["arrays"][argument].partition("[")[0]
        return f"{ELEMENTS[element].c_type if element in ELEMENTS else 'unsigned char'} *"
    if "nullopt" in argument:
        return "std::optional<torch::Tensor>"
    return "const int *" if argument == "nullptr" else "float" if "." in argument else "int"


def loaded(values: Values, folder: Path) -> Kernel:
    """The claim as a kernel file, read."""
    claim = "".join(f"// {name} = {as_toml(value)}\n" for name, value in values.items())
    place = folder / "broken" if "broken" in values else folder
    place.mkdir(exist_ok=True)
    path = place / "mine.cu"
    path.write_text(f"// A kernel.\n//\n// /// kernel\n{claim}// ///\n" + "\n".join(functions(values)) + "\n")
    return load(path)


@pytest.mark.parametrize("block", [FIRST, *OTHERS], ids=lambda block: f"line {block.line}")
def test_an_example_of_the_page_is_a_claim(block: Block, tmp_path: Path) -> None:
    assert loaded(whole(block), tmp_path).name.endswith("mine")


@pytest.mark.parametrize(
    ("block", "reported"), list(zip(WRONG[::2], WRONG[1::2], strict=True)), ids=lambda one: one.line
)
def test_a_mistake_on_the_page_raises_the_message_shown(block: Block, reported: Block, tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=re.escape(reported.text.strip())):
        loaded(whole(block), tmp_path)


def nested_keys(value: object) -> Iterator[str]:
    """Every key of nested tables and lists."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from nested_keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from nested_keys(inner)


def test_every_key_of_a_claim_is_in_an_example() -> None:
    shown = {name for block in (FIRST, *OTHERS) for name in nested_keys(tomllib.loads(block.text))}
    known = {name for table, keys in TABLES.items() if table != "call" for name in keys}
    assert known <= shown


ROW = re.compile(
    r"^\| `(?P<key>[\w.]+)` \| (?P<meaning>.+) \| \[[^\]]+\]\((?P<page>[\w.-]*)#(?P<anchor>[\w-]+)\) \|$", re.MULTILINE
)
"""A row of the table of all keys: the key, what it means, and the section that explains it."""


def meanings() -> dict[str, str]:
    """What each key of a claim means, by its name with that of its table."""
    tables = {"": keys_of(WrittenClaim)} | {table: keys for table, keys in TABLES.items() if table}
    return {
        f"{table}.{name}".removeprefix("."): key.meaning for table, keys in tables.items() for name, key in keys.items()
    }


def wrong_keys(text: str) -> set[str]:
    """The keys that the table of all keys leaves out, or has in other words than the code, or has alone."""
    return {name for name, _ in {row.group("key", "meaning") for row in ROW.finditer(text)} ^ meanings().items()}


def unexplained_keys(text: str) -> list[str]:
    """The keys of the table that the section to which their row leads does not name."""
    return [
        row["key"]
        for row in ROW.finditer(text)
        if not re.search(rf"\b{row['key'].rpartition('.')[2]}\b", section_of(row["page"], row["anchor"], text))
    ]


def section_of(page: str, anchor: str, text: str) -> str:
    """A section of this page or of one beside it, from its heading on."""
    text = (PAGE.parent / page).read_text() if page else text
    sections = {anchor_of(one.partition("\n")[0]): one for one in re.split(r"^#{2,} ", text, flags=re.MULTILINE)}
    return sections[anchor]


def test_the_table_of_all_keys_says_of_each_what_the_code_says() -> None:
    assert len(meanings()) > 80
    assert wrong_keys(PAGE.read_text()) == set()


def test_a_key_that_the_table_leaves_out_or_has_in_other_words_is_seen() -> None:
    text = PAGE.read_text()
    (row,) = (row[0] for row in ROW.finditer(text) if row["key"] == "launch.grid")
    assert wrong_keys(text.replace(row, "")) == {"launch.grid"}
    assert wrong_keys(text.replace(row, row.replace("blocks", "threads"))) == {"launch.grid"}
    assert wrong_keys(text.replace(row, f"{row}\n{row.replace('grid', 'gird', 1)}")) == {"launch.gird"}


def test_every_row_of_the_table_of_all_keys_leads_to_a_section_that_names_the_key() -> None:
    text = PAGE.read_text()
    assert unexplained_keys(text) == []
    assert unexplained_keys(text.replace("[adds](#adds)", "[flags](#flags)")) == ["accuracy.adds"]


def test_every_word_of_a_claim_is_on_the_page() -> None:
    text = PAGE.read_text()
    words = [*ELEMENTS, *FUNCTIONS, *PREDICATES, *get_args(Severity)]
    for keys in (keys for table, keys in TABLES.items() if table != "call"):
        words += [word for key in keys.values() for word in key.words if word != "any"]  # what is left out
    assert [word for word in words if not re.search(rf'[`"]{re.escape(word)}\b', text)] == []
    assert not re.search(r'[`"]no such word\b', text)


def test_an_example_with_an_unknown_key_fails(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match="unknown key"):
        loaded(whole(FIRST) | {"colour": "red"}, tmp_path)


def test_the_default_alignment_is_the_one_that_the_page_names() -> None:
    assert f"Left out, it is {arrays.ALIGNMENT}, as cudaMalloc has it" in PAGE.read_text()
