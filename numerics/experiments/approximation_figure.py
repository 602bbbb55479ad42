"""The pictures of `approximation`: one panel per α as in Figure 3, and the error against α."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from numerics.experiments.approximation import Study

EXACT, APPROXIMATE, TEMPLATE = "tab:red", "tab:purple", "tab:orange"


def draw(panels: Study, errors: Study) -> Figure:
    """Panels for each α of the first study (templates in the plane), the error curve of the second."""
    count = len(panels.alphas)
    figure = Figure(figsize=(2.6 * count, 6.4), layout="constrained")
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=(1, 1.3))[:, 0]
    axes = upper.subplots(1, count, sharex=True, sharey=True, squeeze=False)[0]
    for position, ax in enumerate(axes):
        _panel(ax, panels, position)
    upper.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    _curve(lower.subplots(), errors)
    return figure


def _panel(ax: Axes, study: Study, position: int) -> None:
    templates, prior = study.problem.templates, study.problem.prior
    mean = prior @ templates
    ax.scatter(templates[:, 0], templates[:, 1], color=TEMPLATE, label="templates, with prior")
    for template, weight in zip(templates.tolist(), prior.tolist(), strict=True):
        ax.annotate(f"{weight:.2f}", template, xytext=(0, 5), textcoords="offset points", fontsize=7, ha="center")
    ax.annotate(
        "",
        xy=tuple((mean + study.problem.evidence).tolist()),
        xytext=tuple(mean.tolist()),
        arrowprops={"arrowstyle": "->", "color": "tab:blue"},
    )
    ax.plot(*mean.tolist(), "k+", label="μ (arrow: z)")
    ax.plot(*study.exact[position].tolist(), "s", color=EXACT, label="exact ĥ")
    ax.plot(*study.approximate[position].tolist(), "D", color=APPROXIMATE, markersize=4, label="closed form (18)")
    ax.set_title(f"α = {float(study.alphas[position]):g}", fontsize=9)
    ax.set_aspect("equal", adjustable="box")
    ax.margins(0.15)


def _curve(ax: Axes, study: Study) -> None:
    alphas, derived = study.alphas, study.constant * study.alphas**2
    ax.loglog(alphas, study.errors, "o-", color=APPROXIMATE, label=f"‖closed form − exact ĥ‖, fitted slope {study.slope:.3f}")
    ax.loglog(alphas, derived, "k--", linewidth=1, label=f"derived: ‖Σ²z‖ α² with ‖Σ²z‖ = {study.constant:.4g}")
    ax.set_xlabel("α")
    ax.set_ylabel("error of the estimate")
    ax.grid(visible=True, which="major", alpha=0.3)
    ax.legend()
