"""`kfuzz completion`: the script by which a shell completes kfuzz's words. Click writes it."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_KFUZZ_COMPLETE"


@click.command(short_help="Print the script that makes a shell complete words.")
@click.argument("shell", type=click.Choice(SHELLS), default="bash")
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script by which SHELL completes commands, options, files, kernels, ops and kinds. Default: bash.

    \b
    eval "$(kfuzz completion)"                                     bash, in ~/.bashrc
    eval "$(kfuzz completion zsh)"                                 zsh, in ~/.zshrc
    kfuzz completion fish > ~/.config/fish/completions/kfuzz.fish  fish
    """
    script = get_completion_class(shell)
    assert script is not None, "click knows these shells"
    click.echo(script(ctx.find_root().command, {}, "kfuzz", VARIABLE).source())
