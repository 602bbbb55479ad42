"""One problem of attention by entropic transport with everything the derivations name, drawn at random.

Magnitudes are ordinary, since a derivation's expression is evaluated as printed, with exp(−M/γ) and no shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath as mp
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Value
from evidence.instances import fifty_digits
from evidence.instances.placement import Placed
from numerics import tolerances

SYMMETRIC = ("distances", "symmetric", "ties")
"""Squared distances; any nonnegative symmetric matrix with a cheap diagonal; zeros and ones, with ties on the diagonal."""
COSTS = (*SYMMETRIC, "any")
"""The symmetric ones; real numbers without symmetry."""
PRIORS = ("generic", "zeros", "one template")


@dataclass(frozen=True)
class OtProblem(Placed):
    """N templates in ℝ^d with preference u (zeros allowed), costs M, evidence z, α and γ; any dual points besides.

    Attributes:
        N, d: the numbers of templates and of coordinates.
        alpha, gamma: positive.
        costs, prior_kind: one of ``COSTS``, ``PRIORS``.
        seed: of all tensors.
        device: where ``problem[name]`` lives.
    """

    N: int
    d: int
    alpha: float
    gamma: float
    costs: str
    prior_kind: str
    seed: int

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """Everything that is drawn, on the CPU, by its printed name; a symmetric M is S + Sᵀ with S ≥ 0."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-2, 2)

        templates, prior, rows = normal(self.N, self.d), normal(self.N).exp(), normal(self.N, self.N)
        if self.prior_kind == "zeros":
            prior[1:] = prior[1:] * (normal(self.N - 1) > 0)
        if self.prior_kind == "one template":
            prior[1:] = 0
        cost = self._cost(templates, rows)
        rival = normal(self.N, self.N).exp()
        found = {"T": templates, "u": prior / prior.sum(), "M": cost, "R": rival / rival.sum(-1, keepdim=True),
                 "Q": torch.softmax(-cost.double() / self.gamma, 0).T.contiguous()}
        if self.costs in SYMMETRIC:
            found["S"] = cost / 2
        return found | {name: normal(self.d) for name in ("z", "lam", "nu", "v")} | {
            name: normal(self.N) for name in ("g", "f", "x", "y")} | {"s": normal(1)[0].exp(), "t": normal(1)[0].exp()}

    def _cost(self, templates: Tensor, rows: Tensor) -> Tensor:
        if self.costs == "distances":
            return (templates[:, None] - templates[None, :]).square().sum(-1)
        if self.costs == "symmetric":
            return (rows + rows.T).abs() + 0.5 * (1 - torch.eye(self.N, dtype=torch.float64))
        return ((rows + rows.T) > 0).double() if self.costs == "ties" else rows

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    def point(self, **given: Value) -> dict[str, Value]:
        """Every variable by its printed name, on the CPU, where the derivations' expressions are evaluated."""
        own = {name: x.detach().cpu() if isinstance(x, Tensor) else x for name, x in given.items()}
        return {"N": self.N, "d": self.d, "alpha": self.alpha, "gamma": self.gamma, **self.drawn, **own}

    def tolerance(self, *magnitudes: Tensor | float) -> float:
        """Rounding in float64 of sums over templates and coordinates, relative to what enters and to exp's argument."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).detach().abs().max().cpu()) for x in (1.0, *magnitudes))
        drawn = self.drawn
        duals = torch.stack([drawn["lam"].abs(), drawn["nu"].abs(), drawn["v"].abs(), self.alpha * drawn["z"].abs()]).amax(0)
        reach = float((drawn["T"].abs() @ duals).max()) + float(drawn["M"].abs().max()) + float(drawn["g"].abs().max())
        scale = largest * (1 + reach / self.gamma) * max(self.alpha, 1 / self.alpha) * max(1.0, self.gamma, 1 / self.gamma)
        return tolerances.rounding("float64", self.N**2 * self.d, scale)

    # ── the same problem in 50 digits ───────────────────────────────────────────────────────────────────────────────

    @cached_property
    def exactly(self) -> FiftyDigits:
        """The problem as drawn, for arithmetic without rounding."""
        return FiftyDigits(self)


class FiftyDigits:
    """Problem (24) from its definition in mpmath: the weights for a dual point, and the maximizer of the dual."""

    def __init__(self, problem: OtProblem) -> None:
        with mp.workdps(fifty_digits.DIGITS + fifty_digits.GUARD):
            drawn = problem.drawn
            self.size, self.d, self.gamma = problem.N, problem.d, mp.mpf(problem.gamma)
            self.templates = [list(map(mp.mpf, row)) for row in drawn["T"].tolist()]
            self.cost = [list(map(mp.mpf, row)) for row in drawn["M"].tolist()]
            masses = list(map(mp.mpf, drawn["u"].tolist()))
            self.prior = [x / mp.fsum(masses) for x in masses]
            self.evidence = list(map(mp.mpf, drawn["z"].tolist()))
            self.start = self.mean([mp.mpf(0)] * self.d)

    def columns(self, dual: list[Any]) -> list[list[Any]]:
        """j ↦ (i ↦ exp((⟨t_i, λ⟩ − M_ij)/γ) over its sum)."""
        found = []
        for j in range(self.size):
            raw = [mp.exp((mp.fdot(t, dual) - self.cost[i][j]) / self.gamma) for i, t in enumerate(self.templates)]
            found.append([x / mp.fsum(raw) for x in raw])
        return found

    def weights(self, dual: list[Any]) -> list[Any]:
        """i ↦ Σ_j u_j q_λ(i|j)."""
        columns = self.columns(dual)
        return [mp.fsum(u * column[i] for u, column in zip(self.prior, columns, strict=True)) for i in range(self.size)]

    def mean(self, dual: list[Any]) -> list[Any]:
        """Σ_i p_i t_i."""
        p = self.weights(dual)
        return [mp.fdot(p, axis) for axis in zip(*self.templates, strict=True)]

    def spread(self, dual: list[Any]) -> Any:
        """Σ_j u_j Σ_j at λ, d × d."""
        whole = mp.zeros(self.d)
        for u, column in zip(self.prior, self.columns(dual), strict=True):
            centre = [mp.fdot(column, axis) for axis in zip(*self.templates, strict=True)]
            for share, t in zip(column, self.templates, strict=True):
                off = mp.matrix([x - c for x, c in zip(t, centre, strict=True)])
                whole += u * share * (off * off.T)
        return whole

    def maximizer(self, alpha: Any, steps: int = 60) -> list[Any]:
        """λ* by Newton's method from αz, until ‖λ − λ*‖ ≤ α ‖∇D(λ)‖ is 10^-50, and one more step.

        Raises ArithmeticError when `steps` do not suffice.
        """
        dual = [alpha * x for x in self.evidence]
        for _ in range(steps):
            moved = self.mean(dual)
            slope = [s + x - y / alpha - m for s, x, y, m in zip(self.start, self.evidence, dual, moved, strict=True)]
            step = mp.lu_solve(self.spread(dual) / self.gamma + mp.eye(self.d) / alpha, mp.matrix(slope))
            dual = [x + dx for x, dx in zip(dual, step, strict=True)]
            if alpha * fifty_digits.norm(slope) <= mp.mpf(10) ** -fifty_digits.DIGITS:
                return dual                                  # the last step leaves rounding only
        raise ArithmeticError(f"maximizer: Newton's method does not settle in {steps} steps at alpha = {alpha}")

    def resolvent(self, alpha: Any) -> list[Any]:
        """(I/α + Σ̄/γ)⁻¹ z."""
        start = [mp.mpf(0)] * self.d
        return list(mp.lu_solve(self.spread(start) / self.gamma + mp.eye(self.d) / alpha, mp.matrix(self.evidence)))

    @property
    def small(self) -> Any:
        """An α well inside the range where λ*(α) is analytic: γ/64 over max(R², R‖z‖), with R the templates' reach."""
        reach = max(fifty_digits.norm([x - c for x, c in zip(t, self.start, strict=True)]) for t in self.templates)
        return self.gamma / (64 * max(reach**2, reach * fifty_digits.norm(self.evidence), mp.mpf(1) / 16))


@st.composite
def ot_problems(
    draw: st.DrawFn,
    *,
    smallest: int = 1,
    max_size: int = 4,
    max_d: int = 3,
    alphas: tuple[float, ...] = (1.0, 0.25, 4.0),
    gammas: tuple[float, ...] = (1.0, 0.5, 3.0),
    costs: tuple[str, ...] = COSTS,
    priors: tuple[str, ...] = PRIORS,
) -> OtProblem:
    """Draw a problem of ordinary magnitude; N = 1, d = 1, ties, zeros in u and costs without symmetry included.

    Raises ValueError for a range or a choice that is empty or unknown.
    """
    if not 1 <= smallest <= max_size or max_d < 1 or not costs or not priors or not {*costs} <= {*COSTS} \
            or not {*priors} <= {*PRIORS}:
        raise ValueError(f"ot_problems: {smallest}…{max_size}, {max_d}, {costs}, {priors} were given")
    return OtProblem(
        N=draw(st.integers(smallest, max_size)), d=draw(st.integers(1, max_d)), alpha=draw(st.sampled_from(alphas)),
        gamma=draw(st.sampled_from(gammas)), costs=draw(st.sampled_from(costs)), prior_kind=draw(st.sampled_from(priors)),
        seed=draw(st.integers(0, 2**31)))
