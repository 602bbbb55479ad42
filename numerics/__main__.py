"""The command line of the numeric layers: python -m numerics COMMAND."""

import sys
from importlib import import_module

import click

NAMES = (
    "approximation",
    "bench",
    "cost",
    "deviation",
    "drop-in",
    "errors",
    "geometric",
    "gpu",
    "ot-vit",
    "temperature",
    "train-tiny",
)
"""The commands; each has a module of its own, which takes seconds to import."""


class Commands(click.Group):
    """Commands whose modules are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, if there is one."""
        if cmd_name not in NAMES:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"numerics.commands.{name}"), name)
        return command


@click.group(cls=Commands)
def main() -> None:
    """Measure the numeric layers, and make the documents' figures and tables again."""


def run() -> None:
    """Run the command line; bad input is one line and exit status 2."""
    try:
        status = main(standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        status = 2
    sys.exit(status)


if __name__ == "__main__":
    run()
