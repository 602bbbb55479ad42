"""python -m numerics drop-in."""

import click

from numerics.experiments import drop_in as experiment
from numerics.models.encoder import ModelUnavailableError, load_encoder
from numerics.modules import KINDS


@click.command("drop-in")
@click.option(
    "--attention", "names", multiple=True, type=click.Choice(list(KINDS)), default=list(KINDS), help="every one if not given"
)
@click.option("--steps", type=click.IntRange(1), default=150, show_default=True, help="of training the small model")
@click.option("--seed", type=int, default=0, show_default=True)
def drop_in(names: tuple[str, ...], steps: int, seed: int) -> None:
    """Measure the effect of other attentions: the tables of docs/drop_in_attention.md, in Markdown."""
    try:
        encoder = load_encoder()
    except ModelUnavailableError as error:
        raise click.UsageError(str(error)) from error
    click.echo("| attention | distance | cosine | least cosine | time |\n| --- | --- | --- | --- | --- |")
    for x in experiment.changes(encoder, list(names)):
        click.echo(f"| {x.attention} | {x.distance:.3f} | {x.cosine:.3f} | {x.least:.3f} | {x.time:.1f} |")
    click.echo("\n| attention | swapped in | trained with | right answers | time |\n| --- | --- | --- | --- | --- |")
    for y in experiment.recalls(list(names), steps, seed):
        cells = f"{y.swapped:.3f} | {y.trained:.3f} | {100 * y.accuracy:.1f} % | {y.time:.1f}"
        click.echo(f"| {y.attention} | {cells} |")
