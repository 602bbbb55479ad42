"""A drawn head is what its claims name, and its references agree with each other."""

import pytest
import torch
from hypothesis import given

from evidence.instances.heads import Head, drawn_heads
from numerics import tolerances
from tests.numerics.common import close

SEEDS = range(40)
F64 = torch.float64


def test_words_may_be_hidden() -> None:
    hidden, shown, alone = Head(3, 2, 2, 2, True, 0), Head(3, 2, 2, 2, False, 0), Head(1, 2, 2, 2, True, 0)
    close(hidden["m"], torch.tensor([0.0, 0.5, 0.5], dtype=F64), 0.0)
    close(hidden["s"], torch.tensor([1.0, 0.0, 0.0], dtype=F64), 0.0)
    assert bool((hidden["U"][0] > 0).tolist() == [False, True, True])
    assert bool((hidden["U"][1] > 0).all())
    for head in (shown, alone):
        close(head["m"], torch.full((head.n,), 1 / head.n, dtype=F64), 1e-15)
        assert not head["s"].any()
        assert bool((head["U"] > 0).all())
    for name in ("m", "u", "U"):
        close(hidden[name].sum(-1), torch.ones_like(hidden[name].sum(-1)), 1e-15)
    close(hidden.log_mask.exp(), hidden["m"], 1e-15)


def test_numbers_are_bounded() -> None:
    heads = [Head(3, 3, 3, 2, False, seed) for seed in SEEDS]
    for name, bound in {"X": 1.5, "K": 1.5, "bQ": 1.5, "B": 3.0}.items():
        values = torch.cat([head[name].flatten() for head in heads])
        assert float(values.max()) == -float(values.min()) == bound
    assert len({float(head["X"][0, 0]) for head in heads}) > 30


def test_a_point_has_the_projections_of_the_first_head_or_of_all() -> None:
    head = Head(3, 2, 1, 2, False, 5)
    for all_heads, shape in ((False, (1, 2)), (True, (2, 1, 2))):
        point = head.point(all_heads)
        assert (point["n"], point["d"], point["e"], point["H"]) == (3, 2, 1, 2)
        for name in ("K", "Q", "V"):
            assert point[name].shape == shape  # type: ignore[union-attr]
            close(point[name], head[name] if all_heads else head[name][0], 0.0)  # type: ignore[arg-type]


def test_positions_count_from_the_query() -> None:
    head = Head(3, 2, 2, 1, False, 1)
    for query in range(3):
        for word in range(3):
            assert head.positions[query, word] == head["B"][2 + query - word]


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_the_library_and_the_layer_agree_with_the_formula(scale: float | None, biases: bool) -> None:
    head = Head(3, 2, 3, 2, True, 7)
    mask = torch.randn(3, 3, generator=torch.Generator().manual_seed(0), dtype=F64)
    query, key, value = (head["X"] @ head[name][0].mT + (head[f"b{name}"] if biases else 0) for name in ("Q", "K", "V"))
    expected = (query @ key.mT * (3**-0.5 if scale is None else scale) + mask).softmax(-1) @ value
    close(head.by_library(head["X"], mask, scale, biases), expected, 1e-12)
    close(head.generalized(head["X"], mask, scale, biases), expected, 1e-12)
    second = head["X"] @ head["K"][1].mT
    close(head.projected("K", head["X"], head=1), second, 1e-14)


def test_a_layer_has_the_projections_of_one_head_or_of_all() -> None:
    head = Head(3, 2, 3, 2, False, 7)
    for all_heads, heads in ((False, 1), (True, 2)):
        layer = head.layer(all_heads=all_heads)
        for projection, name in ((layer.query, "Q"), (layer.key, "K"), (layer.value, "V")):
            close(projection.weight.detach(), head[name][:heads].reshape(heads * 3, 2), 0.0)
            assert projection.bias is None


def test_the_tolerance_grows_with_the_largest_number_of_each_kind() -> None:
    names = ("X", "y", "T", "z", "B", "K", "Q", "V", "bK", "bQ", "bV")
    for large in names:
        head = Head(2, 3, 2, 1, False, 0)
        ones = torch.tensor([1.0, 0.0], dtype=F64)
        head.__dict__["drawn"] = {name: torch.tensor([0.0, -2.0], dtype=F64) if name == large else ones for name in names}
        score = 9 * 2 * 3.0**4 + 3
        assert head.tolerance() == tolerances.rounding("float64", 2 + 6, 27 * (1 + score))
        assert head.tolerance(ones, -30 * ones) == tolerances.rounding("float64", 2 + 6, 30 * (1 + score))


@given(head=drawn_heads(max_n=2, smallest_n=2, hidden=True))
def test_what_is_drawn(head: Head) -> None:
    assert head.n == 2
    assert head.hidden
    assert {head.d, head.e, head.heads} <= {1, 2, 3}
