"""PyTorch implementation of ``pcg``, for devices other than the CPU.

All rows of a tile take the same number of steps, which is harmless; only rows above the tolerance are refined.

Claims      deciphering.9
Notation    as in ``pcg``; m = −αGy, g = −αGd
"""

from collections.abc import Callable

import torch
from torch import Tensor

from numerics.mem import pcg
from numerics.mem.pcg import (
    DIVISION_FLOOR,
    MAX_LOGIT_STEP,
    MAX_PCG_STEPS,
    MAX_REFINEMENTS,
    MAX_STEP,
    MIN_SIN2,
    MIN_STEP,
    REFINEMENT_TARGET,
    UNDERFLOW_NORM,
)
from numerics.mem.pcg_state import SharedProblem, SolutionBuffers

_FIELDS_OF_ROWS = ("target", "alpha", "log_prior", "target_error", "log_prior_error")


class Tile:
    """Some rows of a problem, and the state of their iteration.

    Attributes:
        iterate, iterate_logits, step, step_logits, weights, residual, preconditioned, preconditioned_logits, target_logits,
            refined, refined_logits: as in ``Workspace``, (r, n).
        target_norm, residual_norm, refined_residual_norm, logit_error, stopping_residual, required_residual, step_norm,
            path_length: as there, (r, 1).
    """

    def __init__(self, problem: SharedProblem, solution: SolutionBuffers) -> None:
        self._problem, self._solution, self._alpha = problem, solution, problem.alpha.unsqueeze(-1)
        self._alpha_low = self._alpha.to(problem.negative_gram.dtype)
        self.target_norm = problem.target.norm(dim=-1, keepdim=True)
        self.target_logits = problem.target @ problem.templates_transposed * self._alpha
        self.iterate_logits, self.step_logits, self.residual, self.preconditioned, self.preconditioned_logits = (
            torch.empty_like(self.target_logits, dtype=self._alpha_low.dtype) for _ in range(5)
        )
        self.logit_error, self.required_residual = torch.zeros_like(self.target_norm), torch.zeros_like(self.target_norm)

    @staticmethod
    def minimize_in_plane(yy: Tensor, yd: Tensor, dd: Tensor, ry: Tensor, rd: Tensor) -> tuple[Tensor, Tensor]:
        """As ``pcg_row.minimize_in_plane``, (r, 1) each."""
        det = yy * dd - yd * yd
        independent = (yy > 0) & (dd > 0) & (det > MIN_SIN2 * yy * dd)
        a = torch.where(independent, (ry * dd - rd * yd) / det, ry / yy)
        b = torch.where(independent, (rd * yy - ry * yd) / det, 0.0)
        trusted = (a >= 0) & (a <= MAX_STEP) & (b.abs() <= MAX_STEP)
        return torch.where(trusted, a, 0.0), torch.where(trusted, b, 0.0)

    def add_step(self, damped: Tensor | None) -> tuple[Tensor, Tensor]:
        """d ← ay + bd, damped in these rows, (r, 1), and add d to the iterate; return a and b before damping, (r, 1) each."""
        torch.mm(self.preconditioned, self._problem.negative_gram, out=self.preconditioned_logits).mul_(self._alpha_low)
        y, m, d, g = self.preconditioned, self.preconditioned_logits, self.step, self.step_logits
        ry, rd = (-_dot(self.residual, x).double() for x in (m, g))
        hessian_y, hessian_d = y - self._covariance_times(m), d - self._covariance_times(g)  # (I + αΠG)y and (I + αΠG)d
        yy, yd, dd = (-_dot(*x).double() for x in ((hessian_y, m), (hessian_y, g), (hessian_d, g)))
        a, b = self.minimize_in_plane(yy, yd, dd, ry, rd)
        longer = _dot(self.residual, hessian_y).double() / _dot(hessian_y, hessian_y).double().clamp_(min=DIVISION_FLOOR)
        null_space = (a < MIN_STEP) & (longer > MAX_STEP * a)
        a, b = torch.where(null_space, longer, a), torch.where(null_space, 0.0, b)
        for x, new in ((d, y), (g, m)):
            x.mul_(b.to(x)).addcmul_(new, a.to(x))
        if damped is not None:
            factor = MAX_LOGIT_STEP / (g.amax(-1, keepdim=True) - g.amin(-1, keepdim=True)).clamp_(min=MAX_LOGIT_STEP)
            factor = torch.where(damped, factor, 1.0)
            d.mul_(factor)
            g.mul_(factor)
        self.iterate.add_(d)
        self.iterate_logits.add_(g)
        return a, b

    def precondition(self, zero_step: Tensor | None = None) -> None:
        """Solve y + ΠCy = v as ``pcg_row.precondition``; after a step of length zero, (r, 1), y = v."""
        f = self._problem.rank_one
        alpha = self._alpha_low if zero_step is None else torch.where(zero_step, 0.0, self._alpha_low)
        c = alpha * self._problem.diagonal * self.weights
        torch.add(c, 1.0, out=self.preconditioned_logits).reciprocal_()
        x = torch.mul(self.preconditioned_logits, self.residual, out=self.preconditioned)
        q = self.preconditioned_logits.mul_(self.weights)
        cx, tt = _dot(c, x), 1 - _dot(c, q)
        fx, fq, ffq = ((rows @ column).unsqueeze(-1) for rows, column in ((x, f), (q, f), (q, f * f)))
        ss = 1 + alpha * ffq
        inverse_det = 1 / (ss * tt - alpha * fq * fq)
        t, alpha_s = inverse_det * (ss * cx + alpha * fq * fx), inverse_det * alpha * (tt * fx + fq * cx)
        self.preconditioned.addcmul_(q, t - alpha_s * f)

    def softmax_and_residual(self) -> None:
        """p = softmax(logits), v = p − w and ‖v‖ in the low precision."""
        self.weights = torch.softmax(self.iterate_logits, -1)
        torch.sub(self.weights, self.iterate, out=self.residual)
        self.residual_norm = self.residual.norm(dim=-1, keepdim=True)

    def softmax_and_residual_float64(self) -> None:
        """p = softmax(logits) and ‖p − w‖ in float64; p and v = p − w rounded to the low precision."""
        weights = torch.softmax(self.refined_logits, -1, out=self._solution.weights)
        residual = weights - self.refined
        self.refined_residual_norm = residual.norm(dim=-1, keepdim=True)
        self.weights.copy_(weights)
        self.residual.copy_(residual)

    def update_linear_residual(self) -> None:
        """v ← v − (I + αΠG)d, and ‖v‖."""
        self.residual.add_(self._covariance_times(self.step_logits)).sub_(self.step)
        self.residual_norm = self.residual.norm(dim=-1, keepdim=True)

    def _covariance_times(self, logits: Tensor) -> Tensor:
        """Π times each row, (r, n)."""
        product = self.weights * logits
        return product.addcmul_(self.weights, product.sum(-1, keepdim=True), value=-1.0)

    def count_active(self) -> int:
        """The number of rows that have neither converged nor contain NaN."""
        return int((self.residual_norm > self.stopping_residual).sum())

    def start_pcg(self) -> int:
        """Start from w = u; return the number of active rows."""
        problem = self._problem
        linear = pcg.linear_regime_residual_squared(problem, self.target_norm, self._alpha).sqrt()
        floor = pcg.low_precision_residual_floor(problem, self.target_norm, self._alpha)
        self.stopping_residual = torch.maximum(linear, floor)
        prior = problem.log_prior.to(self._alpha_low.dtype).exp()
        torch.add(self.target_logits, problem.log_prior, out=self.iterate_logits)
        self.iterate_logits.add_(prior @ problem.negative_gram * self._alpha_low)
        self.iterate = prior.expand_as(self.iterate_logits).clone()
        self.step = torch.zeros_like(self.iterate)
        self.step_logits.zero_()
        self.softmax_and_residual()
        self.precondition()
        return self.count_active()

    def pcg_step(self) -> int:
        """Make one step; return the number of active rows."""
        a, b = self.add_step(pcg.needs_damping(self._problem.radius, self._alpha, self.residual_norm))
        self.softmax_and_residual()
        self.precondition((a == 0) & (b == 0))
        return self.count_active()

    def run_pcg(self) -> None:
        """Find w in the low precision; convert it to float64 and normalize it to sum 1, the sum of p."""
        active, steps = self.start_pcg(), 0
        while active and steps < MAX_PCG_STEPS:
            active, steps = self.pcg_step(), steps + 1
        self.refined = self.iterate.double()
        self.refined /= self.refined.sum(-1, keepdim=True)

    def recompute_logits(self, rows: Tensor) -> None:
        """The logits of these rows, (r, 1), from w alone, and the required residual."""
        problem, selected = self._problem, rows.squeeze(-1)
        alpha, w, target_logits, target_norm = (
            x[selected] for x in (self._alpha, self.refined, self.target_logits, self.target_norm)
        )
        image = w @ problem.gram * alpha
        log_prior = problem.log_prior if len(problem.log_prior) == 1 else problem.log_prior[selected]
        self.refined_logits[selected] = target_logits - image + log_prior
        quadratic_form = ((image - 2 * target_logits) * w).sum(-1, keepdim=True)
        dual_norm = alpha * (target_norm.square() + quadratic_form / alpha).clamp(min=0).sqrt()  # ‖λ‖ = α‖b − Tᵀw‖
        self.required_residual[selected] = pcg.required_residual(problem, target_norm, alpha, dual_norm)
        self.logit_error[selected] = 0.0

    def start_refinement(self, rows: Tensor) -> None:
        """Start PCG for (I + αΠG)e = v from e = 0 in these rows, (r, 1); in the others e stays 0."""
        for x in (self.iterate, self.iterate_logits, self.step, self.step_logits):
            x.zero_()
        self.step_norm, self.path_length = torch.zeros_like(self.target_norm), torch.zeros_like(self.target_norm)
        self.stopping_residual = REFINEMENT_TARGET * self.required_residual
        self.residual.copy_(torch.where(rows, self.residual, 0.0))
        self.precondition()

    def refinement_step(self) -> int:
        """Make one PCG step for e; return the number of active rows."""
        a, b = self.add_step(None)
        y_norm = self.preconditioned.norm(dim=-1, keepdim=True) + self._problem.underflow_length
        self.step_norm = a.abs() * y_norm + b.abs() * self.step_norm
        self.path_length += self.step_norm
        self.update_linear_residual()
        self.precondition((a == 0) & (b == 0))
        return self.count_active()

    def apply_correction(self, steps: int) -> None:
        """Add e to w and −αGe to the logits, in float64, and the error of −αGe to theirs."""
        self.refined_logits.add_(self.iterate_logits)
        self.refined.add_(self.iterate)
        self.logit_error += pcg.correction_error(self._problem, self._alpha, self.path_length, steps)

    def refine(self) -> None:
        """Refine w until the error bound is within the tolerance, row by row."""
        self.refined_logits = torch.empty_like(self.refined)
        self.recompute_logits(torch.ones_like(self.required_residual, dtype=torch.bool))
        self.softmax_and_residual_float64()
        for _ in range(MAX_REFINEMENTS):
            rows = self._rows_where(pcg.needs_refinement)
            if not bool(rows.any()):
                break
            self.start_refinement(rows)
            active, steps = 1, 0
            while active and steps < MAX_PCG_STEPS:
                active, steps = self.refinement_step(), steps + 1
            self.apply_correction(steps)
            self.softmax_and_residual_float64()
            stale = self._rows_where(pcg.has_stale_logits)
            if bool(stale.any()):
                self.recompute_logits(stale)
                self.softmax_and_residual_float64()

    def _rows_where(self, condition: Callable[..., Tensor]) -> Tensor:
        """Where a condition of ``pcg`` on the refined rows holds, (r, 1)."""
        return condition(self._problem, self.refined_residual_norm, self.logit_error, self.required_residual)

    def write_dual(self) -> None:
        """λ from b and Tᵀw, ‖λ‖, and the mean."""
        problem, solution = self._problem, self._solution
        torch.mm(self.refined, problem.templates, out=solution.mean)
        torch.sub(problem.target, solution.mean, out=solution.dual).mul_(self._alpha)
        solution.mean.add_(problem.center)
        torch.linalg.vector_norm(solution.dual, dim=-1, out=solution.dual_norm)

    def write_bounds(self) -> None:
        """The error bounds of λ and p, rounding included."""
        problem, solution = self._problem, self._solution
        alpha, residual_norm, target_norm, logit_error = (
            x.squeeze(-1) for x in (self._alpha, self.refined_residual_norm, self.target_norm, self.logit_error)
        )
        mass = 1 + self.refined.shape[-1] ** 0.5 * residual_norm
        sums, weights_error = pcg.rounding_errors(problem, target_norm, alpha, solution.dual_norm, mass)
        weights_error = weights_error + logit_error + problem.log_prior_error
        gradient_norm = pcg.gradient_bound(problem, residual_norm, sums, problem.target_error, weights_error)
        solution.gradient_norm.copy_(gradient_norm)
        solution.gap.copy_(pcg.duality_gap(alpha, gradient_norm))
        solution.mean_error.copy_(pcg.mean_error_with_center(gradient_norm, problem.span, solution.dual_norm, alpha))
        solution.error.copy_(alpha * gradient_norm + UNDERFLOW_NORM)
        distance = torch.fmin(alpha.sqrt() * gradient_norm / 2, 2 * torch.tanh(problem.radius * solution.error / 2))
        solution.weights_error.copy_(distance + weights_error)
        solution.certified.copy_(pcg.is_certified(solution.error, solution.dual_norm, problem.tolerance))


def solve(problem: SharedProblem, solution: SolutionBuffers, rows: int) -> None:
    """Solve the problems tile by tile, with that many rows each."""
    count = len(problem.target)
    for first in range(0, count, rows):
        part = slice(first, first + rows)
        own = {name: x[part] for name, x in problem._asdict().items() if name in _FIELDS_OF_ROWS and len(x) == count}
        tile = Tile(problem._replace(**own), SolutionBuffers(*(x[part] for x in solution)))
        tile.run_pcg()
        tile.refine()
        tile.write_dual()
        tile.write_bounds()


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum(-1, keepdim=True)
