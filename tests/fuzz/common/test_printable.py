"""Strangers' text is printed as text: no name, line, case or message moves a cursor or turns writing round."""

import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from kfuzz.cases import case_file
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.claims.kernel import KERNELS
from kfuzz.claims.language.front_matter import text_of
from kfuzz.common.printable import one_line, printable
from kfuzz.ui.commands.group import main

EVIL = "\x1b[2J\x07\x9b31m\u202e"
RACY = text_of(KERNELS / "broken" / "missing_barrier.cu")
CONFESSION = RACY[RACY.index("// [broken]") : RACY.index("// [[launch]]")]
MINE = RACY.replace(CONFESSION, "").replace(
    "return shared[0];", f'if (threadIdx.x == 0) printf("\\033[2J\\n"); return shared[0] /* {EVIL} */;'
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from a stranger."""
    monkeypatch.chdir(tmp_path)
    assert EVIL in MINE
    (tmp_path / f"mine{EVIL}.cu").write_text(MINE)
    return tmp_path


def kfuzz(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments])


def assert_harmless(text: str) -> None:
    assert text
    assert [repr(letter) for letter in text if not letter.isprintable() and letter not in "\n\t"] == []


@pytest.mark.slow
def test_a_finding_in_a_hostile_file_is_printed_as_text(folder: Path) -> None:
    asked = ("--max-cases", "12", "--seed", "1", "--jobs", "1", "--junit", "j.xml", "--device", "cpu")
    done = kfuzz("fuzz", f"mine{EVIL}.cu", *asked)
    assert done.exit_code == 1, done.output
    assert "race, `if" in done.stdout
    for text in (done.stdout, (folder / "j.xml").read_text()):
        assert_harmless(text)
    again = kfuzz("replay", "--kernel", f"mine{EVIL}.cu", "--device", "cpu")
    assert "race" in again.stdout
    assert_harmless(again.stdout)


def test_errors_in_claims_are_printed_as_harmless_text(folder: Path) -> None:
    for edit in ('op = "soft\x7f\u202e"', "op = 3 # \x9b", f"x{EVIL} = 1", '"\\u001b[2J" = 1'):
        (folder / f"mine{EVIL}.cu").write_text(MINE.replace('op     = "softmax"', edit))
        done = kfuzz("show", f"mine{EVIL}.cu")
        assert done.exit_code == 2
        assert_harmless(done.stderr)


@pytest.mark.slow
def test_the_compilers_own_words_are_printed_as_text(folder: Path) -> None:
    (folder / f"mine{EVIL}.cu").write_text(MINE.replace("return shared[0]", "return shared[0] + undeclared"))
    done = kfuzz("fuzz", f"mine{EVIL}.cu", "--max-cases", "1", "--jobs", "1", "--device", "cpu")
    assert "undeclared" in done.stderr
    assert_harmless(done.stderr + done.stdout)


def test_names_in_a_case_are_printed_as_text(folder: Path) -> None:
    place = folder / "tests" / "corpus" / "softmax"
    place.mkdir(parents=True)
    origin = Origin(f"mine{EVIL}", f"mine: {EVIL}", EVIL, EVIL, EVIL, {"threads": 32})
    case = case_of("softmax", {"x": np.zeros((1, 2), np.float32)})
    case_file.write(place / f"case{EVIL}.json", Record(case, origin))
    (place / f"bad{EVIL}.json").write_text('{"schema": "kfuzz-case/1", "\\u001b[2J": 1}')
    shown = kfuzz("show", str(place / f"case{EVIL}.json"))
    replayed = kfuzz("replay", "--device", "cpu")
    for text in (shown.output, replayed.stdout, replayed.stderr):
        assert_harmless(text)


def test_a_name_that_is_no_text_is_printed_all_the_same(folder: Path) -> None:
    os.rename(f"mine{EVIL}.cu", b"mine\xff.cu")
    done = kfuzz("show", os.fsdecode(b"mine\xff.cu"))
    assert done.exit_code == 0, done.output
    assert_harmless(done.stdout)


def test_what_is_harmful_would_be_seen() -> None:
    with pytest.raises(AssertionError):
        assert_harmless(f"a{EVIL}b")
    assert printable("a\tb\n\x1b") == "a\tb\n\\x1b"
    assert one_line("a\tb\n") == "a\\tb\\n"
