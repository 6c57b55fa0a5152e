"""What a stream cannot encode is spelled out: the name of a file may hold any bytes."""

import io

import pytest

from kfuzz.commands.streams import spell_out


@pytest.mark.parametrize(
    ("encoding", "written"), [("ascii", rb"\xf6 \u5c06 \udcf6"), ("latin-1", b"\xf6" + rb" \u5c06 \udcf6")]
)
def test_a_letter_that_the_locale_lacks_is_spelled_out(encoding: str, written: bytes) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding)
    spell_out(stream)
    stream.write("ö 将 \udcf6")
    stream.flush()
    assert raw.getvalue() == written
