"""The data of the solver for shared templates: the problem, the buffers for its solution, and the state of its iteration.

Claims      deciphering.9
Notation    as in ``pcg``. Fields are tensors in ``pcg_torch`` and arrays in ``pcg_numba``. Those of shape (1,) or (1, n) hold
            for all r rows, those of shape (r,) or (r, n) differ from row to row.
"""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class SharedProblem(NamedTuple):
    """A batch of problems on the same templates, with the preconditioner and the constants of its error bounds.

    Attributes:
        target: b, (r, d).
        alpha: α, (r,).
        log_prior: log u, (1, n) or (r, n).
        target_error: bound on the error of b, (1,) or (r,).
        log_prior_error: bound on the error of log u_i beyond four roundings of log u_i itself, (1,) or (r,).
        center: c, (d,).
        templates: T, centred, (n, d).
        templates_transposed: Tᵀ, (d, n).
        gram: G = TTᵀ, (n, n).
        negative_gram: −G in the low precision, (n, n).
        rank_one: f, (n,), in the low precision; ffᵀ is the leading part of G in the preconditioner.
        diagonal: D, (n,), in the low precision; it stands for G − ffᵀ in the preconditioner.
        radius: bound on max_i ‖t_i‖.
        span: bound on the norm of every mean of the templates as given.
        sqrt_gram_norm: bound on √‖G‖.
        product_error: error of an entry of Gy per rounding and per unit of ‖y‖, in the low precision.
        underflow_length: added to ‖y‖ in every step to cover what underflow loses.
        tolerance: required ‖λ − λ*‖, relative to 1 + ‖λ‖.
    """

    target: Any
    alpha: Any
    log_prior: Any
    target_error: Any
    log_prior_error: Any
    center: Any
    templates: Any
    templates_transposed: Any
    gram: Any
    negative_gram: Any
    rank_one: Any
    diagonal: Any
    radius: float
    span: float
    sqrt_gram_norm: float
    product_error: float
    underflow_length: float
    tolerance: float


class SolutionBuffers(NamedTuple):
    """Where the solution is written: λ and μ + z − λ/α, (r, d) each, and the fields of ``bounds.Bounds``."""

    dual: Any
    mean: Any
    weights: Any
    dual_norm: Any
    gradient_norm: Any
    error: Any
    weights_error: Any
    mean_error: Any
    gap: Any
    certified: Any


class Workspace(NamedTuple):
    """The state of a tile of rows. Arrays are (rows, n) in the first two groups, (rows,) in the last two.

    Logits are linear in w, so every vector that w is made of has its share of them: ``x_logits`` belongs to ``x``.

    Attributes:
        block_size: preferred number of multiplications of one matrix product.

        Updated in every PCG step, float32:
        iterate: w, or in refinement the correction e.
        iterate_logits: log u + α(Tb − Gw), or −αGe.
        step: d, the last step.
        step_logits: −αGd.
        weights: p = softmax of the logits; constant during a refinement.
        residual: v = p − w, or the residual of the linear system.
        preconditioned: y, the preconditioned residual; packed, row k belongs to row ``active[k]``.
        preconditioned_logits: −αGy, packed likewise.
        prior: u; only the first row is used if all rows share the prior.
        prior_image: −Gu, likewise.

        Updated in every refinement, float64:
        target_logits: αTb; constant.
        refined: w.
        refined_logits: log u + α(Tb − Gw).
        packed: w of the rows ``selected``, packed.
        gram_product: Gw of the rows ``selected``, packed.

        Of a row, float32:
        alpha: α.
        residual_norm: ‖v‖.

        Of a row, float64 but for the last two:
        target_norm: ‖b‖.
        refined_residual_norm: ‖p − w‖ as evaluated in float64.
        logit_error: bound on the error of ``refined_logits`` due to low-precision corrections.
        stopping_residual: the ‖v‖ at which PCG stops.
        required_residual: the ‖v‖ that the tolerance requires.
        step_norm: x_k = |a|‖y‖ + |b|x_{k−1}, a bound on ‖d‖.
        path_length: Σ_k x_k over the steps of one refinement.
        active: numbers of the rows in which PCG goes on, packed.
        selected: numbers of the rows to be evaluated in float64, packed.
    """

    block_size: int
    iterate: Array
    iterate_logits: Array
    step: Array
    step_logits: Array
    weights: Array
    residual: Array
    preconditioned: Array
    preconditioned_logits: Array
    prior: Array
    prior_image: Array
    target_logits: Array
    refined: Array
    refined_logits: Array
    packed: Array
    gram_product: Array
    alpha: Array
    residual_norm: Array
    target_norm: Array
    refined_residual_norm: Array
    logit_error: Array
    stopping_residual: Array
    required_residual: Array
    step_norm: Array
    path_length: Array
    active: Array
    selected: Array
