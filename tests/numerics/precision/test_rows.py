"""References for rows and vectors: against their definitions, differences of these, and evaluations with rounding."""

from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np
import pytest

from numerics.precision import attention, rows
from numerics.precision.cells import Setting
from numerics.precision.exact import BITS, Exact, Peak
from numerics.precision.functions import Data, Function
from numerics.precision.study import FUNCTIONS

Balls = list[Any]
PEAK = Peak(0.0)
STEP = flint.arb(2) ** (-BITS // 3)


def balls(*numbers: float) -> Balls:
    return [flint.arb(x) for x in numbers]


def made(numbers: Sequence[Any]) -> Exact:
    return Exact(list(numbers), np.zeros(len(numbers)), PEAK)


def agree(actual: Exact, expected: Sequence[Any]) -> bool:
    return len(actual) == len(expected) and all(
        abs(x - y) < 1e-50 * (1 + abs(y)) for x, y in zip(actual.value, expected, strict=True)
    )


def differences(f: Callable[[Balls], Any], at: Balls) -> Balls:
    """The derivatives of a number, by central differences."""
    ends = ([f([*at[:i], x + sign * STEP, *at[i + 1 :]]) for sign in (1, -1)] for i, x in enumerate(at))
    return [(up - down) / (2 * STEP) for up, down in ends]


def inner(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True)), flint.arb(0))


def total(x: Sequence[Any]) -> Any:
    return sum(x, flint.arb(0))


# ── rows of scores ──────────────────────────────────────────────────────────────────────────────────────────────────

S, TAU, W = balls(0.5, -1.25, 2.0), flint.arb(0.75), balls(1.5, -0.5, 0.25)
P, U = balls(0.25, 0, 0.625, 0.125), balls(3.0, 1.0, -2.0, 0.5)
LIVE = [0, 2, 3]


def partition(s: Balls, tau: Any) -> Any:
    return total([(x / tau).exp() for x in s])


def softmax(s: Balls, tau: Any) -> Balls:
    return [(x / tau).exp() / partition(s, tau) for x in s]


def entropy(p: Balls) -> Any:
    return -total([x * x.log() for x in p if x > 0])


ADVANTAGE = [p * (u - inner(P, U)) for p, u in zip(P, U, strict=True)]
SLOPES = differences(lambda at: partition(at[:3], at[3]).log(), [*S, TAU])


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (rows.plan(made(S), made([TAU])), softmax(S, TAU)),
        (rows.softmax(made(S)), softmax(S, flint.arb(1))),
        (rows.log_partition(made(S), made([TAU])), [partition(S, TAU).log()]),
        (rows.potential(made(S), made([TAU])), [TAU * partition(S, TAU).log()]),
        (rows.entropy(made(P)), [entropy(P)]),
        (rows.objective(made(P), made(U), made([TAU])), [-inner(P, U) - TAU * entropy(P)]),
        (rows.score_gradient(made(P), made(U), made([TAU])), [-x / TAU for x in ADVANTAGE]),
        (rows.fisher_product(made(P), made(U), made([TAU])), [x / TAU / TAU for x in ADVANTAGE]),
        (rows.covariance(made(P)), [(p if i == j else 0) - p * q for i, p in enumerate(P) for j, q in enumerate(P)]),
        (
            rows.plan_backward(made(S), made([TAU]), made(W)),
            differences(lambda at: inner(W, softmax(at[:3], at[3])), [*S, TAU]),
        ),
        (rows.log_partition_backward(made(S), made([TAU])), SLOPES),
        (
            rows.log_partition_hessian(made(S), made([TAU]), made(W)),
            differences(lambda at: inner(W, softmax(at, TAU)) / TAU, S),
        ),
        (rows.entropy_backward(made(S), made([TAU])), differences(lambda at: entropy(softmax(at[:3], at[3])), [*S, TAU])),
    ],
)
def test_rows_by_their_definitions(actual: Exact, expected: Balls) -> None:
    assert agree(actual, expected)


def test_the_pseudo_inverse_is_one_on_the_live_positions() -> None:
    """F y = u less its mean for y = F⁺u of mean zero and F = (diag p − p pᵀ)/τ²; the natural direction is F⁺ of a gradient."""
    y = rows.pseudo_inverse_product(made(P), made(U), made([TAU]))
    centre = total([U[i] for i in LIVE]) / 3
    assert y.value[1] == 0
    assert agree(y.sum(), [flint.arb(0)])
    assert agree(rows.fisher_product(made(P), y, made([TAU])), [U[i] - centre if i in LIVE else flint.arb(0) for i in range(4)])
    gradient = [x / TAU for x in ADVANTAGE]
    assert agree(
        rows.natural_direction(made(P), made(U), made([TAU])),
        rows.pseudo_inverse_product(made(P), made(gradient), made([TAU])).value,
    )


def test_the_covariance_carries_the_error_of_the_plan() -> None:
    e, p = np.array([8.0, 16.0, 32.0, 64.0]), np.array([float(x) for x in P])
    products = np.outer(p, e) + np.outer(e, p) + np.outer(p, p)
    expected = products + np.diag(e) + np.abs(np.diag(p) - np.outer(p, p))
    assert np.allclose(rows.covariance(made(P).off_by(e)).error.reshape(4, 4), expected)


# ── vectors ─────────────────────────────────────────────────────────────────────────────────────────────────────────

QUERY, ALPHA, EVIDENCE, DUAL = balls(0.5, -1.5), flint.arb(1.25), balls(0.75, -0.25), balls(-0.5, 1.0)
KEYS = [balls(1.0, 0.25), balls(-0.5, 2.0), balls(0.75, -1.0)]
VALUES = [balls(2.0, 1.0), balls(-1.0, 0.5), balls(0.25, -3.0)]
PRIOR, WEIGHTS, UPWARD = balls(0.5, 1.25, 0.75), balls(0.25, 0.75, 0), balls(1.0, -0.5)
OMEGA = [balls(0.5, 1.0), balls(-1.0, 0.25)]


def matrix(vectors: Sequence[Balls]) -> list[Exact]:
    return [made(x) for x in vectors]


def mean(p: Balls, vectors: Sequence[Balls]) -> Balls:
    return [inner(p, [x[k] for x in vectors]) for k in range(2)]


def output(flat: Balls) -> Balls:
    """The output for a query, keys and values, one after the other."""
    pairs = [flat[i : i + 2] for i in range(0, 14, 2)]
    return mean(softmax([inner(pairs[0], key) for key in pairs[1:4]], TAU), pairs[4:])


def feature(omega: Balls, x: Balls) -> Any:
    return (inner(omega, x) - inner(x, x) / 2).exp()


def dual_value(dual: Balls) -> Any:
    mu = mean(SHARES, KEYS)
    inside = total([u * (inner(t, dual) - inner(mu, dual)).exp() for u, t in zip(SHARES, KEYS, strict=True)])
    return inner(dual, EVIDENCE) - inner(dual, dual) / (2 * ALPHA) - inside.log()


FLAT = [x for vector in (QUERY, *KEYS, *VALUES) for x in vector]
SHARES = [x / total(PRIOR) for x in PRIOR]
KERNEL = [inner(QUERY, key) for key in KEYS]
ROOT = TAU.sqrt()
RANDOM = [total([feature(w, [x / ROOT for x in QUERY]) * feature(w, [x / ROOT for x in key]) for w in OMEGA]) for key in KEYS]
TILTED = [u * inner(t, DUAL).exp() for u, t in zip(PRIOR, KEYS, strict=True)]
RESIDUAL = [z + m - n for z, m, n in zip(EVIDENCE, mean(SHARES, KEYS), mean(WEIGHTS, KEYS), strict=True)]
BOTH = [x + y for x, y in zip(QUERY, KEYS[0], strict=True)]
PROBLEM = matrix(KEYS), made(EVIDENCE), made(PRIOR), made([ALPHA])


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (
            attention.attention(made(QUERY), matrix(KEYS), matrix(VALUES), made([TAU])),
            [*output(FLAT), partition(KERNEL, TAU).log()],
        ),
        (
            attention.attention_backward(made(QUERY), matrix(KEYS), matrix(VALUES), made([TAU]), made(UPWARD)),
            differences(lambda at: inner(UPWARD, output(at)), FLAT),
        ),
        (attention.kernel_weights(made(QUERY), matrix(KEYS)), [x / total(KERNEL) for x in KERNEL]),
        (
            attention.linear_attention(made(QUERY), matrix(KEYS), matrix(VALUES)),
            mean([x / total(KERNEL) for x in KERNEL], VALUES),
        ),
        (attention.random_features(made(QUERY), matrix(OMEGA)), [feature(w, QUERY) / flint.arb(2).sqrt() for w in OMEGA]),
        (
            attention.random_feature_attention(made(QUERY), matrix(KEYS), matrix(VALUES), matrix(OMEGA), made([TAU])),
            mean([x / total(RANDOM) for x in RANDOM], VALUES),
        ),
        (
            attention.kernel_variance(made(QUERY), made(KEYS[0]), 3),
            [((2 * KERNEL[0] + inner(BOTH, BOTH)).exp() - (2 * KERNEL[0]).exp()) / 3],
        ),
        (attention.tilt(made(DUAL), matrix(KEYS), made(PRIOR)), [x / total(TILTED) for x in TILTED]),
        (attention.mem_log_partition(made(DUAL), matrix(KEYS), made(PRIOR)), [total(TILTED).log() - total(PRIOR).log()]),
        (attention.dual_objective(made(DUAL), *PROBLEM), [dual_value(DUAL)]),
        (attention.dual_gradient(made(DUAL), *PROBLEM), differences(dual_value, DUAL)),
        (
            attention.primal_objective(made(WEIGHTS), *PROBLEM),
            [ALPHA / 2 * inner(RESIDUAL, RESIDUAL) + inner(WEIGHTS[:2], [(WEIGHTS[i] / SHARES[i]).log() for i in range(2)])],
        ),
    ],
)
def test_vectors_by_their_definitions(actual: Exact, expected: Balls) -> None:
    assert agree(actual, expected)


def test_the_closed_form_is_the_mean_of_a_tilt() -> None:
    tilted = [u * (ALPHA * inner(t, EVIDENCE)).exp() for u, t in zip(PRIOR, KEYS, strict=True)]
    assert agree(attention.closed_form(*PROBLEM), mean([x / total(tilted) for x in tilted], KEYS))


def test_the_resolvent_solves_its_equation() -> None:
    mu = mean(SHARES, KEYS)
    apart = [[x - y for x, y in zip(t, mu, strict=True)] for t in KEYS]
    sigma = [[total([u * t[i] * t[j] for u, t in zip(SHARES, apart, strict=True)]) for j in range(2)] for i in range(2)]
    x = attention.resolvent(*PROBLEM).value
    assert agree(made([x[i] + ALPHA * inner(sigma[i], x) for i in range(2)]), [ALPHA * z for z in EVIDENCE])


# ── the running analysis ────────────────────────────────────────────────────────────────────────────────────────────

ROUNDED = flint.arb(2) ** -60
BY_NAME = {f.name: f for f in FUNCTIONS}
SOLVED = ("regularizers", "sparse_maps", "fenchel_young", "transport", "mem.solve")
PROPAGATED = [name for name in BY_NAME if not name.startswith(SOLVED)] + [
    "fenchel_young.logistic_loss",
    "fenchel_young.logistic_ova_loss",
    "transport.one_sided_plan",
    "transport.sinkhorn_weights, two half-steps",
]


def roundings(function: Function, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """How far some evaluations, with every operation off by u, are from the exact one, in units of its error."""
    setting = Setting(0, "normal", 3 if 17 not in function.sizes else 17, "float64")
    trial, random, operation, addition = function.trial(Data(setting)), np.random.default_rng(0), Exact._made, Exact.sum

    def off(x: Any, count: int = 1) -> Any:
        return x * (1 + count * flint.arb(float(random.choice([-1.0, 1.0]))) * ROUNDED)

    exact = trial.expected(Peak(0.0))
    monkeypatch.setattr(Exact, "_made", lambda self, value, error: operation(self, [off(x) for x in value], error))
    monkeypatch.setattr(
        Exact, "sum", lambda self: addition(Exact([off(x, len(self)) for x in self.value], self.error, self.peak))
    )
    ratios = []
    for _ in range(8):
        changes = [float(abs(x - y) / ROUNDED) for x, y in zip(trial.expected(Peak(0.0)).value, exact.value, strict=True)]
        ratios.append(np.divide(changes, exact.error, out=np.zeros(len(changes)), where=exact.error > 0))
    return np.array(ratios)


@pytest.mark.parametrize("name", PROPAGATED)
def test_an_evaluation_with_rounding_is_within_the_allowance(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.02 < roundings(BY_NAME[name], monkeypatch).max() < 1 + 1e-12
