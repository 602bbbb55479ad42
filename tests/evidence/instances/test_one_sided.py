"""One-sided problems and rows reach every declared corner and keep the declared properties."""

from random import Random

import pytest
import torch
from hypothesis import Phase, find, given, settings

from evidence.instances.one_sided import MASKS, SCALES, TEMPERATURES, OneSided, Row, one_sided_problems, rows
from numerics import tolerances

# A few hundred draws: a corner that needs more is not reached by the tests that rely on it.
SEARCH = settings(max_examples=300, phases=[Phase.generate], derandomize=True, database=None, deadline=None)

CORNERS = {
    "m = 1": lambda x: x.m == 1,
    "m = 2": lambda x: x.m == 2,
    "the largest m": lambda x: x.m == 8,
    "a single row": lambda x: x.scores.ndim == 1,
    "one leading dimension": lambda x: x.scores.ndim == 2,
    "two leading dimensions": lambda x: x.scores.ndim == 3,
    "a batch of many rows": lambda x: x.scores[..., 0].numel() >= 6,
    "all scores tied": lambda x: x.m >= 3 and bool((x.scores == x.scores[..., :1]).all()),
    "the largest score tied": lambda x: (
        bool(((x.scores == x.scores.amax(-1, keepdim=True)).sum(-1) == 2).any())
        and x.m >= 3
        and bool((x.scores != x.scores[..., :1]).any())
    ),
    "no tie": lambda x: x.m >= 3 and x.scores.unique().numel() == x.scores.numel(),
    "large scores, tiny temperature": lambda x: x.scores.abs().max() > 1e4 and x.temperature == 1e-6,
    "large scores, huge temperature": lambda x: x.scores.abs().max() > 1e4 and x.temperature == 1e6,
    "a masked position": lambda x: bool((~x.allowed).any()) and not bool(x.dead.any()),
    "the largest score masked": lambda x: bool((x.scores.where(x.allowed, -torch.inf) < x.scores.max()).all()),
    "a fully masked row beside a live one": lambda x: bool(x.dead.any()) and not bool(x.dead.all()),
    "a fully masked single row": lambda x: x.scores.ndim == 1 and bool(x.dead.all()),
    "one position left": lambda x: x.m >= 3 and bool((x.allowed.sum(-1) == 1).any()),
    "a floating mask with a bias": lambda x: x.kind == "bias" and bool((x.mask[x.allowed] != 0).all()),
    **{f"mask {kind}": lambda x, kind=kind: x.kind == kind for kind in MASKS},
    **{f"temperature {tau}": lambda x, tau=tau: x.temperature == tau for tau in TEMPERATURES},
}


@pytest.mark.parametrize("corner", CORNERS)
def test_every_corner_is_reached(corner: str) -> None:
    find(one_sided_problems(), CORNERS[corner], settings=SEARCH, random=Random(0))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_drawn_instances_have_the_promised_properties(dtype: torch.dtype) -> None:
    @settings(SEARCH, max_examples=150)
    @given(one_sided_problems(dtype))
    def check(x: OneSided) -> None:
        batch, m = x.scores.shape[:-1], x.m
        assert x.temperature > 0
        assert x.scores.isfinite().all()
        assert x.values.shape[0] == m
        assert x.context_gradient.shape == (*batch, x.values.shape[1])
        assert x.utility.shape == x.scores.shape
        assert {t.dtype for t in (x.scores, x.values, x.context_gradient, x.utility)} == {dtype}
        assert (x.mask is None) == (x.kind == "none")
        if x.mask is not None:
            assert x.mask.shape == x.scores.shape
            assert x.mask.dtype == (torch.bool if x.kind in ("boolean", "dead row") else dtype)
            assert x.mask.dtype == torch.bool or not (x.mask.isnan() | (x.mask == torch.inf)).any()
        assert bool(x.dead.any()) == (x.kind == "dead row")

    check()


def test_choices_can_be_narrowed() -> None:
    @settings(SEARCH, max_examples=100)
    @given(one_sided_problems(max_m=2, max_batch=0, temperatures=(3.0,), scales=(0.0,), masks=("none",)))
    def check(x: OneSided) -> None:
        assert x.scores.shape in ((1,), (2,))
        assert x.temperature == 3.0
        assert (x.scores == 0).all()
        assert x.mask is None

    check()


def test_another_dtype_keeps_the_scores_finite_and_the_mask() -> None:
    @settings(SEARCH, max_examples=100)
    @given(one_sided_problems(scales=(max(SCALES),)))
    def check(x: OneSided) -> None:
        half = x.to(torch.float16)
        assert half.scores.dtype == torch.float16
        assert half.scores.isfinite().all()
        torch.testing.assert_close(half.allowed, x.allowed)

    check()


# ── rows ────────────────────────────────────────────────────────────────────────────────────────────────────────────

ROWS = {
    "m = 1": lambda x: x.m == 1,
    "m = 2": lambda x: x.m == 2,
    "the largest m": lambda x: x.m == 5,
    "equal scores": lambda x: x.m >= 3 and bool((x.problem.scores == x.problem.scores[0]).all()),
    "a tie": lambda x: x.m >= 3 and 1 < x.problem.scores.unique().numel() < x.m,
    "the largest magnitude": lambda x: bool((x.problem.scores.abs() == 12).any()),
    **{f"temperature {tau}": lambda x, tau=tau: x.tau == tau for tau in (1.0, 0.5, 4.0)},
}


@pytest.mark.parametrize("corner", ROWS)
def test_every_corner_of_rows_is_reached(corner: str) -> None:
    find(rows(), ROWS[corner], settings=SEARCH, random=Random(0))


@settings(SEARCH, max_examples=100)
@given(rows())
def test_a_row_has_the_properties_of_its_name(x: Row) -> None:
    torch.testing.assert_close(x.s, x.problem.scores, rtol=1e-9, atol=1e-9)
    assert (x["p"] > 0).all()
    assert x["Z"] > 0
    assert x.to("cpu").tau == x.tau
    assert {"m", "d", "e", "s", "V", "g", "u", "π", "Q", "K", "p", "lam"} <= x.point().keys()


def test_all_scores_may_be_zero() -> None:
    assert 0.0 in SCALES


def test_floating_masks_leave_out_what_is_minus_infinity() -> None:
    mask = torch.tensor([[0.0, -torch.inf, 3.0], [-torch.inf, -torch.inf, -torch.inf]])
    problem = OneSided(torch.zeros(2, 3), 1.0, torch.zeros(3, 1), torch.zeros(2, 1), mask, "bias")
    assert problem.allowed.tolist() == [[True, False, True], [False, False, False]]
    assert problem.dead.tolist() == [False, True]


@pytest.mark.parametrize(("tau", "factor"), [(1.0, 1 + 7.0), (0.5, (1 + 14) * 4.0), (4.0, (1 + 1.75) * 16.0)])
def test_the_tolerance_of_a_row(tau: float, factor: float) -> None:
    zeros = torch.zeros(3, dtype=torch.float64)
    row = Row(OneSided(zeros, tau, zeros[:, None], zeros[:1], None, "none"), 0)
    row.__dict__["drawn"] = {"K": torch.tensor([[1.0, -2.0], [0.5, 0.0], [0.0, 0.0]]), "Q": torch.tensor([3.0, 2.0])}
    assert row.tolerance() == row.tolerance(0.5) == tolerances.rounding("float64", 3, factor)
    assert row.tolerance(2.0, torch.tensor([1.0, -5.0])) == tolerances.rounding("float64", 3, 5 * factor)
