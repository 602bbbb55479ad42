"""Shapes that the models of the listings accept, which only running them can show."""

import math
import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from evidence.transport import listings as models

SIZES = (1, 2, 3, 5)


def runs(function: Callable[[], Tensor], shape: tuple[int, ...]) -> bool:
    """Whether a call succeeds with a finite result of this shape."""
    try:
        result = function()
    except (RuntimeError, UserWarning):  # shapes that do not fit, or a transpose of three axes
        return False
    return tuple(result.shape) == shape and bool(result.isfinite().all())


def uniform(*shape: int) -> Tensor:
    return torch.full(shape, 1 / shape[-1], dtype=torch.float64)


def one_problem(n: int, m: int) -> bool:
    """Whether `sinkhorn` takes n sources and m targets."""
    return runs(lambda: models.sinkhorn(uniform(n), uniform(m), uniform(n, m), 1.0), (n, m))


def many_problems(batch: int, n: int) -> bool:
    """Whether `sinkhorn` takes a batch of problems."""
    return runs(lambda: models.sinkhorn(uniform(batch, n), uniform(batch, n), uniform(batch, n, n), 1.0), (batch, n, n))


def divergence(batch: int, tokens: int, width: int = 2) -> bool:
    """Whether `compute_attention_ot_divergence` takes a batch of queries and keys."""
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, batch, tokens, width, generator=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a transpose of three axes
        return runs(lambda: models.attention_divergence(query, key, 1.0), ())


def one_head(tokens: int, width: int) -> bool:
    """Whether it takes queries and keys without a batch."""
    query, key = torch.randn(2, tokens, width, generator=torch.Generator().manual_seed(0))
    return runs(lambda: models.attention_divergence(query, key, 1.0), ())


def test_sinkhorn_accepts_one_problem_of_any_size_and_no_batch() -> None:
    assert all(one_problem(n, m) for n in SIZES for m in SIZES)
    assert not any(many_problems(batch, n) for batch in (2, 3) for n in (2, 3))


def test_a_single_token_passes_through_the_divergence_of_a_batch() -> None:
    assert divergence(1, 1)
    assert not any(divergence(batch, tokens) for batch in (1, 2, 3) for tokens in (2, 3, 4))
    assert not any(divergence(batch, 1) for batch in (2, 3))


def test_the_divergence_of_a_head_accepts_one_token_or_width_1() -> None:
    assert all(one_head(tokens, 1) and one_head(1, tokens) for tokens in SIZES)
    assert not any(one_head(tokens, width) for tokens in (2, 3, 4) for width in (2, 3))


def test_shapes_that_do_not_fit_are_detected() -> None:
    assert not runs(lambda: torch.zeros(2, 3) @ torch.zeros(2), (2,))
    assert not runs(lambda: torch.zeros(3), (2,))
    assert not runs(lambda: torch.full((2,), math.nan), (2,))
    assert runs(lambda: torch.zeros(2), (2,))
