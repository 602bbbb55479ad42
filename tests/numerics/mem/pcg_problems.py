"""Shared helpers for tests of the search: problems of a few rows, and both implementations of its steps."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from numerics import tolerances
from numerics.mem import pcg_numba, pcg_threads, shared_templates
from numerics.mem.pcg_state import SharedProblem, SolutionBuffers
from numerics.mem.pcg_torch import Tile

ROWS = 5


class Problem:
    """A few rows on the same templates; in every other problem the first template has no prior."""

    def __init__(self, seed: int, n: int = 12, *, own_alpha: bool = False, own_prior: bool = False, size: float = 1.0) -> None:
        draw = torch.Generator().manual_seed(seed)
        t = torch.randn(n, 6, generator=draw, dtype=torch.float64)
        t = size * (t - t.mean(0))
        prior = torch.rand((ROWS, n) if own_prior else (1, n), generator=draw, dtype=torch.float64) + 0.1
        if n > 1:
            prior[..., 0] *= seed % 2
        alpha = torch.rand(ROWS, generator=draw, dtype=torch.float64) + 0.2 if own_alpha else torch.ones(ROWS).double()
        target = torch.randn(6, generator=draw, dtype=torch.float64)
        target = target + 2 * torch.randn(ROWS, 6, generator=draw, dtype=torch.float64)
        gram, none = t @ t.mT, torch.zeros(1, dtype=torch.float64)
        row_norm, _, rank_one = shared_templates.spectrum(gram)
        self.problem = SharedProblem(
            target,
            alpha,
            (prior / prior.sum(-1, keepdim=True)).log(),
            none,
            none,
            torch.zeros(6).double(),
            t,
            t.mT,
            gram,
            -gram.float(),
            rank_one.float(),
            (shared_templates.DIAGONAL_SHARE * (gram.diagonal() - rank_one.square())).float(),
            radius=float(t.norm(dim=-1).amax()) or 1.0,
            span=float(t.norm(dim=-1).amax()),
            sqrt_gram_norm=float(torch.linalg.matrix_norm(gram, 2)) ** 0.5 or 1.0,
            product_error=tolerances.eps("float32") / 2 * row_norm,
            underflow_length=0.0,
            tolerance=1e-30,
        )

    @property
    def logits(self) -> Tensor:
        """log u + αTb."""
        x = self.problem
        logits: Tensor = x.log_prior + x.alpha.unsqueeze(-1) * (x.target @ x.templates.mT)
        return logits

    def image(self, w: Tensor) -> Tensor:
        """αGw."""
        image: Tensor = self.problem.alpha.unsqueeze(-1) * (w @ self.problem.gram)
        return image

    def residual(self, w: Tensor) -> Tensor:
        """softmax(log u + αTb − αGw) − w."""
        return (self.logits - self.image(w)).softmax(-1) - w

    def buffers(self) -> SolutionBuffers:
        n, d = self.problem.templates.shape
        matrices = (torch.full((ROWS, k), math.nan).double() for k in (d, d, n))
        return SolutionBuffers(*matrices, *torch.full((6, ROWS), math.nan).double(), torch.zeros(ROWS, dtype=torch.bool))


class Numba:
    """``pcg_numba`` with the methods of ``Tile`` and space for additional rows."""

    def __init__(self, problem: SharedProblem, solution: SolutionBuffers) -> None:
        self.problem, self.solution = (
            type(x)(*(y.numpy() if isinstance(y, Tensor) else y for y in x)) for x in (problem, solution)
        )
        rows, n = ROWS + 2, len(self.problem.gram)
        self.workspace = pcg_threads._new_workspace(rows, n, min(len(self.problem.log_prior), rows))
        pcg_numba.set_prior_image(self.problem, self.workspace)

    def __getattr__(self, name: str) -> Tensor:
        return torch.from_numpy(getattr(self.workspace, name)[:ROWS]).clone().reshape(ROWS, -1)

    def run_pcg(self) -> None:
        pcg_numba.run_pcg(self.problem, self.solution, self.workspace, self.problem.target)

    def refine(self) -> None:
        pcg_numba.refine(self.problem, self.solution, self.workspace)

    def write_dual(self) -> None:
        np.dot(self.workspace.refined[:ROWS], self.problem.templates, self.solution.mean)
        pcg_numba.write_dual(self.problem, self.solution)

    def write_bounds(self) -> None:
        pcg_numba.write_bounds(self.problem, self.solution, self.workspace)

    def start_pcg(self) -> int:
        np.dot(self.problem.target, self.problem.templates_transposed, self.workspace.target_logits[:ROWS])
        self.count = int(pcg_numba.start_pcg(self.problem, self.workspace))
        return self.count

    def pcg_step(self) -> int:
        self._multiply()
        self.count = int(pcg_numba.pcg_step(self.count, self.problem, self.workspace, self.problem.target))
        return self.count

    def recompute_logits(self, rows: Tensor) -> None:
        self.workspace.selected[:ROWS] = np.arange(ROWS)
        np.dot(self.workspace.refined[:ROWS], self.problem.gram, self.workspace.gram_product[:ROWS])
        pcg_numba.recompute_logits(ROWS, self.problem, self.workspace)

    def softmax_and_residual_float64(self) -> None:
        pcg_numba.evaluate_float64(ROWS, self.solution, self.workspace)

    def start_refinement(self, rows: Tensor) -> None:
        self.count = int(pcg_numba.start_refinement(self.problem, self.workspace))

    def refinement_step(self) -> int:
        self._multiply()
        self.count = int(pcg_numba.refinement_step(self.count, self.problem, self.workspace))
        return self.count

    def apply_correction(self, steps: int) -> None:
        pcg_numba.apply_correction(ROWS, steps, self.problem, self.workspace)

    def _multiply(self) -> None:
        y, image = self.workspace.preconditioned, self.workspace.preconditioned_logits
        np.dot(y[: self.count], self.problem.negative_gram, image[: self.count])


ONE_TEMPLATE = pytest.param(Problem(3, n=1), id="one template")
IMPLEMENTATIONS: tuple[Callable[[SharedProblem, SolutionBuffers], Any], ...] = (Tile, Numba)
PROBLEMS = [
    pytest.param(Problem(0), id="plain"),
    pytest.param(Problem(1, own_alpha=True), id="own alpha"),
    pytest.param(Problem(2, own_prior=True), id="own prior"),
    pytest.param(Problem(4, n=37, own_alpha=True, own_prior=True), id="no multiple of a vector's length"),
    pytest.param(Problem(6, size=1.2), id="damped"),
]
