"""The command line of the numeric layers: python -m numerics COMMAND."""

import sys

import click

from numerics.commands.approximation import approximation
from numerics.commands.bench import bench
from numerics.commands.cost import cost
from numerics.commands.deviation import deviation
from numerics.commands.drop_in import drop_in
from numerics.commands.errors import errors
from numerics.commands.geometric import geometric
from numerics.commands.gpu import gpu
from numerics.commands.ot_vit import ot_vit
from numerics.commands.temperature import temperature
from numerics.commands.train_tiny import train_tiny


@click.group()
def main() -> None:
    """Measure the numeric layers, and make the documents' figures and tables again."""


main.add_command(approximation)
main.add_command(bench)
main.add_command(cost)
main.add_command(deviation)
main.add_command(drop_in)
main.add_command(errors)
main.add_command(geometric)
main.add_command(gpu)
main.add_command(ot_vit)
main.add_command(temperature)
main.add_command(train_tiny)


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
