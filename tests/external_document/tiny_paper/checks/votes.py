"""Votes on the tiny paper: torch by softmax and autograd, the conic solver by the problem that softmax solves."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, confirms, float64
from numerics import tolerances
from numerics.primal import one_sided


@dataclass(frozen=True)
class Drawn:
    """Scores, a shift and a temperature."""

    s: Tensor
    t: float
    tau: float

    def reading(self, tolerance: float, **routes: Tensor) -> Reading:
        return Reading({"m": len(self.s), "s": self.s, "t": self.t, "tau": self.tau}, routes, tolerance)

    @property
    def rounding(self) -> float:
        return tolerances.plan(torch.float64, len(self.s), float(self.s.abs().max() + abs(self.t)) / self.tau)


def drawn() -> st.SearchStrategy[Drawn]:
    number = st.integers(-8, 8).map(lambda n: n / 4)
    scores = st.lists(number, min_size=1, max_size=5).map(float64)
    return st.builds(Drawn, scores, number, st.sampled_from((0.5, 1.0, 2.0)))


@confirms(Layer.TORCH, "tiny_paper.2", on=drawn())
def shifted(problem: Drawn) -> Reading:
    return problem.reading(problem.rounding, softmax=torch.softmax((problem.s + problem.t) / problem.tau, -1))


@confirms(Layer.PRIMAL, "tiny_paper.2", on=drawn())
def solved(problem: Drawn) -> Reading:
    solution = one_sided.solve((problem.s + problem.t).numpy(), problem.tau)
    assert solution.certified, solution.status
    return problem.reading(tolerances.plan_from_gap(solution.gap, problem.tau), cvxpy=float64(solution.plan))


def slope(problem: Drawn) -> Reading:
    scores = problem.s.clone().requires_grad_()
    potential = problem.tau * torch.logsumexp(scores / problem.tau, -1)
    return problem.reading(problem.rounding, autograd=torch.autograd.grad(potential, scores)[0])


confirms(Layer.TORCH, "tiny_paper.3", on=drawn(), corrected=slope)(slope)
