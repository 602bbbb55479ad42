"""Shared helpers for tests of sparsemax and α-entmax: functions, rows and drawn scores."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

from evidence.instances.one_sided import OneSided, one_sided_problems
from numerics.regularizers import entmax15, entmax_bisect, sparsemax

FEW = settings(deadline=None, max_examples=40)
SCALES = (1.0, 0.0, 0.1, 30.0, 1e4)

FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "sparsemax": sparsemax,
    "sparsemax, k = 2": lambda X, dim=-1: sparsemax(X, dim, k=2),
    "entmax15": entmax15,
    "entmax15, k = 2": lambda X, dim=-1: entmax15(X, dim, k=2),
    "softmax": lambda X, dim=-1: entmax_bisect(X, 1.0, dim),
    "entmax 1.3": lambda X, dim=-1: entmax_bisect(X, 1.3, dim),
    "entmax 2.5": lambda X, dim=-1: entmax_bisect(X, 2.5, dim),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def drawn(dtype: torch.dtype = torch.float64, **options: object) -> st.SearchStrategy[OneSided]:
    return one_sided_problems(dtype, scales=SCALES, temperatures=(1.0,), masks=("none", "boolean", "dead row"), **options)


def scores_of(x: OneSided, device: str = "cpu") -> Tensor:
    return x.scores.masked_fill(~x.allowed, -torch.inf).to(device)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
