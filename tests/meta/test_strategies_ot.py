"""The strategy for attention by optimal transport reaches its corners, and keeps its promises."""

from random import Random

import pytest
import torch
from hypothesis import Phase, find, given, settings

from evidence.instances.ot_strategies import ALPHAS, COSTS, GAMMAS, Problem, batch_of_problems, problems

# A few hundred draws: a corner that needs more is not reached by the tests that rely on it.
SEARCH = settings(max_examples=300, phases=[Phase.generate], derandomize=True, database=None, deadline=None)


def ties(x: Problem) -> bool:
    """Whether the least cost of a column that holds prior is not the only one."""
    least = (x.cost == x.cost.amin(-2, keepdim=True)).sum(-2)
    return bool(((least > 1) & (x.prior > 0)).any())


CORNERS = {
    "one template": lambda x: x.N == 1,
    "the most templates": lambda x: x.N == 6,
    "fewer sources than templates": lambda x: x.n < x.N,
    "a single problem": lambda x: x.templates.ndim == 2,
    "two leading dimensions": lambda x: x.templates.ndim == 4,
    "zeros in the prior": lambda x: bool((x.prior == 0).any()) and x.prior.count_nonzero() > 1,
    "a prior on one template": lambda x: x.n > 2 and bool(((x.prior > 0).sum(-1) == 1).all()),
    "two templates that coincide": lambda x: x.N == 2 and bool((x.templates[..., 0, :] == x.templates[..., 1, :]).any()),
    "a cost that is not symmetric": lambda x: x.n == x.N and bool((x.cost != x.cost.mT).any()),
    "a negative cost": lambda x: bool((x.cost < 0).any()),
    "a tie of the least cost": lambda x: x.kind != "zero" and ties(x),
    "a diagonal that is not the least": lambda x: (
        x.kind == "inner" and bool((x.cost.diagonal(dim1=-2, dim2=-1) > x.cost.amin(-2)).any())
    ),
    "a template out of reach": lambda x: bool((x.cost == torch.inf).all(-1).any()),
    "no evidence": lambda x: bool((x.evidence == 0).all(-1).any()),
    "cold": lambda x: x.alpha / x.temperature > 1e4,
    "hot": lambda x: x.alpha / x.temperature < 1e-5,
    **{f"cost {kind}": lambda x, kind=kind: x.kind == kind for kind in COSTS},
    **{f"alpha {a}": lambda x, a=a: x.alpha == a for a in ALPHAS},
    **{f"temperature {c}": lambda x, c=c: x.temperature == c for c in GAMMAS},
}


@pytest.mark.parametrize("corner", CORNERS)
def test_every_corner_is_reached(corner: str) -> None:
    find(problems(), CORNERS[corner], settings=SEARCH, random=Random(0))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_what_is_drawn_keeps_its_promises(dtype: torch.dtype) -> None:
    @settings(SEARCH, max_examples=150)
    @given(problems(dtype))
    def check(x: Problem) -> None:
        batch = x.templates.shape[:-2]
        assert x.evidence.shape == (*batch, x.templates.shape[-1])
        assert x.prior.shape == (*batch, x.n)
        assert x.cost.shape == (*batch, x.N, x.n)
        assert {part.dtype for part in x.tensors} == {dtype}
        assert (x.prior >= 0).all()
        assert (x.prior.double().sum(-1) - 1).abs().max() <= 8 * torch.finfo(dtype).eps
        assert (x.cost < torch.inf).any(-2).all()
        assert not any(part.isnan().any() for part in x.tensors)
        assert x.to(torch.float32).cost.dtype == torch.float32

    check()


def test_batches_are_symmetric_or_not() -> None:
    symmetric, other = (batch_of_problems(0, 20, symmetric=flag) for flag in (True, False))
    assert (symmetric.cost == symmetric.cost.mT).all()
    assert symmetric.cost.isfinite().all()
    assert (other.cost != other.cost.mT).any((-2, -1)).all()
    assert (other.cost == torch.inf).any()
    assert (other.cost < torch.inf).any(-2).all()
