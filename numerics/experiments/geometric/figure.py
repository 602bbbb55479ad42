"""The pictures: the attention of each arm, class by class, and its accuracy."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from numerics.experiments.geometric.model import ARMS, SIDE
from numerics.experiments.geometric.study import Results, unit


def draw(results: Results) -> Figure:
    """A row of heat maps for each arm whose weights are not uniform (seed 0), the mean images above, the accuracies below."""
    study = results.study
    shown = [arm for arm in study.arms if ARMS[arm].kind != "uniform"]
    classes = study.dataset.classes
    figure = Figure(figsize=(1.15 * classes + 1.4, 1.2 * (len(shown) + 1) + 2.6), layout="constrained")
    maps, bars = figure.subfigures(2, 1, squeeze=False, height_ratios=(1.2 * (len(shown) + 1), 2.4))[:, 0]
    axes = maps.subplots(len(shown) + 1, classes, squeeze=False)
    images, labels = unit(study.dataset.test_images), study.dataset.test_labels
    for k in range(classes):
        _heat(axes[0][k], images[labels == k].mean(0), "gray_r", 0.0, 1.0)
        axes[0][k].set_title(f"{k}", fontsize=9)
    axes[0][0].set_ylabel("mean image", fontsize=8)
    for row, arm in enumerate(shown, start=1):
        weights = results.weights(arm)
        for k in range(classes):
            _heat(axes[row][k], as_image(weights[k]), "viridis", 0.0, float(weights.max()))
        axes[row][0].set_ylabel(arm, fontsize=8)
    maps.suptitle(
        f"mean weights over the test images of each class, seed 0, locations: {study.where}; brightest is the "
        "largest of its row",
        fontsize=9,
    )
    _bars(bars.subplots(), results)
    return figure


def as_image(weights: Tensor) -> Tensor:
    """Weights of pixels (64,), or of rows (8,), as an image (8, 8); a row's weight is shown on all of its pixels."""
    return weights.reshape(SIDE, SIDE) if len(weights) == SIDE * SIDE else weights[:, None].expand(-1, SIDE)


def _heat(ax: Axes, image: Tensor, colours: str, low: float, high: float) -> None:
    ax.imshow(image.numpy(), cmap=colours, vmin=low, vmax=high)
    ax.set_xticks([])
    ax.set_yticks([])


def _bars(ax: Axes, results: Results) -> None:
    for position, arm in enumerate(results.study.arms):
        mean = results.accuracy(arm)
        ax.barh(
            position,
            mean.mean,
            xerr=mean.half_width or 0.0,
            height=0.7,
            color="tab:gray" if ARMS[arm].kind == "uniform" else "tab:blue",
        )
        ax.plot(results.accuracies(arm), [position] * results.study.seeds, "k.", markersize=3)
    ax.set_yticks(range(len(results.study.arms)), results.study.arms, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"test accuracy after {results.study.epochs} epochs, {results.study.seeds} seeds, 95 % intervals", fontsize=8)
    ax.grid(visible=True, axis="x", alpha=0.3)
