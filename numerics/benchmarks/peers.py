"""The methods that ``mem.solve`` is compared with: other algorithms for the same λ*, and lower bounds on any algorithm's time.

Claims      deciphering.4, deciphering.8, deciphering.9
Peers       one problem at a time: the primal as it stands (cvxpy with CLARABEL), L-BFGS and trust-exact on the dual (SciPy);
            all problems at once: Newton's method with a dense Hessian for each, and gradient ascent on the dual, with the
            step 1/(1/α + r²), r = max ‖t_i − μ‖, for as many steps as the tolerance takes or a limit
Floors      what any method has to do: one product with the Gram matrix; the scores and the mean of one pass of attention
"""

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from numerics import mem
from numerics.mem.batch import Batch
from numerics.mem.newton import maximize

Solver = Callable[[Tensor], Tensor]
"""Evidence (r, d) to λ (r, d)."""

ASCENT_STEPS = 2000


def one_by_one(templates: Tensor, alpha: float) -> dict[str, Solver]:
    """The peers that take one problem at a time; in float64, on the CPU."""
    t = templates.numpy()

    def each(solve: Callable[[np.ndarray], np.ndarray]) -> Solver:
        return lambda evidence: torch.from_numpy(np.stack([solve(z) for z in evidence.numpy()]))

    return {
        "cvxpy CLARABEL": each(lambda z: _conic(t, z, alpha)),
        "SciPy trust-exact": each(lambda z: _trust(t, z, alpha)),
        "SciPy L-BFGS": each(lambda z: _lbfgs(t, z, alpha)),
    }


def batched(templates: Tensor, alpha: float, tolerance: float = 1e-9) -> dict[str, Solver]:
    """The peers that take all problems at once."""

    def newton(evidence: Tensor) -> Tensor:
        batch = Batch(templates, evidence, None, alpha, None)
        numbers = torch.arange(len(evidence), device=evidence.device)
        return torch.cat([maximize(batch.rows(tile), tolerance) for tile in batch.tiles(numbers)])

    def ascent(evidence: Tensor) -> Tensor:
        centred = templates - templates.mean(0)
        step = 1 / (1 / alpha + float(centred.square().sum(-1).amax()))
        dual = torch.zeros_like(evidence)
        for _ in range(ASCENT_STEPS):
            gradient = evidence - dual / alpha - (dual @ centred.mT).softmax(-1) @ centred
            if bool((alpha * gradient.norm(dim=-1) <= tolerance * (1 + dual.norm(dim=-1))).all()):
                break
            dual.add_(gradient, alpha=step)
        return dual

    return {"gradient ascent": ascent, "dense Newton": newton, "mem.solve": lambda z: mem.solve(templates, z, None, alpha).dual}


def floors(templates: Tensor, evidence: Tensor) -> dict[str, Solver]:
    """Return the operations that any method needs, in float64 on the same device, as lower bounds; they do not compute λ."""
    gram = templates @ templates.mT
    weights = (evidence @ templates.mT).softmax(-1)
    return {
        "floor: Gram product": lambda _: weights @ gram,
        "floor: attention": lambda z: (z @ templates.mT).softmax(-1) @ templates,
    }


def _dual(t: np.ndarray, z: np.ndarray, alpha: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """−D with its gradient, and its Hessian."""
    centred = t - t.mean(0)

    def tilted(dual: np.ndarray) -> tuple[np.ndarray, float]:
        scores = centred @ dual
        terms = np.exp(scores - scores.max())
        return terms / terms.sum(), float(np.log(terms.mean()) + scores.max())

    def negative(dual: np.ndarray) -> tuple[float, np.ndarray]:
        p, log_partition = tilted(dual)
        return float(log_partition + dual @ dual / (2 * alpha) - dual @ z), dual / alpha + p @ centred - z

    def hessian(dual: np.ndarray) -> np.ndarray:
        p, _ = tilted(dual)
        mean = p @ centred
        return np.asarray(np.eye(len(z)) / alpha + (centred.T * p) @ centred - np.outer(mean, mean))

    return negative, hessian


def _lbfgs(t: np.ndarray, z: np.ndarray, alpha: float) -> np.ndarray:
    negative, _ = _dual(t, z, alpha)
    options: Any = {"maxiter": 1000, "ftol": 0.0, "gtol": 1e-10}
    result: Any = minimize(negative, np.zeros(len(z)), method="L-BFGS-B", jac=True, options=options)
    return np.asarray(result.x)


def _trust(t: np.ndarray, z: np.ndarray, alpha: float) -> np.ndarray:
    negative, hessian = _dual(t, z, alpha)
    options: Any = {"gtol": 1e-10, "maxiter": 200}
    result: Any = minimize(negative, np.zeros(len(z)), method="trust-exact", jac=True, hess=hessian, options=options)
    return np.asarray(result.x)


def _conic(t: np.ndarray, z: np.ndarray, alpha: float) -> np.ndarray:
    n = len(t)
    p = cp.Variable(n)
    target = t.mean(0) + z
    objective = alpha / 2 * cp.sum_squares(target - p @ t) - cp.sum(cp.entr(p)) + np.log(n)
    cp.Problem(cp.Minimize(objective), [cp.sum(p) == 1, p >= 0]).solve(solver=cp.CLARABEL)
    return np.asarray(alpha * (target - np.asarray(p.value) @ t))
