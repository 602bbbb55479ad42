"""The strategies for transport and tiled attention reach their corners, and keep their promises."""

from random import Random

import pytest
import torch
from hypothesis import Phase, find, given, settings

from evidence.instances.transport_strategies import (
    COSTS,
    EPSILONS,
    RELAXATIONS,
    Tiled,
    Transported,
    tilings,
    transports,
)

# A few hundred draws: a corner that needs more is not reached by the tests that rely on it.
SEARCH = settings(max_examples=400, phases=[Phase.generate], derandomize=True, database=None, deadline=None)

CORNERS = {
    "one row": lambda x: x.cost.shape[-2] == 1 and x.cost.shape[-1] > 1,
    "one column": lambda x: x.cost.shape[-1] == 1 and x.cost.shape[-2] > 1,
    "one entry": lambda x: x.cost.shape[-2:] == (1, 1),
    "more rows than columns": lambda x: x.cost.shape[-2] > x.cost.shape[-1] > 1,
    "fewer rows than columns": lambda x: 1 < x.cost.shape[-2] < x.cost.shape[-1],
    "a single problem": lambda x: x.cost.ndim == 2,
    "two leading dimensions": lambda x: x.cost.ndim == 4,
    "zeros in both marginals": lambda x: bool((x.source == 0).any()) and bool((x.target == 0).any()),
    "a tiny mass": lambda x: bool(((x.source > 0) & (x.source < 1e-8)).any()),
    "a row with nothing allowed": lambda x: bool((x.cost == torch.inf).all(-1).any()),
    "two parts with mass": lambda x: (
        x.kind == "blocks" and x.cost.ndim == 2 and bool(((x.cost[0] == torch.inf) & (x.target > 0)).any())
    ),
    "a tie": lambda x: x.kind == "tied" and bool(((x.cost == x.cost.amin(-1, keepdim=True)).sum(-1) > 1).any()),
    **{f"cost {kind}": lambda x, kind=kind: x.kind == kind for kind in COSTS},
    **{f"temperature {c}": lambda x, c=c: x.temperature == c for c in EPSILONS},
    **{f"relaxation {c}": lambda x, c=c: x.relaxation == c for c in RELAXATIONS},
}

TILES = {
    "one tile": lambda x: x.tiles[0] == [x.key.shape[-2]] and x.key.shape[-2] > 1,
    "tiles of one key": lambda x: len(x.tiles[0]) == x.key.shape[-2] > 2,
    "two tilings": lambda x: x.tiles[0] != x.tiles[1],
    "a tile that is fully masked": lambda x: x.key.shape[-2] > x.tiles[0][0] and not x.allowed[..., : x.tiles[0][0]].any(),
    "a later one, and not the first": lambda x: (
        len(x.tiles[0]) > 1 and not x.allowed[..., -x.tiles[0][-1] :].any() and bool(x.allowed[..., : x.tiles[0][0]].any())
    ),
    "a row that is fully masked": lambda x: bool((~x.allowed.any(-1)).any()) and bool(x.allowed.any()),
    "nothing at all": lambda x: not x.allowed.any(),
    "a floating mask": lambda x: x.mask is not None and x.mask.is_floating_point() and bool((x.mask == -torch.inf).any()),
    "equal scores": lambda x: not x.query.any(),
}


@pytest.mark.parametrize("corner", CORNERS)
def test_every_corner_of_transport_is_reached(corner: str) -> None:
    find(transports(relaxations=RELAXATIONS), CORNERS[corner], settings=SEARCH, random=Random(0))


@pytest.mark.parametrize("corner", TILES)
def test_every_corner_of_tiling_is_reached(corner: str) -> None:
    find(tilings(), TILES[corner], settings=SEARCH, random=Random(0))


@SEARCH
@given(transports(relaxations=RELAXATIONS))
def test_transports_keep_their_promises(x: Transported) -> None:
    batch, (n, m) = x.cost.shape[:-2], x.cost.shape[-2:]
    assert (x.source.shape, x.target.shape) == ((*batch, n), (*batch, m))
    assert not x.cost.isnan().any()
    assert x.temperature > 0
    assert x.relaxation > 0
    for marginal in (x.source, x.target):
        assert (marginal >= 0).all()
        assert (marginal.sum(-1) - 1).abs().max() <= 8 * torch.finfo(torch.float64).eps
    assert x.to(torch.float32).source.dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_tilings_keep_their_promises(dtype: torch.dtype) -> None:
    @settings(SEARCH, max_examples=150)
    @given(tilings(dtype))
    def check(x: Tiled) -> None:
        assert {part.dtype for part in (x.query, x.key, x.value)} == {dtype}
        assert x.mask is None or x.mask.dtype in (torch.bool, dtype)
        assert x.allowed.shape == (*x.query.shape[:-1], x.key.shape[-2])
        assert all(sum(tiles) == x.key.shape[-2] and min(tiles) >= 1 for tiles in x.tiles)
        assert x.error >= torch.finfo(dtype).eps

    check()
