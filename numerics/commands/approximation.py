"""python -m numerics approximation."""

import json
from pathlib import Path

import click
import torch
from rich.console import Console
from rich.table import Table

from numerics.commands import options
from numerics.experiments import approximation as experiment
from numerics.experiments.approximation_figure import draw
from numerics.experiments.output import atomic_write


@click.command()
@options.out
@click.option(
    "--problems",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="random problems on which every halving of α is tried",
)
def approximation(out: Path, problems: int) -> None:
    """Reproduce Figure 3: the closed form, the exact estimate, and the order of the error."""
    problem = experiment.figure_problem()
    panels = experiment.study(problem, torch.tensor(sorted(experiment.STRENGTHS, reverse=True), dtype=torch.float64))
    curve = experiment.study(problem, experiment.halvings())
    worse = {spread: experiment.share_of_worse_steps(problems, spread) for spread in (0.5, 1.0, 4.0)}
    table = Table("α", "exact ĥ", "closed form (18)", "error", "error / α²")
    for alpha, exact, close, error in zip(curve.alphas, curve.exact, curve.approximate, curve.errors, strict=True):
        ratio = float(error / alpha**2)
        table.add_row(f"{float(alpha):.4g}", _shown(exact), _shown(close), f"{float(error):.3e}", f"{ratio:.4g}")
    console = Console()
    console.print(table)
    console.print(
        f"order: derived 2, fitted {curve.slope:.4f}; constant: derived {curve.constant:.6g}, "
        f"measured {curve.measured_constant:.6g}"
    )
    for spread, share in worse.items():
        console.print(
            f"evidence {spread:g} times the templates' spread: in {share:.0%} of {problems} random problems some "
            "halving of α makes (18) worse"
        )
    out.mkdir(exist_ok=True)
    figure = draw(panels, curve)
    for suffix in (".png", ".svg"):
        with atomic_write(out / f"approximation{suffix}") as path:
            figure.savefig(path, dpi=150)
    with atomic_write(out / "approximation.json") as path:
        path.write_text(
            json.dumps(
                {
                    "alpha": curve.alphas.tolist(),
                    "error": curve.errors.tolist(),
                    "order": {"derived": 2, "fitted": curve.slope},
                    "constant": {"derived": curve.constant, "measured": curve.measured_constant},
                    "share_of_problems_with_a_worse_step": {str(spread): share for spread, share in worse.items()},
                },
                indent=1,
            )
            + "\n",
            encoding="utf-8",
        )
    console.print(f"{out}/approximation.png, .svg and .json written")


def _shown(vector: torch.Tensor) -> str:
    return "(" + ", ".join(f"{x:.5f}" for x in vector.tolist()) + ")"
