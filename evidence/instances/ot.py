"""Attention by entropic transport: single problems with everything that the claims name, and batches for the solvers.

`ot_problems` reaches N = 1, d = 1, d < N and d > N, ties among the costs, costs that do not have their least entry on the
diagonal or are not symmetric, zeros in the prior and a prior on one template.  Its magnitudes are ordinary unless larger ones
are requested, since a derivation's expression is evaluated as printed, with exp(−M/γ) and no shift.  `ot_batches` draws hard
cases for solvers: up to two leading dimensions, fewer sources than templates, templates on a grid (with ties and duplicates),
no evidence, costs of +inf, which may leave a template out of reach, costs of 0, and α and γ over five orders of magnitude.
"""

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

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

BATCHES: dict[str, Any] = {
    "max_size": 6,
    "alphas": (1.0, 0.1, 10.0, 1e-3, 300.0),
    "gammas": (1.0, 8.0, 0.1, 1e3, 0.01),
    "costs": ("distances", "inner", "any", "forbidding", "zero", "groups"),
    "max_batch": 3,
}
"""Options of `ot_problems` for solvers, with further costs: C − ⟨t_i, t_j⟩; numbers without symmetry, and +inf; all zero;
0 within a group and +inf across."""
MILD: dict[str, Any] = {"alphas": (1.0, 0.1, 3.0), "gammas": (1.0, 3.0, 0.5)}
"""The α and γ to draw from where very different sizes would leave nothing to compare."""
KNOWN = (*COSTS, *BATCHES["costs"])


@dataclass(frozen=True, eq=False)
class OtProblem(Placed):
    """N templates in ℝ^d with preference u (zeros allowed), costs M, evidence z, α and γ, or a batch; dual points besides.

    Attributes:
        drawn: on the CPU, by printed names: T (*batch, N, d), z (*batch, d), u (*batch, n), M (*batch, N, n), of which every
            column has a finite entry; where they were drawn, also Q, of which row j is the kernel of source j, other such
            weights R, dual points lam, nu, v like z, potentials g, f, x, y (*batch, N), numbers s, t > 0, and S with
            M = S + Sᵀ where M is one of ``SYMMETRIC``.  ``problem[name]`` lives on `device`.
        alpha, gamma: positive.
        costs, prior_kind: how M and u were drawn, by ``COSTS``, ``PRIORS`` and ``BATCHES``.
        seed: of the drawn values.
    """

    drawn: dict[str, Tensor] = field(repr=False)
    alpha: float
    gamma: float
    costs: str = ""
    prior_kind: str = ""
    seed: int = 0

    @staticmethod
    def of(templates: Tensor, evidence: Tensor, prior: Tensor, cost: Tensor, alpha: float, gamma: float) -> "OtProblem":
        """The problem with these tensors, in the order in which solvers take them."""
        return OtProblem({"T": templates, "z": evidence, "u": prior, "M": cost}, alpha, gamma)

    def with_costs(self, costs: str) -> "OtProblem":
        """The single problem of the same seed with costs of another kind."""
        same = ot_problem(self.N, self.d, self.alpha, self.gamma, self.seed, costs=costs, prior_kind=self.prior_kind)
        return same.to(self.device)

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def N(self) -> int:
        return self.drawn["T"].shape[-2]

    @property
    def n(self) -> int:
        return self.drawn["u"].shape[-1]

    @property
    def d(self) -> int:
        return self.drawn["T"].shape[-1]

    def point(self, **values: Value) -> dict[str, Value]:
        """Every variable by its printed name, on the CPU, where the derivations' expressions are evaluated."""
        own = {name: x.detach().cpu() if isinstance(x, Tensor) else x for name, x in values.items()}
        return {"N": self.N, "d": self.d, "alpha": self.alpha, "gamma": self.gamma, **self.drawn, **own}

    def tolerance(self, *magnitudes: Tensor | float) -> float:
        """Rounding in float64 of sums over templates and coordinates, relative to the inputs and to exp's argument."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).detach().abs().max().cpu()) for x in (1.0, *magnitudes))
        drawn = self.drawn
        duals = torch.stack([drawn["lam"].abs(), drawn["nu"].abs(), drawn["v"].abs(), self.alpha * drawn["z"].abs()]).amax(0)
        reach = float((drawn["T"].abs() @ duals).max()) + float(drawn["M"].abs().max()) + float(drawn["g"].abs().max())
        scale = largest * (1 + reach / self.gamma) * max(self.alpha, 1 / self.alpha) * max(1.0, self.gamma, 1 / self.gamma)
        return tolerances.rounding("float64", self.N**2 * self.d, scale)

    # ── batches ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def templates(self) -> Tensor:
        return self["T"]

    @property
    def evidence(self) -> Tensor:
        return self["z"]

    @property
    def prior(self) -> Tensor:
        return self["u"]

    @property
    def cost(self) -> Tensor:
        return self["M"]

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.templates, self.evidence, self.prior, self.cost

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor, Tensor, float, float]:
        """The arguments of `numerics.ot_attention.solve`."""
        return *self.tensors, self.alpha, self.gamma

    @property
    def reach(self) -> float:
        """The length of the longest template."""
        return float(self.templates.double().norm(dim=-1).max())

    @property
    def logit(self) -> float:
        """The largest |α⟨t, z⟩/γ| or |M/γ| that is finite: where rounding starts."""
        tilt = float((self.templates.double() @ self.evidence.double().unsqueeze(-1)).abs().max()) * self.alpha
        finite = self.cost[self.cost < torch.inf].double()
        return (tilt + float(finite.abs().max())) / self.gamma

    @property
    def rounding(self) -> float:
        """The error of weights whose logits are rounded in each of d products, and when cost, peak and γ are subtracted."""
        return tolerances.plan(self.templates.dtype, self.N + self.n, (self.d + 3) * self.logit)

    def rounded_to(self, dtype: torch.dtype) -> "OtProblem":
        """The same problem, rounded to another dtype."""
        return replace(self, drawn={name: x.to(dtype) for name, x in self.drawn.items()})

    # ── a single problem in 50 digits ───────────────────────────────────────────────────────────────────────────────

    @cached_property
    def law(self) -> fifty_digits.Mixture:
        """The kernels of all sources, exactly as drawn but for the sum of the preference, which is 1 to 60 digits."""
        atoms, shares, costs = (self.drawn[name].tolist() for name in ("T", "u", "M"))
        return fifty_digits.Mixture.of(atoms, shares, costs, self.gamma)

    def maximizer(self, alpha: object = None, **how: Any) -> fifty_digits.Maximizer:
        """λ*, p* and ĥ for this or another α; `how` is as for `fifty_digits.maximize`."""
        return fifty_digits.maximize(self.law, self.drawn["z"].tolist(), self.alpha if alpha is None else alpha, **how)

    def resolvent(self, alpha: object) -> list[Any]:
        """(I/α + Σ̄/γ)⁻¹ z."""
        return fifty_digits.resolvent(self.law, self.drawn["z"].tolist(), alpha)

    @property
    def small(self) -> Any:
        """An α well inside the range where λ*(α) is analytic: γ/64 over max(R², R‖z‖), with R the templates' reach."""
        return self.law.gamma * fifty_digits.small(self.law, self.drawn["z"].tolist(), 64)


def ot_problem(
    N: int,
    d: int,
    alpha: float,
    gamma: float,
    seed: int,
    *,
    costs: str = "any",
    prior_kind: str = "generic",
    batch: tuple[int, ...] = (),
    sources: int | None = None,
    tied: bool = False,
) -> OtProblem:
    """The problem of a seed.

    Args:
        N: the number of templates.
        d: the number of coordinates.
        alpha: positive.
        gamma: positive.
        seed: of a generator of normal numbers, which are cut at ±2.
        costs: see ``COSTS`` and ``BATCHES``.
        prior_kind: see ``PRIORS``.
        batch: the leading dimensions.
        sources: n, at most N, for costs that need not be square; N if not given.
        tied: whether templates, evidence and costs are rounded to integers.
    """
    generator, n = torch.Generator().manual_seed(seed), sources or N

    def normal(*shape: int) -> Tensor:
        return torch.randn(*batch, *shape, generator=generator, dtype=torch.float64).clamp(-2, 2)

    templates, prior, rows = normal(N, d), normal(n).exp(), normal(N, n)
    if tied:
        templates, rows = templates.round(), rows.round()
    if prior_kind == "zeros":
        prior[..., 1:] = prior[..., 1:] * (normal(n - 1) > 0)
    if prior_kind == "one template":
        prior[..., 1:] = 0
    cost = _cost(costs, templates, rows, generator)
    rival = normal(n, N).exp()
    drawn = {
        "T": templates,
        "u": prior / prior.sum(-1, keepdim=True),
        "M": cost,
        "R": rival / rival.sum(-1, keepdim=True),
        "Q": torch.softmax(-cost / gamma, -2).mT.contiguous(),
    }
    if costs in SYMMETRIC:
        drawn["S"] = cost / 2
    drawn |= {name: normal(d) for name in ("z", "lam", "nu", "v")} | {name: normal(N) for name in ("g", "f", "x", "y")}
    drawn |= {"s": normal(1)[..., 0].exp(), "t": normal(1)[..., 0].exp()}
    if tied:
        drawn["z"] = drawn["z"].round()
    return OtProblem(drawn, alpha, gamma, costs, prior_kind, seed)


def _cost(kind: str, templates: Tensor, rows: Tensor, generator: torch.Generator) -> Tensor:
    """M from the templates, or from numbers without symmetry, (*batch, N, n)."""
    N = templates.shape[-2]
    if kind == "distances":
        return (templates.unsqueeze(-2) - templates.unsqueeze(-3)).square().sum(-1)
    if kind == "symmetric":
        return (rows + rows.mT).abs() + 0.5 * (1 - torch.eye(N, dtype=torch.float64))
    if kind == "ties":
        return ((rows + rows.mT) > 0).double()
    if kind == "inner":
        products = templates @ templates.mT
        return products.amax((-2, -1), keepdim=True) - products
    if kind == "groups":
        group = torch.randint(2, (N,), generator=generator)
        return torch.where(group[:, None] == group, 0.0, torch.inf).double().expand_as(rows).clone()
    if kind == "forbidding":
        forbidden = torch.rand(rows.shape, generator=generator) < 0.4
        allowed = torch.randint(N, (*rows.shape[:-2], 1, rows.shape[-1]), generator=generator)
        return rows.masked_fill(forbidden, torch.inf).scatter(-2, allowed, 0.5)
    return torch.zeros_like(rows) if kind == "zero" else rows


@cache
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
    max_batch: int = 0,
) -> OtProblem:
    """Draw a problem.

    Args:
        draw: given by Hypothesis.
        smallest: the smallest number of templates.
        max_size: the largest one.
        max_d: the largest number of coordinates.
        alphas: to choose from.
        gammas: to choose from.
        costs: to choose from; see ``COSTS`` and ``BATCHES``.
        priors: to choose from; see ``PRIORS``.
        max_batch: the largest size of each of up to two leading dimensions; 0 for a single problem, with as many sources as
            templates and none of them rounded.

    Raises ValueError for a range or a choice that is empty or unknown.
    """
    known = set() < {*costs} <= {*KNOWN} and set() < {*priors} <= {*PRIORS}
    if not (known and 1 <= smallest <= max_size and max_d >= 1):
        raise ValueError(
            f"ot_problems: expected ranges and known choices, got {smallest}…{max_size}, {max_d}, {costs} and {priors}"
        )
    N, d = draw(st.integers(smallest, max_size)), draw(st.integers(1, max_d))
    alpha, gamma = draw(st.sampled_from(alphas)), draw(st.sampled_from(gammas))
    options: dict[str, Any] = {"costs": draw(st.sampled_from(costs)), "prior_kind": draw(st.sampled_from(priors))}
    seed = draw(st.integers(0, 2**31))
    if max_batch:
        options |= {"batch": tuple(draw(st.lists(st.integers(1, max_batch), max_size=2))), "tied": draw(st.booleans())}
        if options["costs"] in ("any", "forbidding"):
            options["sources"] = draw(st.integers(1, N))
    return ot_problem(N, d, alpha, gamma, seed, **options)


def ot_batches(dtype: torch.dtype = torch.float64, **choices: Any) -> st.SearchStrategy[OtProblem]:
    """`ot_problems` with the options `BATCHES`, except explicit ones, rounded to a dtype."""
    return ot_problems(**(BATCHES | choices)).map(lambda problem: problem.rounded_to(dtype))
