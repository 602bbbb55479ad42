"""The document's figures, with the other statistics.

`layers` is its Figure 4: for each layer the distribution over queries of the average over heads.  `heads` is its
Figures 5 to 8: for each head the distribution over queries.  `maps` has the mean of every statistic for each head.
Lines of the same architecture with random weights are drawn over each.

Claims      deciphering.fig4, deciphering.fig5, deciphering.fig6, deciphering.fig7, deciphering.fig8
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from numerics.experiments.deviation.shards import anew
from numerics.experiments.deviation.summary import LayerRows, mean

LABELS = {
    "deviation": "‖λ* − αz‖ / ‖λ*‖",
    "visible_deviation": "‖λ* − αz‖ / ‖Pλ*‖",
    "logit_deviation": "sd of ⟨t, λ* − αz⟩ / sd of ⟨t, λ*⟩",
    "output_error": "‖h_c − ĥ‖ / ‖ĥ − μ‖",
    "total_variation": "½‖p_c − p*‖₁",
    "kl": "KL(p_c ‖ p*)",
    "kl_reverse": "KL(p* ‖ p_c)",
    "gap": "P(p_c) − P(p*)",
    "relative_gap": "(P(p_c) − P(p*)) / (P(u) − P(p*))",
    "output_bound": "bound on ‖h_c − ĥ‖ / ‖ĥ − μ‖",
    "total_variation_bound": "bound on ½‖p_c − p*‖₁",
}
"""Labels of the axes."""

COMPARED = ("deviation", "visible_deviation", "logit_deviation", "output_error", "total_variation")
"""The rows of the figure by layer."""

COLOURS = {"trained": "tab:blue", "random": "tab:orange"}
_BINS = 30


def layers(modules: Sequence[LayerRows]) -> Figure:
    """Figure 4 for one model and role: a column for each layer, a row for each statistic.

    Args:
        modules: the layers of one model and one role, with trained and with random weights.
    """
    numbers = sorted({rows.layer for rows in modules})
    figure = Figure(figsize=(1.2 + 1.6 * max(len(numbers), 4), 1.5 * len(COMPARED) + 1.1), layout="constrained")
    grid = figure.subplots(len(COMPARED), len(numbers), squeeze=False, sharey="row")
    for name, line in zip(COMPARED, grid, strict=True):
        values = {(rows.weights, rows.layer): rows.over_heads(name) for rows in modules}
        edges = _edges(list(values.values()))
        for ax, number in zip(line, numbers, strict=True):
            _histograms(ax, edges, {weights: values[weights, number] for weights in COLOURS if (weights, number) in values})
        line[0].set_ylabel("share of queries", fontsize=8)
        line[len(line) // 2].set_xlabel(LABELS[name], fontsize=9)
    for ax, number in zip(grid[0], numbers, strict=True):
        ax.set_title(f"layer {number + 1}", fontsize=9)
    _head(figure, modules, "averages over heads, for each query; vertical lines are the means")
    return figure


def heads(modules: Sequence[LayerRows], name: str = "deviation") -> Figure:
    """Figures 5 to 8 for one model and role: a row for each layer, a column for each head."""
    numbers, count = sorted({rows.layer for rows in modules}), max(rows.heads for rows in modules)
    figure = Figure(figsize=(1.0 + 1.1 * max(count, 5), 1.1 * len(numbers) + 1.1), layout="constrained")
    grid = figure.subplots(len(numbers), count, squeeze=False, sharex=True)
    edges = _edges([rows.values[name] for rows in modules])
    for number, line in zip(numbers, grid, strict=True):
        for head, ax in enumerate(line):
            _histograms(ax, edges, {rows.weights: rows.of_head(head, name) for rows in modules if rows.layer == number})
            ax.set_yticks([])
        line[0].set_ylabel(f"layer {number + 1}", fontsize=8)
    for head, ax in enumerate(grid[0]):
        ax.set_title(f"head {head + 1}", fontsize=8)
    grid[-1][count // 2].set_xlabel(LABELS[name], fontsize=9)
    figure.supylabel("share of queries", fontsize=9)
    _head(figure, modules, "each head; vertical lines are the means")
    return figure


def maps(modules: Sequence[LayerRows]) -> Figure:
    """The mean of every statistic for each head, trained and random, with one colour scale."""
    numbers = sorted({rows.layer for rows in modules})
    kinds = [w for w in COLOURS if any(rows.weights == w for rows in modules)]
    count = max(rows.heads for rows in modules)
    down = -(-len(LABELS) // 2)
    size = (2 * len(kinds) * max(1.9, 0.2 * count + 0.6) + 1, down * max(1.3, 0.16 * len(numbers) + 0.9) + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(down, 2 * len(kinds), squeeze=False)
    pairs = grid.reshape(-1, len(kinds))
    for name, axes in zip(LABELS, pairs, strict=False):
        _map(axes, name, {weights: [rows for rows in modules if rows.weights == weights] for weights in kinds}, count)
    for ax in pairs[len(LABELS) :].flat:
        ax.remove()
    figure.suptitle(_title(modules, "means over queries"), fontsize=9)
    return figure


def _map(axes: NDArray[np.object_], name: str, modules: dict[str, list[LayerRows]], count: int) -> None:
    pictures = [
        np.array([[mean(rows.of_head(head, name)) for head in range(count)] for rows in of_weights])
        for of_weights in modules.values()
    ]
    positive = [x for x in np.concatenate(pictures).flat if x > 0]
    wide = bool(positive) and max(positive) > 30 * min(positive)
    norm = LogNorm(min(positive), max(positive)) if wide else Normalize(0, max(positive, default=1.0))
    for ax, weights, picture in zip(axes, modules, pictures, strict=True):
        image = ax.imshow(np.where(picture > 0, picture, np.nan) if wide else picture, norm=norm, aspect="auto", cmap="viridis")
        ax.set_title(f"{LABELS[name]}, {weights}" if ax is axes[0] else weights, fontsize=7, loc="left")
        ax.set_xlabel("head", fontsize=7)
        for axis, ticks in ((ax.xaxis, range(0, count, max(1, count // 6))), (ax.yaxis, range(len(picture)))):
            axis.set_ticks(ticks, [str(k + 1) for k in ticks])
        ax.tick_params(labelsize=6)
    axes[0].set_ylabel("layer", fontsize=7)
    bar = axes[0].figure.colorbar(image, ax=list(axes))
    bar.ax.tick_params(labelsize=6)
    bar.ax.yaxis.set_minor_formatter(NullFormatter())  # a logarithmic bar has a decade to show


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG and SVG, the same bytes for the same figure."""
    figure.draw_without_rendering()  # the layout is found once, not once for each format
    figure.set_layout_engine("none")
    with rc_context({"svg.hashsalt": "deviation"}):
        for suffix, options in ((".png", {"dpi": 150}), (".svg", {"metadata": {"Date": None}})):
            with anew(path.with_name(path.name + suffix)) as written:
                figure.savefig(written, **options)


def _histograms(ax: Axes, edges: NDArray[np.float64], values: dict[str, NDArray[np.float64]]) -> None:
    for weights, sample in values.items():
        if len(sample) == 0:
            continue
        share = np.full(len(sample), 1 / len(sample))
        inside = sample.clip(edges[0], edges[-1])
        filled = weights == "trained"
        ax.hist(
            inside,
            edges.tolist(),
            weights=share,
            color=COLOURS[weights],
            label=f"{weights} weights",
            histtype="stepfilled" if filled else "step",
            alpha=0.6 if filled else 1.0,
        )
        ax.axvline(
            sample.mean(), color="tab:red" if filled else COLOURS[weights], linewidth=1, linestyle="-" if filled else "--"
        )
    ax.set_xlim(edges[0], edges[-1])
    if edges[0] > 0:
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(labelsize=6)


def _edges(samples: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Bins for all samples: linear from zero, or logarithmic where that would leave most of them in one."""
    joined = np.concatenate([np.zeros(0), *samples])
    joined = joined[joined > 0]
    if len(joined) == 0:
        return np.linspace(0, 1, _BINS + 1)
    low, high = float(joined.min()), float(joined.max())
    if high > 8 * float(np.median(joined)) and high > 30 * low:
        return np.geomspace(low * 0.9, high * 1.1, _BINS + 1)
    return np.linspace(0, high * 1.02, _BINS + 1)


def _head(figure: Figure, modules: Sequence[LayerRows], note: str) -> None:
    figure.suptitle(_title(modules, note), fontsize=9)
    handles: dict[str, Artist] = {}
    for ax in figure.axes:
        artists, labels = ax.get_legend_handles_labels()
        handles |= dict(zip(labels, artists, strict=True))
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=2, fontsize=8)


def _title(modules: Sequence[LayerRows], note: str) -> str:
    return f"{modules[0].model}, {modules[0].role} attention, α = {modules[0].alpha:g}\n{note}"
