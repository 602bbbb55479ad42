"""Fenchel–Young losses: the public tests of ``entmax`` and ``fenchel-young-losses``, and more."""

from functools import partial
from typing import Any

import entmax
import pytest
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from torch.testing import assert_close

from numerics import fenchel_young as fy
from numerics import tolerances
from numerics.regularizers import entmax_bisect, sparsemax
from numerics.sparse_maps import normmax_bisect
from tests.numerics.derivatives import check_once, check_twice

GENERATOR = torch.Generator().manual_seed(0)


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR, dtype=torch.float64)


def double(rows: Any) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, atol: float = 4 * tolerances.rounding("float64", 32, 8.0)) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


SCORES = [normal(4, 10).requires_grad_() for _ in range(2)]
LABELS = [normal(4, 10).argmax(1) for _ in range(2)]
MODULES: dict[str, Any] = {
    "SparsemaxLoss": fy.SparsemaxLoss,
    "SparsemaxLoss, k = 5": partial(fy.SparsemaxLoss, k=5),
    "Entmax15Loss": fy.Entmax15Loss,
    "Entmax15Loss, k = 5": partial(fy.Entmax15Loss, k=5),
    "SparsemaxBisectLoss": fy.SparsemaxBisectLoss,
    "EntmaxBisectLoss": fy.EntmaxBisectLoss,
    "EntmaxBisectLoss, 1.2": partial(fy.EntmaxBisectLoss, alpha=1.2),
    "NormmaxBisectLoss": fy.NormmaxBisectLoss,
    "NormmaxBisectLoss, 5": partial(fy.NormmaxBisectLoss, alpha=5.0),
}
FUNCTIONS: dict[str, Any] = {
    "sparsemax": fy.sparsemax_loss,
    "sparsemax by bisection": fy.sparsemax_bisect_loss,
    "entmax 1.5": fy.entmax15_loss,
    "entmax 0.8": partial(fy.entmax_bisect_loss, alpha=0.8),
    "entmax 1": partial(fy.entmax_bisect_loss, alpha=1),
    "entmax 1.3": partial(fy.entmax_bisect_loss, alpha=1.3),
    "normmax": fy.normmax_bisect_loss,
    "logistic": fy.logistic_loss,
    "one-vs-all": fy.logistic_ova_loss,
    "squared": fy.squared_loss,
}

# ── tests of entmax ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MODULES)
def test_no_loss_is_negative(name: str) -> None:
    for x, y in zip(SCORES, LABELS, strict=True):
        assert bool((MODULES[name](reduction="none")(x, y) >= 0).all())


@pytest.mark.parametrize("reduction", ["sum", "elementwise_mean", "mean", "none"])
@pytest.mark.parametrize("ignored", [True, False])
@pytest.mark.parametrize("name", MODULES)
def test_gradients_of_modules(name: str, ignored: bool, reduction: str) -> None:
    for x, y in zip(SCORES, LABELS, strict=True):
        loss = MODULES[name](ignore_index=int(y[0]) if ignored else -100, reduction=reduction)
        check_once(lambda x, y=y, loss=loss: loss(x, y), (x,))


@pytest.mark.parametrize("name", MODULES)
def test_an_ignored_label_counts_nothing(name: str) -> None:
    x, y = normal(20, 6).requires_grad_(), normal(20, 6).argmax(1)
    ignoring = MODULES[name](reduction="sum", ignore_index=int(y[0]))
    assert bool(ignoring(x, y) < MODULES[name](reduction="sum")(x, y))
    counted = y != y[0]
    mean = MODULES[name](ignore_index=int(y[0]))
    close(mean(x, y), MODULES[name]()(x[counted], y[counted]))
    assert bool((torch.autograd.grad(mean(x, y), x)[0][~counted] == 0).all())
    assert bool(mean(x[:1], y[:1]) == 0)  # the package divides 0 by 0 here


@pytest.mark.parametrize("alpha", [1.2, 1.5, 2.0, 3.0])
def test_the_package_agrees(alpha: float) -> None:
    for x, y in zip(SCORES, LABELS, strict=True):
        for name in ("entmax_bisect_loss", "normmax_bisect_loss"):
            actual, expected = getattr(fy, name)(x, y, alpha), getattr(entmax, name)(x, y, alpha, 80)
            close(actual, expected, 1e-9)
            close(torch.autograd.grad(actual.sum(), x)[0], torch.autograd.grad(expected.sum(), x)[0], 1e-9)
        close(fy.sparsemax_loss(x, y), entmax.sparsemax_loss(x, y))
        close(fy.entmax15_loss(x, y), entmax.entmax15_loss(x, y))


# ── tests of fenchel-young-losses ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_for_labels_and_for_weights(name: str) -> None:
    x, labels = normal(4, 3).requires_grad_(), torch.tensor([0, 0, 1, 2])
    loss, weights = FUNCTIONS[name], torch.eye(3, dtype=torch.float64)[labels]
    for target in (labels, weights, normal(4, 3).softmax(-1)):
        check_twice(lambda x, t=target: loss(x, t), (x,))
    close(loss(x, labels), loss(x, weights))


def test_squared_and_readme() -> None:
    target, scores = double([[1.7], [2.76], [2.09]]), double([[0.7], [3.76], [1.09]])
    close(fy.squared_loss(scores, target).mean(), 0.5 * (scores - target).square().sum(-1).mean())
    x = double([[-2.5, 1.2, 0.5], [2.2, 0.8, -1.5]])
    loss = fy.SparsemaxLoss()
    close(loss.predict(x), double([[0.0, 0.85, 0.15], [1.0, 0.0, 0.0]]))
    # sparsemax_loss = −x_y + Σ_S (x_j² − τ²)/2 + ½ (Martins & Astudillo 2016)
    by_hand = double([2.5 + (1.2**2 - 0.35**2 + 0.5**2 - 0.35**2) / 2 + 0.5, 1.5 + (2.2**2 - 1.2**2) / 2 + 0.5])
    close(fy.sparsemax_loss(x, torch.tensor([0, 2])), by_hand)


def test_known_losses() -> None:
    x, y = normal(5, 4), torch.tensor([0, 1, 2, 3, 0])
    close(fy.logistic_loss(x, y), cross_entropy(x, y, reduction="none"))
    close(fy.entmax_bisect_loss(x, y, 1.0), cross_entropy(x, y, reduction="none"))
    each = binary_cross_entropy_with_logits(x, torch.eye(4, dtype=torch.float64)[y], reduction="none")
    close(fy.logistic_ova_loss(x, y), each.sum(-1))
    close(fy.perceptron_loss(x, y), x.amax(-1) - x.gather(-1, y[:, None])[:, 0])
    close(fy.perceptron_loss(x, x.softmax(-1)), x.amax(-1) - (x * x.softmax(-1)).sum(-1))


# ── further tests ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_loss_is_zero_where_the_weights_are_those_of_the_scores() -> None:
    x = normal(30, 5) * 2
    plans: dict[str, tuple[Any, Any]] = {
        "sparsemax": (fy.sparsemax_loss, sparsemax),
        "entmax": (partial(fy.entmax_bisect_loss, alpha=1.3), partial(entmax_bisect, alpha=1.3)),
        "normmax": (fy.normmax_bisect_loss, normmax_bisect),
        "logistic": (fy.logistic_loss, lambda x: x.softmax(-1)),
        "one-vs-all": (fy.logistic_ova_loss, torch.sigmoid),
    }
    for name, (loss, plan) in plans.items():
        close(loss(x, plan(x)), torch.zeros(30, dtype=torch.float64))
        other = plan(x + 0.5 * normal(30, 5))
        assert bool((loss(x, other)[(other - plan(x)).abs().amax(-1) > 1e-3] > 1e-9).all()), name


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", ["sparsemax", "entmax 1.5", "normmax", "logistic"])
def test_the_second_derivative_at_the_minimum_is_that_of_the_weights(name: str) -> None:
    """A loss of 0 may be rounded to a negative number, and is set to 0."""
    loss, plan = {
        "sparsemax": (fy.sparsemax_loss, sparsemax),
        "entmax 1.5": (fy.entmax15_loss, partial(entmax_bisect, alpha=1.5)),
        "normmax": (fy.normmax_bisect_loss, normmax_bisect),
        "logistic": (fy.logistic_loss, lambda x: x.softmax(-1)),
    }[name]
    x, direction = normal(40, 5), normal(40, 5)
    y = plan(x)
    leaf = x.clone().requires_grad_()
    value = loss(leaf, y)
    assert bool((value >= 0).all())
    (slope,) = torch.autograd.grad(value.sum(), leaf, create_graph=True)
    (curvature,) = torch.autograd.grad((slope * direction).sum(), leaf)
    close(curvature, torch.func.jvp(plan, (x,), (direction,))[1], 1e-9)
    shifted = x + direction
    close(torch.func.jvp(lambda x: loss(x, y), (shifted,), (direction,))[1], ((plan(shifted) - y) * direction).sum(-1))


@pytest.mark.parametrize("name", MODULES)
def test_reductions(name: str) -> None:
    x, y = normal(5, 4), torch.tensor([0, 3, 1, 3, 2])
    rows = MODULES[name](reduction="none")(x, y)
    assert rows.shape == (5,)
    close(MODULES[name](reduction="sum")(x, y), rows.sum())
    for reduction in ("mean", "elementwise_mean"):
        close(MODULES[name](reduction=reduction)(x, y), rows.sum() / 5)
        close(MODULES[name](reduction=reduction, ignore_index=3)(x, y), rows[[0, 2, 4]].sum() / 3)
        assert float(MODULES[name](reduction=reduction)(x[:0], y[:0])) == 0


def test_weights_of_zero_and_a_fully_masked_row() -> None:
    dead, y = torch.full((1, 3), -torch.inf), torch.zeros(1, 3)
    for loss in (fy.normmax_bisect_loss, fy.sparsemax_loss, fy.entmax15_loss):
        assert float(loss(dead, y)) == 0
        assert bool(loss(torch.ones(1, 3), y).isfinite().all())


def test_the_norm_of_nothing_is_zero() -> None:
    """Ω(0) = ‖0‖ − 1 = −1, so that the loss of no weights is Ω*(x) − 1: for x = 5 e₁, whose weights are e₁, 5 − 1."""
    x, y = double([5.0, 0.0, 0.0]).expand(1, 3), torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    for alpha in (1.5, 2.0, 3.0):
        loss = fy.normmax_bisect_loss(x, y, alpha)
        close(loss.detach(), double([4.0]))
        assert bool(torch.autograd.grad(loss.sum(), y)[0].isfinite().all())


def test_mass_on_a_score_of_minus_infinity_costs_everything() -> None:
    x, y = double([[0.0, -torch.inf, 1.0]]), double([[0.5, 0.25, 0.25]])
    for loss in (fy.sparsemax_loss, fy.entmax15_loss, fy.logistic_loss, fy.normmax_bisect_loss):
        assert bool(loss(x, y).isposinf())


@pytest.mark.parametrize("alpha", [1.3, 1.5, 2.0, 2.7, torch.tensor([[1.0], [1.4]])], ids=str)
def test_the_derivative_in_a_target_of_zero_is_finite(alpha: Any) -> None:
    y = double([[0.0, 0.25, 0.75], [0.5, 0.5, 0.0]]).requires_grad_()
    loss = fy.entmax_bisect_loss(normal(2, 3), y, alpha)
    assert bool(torch.autograd.grad(loss.sum(), y)[0].isfinite().all())


def test_batches_of_weights() -> None:
    x, y, alpha = normal(2, 3, 5), normal(2, 3, 5).softmax(-1), torch.tensor([[[1.2], [1.5], [3.0]], [[2.0], [1.0], [1.7]]])
    loss = fy.entmax_bisect_loss(x, y, alpha)
    for i in range(2):
        close(loss[i], fy.entmax_bisect_loss(x[i], y[i], alpha[i]))
    close(fy.entmax_bisect_loss(x, y, alpha[:1])[1], fy.entmax_bisect_loss(x[1], y[1], alpha[0]))
    close(fy.perceptron_loss(x, y), x.amax(-1) - (x * y).sum(-1))


def test_an_alpha_for_every_row() -> None:
    x, y, alpha = normal(4, 5), torch.tensor([0, 1, 2, 3]), torch.tensor([[1.2], [1.0], [2.0], [1.7]]).double()
    expected = torch.stack([fy.entmax_bisect_loss(x[i], y[i], float(alpha[i])) for i in range(4)])
    close(fy.entmax_bisect_loss(x, y, alpha), expected)
    expected = torch.stack([fy.normmax_bisect_loss(x[i], y[i], float(alpha[i] + 1)) for i in range(4)])
    close(fy.normmax_bisect_loss(x, y, alpha + 1), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_offsets_masks_batches_and_dtypes(name: str) -> None:
    loss, x, y = FUNCTIONS[name], normal(2, 3, 5), torch.randint(4, (2, 3), generator=GENERATOR)
    close(loss(x, y)[1, 2], loss(x[1, 2], y[1, 2]))
    assert loss(x[:0], y[:0]).shape == (0, 3)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert loss(x.to(dtype), y).dtype is dtype
    if name in ("squared", "one-vs-all"):
        return
    close(loss(x + 100.0, y), loss(x, y), 1e-11)
    masked = x.index_fill(-1, torch.tensor([4]), -torch.inf).requires_grad_()
    close(loss(masked, y), loss(x[..., :4], y))
    assert bool(torch.autograd.grad(loss(masked, y).sum(), masked)[0].isfinite().all())
    assert bool(loss(masked, torch.full((2, 3), 4)).isposinf().all())


def test_refusals() -> None:
    x, y = normal(4, 3), torch.tensor([0, 0, 1, 2])
    for call, message in (
        (lambda: fy.squared_loss(x, x.flatten()), r"target: expected int64 labels \(4,\) or floating weights \(4, 3\)"),
        (lambda: fy.sparsemax_loss(x, y.int()), "target: expected int64 labels"),
        (lambda: fy.sparsemax_loss(x.long(), y), r"X: expected a floating tensor \(..., m\)"),
        (lambda: fy.sparsemax_loss(x, y, k=0), "k: expected an integer"),
        (lambda: fy.entmax_bisect_loss(x, y, -1.0), "alpha: expected a positive finite number"),
        (lambda: fy.entmax_bisect_loss(x, y, torch.tensor(1.5, requires_grad=True)), "alpha: expected a constant"),
        (lambda: fy.normmax_bisect_loss(x, y, 1.0), "alpha: expected a number above 1"),
        (lambda: fy.SparsemaxLoss(reduction="max"), "reduction: expected one of 'elementwise_mean'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
