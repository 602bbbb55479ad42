"""Shared helpers for tests of closed forms: devices, dtypes, batches, and one-sided definitions in extended precision."""

import numpy as np
import pytest
import torch
from hypothesis import settings
from torch import Tensor
from torch.testing import assert_close

from evidence.instances.one_sided import OneSided
from evidence.instances.ot import OtProblem, ot_problem
from numerics import tolerances

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
HALVES = [torch.bfloat16, torch.float16]

PATIENT = settings(deadline=None)

on_devices = pytest.mark.parametrize("device", DEVICES)
in_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
in_halves = pytest.mark.parametrize("dtype", HALVES, ids=str)


def close(actual: Tensor, expected: Tensor, atol: float) -> None:
    """``assert_close`` with an absolute tolerance only; it checks shapes and dtypes, and does not broadcast."""
    assert_close(actual, expected, atol=atol, rtol=0.0)


def double(*rows: object) -> Tensor:
    """A float64 tensor of these numbers."""
    return torch.tensor(rows, dtype=torch.float64)


def many_problems(seed: int, count: int, N: int = 5, d: int = 3, *, symmetric: bool) -> OtProblem:
    """Problems of transport attention with α = γ = 1 and costs that are symmetric or not, or partly forbidden."""
    return ot_problem(N, d, 1.0, 1.0, seed, costs="symmetric" if symmetric else "forbidding", batch=(count,))


def wide(x: Tensor) -> np.ndarray:
    return x.detach().cpu().double().numpy().astype(np.longdouble)


def reference(x: OneSided) -> tuple[Tensor, Tensor]:
    """The plan and log Z in extended precision, from the definition, with differences of scores as exponents."""
    allowed = x.allowed.cpu().numpy()
    scores = np.where(allowed, wide(x.scores), -np.inf)
    peak = np.where(allowed.any(-1, keepdims=True), scores.max(-1, keepdims=True), 0)
    exponents = (scores - peak) / np.longdouble(x.temperature)
    if x.mask is not None and x.mask.dtype != torch.bool:
        exponents = exponents + wide(x.mask)
    terms = np.exp(exponents)
    total = terms.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_z = (np.log(total) + peak / np.longdouble(x.temperature))[..., 0]
    plan = terms / np.where(total > 0, total, 1)
    return torch.from_numpy(plan.astype(np.float64)), torch.from_numpy(log_z.astype(np.float64))


def bias(x: OneSided) -> float:
    """The largest number that a floating mask adds."""
    return 0.0 if x.mask is None or x.mask.dtype == torch.bool else float(x.mask[x.allowed].abs().max())


def error(x: OneSided) -> float:
    return tolerances.plan(x.scores.dtype, x.m, bias(x))
