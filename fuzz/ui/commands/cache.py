"""`kfuzz cache`: where compiled files are kept, how large they are, and how to remove them."""

import click

from kfuzz.devices import cache as kept

MEGABYTE = 1e6


@click.command(short_help="Show or clear the cache of compiled files.")
@click.option("--clear", is_flag=True, help="Remove everything that kfuzz can compile again.")
def cache(clear: bool) -> None:
    """Show where kfuzz keeps what it has compiled, and how large that is.

    The folder is that of the variable KFUZZ_CACHE, else kfuzz in XDG_CACHE_HOME, else ~/.cache/kfuzz. Compiled files
    take at most 1 GB: kfuzz removes those that were used longest ago. It never needs to be cleared.

    \b
    kfuzz cache          the folder and its size
    kfuzz cache --clear  remove what is compiled
    """
    before = kept.size()
    if clear:
        kept.tidy(0)
    click.echo(kept.folder())
    left = kept.size()
    removed = f"; {(before - left) / MEGABYTE:.0f} MB removed" if clear else ""
    click.echo(f"{left / MEGABYTE:.0f} MB, of which compiled files may take {kept.MOST / MEGABYTE:.0f} MB{removed}")
