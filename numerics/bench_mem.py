"""How fast the certified solver of the maximum entropy on the mean is, on the problems that a real attention layer poses.

A head of self-attention with keys K and queries Q solves, by the reading of deciphering (21), one problem per token k: the
templates are the layer's inputs, t_i = x_i/√d', shared by all heads and queries, and the evidence is z = Kᵀ(Q x_k + b).

Peers       L-BFGS on the dual (SciPy), and the primal as it stands (cvxpy with CLARABEL), one problem at a time.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from numerics import mem
from numerics.models.encoder import PARAGRAPH, LanguageModel, load_encoder


@dataclass(frozen=True)
class Timing:
    """What one batch took.

    Attributes:
        problems: how many.
        seconds: median over the rounds, for the whole batch.
        fastest: the smallest of the rounds.
        error: the largest certified ‖λ − λ*‖/(1 + ‖λ‖).
    """

    problems: int
    seconds: float
    fastest: float
    error: float


def layer_problems(layer: int = 3, tokens: int = 128, language_model: LanguageModel | None = None) -> tuple[Tensor, Tensor]:
    """Return templates (tokens, d) and evidence (heads · tokens, d) of one layer of a BERT encoder, float64.

    Raises:
        ValueError: if the model has no such layer.
        ModelUnavailableError: if the encoder is not installed.
    """
    encoder = language_model or load_encoder()
    layers = encoder.model.encoder.layer
    if not 0 <= layer < len(layers):
        raise ValueError(f"layer: expected one of 0 to {len(layers) - 1}, got {layer}")
    text = " ".join([PARAGRAPH] * (1 + tokens // 64))
    inputs = encoder.tokenizer(text, return_tensors="pt", truncation=True, max_length=tokens)
    with torch.no_grad():
        x = encoder.model(**inputs, output_hidden_states=True).hidden_states[layer][0].double()
        attention = layers[layer].attention.self
        heads = attention.num_attention_heads
        query = (x @ attention.query.weight.double().mT + attention.query.bias.double()).unflatten(-1, (heads, -1))
        key = attention.key.weight.double().unflatten(0, (heads, -1))
        evidence = torch.einsum("khc,hcd->hkd", query, key).flatten(0, 1)
    return x / query.shape[-1] ** 0.5, evidence


def measure(templates: Tensor, evidence: Tensor, rounds: int, alpha: float = 1.0) -> Timing:
    """Time ``mem.solve`` on a batch.

    Raises:
        ValueError: for a number of rounds below 1, or if a row is not certified.
    """
    if rounds < 1:
        raise ValueError(f"rounds: expected an integer ≥ 1, got {rounds}")
    taken = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        solution = mem.solve(templates, evidence, None, alpha)
        if templates.is_cuda:
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - start)
    if not bool(solution.converged.all()):
        raise ValueError(f"evidence: {int((~solution.converged).sum())} rows could not be certified")
    error = float((solution.error / (1 + solution.dual.norm(dim=-1))).max())
    return Timing(len(evidence), statistics.median(taken[1:]), min(taken[1:]), error)


def peers(templates: Tensor, evidence: Tensor, alpha: float = 1.0) -> dict[str, Timing]:
    """Time each peer on some of the problems, one after the other; their errors are against ``mem.solve``."""
    t, exact = templates.numpy(), mem.solve(templates, evidence, None, alpha).dual.numpy()
    solvers: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "SciPy L-BFGS": lambda z: _lbfgs(t, z, alpha),
        "cvxpy CLARABEL": lambda z: _conic(t, z, alpha),
    }
    found = {}
    for name, solver in solvers.items():
        taken, errors = [], []
        for z, dual in zip(evidence.numpy(), exact, strict=True):
            start = time.perf_counter()
            answer = solver(z)
            taken.append(time.perf_counter() - start)
            errors.append(float(np.linalg.norm(answer - dual) / (1 + np.linalg.norm(dual))))
        found[name] = Timing(len(taken), statistics.median(taken) * len(taken), min(taken) * len(taken), max(errors))
    return found


def _lbfgs(t: np.ndarray, z: np.ndarray, alpha: float) -> np.ndarray:
    target = t.mean(0) + z

    def negative(dual: np.ndarray) -> tuple[float, np.ndarray]:
        scores = t @ dual
        terms = np.exp(scores - scores.max())
        value = np.log(terms.mean()) + scores.max() + dual @ dual / (2 * alpha) - dual @ target
        return float(value), dual / alpha + terms @ t / terms.sum() - target

    options: Any = {"maxiter": 1000, "ftol": 0.0, "gtol": 1e-10}
    found: Any = minimize(negative, np.zeros(len(z)), args=(), method="L-BFGS-B", jac=True, options=options)
    return np.asarray(found.x)


def _conic(t: np.ndarray, z: np.ndarray, alpha: float) -> np.ndarray:
    n = len(t)
    p = cp.Variable(n)
    target = t.mean(0) + z
    objective = alpha / 2 * cp.sum_squares(target - p @ t) - cp.sum(cp.entr(p)) + np.log(n)
    cp.Problem(cp.Minimize(objective), [cp.sum(p) == 1, p >= 0]).solve(solver=cp.CLARABEL)
    return np.asarray(alpha * (target - np.asarray(p.value) @ t))
