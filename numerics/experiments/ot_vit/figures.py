"""The pictures of the experiment: learning curves of all arms, and the paired differences with their intervals."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from numerics.experiments.intervals import interval
from numerics.experiments.ot_vit.report import Results

COLOURS = {
    "vit": "tab:gray",
    "vit-shared": "tab:gray",
    "tied": "tab:blue",
    "tied-shared": "tab:blue",
    "ot": "tab:red",
    "ot-vit": "tab:red",
    "ot-vit-even": "tab:purple",
    "ot-vit-untied": "tab:green",
}
DASHED = {"vit", "tied", "ot"}  # arms without templates of others


def draw(results: Results) -> Figure:
    """Training loss, test accuracy, and differences."""
    figure = Figure(figsize=(15, 5.2), layout="constrained")
    loss, accuracy, differences = figure.subplots(1, 3, width_ratios=(1, 1, 1.3))
    epochs = range(1, 1 + len(next(iter(results.runs.values()))[0].losses))
    for arm, histories in results.runs.items():
        style = {"color": COLOURS[arm], "linestyle": "--" if arm in DASHED else "-", "linewidth": 1.2}
        losses = [interval(list(values)).mean for values in zip(*(history.losses for history in histories), strict=True)]
        loss.plot(epochs, losses, label=arm, **style)
        means = [
            interval([correct / results.tested for correct in values])
            for values in zip(*(history.correct for history in histories), strict=True)
        ]
        accuracy.plot(epochs, [mean.mean for mean in means], label=arm, **style)
        accuracy.fill_between(
            epochs,
            [mean.mean - (mean.half_width or 0.0) for mean in means],
            [mean.mean + (mean.half_width or 0.0) for mean in means],
            color=COLOURS[arm],
            alpha=0.06,
        )
    loss.set(xlabel="epoch", ylabel="training loss, nats an image", yscale="log")
    loss.legend(fontsize=8)
    accuracy.set(xlabel="epoch", ylabel=f"test accuracy, mean of {len(next(iter(results.runs.values())))} seeds")
    _differences(differences, results)
    return figure


def _differences(ax: Axes, results: Results) -> None:
    contrasts = results.contrasts()
    for row, contrast in enumerate(contrasts):
        mean = results.difference(contrast)
        points = [100 * value for value in results.differences(contrast)]
        ax.plot(points, [row] * len(points), ".", color="tab:gray", markersize=4)
        ax.errorbar(100 * mean.mean, row, xerr=100 * (mean.half_width or 0.0), fmt="o", color="tab:red", capsize=3)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(contrasts)), [contrast.formula.replace(" − ", "\n− ", 1) for contrast in contrasts], fontsize=7)
    ax.set_ylim(len(contrasts) - 0.5, -0.5)
    ax.set_xlabel("difference of test accuracies, points, with 95 % interval")
