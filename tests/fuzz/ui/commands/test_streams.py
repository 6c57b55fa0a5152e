"""What a stream cannot encode is spelled out, as the name of a file may hold any bytes; a refused file is one line."""

import errno
import io
import os

import click
import pytest
from click.testing import CliRunner

from kfuzz.ui.commands.group import Commands
from kfuzz.ui.commands.streams import spell_out


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


@pytest.mark.parametrize("reason", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_file_that_the_system_refuses_is_one_line(reason: int) -> None:
    @click.command
    def fails() -> None:
        raise OSError(reason, os.strerror(reason), "kfuzz.toml")

    group = Commands(commands={"fails": fails}, params=[click.Option(["--debug"], is_flag=True)])
    ran = CliRunner().invoke(group, ["fails"])
    assert (ran.exit_code, ran.output) == (2, f"kfuzz.toml: {os.strerror(reason)}\n")
