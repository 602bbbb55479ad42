"""The appendices of eot in torch: closed forms and autograd against the proved expressions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd.functional import hessian, jacobian

from derivations.claims import Layer
from numerics import one_sided, tolerances
from tests.bridge import Value
from tests.layers import Reading, confirms
from tests.properties.eot_forward import gradient, reading
from tests.properties.rows import Row, rows

TORCH = Layer.TORCH


# ── Appendix A: several queries ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Batch:
    """n queries against m keys, a positive matrix W, multipliers λ, constants Z, a plan P and a distribution b."""

    n: int
    m: int
    tau: float
    seed: int
    cornered: bool
    device: str = "cpu"

    def to(self, device: str) -> Batch:
        """The same batch, computed on another device."""
        return Batch(self.n, self.m, self.tau, self.seed, self.cornered, device)

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """What is drawn, on the CPU."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        plan = normal(self.n, self.m).exp() + 0.01
        if self.cornered:
            plan = torch.eye(self.m, dtype=torch.float64)[plan.argmax(-1)]
        share = normal(self.m).exp()
        return {"Q": normal(self.n, 2), "K": normal(self.m, 2), "W": normal(self.n, self.m).exp(), "lam": normal(self.n),
                "Z": normal(self.n).exp(), "P": plan / plan.sum(-1, keepdim=True), "b": share / share.sum(),
                "c": normal(1)[0]}

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def s(self) -> Tensor:
        return one_sided.scores_from(self["Q"], self["K"])

    def point(self) -> dict[str, Value]:
        """Every variable by its printed name."""
        return {"n": self.n, "m": self.m, "d": 2, "tau": self.tau, "eps": self.tau, **self.drawn}

    def reading(self, *magnitudes: Tensor | float, computed: str = "left", **routes: Tensor) -> Reading:
        """Routes at this batch, with the tolerance of sums over its entries for these magnitudes and the routes' own."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max()) for x in (1.0, *magnitudes, *routes.values()))
        exponent = float((self["Q"].abs() @ self["K"].abs().T).max()) / self.tau
        scale = largest * (1 + exponent) * max(1.0, self.tau, 1 / self.tau) ** 2
        return Reading(self.point(), routes, tolerances.rounding("float64", self.n * self.m, scale), computed)  # type: ignore[arg-type]


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Draw a small batch; n = 1 and m = 1, and plans with zeros, included."""
    return Batch(draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.sampled_from((1.0, 0.5, 4.0))),
                 draw(st.integers(0, 2**31)), draw(st.booleans()))


@confirms(TORCH, "eot.113", "eot.thmA.6", "eot.thmA.7", "eot.123", "eot.sA.relative-interior", "eot.s2.exact", on=batches())
def attention_matrix(x: Batch) -> Reading:
    return x.reading(closed_form=one_sided.plan(x.s, x.tau), softmax=torch.softmax(x["Q"] @ x["K"].T / x.tau, 1))


@confirms(TORCH, "eot.114", on=batches())
def matrix_times_partition(x: Batch) -> Reading:
    constant = one_sided.log_partition(x.s, x.tau).exp()
    return x.reading(closed_form=one_sided.plan(x.s, x.tau) * constant[:, None])


@confirms(TORCH, "eot.112", "eot.sA.decomposable", on=batches())
def value_of_plan(x: Batch) -> Reading:
    plan = x["P"]
    direct = -(plan * x.s).sum() + x.tau * torch.xlogy(plan, plan).sum()
    return x.reading(x.s, closed_form=one_sided.objective(plan, x.s, x.tau).sum(), direct=direct)


@confirms(TORCH, "eot.sA.bounded", on=batches())
def frobenius_norm(x: Batch) -> Reading:
    return x.reading(float(x.n), computed="right", direct=x["P"].square().sum())


@confirms(TORCH, "eot.sA.free-target", on=batches())
def arriving_mass(x: Batch) -> Reading:
    return x.reading(float(x.n), direct=x["b"].expand(x.n, x.m).sum(0))


@confirms(TORCH, "eot.109", on=batches())
def slope_of_cost(x: Batch) -> Reading:
    keys = x["K"]
    slopes = jacobian(lambda query: -one_sided.scores_from(query, keys), x["Q"])
    return x.reading(autograd=torch.einsum("ijir->ijr", slopes))


def lagrangian(plan: Tensor, multipliers: Tensor, x: Batch) -> Tensor:
    """J(W) + Σ_i λ_i (1 − Σ_j W_ij) for any W > 0."""
    return one_sided.objective(plan, x.s, x.tau).sum() + (multipliers * (1 - plan.sum(-1))).sum()


@confirms(TORCH, "eot.115", on=batches())
def slope_in_the_multipliers(x: Batch) -> Reading:
    return x.reading(x["W"].sum(), autograd=gradient(lambda level: lagrangian(x["W"], level, x), x["lam"]))


@confirms(TORCH, "eot.116", on=batches())
def value_of_lagrangian(x: Batch) -> Reading:
    return x.reading(x["W"] * x.s, x["W"], x["lam"], closed_form=lagrangian(x["W"], x["lam"], x))


@confirms(TORCH, "eot.117", "eot.118", "eot.119", "eot.120", "eot.sA.constant-of-row", on=batches())
def slope_of_lagrangian(x: Batch) -> Reading:
    return x.reading(x.s, x["lam"], autograd=gradient(lambda plan: lagrangian(plan, x["lam"], x), x["W"]))


@confirms(TORCH, "eot.sA.separable", on=batches())
def second_slopes(x: Batch) -> Reading:
    blocks = hessian(lambda plan: lagrangian(plan, x["lam"], x), x["W"])
    return x.reading(1 / x["W"], autograd=torch.einsum("ijhk->hijk", blocks))


@confirms(TORCH, "eot.121", on=batches())
def masses(x: Batch) -> Reading:
    return x.reading(closed_form=one_sided.plan(x.s, x.tau).sum(-1))


@confirms(TORCH, "eot.122", on=batches())
def missing_mass(x: Batch) -> Reading:
    exponentials = (x.s / x.tau).exp()
    return x.reading(exponentials.sum(-1), term_by_term=x["Z"] * (1 - (exponentials / x["Z"][:, None]).sum(-1)))


@confirms(TORCH, "eot.s2.source-marginal", on=batches())
def total_mass(x: Batch) -> Reading:
    return x.reading(float(x.n), closed_form=one_sided.plan(x.s, x.tau).sum(0).sum())


# ── Appendix B: the conjugate ───────────────────────────────────────────────────────────────────────────────────────


def potential(row: Row, scores: Tensor | None = None) -> Tensor:
    """φ(s) = τ log Z."""
    return row.tau * one_sided.log_partition(row.s if scores is None else scores, row.tau)


@confirms(TORCH, "eot.126", "eot.128", "eot.135", "eot.141", "eot.144", "eot.lemB.4", "eot.139", "eot.sB.penalty",
          "eot.sB.step-unconstrained", on=rows())
def maximizer(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau), autograd=gradient(lambda s: potential(row, s), row.s))


def value(row: Row) -> Tensor:
    """f(p*) − ⟨p*, s⟩ by the closed forms of plan and objective."""
    return one_sided.objective(one_sided.plan(row.s, row.tau), row.s, row.tau)


@confirms(TORCH, "eot.129", "eot.130", on=rows())
def optimal_value(row: Row) -> Reading:
    return reading(row, row.s, row.tau, closed_form=value(row), potential=-potential(row))


@confirms(TORCH, "eot.131", "eot.145", "eot.sB.step-value", *(f"eot.{number}" for number in range(146, 150)), on=rows())
def conjugate(row: Row) -> Reading:
    return reading(row, row.s, row.tau, closed_form=potential(row), objective=-value(row))


@confirms(TORCH, "eot.134", "eot.sB.step-gradient", "eot.sB.step-conjugate", on=rows())
def gradient_of_conjugate(row: Row) -> Reading:
    return reading(row, row.s, autograd=gradient(lambda s: potential(row, s), row.s))


def shares(row: Row) -> Tensor:
    """The optimal plan or another point of the simplex, by the parity of the seed."""
    return row.weights.cpu() if row.seed % 2 else row["p"].cpu() / row["p"].cpu().sum()


@confirms(TORCH, "eot.140", on=rows())
def upper_bound(row: Row) -> Reading:
    return Reading(row.point() | {"p": shares(row)}, {"closed_form": potential(row)}, row.tolerance(row.s, row.tau))


@confirms(TORCH, "eot.142", on=rows())
def missing_mass_of_row(row: Row) -> Reading:
    def whole(level: Tensor) -> Tensor:
        return -one_sided.objective(row["p"], row.s, row.tau) - level * (row["p"].sum() - 1)

    return reading(row, row["p"], autograd=gradient(whole, row["lam"]))


def slopes(row: Row, at: Tensor, level: Tensor | float = 0.0) -> Tensor:
    """The gradient in R^m of ⟨w, s⟩ − τ Σ w log w − λ(Σ w − 1), by autograd."""
    return gradient(lambda w: -one_sided.objective(w, row.s, row.tau) - level * (w.sum() - 1), at)


@confirms(TORCH, "eot.143", "eot.sB.proportional", "eot.sB.generalized-condition", on=rows())
def slope_of_row_lagrangian(row: Row) -> Reading:
    return reading(row, row.s, row["lam"], row.tau, autograd=slopes(row, row["p"], row["lam"]))


@confirms(TORCH, "eot.137", on=rows())
def slope_of_h(row: Row) -> Reading:
    routes = {"autograd": slopes(row, row["p"])}
    return Reading(row.point() | {"w": row["p"]}, routes, row.tolerance(row.s, row.tau, *routes.values()))


@confirms(TORCH, "eot.remB.5", on=rows())
def dual_bound(row: Row) -> Reading:
    best = row.tau - potential(row)
    level = best + (row.tau * torch.log(torch.tensor(float(row.m))) if row.seed % 2 else 0.0)
    return Reading(row.point() | {"μ": level.cpu()}, {"closed_form": -potential(row)},
                   row.tolerance(row.s, row.tau, level, torch.tensor(float(row.m)) * row.tau))


@confirms(TORCH, "eot.sB.conjugate-variables", on=rows())
def slope_of_dual(row: Row) -> Reading:
    def dual(level: Tensor) -> Tensor:
        return level - row.tau * torch.exp((row.s + level) / row.tau - 1).sum()

    here = gradient(dual, row["lam"])
    scale = torch.exp((row.s.abs() + row["lam"].abs()) / row.tau)
    return Reading(row.point() | {"μ": row["lam"].cpu()}, {"autograd": here}, row.tolerance(here, row["lam"], scale))


@confirms(TORCH, "eot.sB.strictly-concave", on=rows())
def excess_over_chord(row: Row) -> Reading:
    first, second, odds = shares(row), torch.full((row.m,), 1 / row.m, dtype=torch.float64), row["t"].cpu().exp()
    mixed = (odds * first + second) / (1 + odds)

    def h(plan: Tensor) -> Tensor:
        return -one_sided.objective(plan, row.s.cpu(), row.tau)

    gap = h(mixed) - (odds * h(first) + h(second)) / (1 + odds)
    point = row.point() | {"p": first, "x": second, "t": odds}
    return Reading(point, {"closed_form": gap}, row.tolerance(row.s, row.tau))


# ── Appendix B: what is refuted, and what is true instead ───────────────────────────────────────────────────────────


def fenchel_young_gap(row: Row) -> Reading:
    plan = shares(row)
    gap = one_sided.objective(plan, row.s.cpu(), row.tau) + potential(row).cpu()
    return Reading(row.point() | {"p": plan}, {"closed_form": gap}, row.tolerance(row.s, row.tau))


def touching_plane(row: Row) -> Reading:
    other = row.s.cpu() + (row.seed % 3 - 1) * row["p"].cpu()
    plan = row.weights.cpu()
    values = {"F_p": row.tau * torch.xlogy(plan, plan).sum(), "G_s": potential(row).cpu()}
    there = potential(row, other.to(row.device)).cpu()
    point = row.point() | values | {"p": plan, "t": other, "G_t": there}
    return Reading(point, {"closed_form": there}, row.tolerance(row.s, other, row.tau))


def parabola(row: Row) -> Reading:
    edge = torch.tensor(1.0, dtype=torch.float64)
    slope = gradient(lambda p: p**2, edge)
    return Reading({"p": 1.0, "s": 3.0}, {"autograd": slope}, row.tolerance(3.0))


confirms(TORCH, "eot.thmB.3", on=rows(), corrected=touching_plane)(parabola)
confirms(TORCH, "eot.132", "eot.sB.equality-condition", on=rows(), corrected=fenchel_young_gap)(parabola)


@confirms(TORCH, "eot.136", "eot.sB.first-order", on=rows(), corrected=lambda row: slope_at_maximizer(row))
def slope_at_maximizer(row: Row) -> Reading:
    return reading(row, row.s, row.tau, autograd=slopes(row, one_sided.plan(row.s, row.tau)))


@confirms(TORCH, "eot.138", on=rows(), corrected=lambda row: gradient_at_maximizer(row))
def gradient_at_maximizer(row: Row) -> Reading:
    plan = one_sided.plan(row.s, row.tau)
    return reading(row, row.s, row.tau, autograd=gradient(lambda p: -row.tau * one_sided.entropy(p), plan))


def supporting_plane(row: Row) -> Reading:
    plan = shares(row)
    point = row.point() | {"p": plan, "c": row["lam"].cpu()}
    return Reading(point, {"closed_form": -row.tau * one_sided.entropy(plan)}, row.tolerance(row.s, row.tau, row["lam"]))


@confirms(TORCH, "eot.sB.conditions-met", on=rows(), corrected=supporting_plane)
def another_subgradient(row: Row) -> Reading:
    point = row.point() | {"c": row["lam"].cpu()}
    return Reading(point, {"direct": row.s + row["lam"]}, row.tolerance(row.s, row["lam"]))
