"""Functions in the table of errors: plans of transport, the solution of the mean problem, and their derivatives."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numerics import mem, tolerances, transport
from numerics.precision import solutions
from numerics.precision.cells import Trial
from numerics.precision.exact import Exact, Peak, joined
from numerics.precision.functions import DECADES, Data, Function, exact, gradient, matrix

SIZES = (1, 3)
RHO = 0.5
TIGHT = 1e-12
"""The tolerance for the mean problem: the smallest that the solver accepts."""

WIDE_COST = {"normal": 1.0, "wide": 1e4}


class Costs:
    """A problem of transport with masses in general position."""

    def __init__(self, data: Data) -> None:
        self.n, self.m = max(1, data.setting.size - 1), data.setting.size
        self.data = data
        self.cost = data.normal(self.n, self.m, scale=WIDE_COST[data.setting.scores])
        self.source, self.target = _masses(data, self.n, self.m)

    def exactly(self, peak: Peak, *numbers: float) -> Exact:
        """C, a, b and further numbers."""
        return joined([exact(self.cost, peak), exact(self.source, peak), exact(self.target, peak), Exact.of(numbers, peak)])

    def with_residuals(self, peak: Peak, epsilon: float, exponent: float) -> Exact:
        """C, a, b, the factors of the required marginals, and ε.

        Such a factor is off by the rounding of three exponents, as in ``tolerances.marginals``.
        """
        ones = Exact.of([1.0] * (self.n + self.m), peak).off_by(np.full(self.n + self.m, 6 * exponent))
        return joined([self.exactly(peak), ones, Exact.of([epsilon], peak)])

    def exponent(self, solve: solutions.Solver, epsilon: float) -> float:
        """The largest of |φ|, |ψ| and |C/ε|."""
        solution = solve(self.with_residuals(Peak(0.0), epsilon, 0.0).value)[self.n * self.m :]
        return max(abs(float(y)) for y in (*solution, *self.cost.flatten())) / epsilon

    @property
    def count(self) -> int:
        """How many numbers C, a and b are."""
        return self.n * self.m + self.n + self.m


def _masses(data: Data, n: int, m: int) -> tuple[Tensor, Tensor]:
    """Two vectors of multiples of 1/256 with the sum one, exact in every dtype, of which no two parts have the same mass.

    Where two do, a plan for a small ε falls into pieces, and what goes between them is next to nothing.
    """
    while True:
        a, b = _parts_of_256(data, n), _parts_of_256(data, m)
        if not _sums(a) & _sums(b):
            return (a / 256).to(data.dtype), (b / 256).to(data.dtype)


def _parts_of_256(data: Data, count: int) -> Tensor:
    shares = torch.softmax(data.normal(count).double(), -1)
    parts = (256 * shares).round().clamp(min=1)
    parts[int(parts.argmax())] += 256 - parts.sum()
    return parts


def _sums(x: Tensor) -> set[int]:
    """The sums of the proper subsets of the entries."""
    entries = [int(y) for y in x]
    return {sum(part) for size in range(1, len(entries)) for part in combinations(entries, size)}


def _one_sided(data: Data) -> Trial:
    x = Costs(data)

    def expected(peak: Peak) -> Exact:
        epsilon, log_b = Exact.of([data.number], peak), exact(x.target, peak).log()
        rows = matrix(x.cost, peak)
        source = exact(x.source, peak)
        plan_rows = []
        for i, row in enumerate(rows):
            least = -(-row).max()
            terms = (-((row - least) / epsilon) + log_b).exp()
            plan_rows.append(terms / terms.sum() * source[i])
        return joined(plan_rows)

    return Trial(lambda: transport.one_sided_plan(x.cost, x.source, x.target, data.number), expected)


Relaxations = tuple[float, float]
BALANCED, RELAXED, BOTH = (math.inf, math.inf), (math.inf, RHO), (RHO, 2 * RHO)


def _solved(call: Callable[..., Any], rho: Relaxations, parts: Sequence[str]) -> Callable[[Data], Trial]:
    """A plan and its potentials, with ρ for rows and columns. Where both are relaxed it is not solved in float64."""

    def trial(data: Data) -> Trial:
        x = Costs(data)

        def computed() -> Tensor:
            result = call(x.cost, x.source, x.target, data.number)
            return torch.cat([getattr(result, part).double().flatten() for part in parts])

        def expected(peak: Peak) -> Exact:
            solve = _with_kappas(x, rho)
            exponent = x.exponent(solve, data.number)
            sizes = {"plan": (0, x.n * x.m), "row_potential": (x.n * x.m, x.n), "column_potential": (x.n * x.m + x.n, x.m)}
            spans = [range(sizes[part][0], sum(sizes[part])) for part in parts]
            return solutions.solution(
                solve,
                x.with_residuals(peak, data.number, exponent),
                lambda values: [values[i] for span in spans for i in span],
                x.n + x.m,
                6 * exponent,
            )

        return Trial(computed, expected, double=rho != BOTH)

    return trial


def _with_kappas(x: Costs, rho: Relaxations) -> solutions.Solver:
    solve = solutions.entropic(x.n, x.m)

    def with_kappas(data: list[Any]) -> list[Any]:
        epsilon = data[-1]
        return solve([*data, *(epsilon / r if math.isfinite(r) else epsilon * 0 for r in rho)])

    return with_kappas


def _differentiated(call: Callable[..., Any], rho: Relaxations) -> Callable[[Data], Trial]:
    """The derivatives of ⟨w, P⟩ in the cost and in ε."""

    def trial(data: Data) -> Trial:
        x = Costs(data)
        w = data.normal(x.n, x.m)
        leaf = torch.tensor(data.number, dtype=torch.float64 if data.setting.dtype == "float64" else torch.float32)

        def expected(peak: Peak) -> Exact:
            solve = _with_kappas(x, rho)
            exponent = x.exponent(solve, data.number)
            chosen = [*range(x.n * x.m), x.count + x.n + x.m]
            inputs = x.with_residuals(peak, data.number, exponent)
            # ∂P/∂C has terms P w/ε, which may nearly cancel, and ∂P/∂ε their sum times the exponents.
            slopes = np.array([float(y) for y in solve(inputs.value)[: x.n * x.m]]) * float(w.abs().max()) / data.number
            terms = np.append(slopes, slopes.sum() * exponent)
            return solutions.derivative(solve, inputs, w.double().flatten().tolist(), chosen, x.n + x.m, terms)

        return Trial(
            lambda: gradient(lambda C, eps: (w * call(C, x.source, x.target, eps).plan).sum(), x.cost, leaf),
            expected,
            double=rho != BOTH,
        )

    return trial


def _quadratic(data: Data) -> Trial:
    x = Costs(data)

    def expected(peak: Peak) -> Exact:
        inner = solutions.quadratic(x.n, x.m)

        def solve(inputs: list[Any]) -> list[Any]:
            a, b = inputs[x.n * x.m : x.n * x.m + x.n], inputs[x.n * x.m + x.n : -1]
            total = sum(a[1:], a[0]) / sum(b[1:], b[0])
            return inner([*inputs[: x.n * x.m], *a, *(y * total for y in b), inputs[-1]])

        result = solutions.solution(solve, x.exactly(peak, data.number), lambda values: values, x.n + x.m)
        # f + g − C is off by the rounding of each of the three, and so are the marginals of P.
        return result.off_by(result.error + (x.n + x.m) * 6 * float(x.cost.abs().max()) / data.number)

    return Trial(lambda: transport.quadratic_plan(x.cost, x.source, x.target, data.number).plan, expected)


def _half_steps(data: Data) -> Trial:
    n, m = max(1, data.setting.size - 1), data.setting.size
    s = data.normal(n, m, scale=WIDE_COST[data.setting.scores])

    def expected(peak: Peak) -> Exact:
        tau = Exact.of([data.number], peak)
        rows = [_less_sum((row - row.max()) / tau) for row in matrix(s, peak)]
        share = (float(n) / Exact.of([m], peak)).log()
        columns = [_less_sum(joined(row[j] for row in rows)) + share for j in range(m)]
        return joined(_less_sum(joined(column[i] for column in columns)).exp() for i in range(n))

    return Trial(lambda: transport.sinkhorn_weights(s, data.number, 2), expected)


def _less_sum(x: Exact) -> Exact:
    """x − log Σ e^x."""
    rest = x - x.max()
    return rest - rest.exp().sum().log()


# ── the mean problem ────────────────────────────────────────────────────────────────────────────────────────────────


def _mean(data: Data, *, backward: bool) -> Trial:
    n, d = data.setting.size, 2
    t = data.normal(n, d, scale=1.0 if data.setting.scores == "normal" else 30.0)
    z, u = data.normal(d), data.shares(n)
    w = data.normal(d + n)

    def solved(t: Tensor, z: Tensor) -> mem.Solution:
        result = mem.solve(t, z, u, data.number, tolerance=TIGHT)
        if not bool(result.converged):  # it does not raise: that is what the flag is for
            raise RuntimeError("solve: 1 of 1 problems did not converge")
        return result

    def computed() -> Tensor:
        if not backward:
            result = solved(t, z)
            return torch.cat([result.dual.double(), result.weights.double(), result.mean.double()])

        def value(t: Tensor, z: Tensor) -> Tensor:
            result = solved(t, z)
            return (w[:d] * result.dual).sum() + (w[d:] * result.weights).sum()

        return gradient(value, t, z)

    def expected(peak: Peak) -> Exact:
        inputs = joined([exact(t, peak), exact(z, peak), exact(u, peak), Exact.of([data.number], peak)])
        solve = solutions.mean_problem(n, d)
        if backward:
            # They are the derivatives at a λ with the error that its certificate states: as if the data had it, in proportion.
            certificate = mem.solve(t, z, u, data.number, tolerance=TIGHT)
            relative = float(certificate.error / certificate.dual.double().norm()) / tolerances.eps("float64")
            inputs = inputs.off_by(np.full(len(inputs), relative))
            return solutions.derivative(solve, inputs, w.double().tolist(), range(n * d + d), n)
        exactly = solutions.solution(solve, inputs, lambda values: values, n)
        # A solution may be off by what its certificate states: it is silent only where the certificate is wrong.
        certificate = mem.solve(t, z, u, data.number, tolerance=TIGHT)
        errors = certificate.error, certificate.weights_error, certificate.mean_error
        bounds = np.repeat([float(x) for x in errors], [d, n, d])
        return exactly.off_by(exactly.error + bounds / tolerances.eps("float64"))

    return Trial(computed, expected, double=True)


KINDS = ("normal", "wide")
PARTS = ("plan", "row_potential", "column_potential")


def _relaxed(*args: Any) -> Any:
    return transport.sinkhorn(*args, relaxation=RHO)


def _unbalanced(cost: Tensor, source: Tensor, target: Tensor, epsilon: float | Tensor) -> Any:
    return transport.unbalanced(cost, source, target, epsilon, RHO, 2 * RHO)


DECADES_OF_DERIVATIVES = (-6, -2, -1, 0, 1, 6)

TRANSPORT = (
    Function("transport.one_sided_plan", _one_sided, SIZES, KINDS),
    Function("transport.sinkhorn_weights, two half-steps", _half_steps, SIZES, KINDS),
    Function("transport.sinkhorn, plan and potentials", _solved(transport.sinkhorn, BALANCED, PARTS), SIZES, KINDS),
    Function(
        "transport.sinkhorn, derivatives in cost and temperature",
        _differentiated(transport.sinkhorn, BALANCED),
        (3,),
        KINDS[:1],
        DECADES_OF_DERIVATIVES,
        ("float64", "float32"),
    ),
    Function("transport.sinkhorn relaxed, plan and potentials", _solved(_relaxed, RELAXED, PARTS), SIZES, KINDS),
    Function(
        "transport.sinkhorn relaxed, derivatives in cost and temperature",
        _differentiated(_relaxed, RELAXED),
        (3,),
        KINDS[:1],
        DECADES_OF_DERIVATIVES,
        ("float64", "float32"),
    ),
    Function("transport.unbalanced, plan and potentials", _solved(_unbalanced, BOTH, PARTS), SIZES, KINDS[:1], DECADES[::3]),
    Function(
        "transport.unbalanced, derivatives in cost and temperature",
        _differentiated(_unbalanced, BOTH),
        (3,),
        KINDS[:1],
        DECADES_OF_DERIVATIVES,
        ("float64", "float32"),
    ),
    Function("transport.quadratic_plan", _quadratic, SIZES, KINDS[:1], DECADES[3::3]),
    Function("mem.solve", lambda data: _mean(data, backward=False), SIZES, KINDS),
    Function(
        "mem.solve, derivatives in templates and evidence",
        lambda data: _mean(data, backward=True),
        (3,),
        KINDS[:1],
        DECADES_OF_DERIVATIVES,
        ("float64", "float32"),
    ),
)
