"""The transport chapter's sections 1 and 3 in torch: couplings, the entropic problem, Sinkhorn's half-steps and their limit."""

from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading
from evidence.instances.attention import AttentionProblem, attention_problems
from numerics.transport import Transport, sinkhorn, sinkhorn_weights


def entropy(plan: Tensor) -> Tensor:
    """−Σ P log P."""
    return -torch.xlogy(plan, plan).sum()


@dataclass(frozen=True)
class Iterates:
    """Marginals, a cost, and the iterate after some steps, whose columns are right."""

    problem: AttentionProblem
    cost: Tensor
    steps: int

    def to(self, device: str) -> "Iterates":
        """The same iterates, computed on another device."""
        return Iterates(self.problem.to(device), self.cost.to(device), self.steps)

    @cached_property
    def marginals(self) -> tuple[Tensor, Tensor]:
        """The rows', which are all alike since the iterates are those of attention, and the columns'."""
        a = torch.full((self.problem.n,), 1 / self.problem.n, dtype=torch.float64, device=self.cost.device)
        return a, self.problem["b"]

    def plan(self, half_steps: float) -> Tensor:
        """The iterate of mass 1 after a number of half-steps."""
        return sinkhorn_weights(-self.cost, self.problem.eps, half_steps, self.marginals[1]) / self.problem.n

    @cached_property
    def limit(self) -> Transport:
        """The optimum."""
        return sinkhorn(self.cost, *self.marginals, self.problem.eps)

    @property
    def least(self) -> tuple[Tensor, Tensor]:
        """J(P*), from the optimal value for KL(P ‖ abᵀ), and from the plan."""
        a, b = self.marginals
        constant = self.problem.eps * (torch.xlogy(a, a).sum() + torch.xlogy(b, b).sum())
        plan = self.limit.plan
        return self.limit.value + constant, (plan * self.cost).sum() - self.problem.eps * entropy(plan)

    def potentials(self, half_steps: int) -> tuple[Tensor, Tensor]:
        """f and g of an iterate: ε log W + C = f_i + g_j, with the mean of g zero."""
        both = self.problem.eps * self.plan(half_steps).log() + self.cost
        return both.mean(1), both.mean(0) - both.mean()

    def dual(self, half_steps: int) -> Tensor:
        """D of an iterate."""
        (f, g), (a, b) = self.potentials(half_steps), self.marginals
        return a @ f + b @ g - self.problem.eps * self.plan(half_steps).sum() + self.problem.eps

    def reading(self, **routes: Tensor) -> Reading:
        """Values read at the iterate after `steps`, an odd number of half-steps, and at the optimum.

        The optimum's marginals have the error that it reports, which moves J − D by that times the potentials.
        """
        (f, g), (a, b) = self.potentials(self.steps), self.marginals
        extra = {"a": a, "b": b, "C": self.cost, "P": self.limit.plan, "f": f, "g": g}
        reach = 1 + float(f.abs().max() + g.abs().max() + self.cost.abs().max())
        error = float(self.limit.row_error.sum() + self.limit.column_error.sum())
        reach_of_logs = reach * (1 + reach / self.problem.eps)
        known = self.problem.reading(reach_of_logs, extra=extra, **routes)
        return Reading(known.point, routes, known.tolerance + error * reach_of_logs)


@st.composite
def iterates(draw: st.DrawFn, scale: float = 1.0) -> Iterates:
    """Draw a cost; the iterate is that after one, three or nine half-steps; n = 1, m = 1 and n ≠ m included."""
    problem = draw(attention_problems())
    return Iterates(problem, scale * problem.eps * problem["C"], draw(st.sampled_from((1, 3, 9))))
