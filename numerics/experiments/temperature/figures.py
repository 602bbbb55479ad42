"""The pictures of `temperature`: each layer's curves, each head at ε = 1, and derived against measured derivatives."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from numerics.experiments.temperature.curves import STATISTICS, Curves

LABELS = {"entropy": "entropy H (nats)", "effective_keys": "effective number of keys $e^H$", "top_mass": "top mass"}
"""Labels of the axes."""

COLOURS = {"trained": "tab:blue", "random": "tab:orange"}


def layers(modules: Sequence[Curves]) -> Figure:
    """A column for each layer of one model and role, a row for each statistic; heads thin, their mean thick.

    Args:
        modules: of one model and one role, with trained and with random weights.
    """
    numbers = sorted({curves.layer for curves in modules})
    figure = Figure(figsize=(1.2 + 1.8 * max(len(numbers), 3), 6.6), layout="constrained")
    grid = figure.subplots(len(STATISTICS), len(numbers), squeeze=False, sharex=True, sharey="row")
    for name, line in zip(STATISTICS, grid, strict=True):
        for number, ax in zip(numbers, line, strict=True):
            for curves in (c for c in modules if c.layer == number):
                _lines(ax, curves, name)
            ax.set_xscale("log")
            ax.axvline(1.0, color="0.6", linewidth=0.8, linestyle=":")
        line[0].set_ylabel(LABELS[name], fontsize=9)
    for number, ax in zip(numbers, grid[0], strict=True):
        ax.set_title(f"layer {number + 1}", fontsize=9)
    grid[-1, len(numbers) // 2].set_xlabel("temperature ε, in units of the model's own (dotted)", fontsize=9)
    _title(figure, modules, "means over queries; thin: heads, thick: their mean")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper right", fontsize=8)
    return figure


def _lines(ax: Axes, curves: Curves, name: str) -> None:
    values, colour = curves.values[name], COLOURS[curves.weights]
    for head in values:
        ax.plot(curves.temperatures, head, color=colour, linewidth=0.5, alpha=0.35)
    ax.plot(curves.temperatures, values.mean(0), color=colour, linewidth=1.8, label=f"{curves.weights} weights")


def heads(modules: Sequence[Curves]) -> Figure:
    """Each statistic of every head at the temperature nearest to 1: rows are layers, columns heads.

    Args:
        modules: of one model and one role, with the same kind of weights.
    """
    ordered = sorted(modules, key=lambda curves: curves.layer)
    figure = Figure(figsize=(3.4 * len(STATISTICS), 0.9 + 0.45 * max(len(ordered), 3)), layout="constrained")
    for name, ax in zip(STATISTICS, figure.subplots(1, len(STATISTICS), squeeze=False)[0], strict=True):
        index = int((ordered[0].temperatures.log()).abs().argmin())
        table = torch.stack([curves.values[name][:, index] for curves in ordered])
        image = ax.imshow(table.numpy(), cmap="viridis", aspect="auto", norm=Normalize(0, float(table.max())))
        figure.colorbar(image, ax=ax, shrink=0.9)
        ax.set_title(LABELS[name], fontsize=9)
        ax.set_xlabel("head")
        ax.set_xticks(range(table.shape[1]), [str(head + 1) for head in range(table.shape[1])], fontsize=7)
        ax.set_yticks(range(len(ordered)), [str(curves.layer + 1) for curves in ordered], fontsize=7)
    figure.axes[0].set_ylabel("layer")
    _title(figure, modules, f"at ε = {float(ordered[0].temperatures[index]):.3g}, means over queries")
    return figure


def slopes(modules: Sequence[Curves]) -> Figure:
    """Derived against measured derivatives of every head, layer and temperature."""
    figure = Figure(figsize=(3.4 * len(STATISTICS), 3.6), layout="constrained")
    for name, ax in zip(STATISTICS, figure.subplots(1, len(STATISTICS), squeeze=False)[0], strict=True):
        for weights, colour in COLOURS.items():
            own = [curves for curves in modules if curves.weights == weights]
            if own:
                derived, measured = (
                    torch.cat([getattr(c, which)[name].flatten() for c in own]).abs() for which in ("derived", "measured")
                )
                ax.loglog(derived, measured, ".", markersize=2.5, color=colour, label=f"{weights} weights")
        low, high = ax.get_xlim()
        ax.plot([low, high], [low, high], "k--", linewidth=0.8)
        ax.set_title(f"|d/dε| of {LABELS[name]}", fontsize=9)
        ax.set_xlabel("derived")
    figure.axes[0].set_ylabel("measured, by differences")
    figure.axes[0].legend(fontsize=8, markerscale=3)
    _title(figure, modules, "every head and temperature")
    return figure


def _title(figure: Figure, modules: Sequence[Curves], words: str) -> None:
    kinds = " and ".join(dict.fromkeys(curves.weights for curves in modules))
    figure.suptitle(f"{modules[0].model}, {modules[0].role} attention, {kinds} weights: {words}", fontsize=9)
