"""Numba implementation of ``pcg``, for the CPU: a row stays in the core's cache until its step is done.

PyTorch would pass over memory once for every operation. Matrix products are those of SciPy's BLAS, for all rows of a tile.

Claims      deciphering.9
Notation    as in ``pcg``
Packing     PCG goes on only for the ``active`` rows. The preconditioned residual of the row active[k] is row k of
            ``preconditioned``, so that one product serves all active rows; all else is in the row itself. The rows ``selected``
            for float64 are packed in the same way in ``packed`` and ``gram_product``.
"""

import numpy as np

from numerics.mem import pcg
from numerics.mem.pcg import MAX_PCG_STEPS, MAX_REFINEMENTS, REFINEMENT_TARGET, UNDERFLOW_NORM
from numerics.mem.pcg_compile import as_written, driver, exp32, inlined, multiply, prefetch_row, reordered, reordered_fused
from numerics.mem.pcg_row import (
    ZERO,
    add_step,
    norm,
    precondition,
    quadratic_form,
    scale_row,
    softmax_and_residual,
    softmax_and_residual_float64,
    step_factors,
    update_linear_residual,
)
from numerics.mem.pcg_state import Array, SharedProblem, SolutionBuffers, Workspace


@inlined
def keep_if_active(r: int, count: int, zero_step: bool, problem: SharedProblem, s: Workspace) -> int:
    """Append row r to the active rows unless it has converged or contains NaN; after a step of length zero, y = v."""
    if s.residual_norm[r] > s.stopping_residual[r]:
        alpha = ZERO if zero_step else s.alpha[r]
        y, scratch = s.preconditioned[count], s.preconditioned_logits[count]
        precondition(s.residual[r], s.weights[r], problem.diagonal, problem.rank_one, alpha, y, scratch)
        s.active[count] = r
        count += 1
    return count


@as_written
def exponentiate_prior(log_prior: Array, prior: Array) -> None:
    """u from log u, in float32."""
    for r in range(len(log_prior)):
        for j in range(log_prior.shape[1]):
            prior[r, j] = exp32(np.float32(log_prior[r, j]))


@inlined
def set_prior_image(problem: SharedProblem, s: Workspace) -> None:
    """u and −Gu, in float32."""
    priors = len(problem.log_prior)
    exponentiate_prior(problem.log_prior, s.prior)
    multiply(s.prior[:priors], problem.negative_gram, s.block_size, s.prior_image[:priors])


@reordered_fused
def start_pcg(problem: SharedProblem, s: Workspace) -> int:
    """Start from w = u, given Tb in ``target_logits``, which becomes αTb; return the number of active rows."""
    count = 0
    for r in range(len(problem.alpha)):
        s.target_norm[r] = norm(problem.target[r])
        square = pcg.linear_regime_residual_squared(problem, s.target_norm[r], problem.alpha[r])
        floor = pcg.low_precision_residual_floor(problem, s.target_norm[r], problem.alpha[r])
        s.stopping_residual[r] = max(np.sqrt(square), floor)
        own = r % len(problem.log_prior)
        alpha, log_prior, prior, prior_image = problem.alpha[r], problem.log_prior[own], s.prior[own], s.prior_image[own]
        target_logits, logits, w, step, step_logits = (
            s.target_logits[r],
            s.iterate_logits[r],
            s.iterate[r],
            s.step[r],
            s.step_logits[r],
        )
        alpha32 = s.alpha[r] = np.float32(alpha)
        for j in range(len(log_prior)):
            x = alpha * target_logits[j]
            target_logits[j] = x
            logits[j] = np.float32(x + log_prior[j]) + alpha32 * prior_image[j]
            w[j] = prior[j]
            step[j] = step_logits[j] = ZERO
        s.residual_norm[r] = softmax_and_residual(logits, w, s.weights[r], s.residual[r])
        count = keep_if_active(r, count, False, problem, s)
    return count


@reordered_fused
def pcg_step(active: int, problem: SharedProblem, s: Workspace, fetched: Array) -> int:
    """Make one step in the active rows, given −Gy; return how many stay active. Prefetch the same rows of ``fetched``."""
    count = 0
    for k in range(active):
        r = s.active[k]
        prefetch_row(fetched, r)
        scale_row(s.preconditioned_logits[k], s.alpha[r])
        damped = pcg.needs_damping(problem.radius, problem.alpha[r], s.residual_norm[r])
        y, m, d, g, p, v = (
            s.preconditioned[k],
            s.preconditioned_logits[k],
            s.step[r],
            s.step_logits[r],
            s.weights[r],
            s.residual[r],
        )
        a, b, _ = step_factors(y, m, d, g, p, v, damped)
        add_step(a, y, b, d, s.iterate[r])
        add_step(a, m, b, g, s.iterate_logits[r])
        s.residual_norm[r] = softmax_and_residual(s.iterate_logits[r], s.iterate[r], p, v)
        count = keep_if_active(r, count, a == 0 and b == 0, problem, s)
    return count


@reordered
def normalize(iterate: Array, w: Array) -> None:
    """Convert w to float64 and normalize it to sum 1, the sum of p; steps sum to 0 up to rounding."""
    for r in range(len(w)):
        total = 0.0
        for j in range(w.shape[1]):
            total += np.float64(iterate[r, j])
        scale = 1 / total
        for j in range(w.shape[1]):
            w[r, j] = iterate[r, j] * scale


@inlined
def run_pcg(problem: SharedProblem, solution: SolutionBuffers, s: Workspace, next_target: Array) -> None:
    """Find w in float32. The buffers and ``next_target``, the b of the next tile, are prefetched in the first steps."""
    fetched = (next_target, solution.dual, solution.mean, next_target[:0])
    rows = len(problem.alpha)
    multiply(problem.target, problem.templates_transposed, s.block_size, s.target_logits[:rows])
    active, steps = start_pcg(problem, s), 0
    while active > 0 and steps < MAX_PCG_STEPS:
        multiply(s.preconditioned[:active], problem.negative_gram, s.block_size, s.preconditioned_logits[:active])
        active, steps = pcg_step(active, problem, s, fetched[min(steps, 3)]), steps + 1
    normalize(s.iterate, s.refined[:rows])


@as_written
def recompute_logits(count: int, problem: SharedProblem, s: Workspace) -> None:
    """The logits of the selected rows from w alone, given Gw, and the required residual."""
    for k in range(count):
        r = s.selected[k]
        alpha, log_prior, gram_w, target_logits, logits = (
            problem.alpha[r],
            problem.log_prior[r % len(problem.log_prior)],
            s.gram_product[k],
            s.target_logits[r],
            s.refined_logits[r],
        )
        square = s.target_norm[r] * s.target_norm[r] + quadratic_form(s.refined[r], gram_w, target_logits, alpha) / alpha
        dual_norm = alpha * np.sqrt(max(square, 0.0))  # ‖λ‖ = α‖b − Tᵀw‖
        s.logit_error[r], s.required_residual[r] = 0.0, pcg.required_residual(problem, s.target_norm[r], alpha, dual_norm)
        for j in range(len(gram_w)):
            logits[j] = target_logits[j] - alpha * gram_w[j] + log_prior[j]


@reordered
def evaluate_float64(count: int, solution: SolutionBuffers, s: Workspace) -> None:
    """p and ‖p − w‖ of the selected rows in float64; p and p − w in float32, for the next refinement."""
    for k in range(count):
        r = s.selected[k]
        s.refined_residual_norm[r] = softmax_and_residual_float64(
            s.refined_logits[r], s.refined[r], solution.weights[r], s.weights[r], s.residual[r]
        )


@reordered_fused
def start_refinement(problem: SharedProblem, s: Workspace) -> int:
    """Start PCG for (I + αΠG)e = v from e = 0 in the rows that need it; return the number of active rows."""
    count = 0
    for r in range(len(problem.alpha)):
        required = s.required_residual[r]
        if pcg.needs_refinement(problem, s.refined_residual_norm[r], s.logit_error[r], required):
            for x in (s.iterate, s.iterate_logits, s.step, s.step_logits):
                x[r] = ZERO
            s.step_norm[r] = s.path_length[r] = 0.0
            s.stopping_residual[r] = REFINEMENT_TARGET * required
            y, scratch = s.preconditioned[count], s.preconditioned_logits[count]
            precondition(s.residual[r], s.weights[r], problem.diagonal, problem.rank_one, s.alpha[r], y, scratch)
            s.active[count] = s.selected[count] = r
            count += 1
    return count


@reordered_fused
def refinement_step(active: int, problem: SharedProblem, s: Workspace) -> int:
    """Make one PCG step for e in the active rows, given −Gy; return how many stay active."""
    count = 0
    for k in range(active):
        r = s.active[k]
        scale_row(s.preconditioned_logits[k], s.alpha[r])
        y, m, d, g, p, v = (
            s.preconditioned[k],
            s.preconditioned_logits[k],
            s.step[r],
            s.step_logits[r],
            s.weights[r],
            s.residual[r],
        )
        a, b, pg = step_factors(y, m, d, g, p, v, False)
        s.step_norm[r] = abs(a) * (norm(y) + problem.underflow_length) + abs(b) * s.step_norm[r]
        s.path_length[r] += s.step_norm[r]
        add_step(a, y, b, d, s.iterate[r])
        add_step(a, m, b, g, s.iterate_logits[r])
        s.residual_norm[r] = update_linear_residual(g, pg, p, d, v)
        count = keep_if_active(r, count, a == 0 and b == 0, problem, s)
    return count


@as_written
def apply_correction(count: int, steps: int, problem: SharedProblem, s: Workspace) -> None:
    """Add e to w and −αGe to the logits of the selected rows, in float64, and the error of −αGe to theirs."""
    for k in range(count):
        r = s.selected[k]
        s.logit_error[r] += pcg.correction_error(problem, problem.alpha[r], s.path_length[r], steps)
        logits, correction_logits, w, correction = s.refined_logits[r], s.iterate_logits[r], s.refined[r], s.iterate[r]
        for j in range(len(w)):
            logits[j] += correction_logits[j]
            w[j] += correction[j]


@as_written
def select_stale_rows(count: int, problem: SharedProblem, s: Workspace) -> int:
    """Select, among the selected rows, those whose logits have to be recomputed; pack their w, return their number."""
    stale = 0
    for k in range(count):
        r = s.selected[k]
        if pcg.has_stale_logits(problem, s.refined_residual_norm[r], s.logit_error[r], s.required_residual[r]):
            s.selected[stale] = r
            for j in range(s.refined.shape[1]):
                s.packed[stale, j] = s.refined[r, j]
            stale += 1
    return stale


@inlined
def refine(problem: SharedProblem, solution: SolutionBuffers, s: Workspace) -> None:
    """Refine w until the error bound is within the tolerance, row by row."""
    count = len(problem.alpha)
    for r in range(count):
        s.selected[r] = r
    multiply(s.refined[:count], problem.gram, s.block_size, s.gram_product[:count])
    recompute_logits(count, problem, s)
    evaluate_float64(count, solution, s)
    for _ in range(MAX_REFINEMENTS):
        active = count = start_refinement(problem, s)
        if count == 0:
            break
        steps = 0
        while active > 0 and steps < MAX_PCG_STEPS:
            multiply(s.preconditioned[:active], problem.negative_gram, s.block_size, s.preconditioned_logits[:active])
            active, steps = refinement_step(active, problem, s), steps + 1
        apply_correction(count, steps, problem, s)
        evaluate_float64(count, solution, s)
        count = select_stale_rows(count, problem, s)
        if count > 0:
            multiply(s.packed[:count], problem.gram, s.block_size, s.gram_product[:count])
            recompute_logits(count, problem, s)
            evaluate_float64(count, solution, s)


@reordered
def write_dual(problem: SharedProblem, solution: SolutionBuffers) -> None:
    """λ from b and Tᵀw, ‖λ‖, and the mean."""
    for r in range(len(problem.alpha)):
        square, alpha, target, mean, dual = 0.0, problem.alpha[r], problem.target[r], solution.mean[r], solution.dual[r]
        for j in range(len(mean)):
            x = alpha * (target[j] - mean[j])
            dual[j] = x
            mean[j] += problem.center[j]
            square += x * x
        solution.dual_norm[r] = np.sqrt(square)


@as_written
def write_bounds(problem: SharedProblem, solution: SolutionBuffers, s: Workspace) -> None:
    """The error bounds of λ and p, rounding included."""
    for r in range(len(problem.alpha)):
        alpha, residual_norm, dual_norm = problem.alpha[r], s.refined_residual_norm[r], solution.dual_norm[r]
        mass = 1 + np.sqrt(len(problem.gram)) * residual_norm
        sums, weights_error = pcg.rounding_errors(problem, s.target_norm[r], alpha, dual_norm, mass)
        weights_error += s.logit_error[r] + problem.log_prior_error[r % len(problem.log_prior_error)]
        target_error = problem.target_error[r % len(problem.target_error)]
        gradient_norm = pcg.gradient_bound(problem, residual_norm, sums, target_error, weights_error)
        error = alpha * gradient_norm + UNDERFLOW_NORM
        distance = np.fmin(np.sqrt(alpha) * gradient_norm / 2, 2 * np.tanh(problem.radius * error / 2))
        solution.gradient_norm[r], solution.error[r], solution.weights_error[r] = gradient_norm, error, distance + weights_error
        solution.mean_error[r] = pcg.mean_error_with_center(gradient_norm, problem.span, dual_norm, alpha)
        solution.gap[r] = pcg.duality_gap(alpha, gradient_norm)
        solution.certified[r] = pcg.is_certified(error, dual_norm, problem.tolerance)


@inlined
def _rows_of(x: Array, first: int, last: int) -> Array:
    return x if len(x) == 1 else x[first:last]


@driver
def solve(first: int, last: int, problem: SharedProblem, solution: SolutionBuffers, s: Workspace) -> None:
    """Solve the problems of these rows, one tile of the size of the workspace after the other."""
    for i in range(first, last, len(s.stopping_residual)):
        j = min(i + len(s.stopping_residual), last)
        tile = SharedProblem(
            problem.target[i:j],
            problem.alpha[i:j],
            _rows_of(problem.log_prior, i, j),
            _rows_of(problem.target_error, i, j),
            _rows_of(problem.log_prior_error, i, j),
            problem.center,
            problem.templates,
            problem.templates_transposed,
            problem.gram,
            problem.negative_gram,
            problem.rank_one,
            problem.diagonal,
            problem.radius,
            problem.span,
            problem.sqrt_gram_norm,
            problem.product_error,
            problem.underflow_length,
            problem.tolerance,
        )
        buffers = SolutionBuffers(
            solution.dual[i:j],
            solution.mean[i:j],
            solution.weights[i:j],
            solution.dual_norm[i:j],
            solution.gradient_norm[i:j],
            solution.error[i:j],
            solution.weights_error[i:j],
            solution.mean_error[i:j],
            solution.gap[i:j],
            solution.certified[i:j],
        )
        if i == first or len(problem.log_prior) > 1:
            set_prior_image(tile, s)
        run_pcg(tile, buffers, s, problem.target[j : min(2 * j - i, last)])
        refine(tile, buffers, s)
        multiply(s.refined[: j - i], problem.templates, s.block_size, buffers.mean)
        write_dual(tile, buffers)
        write_bounds(tile, buffers, s)
