"""`--help` teaches: the purpose of a command, an example, and the default of each option."""

from collections.abc import Iterator

import click
import pytest

from kfuzz.ui.commands.group import main


def gaps(name: str, command: click.Command) -> Iterator[str]:
    """What the help of a command leaves open."""
    if f"kfuzz {name}" not in (command.help or ""):
        yield f"{name}: no example"
    for one in command.params:
        if not isinstance(one, click.Option) or one.name == "help":
            continue
        if not one.help:
            yield f"{name} {one.opts[0]}: no help"
        elif is_open(one):
            yield f"{name} {one.opts[0]}: no default"


def is_open(one: click.Option) -> bool:
    """Whether an option that is left out does something that its help does not say.

    A flag is off. An option that asks for a file, a name or a filter of its own does nothing.
    """
    has_default = one.default not in (None, "", ()) and one.default is not click.core.UNSET
    says = "Default" in (one.help or "") or one.show_default
    return has_default and not one.is_flag and not says


@pytest.mark.parametrize("name", main.commands)
def test_the_help_of_a_command_teaches_it(name: str) -> None:
    assert list(gaps(name, main.commands[name])) == []


def test_help_that_leaves_something_open_is_noticed() -> None:
    options = [click.Option(["--seed"], default=3, help="The seed."), click.Option(["--out"])]
    bad = click.Command("fuzz", help="Fuzz.", params=list(options))
    assert list(gaps("fuzz", bad)) == ["fuzz: no example", "fuzz --seed: no default", "fuzz --out: no help"]
