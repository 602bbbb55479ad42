"""References for sparse maps and losses: against the conditions of their optimum, and differences of what they are."""

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest

from numerics.precision import sparse
from numerics.precision.exact import BITS, Exact, Peak

S = (2.0, 1.75, 1.0, -3.0, 2.0)
STEP = flint.arb(2) ** -60
SEEN = 1e-30  # a difference, of what is known to 2^-200
ALPHAS = (1.001, 1.25, 1.5, 2.0, 3.5, 40.0)


def made(*numbers: Any) -> Exact:
    return Exact([flint.arb(x) for x in numbers], np.zeros(len(numbers)), Peak(0.0))


def total(numbers: Any) -> Any:
    return sum(numbers, flint.arb(0))


def differences(f: Callable[[list[Any]], Any], at: list[Any]) -> list[Any]:
    ends = ([f([*at[:i], x + sign * STEP, *at[i + 1 :]]) for sign in (1, -1)] for i, x in enumerate(at))
    return [(up - down) / (2 * STEP) for up, down in ends]


def is_optimal(p: Exact, slopes: list[Any], most: float = 1.0) -> bool:
    """Whether scores less slopes of Ω are one number λ where 0 < p < most, at most λ where p = 0, at least where p = most."""
    gains = [s - g for s, g in zip(S, slopes, strict=True)]
    level = next(y for y, x in zip(gains, p.value, strict=True) if 0 < x < most)
    return all(
        y <= level if x == 0 else y >= level if x == most else abs(y - level) < 1e-50
        for y, x in zip(gains, p.value, strict=True)
    )


@pytest.mark.parametrize("alpha", [0.25, *ALPHAS])
def test_entmax_is_optimal(alpha: float) -> None:
    p = sparse.entmax(made(*S), made(alpha))
    assert abs(total(p.value) - 1) < 1e-50
    assert is_optimal(p, [x ** (flint.arb(alpha) - 1) / (flint.arb(alpha) - 1) if x > 0 else flint.arb(0) for x in p.value])
    assert any(x == 0 for x in p.value) == (alpha > 1.2)


def test_entmax_at_one_is_a_softmax() -> None:
    p = sparse.entmax(made(*S), made(1.0))
    whole = total(flint.arb(y).exp() for y in S)
    assert all(abs(x - flint.arb(y).exp() / whole) < 1e-50 for x, y in zip(p.value, S, strict=True))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_normmax_is_optimal(alpha: float) -> None:
    """Ω = ‖p‖_α has the slopes (p/‖p‖)^{α − 1}."""
    p = sparse.normmax(made(*S), made(alpha))
    a = flint.arb(alpha)
    length = total(x**a for x in p.value if x > 0) ** (1 / a)
    assert abs(total(p.value) - 1) < 1e-50
    assert is_optimal(p, [(x / length) ** (a - 1) if x > 0 else flint.arb(0) for x in p.value])
    assert abs(sparse.norm(p, made(alpha)).value[0] - length + 1) < 1e-50


@pytest.mark.parametrize("share", [0.25, 1.0, 1.75, 2.5, 3.25, 4.75])
def test_budget_is_optimal(share: float) -> None:
    p = sparse.budget(made(*S), made(share))
    assert abs(total(p.value) - share) < 1e-50
    assert is_optimal(p, p.value)


@pytest.mark.parametrize("alpha", [0.5, *ALPHAS])
def test_derivatives_of_entmax(alpha: float) -> None:
    w = (1.0, -0.5, 0.25, 2.0, 0.75)

    def value(at: list[Any]) -> Any:
        return total(x * y for x, y in zip(w, sparse.entmax(made(*at[:-1]), made(at[-1])).value, strict=True))

    actual = sparse.entmax_backward(made(*S[:4], 1.5), made(alpha), made(*w))
    expected = differences(value, [flint.arb(x) for x in (*S[:4], 1.5, alpha)])
    assert all(abs(x - y) < SEEN for x, y in zip(actual.value, expected, strict=True))


def test_slopes_in_the_exponent_for_entries_near_one() -> None:
    """A series stands in for (e^t − 1 − t)/t² where t loses digits."""
    beta = flint.arb(0.25)
    for p in (1 - flint.arb(2) ** -61, 1 - flint.arb(2) ** -57, flint.arb(0.5)):
        t = -beta * p.log()
        slope = sparse.alpha_slope(made(p), made(beta)).value[0]
        expected = -p * p.log() ** 2 * total(t**k / math.factorial(k + 2) for k in range(60))
        assert abs(slope / expected - 1) < 1e-55


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 3.0])
def test_the_entropy_of_tsallis_and_a_loss(alpha: float) -> None:
    p, a = made(0.5, 0, 0.125, 0.375), flint.arb(alpha)
    definition = (
        total(x * x.log() for x in p.value if x > 0)
        if alpha == 1
        else (total(x**a for x in p.value if x > 0) - 1) / (a * (a - 1))
    )
    assert abs(sparse.tsallis(p, made(alpha)).value[0] - definition) < 1e-50
    loss = sparse.loss_of(p, made(definition), made(*S[:4]), 2).value[0]
    assert abs(loss - (total(x * s for x, s in zip(p.value, S[:4], strict=True)) - definition - S[2])) < 1e-50


@pytest.mark.parametrize("label", range(3))
def test_a_label_is_taken_off(label: int) -> None:
    p = (0.5, 0.25, 0.25)
    assert [float(x) for x in sparse.less_label(made(*p), label).value] == [x - (i == label) for i, x in enumerate(p)]
    assert [float(x) for x in sparse.less_label(made(1.0), 0).value] == [0.0]


# ── allowances ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reference", "number"),
    [
        *((sparse.entmax, alpha) for alpha in (0.25, *ALPHAS)),
        *((sparse.normmax, alpha) for alpha in ALPHAS[1:]),
        *((sparse.budget, share) for share in (0.25, 1.75, 3.4)),
    ],
)
def test_scores_that_are_off_move_a_map_by_no_more_than_its_allowance(reference: Any, number: float) -> None:
    """Differences of scores are off by u, and so are α and what a row adds up to: a map that is computed is off by as much."""
    u, random = flint.arb(2) ** -60, np.random.default_rng(0)
    x = [flint.arb(s) - max(S) for s in S]
    p = reference(made(*x), made(number))
    worst = np.zeros(len(x))
    for _ in range(20):
        near = [y * (1 + u * float(random.choice([-1.0, 1.0]))) for y in x]
        there = reference(made(*near), made(flint.arb(number) * (1 + u * float(random.choice([-1.0, 1.0])))))
        worst = np.maximum(worst, [float(abs(y - z) / u) for y, z in zip(there.value, p.value, strict=True)])
    assert (worst <= p.error).all()
    assert (p.error <= 200 * worst.max() + 200).all()


@pytest.mark.parametrize("reference", [sparse.entmax, sparse.normmax])
def test_thresholds_are_found_by_newtons_method(reference: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In fewer steps than the bisection that it falls back to."""
    root, calls = sparse._root, [0]

    def counted(f: Callable[[Any], Any], *rest: Any) -> Any:
        def counting(x: Any) -> Any:
            calls[0] += 1
            return f(x)

        return root(counting, *rest)

    monkeypatch.setattr(sparse, "_root", counted)
    for alpha in (1.5, 2.5, 4.0):
        reference(made(*S), made(alpha))
    assert calls[0] < BITS // 4  # all three together; one bisection takes 3/4 of the bits
