"""The bound on the rounding error of a chain of matrix products."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from evidence.source.rounding import Rounded, allowed
from evidence.source.shipped import REFUSAL, worst


@pytest.mark.parametrize("seed", range(8))
def test_rounding_stays_within_its_bound_and_not_far_below(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x, a, b = (
        torch.randn(4, 16, 300, generator=generator) * 10**seed,
        torch.randn(300, 40, generator=generator) / 10**seed,
        torch.randn(40, 300, generator=generator),
    )
    seen = torch.rand(4, 16, 16, generator=generator) < 0.8
    seen[..., 0] = True

    def chain(x: Rounded, a: Rounded, b: Rounded) -> Rounded:
        return ((((x @ a) @ b) * 0.01 + x.value) @ x.mT * 10.0 ** (-2 * seed - 2)).softmax(seen) @ x

    expected = chain(*(Rounded.exact(y) for y in (x, a, b)))
    scores = (((x @ a) @ b) * 0.01 + x) @ x.mT * 10.0 ** (-2 * seed - 2)
    actual = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ x
    ratio = worst(actual - expected.value, allowed(expected))
    assert 1e-2 < ratio <= 1.0
    assert worst(actual * (1 + 1e-4) - expected.value, allowed(expected)) >= REFUSAL


# ── what each operation rounds ──────────────────────────────────────────────────────────────────────────────────────

UNIT = 2.0**-8
"""Half the distance from 1 to the next number of bfloat16, which has 128 numbers from 1 to 2."""
ONES = (1 + torch.arange(128) / 128).bfloat16()


def ratios(rounded: Tensor, bound: Rounded) -> Tensor:
    """The errors of numbers in bfloat16 in units of their bounds, where something is rounded at all."""
    return ((rounded.double() - bound.value).abs() / bound.square.expand(bound.value.shape).sqrt()).flatten()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_sum_is_rounded_once(scale: float) -> None:
    """With both numbers given, nothing but the sum is rounded: the bound is reached, and never exceeded."""
    one, other = (scale * ONES.double()).bfloat16()[:, None], (scale * ONES.double() / 3).bfloat16()[None]
    found = ratios(one + other, Rounded.exact(one.expand(128, 128)) + other)
    assert 0.95 < float(found.max()) <= 1.0


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_factor_and_its_product_are_rounded(scale: float) -> None:
    """Two errors of up to a unit each, whose squares are added: together they can exceed that by √2, and do nearly."""
    worst = torch.stack(
        [
            ratios(torch.tensor(factor).bfloat16() * (scale * ONES), Rounded.exact(scale * ONES) * factor).max()
            for factor in torch.linspace(1.0, 2.0, 500, dtype=torch.float64).tolist()
        ]
    )
    assert 1.2 < float(worst.max()) <= 2**0.5


@pytest.mark.parametrize("terms", [1, 8, 64])
def test_a_sum_of_products_stays_within_the_bound_and_reaches_a_part_of_it(terms: int) -> None:
    generator = torch.Generator().manual_seed(terms)
    x, y = (torch.randn(*shape, generator=generator).bfloat16() for shape in ((60, terms), (terms, 60)))
    total = torch.zeros(60, 60).bfloat16()
    for term in range(terms):
        total = total + x[:, term, None] * y[term]
    found = ratios(total, Rounded.exact(x) @ Rounded.exact(y))
    assert 0.15 < float(found.square().mean().sqrt()) < 0.7
    assert 0.5 < float(found.max()) < 3.0


@pytest.mark.parametrize("spread", [0.1, 1.0, 6.0])
def test_a_softmax_rounds_distances_exponentials_their_sum_and_quotients(spread: float) -> None:
    scores = (spread * torch.randn(200, 16, generator=torch.Generator().manual_seed(0))).bfloat16()
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
    total = torch.zeros(200, 1).bfloat16()
    for word in range(16):
        total = total + exponentials[:, word, None]
    found = ratios(exponentials / total, Rounded.exact(scores).softmax(torch.ones(200, 16, dtype=torch.bool)))
    assert 0.1 < float(found.square().mean().sqrt()) < 0.7
    assert 0.5 < float(found.max()) < 3.0


def test_a_softmax_depends_on_the_distances_within_a_row() -> None:
    scores = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    seen = torch.ones(2, 3, 4, 5, dtype=torch.bool)
    higher = scores + 1000 * torch.arange(24).view(2, 3, 4, 1)
    squares = [Rounded.exact(x).softmax(seen).square for x in (scores, higher)]
    torch.testing.assert_close(*squares, rtol=1e-9, atol=0.0)


@pytest.mark.parametrize("hidden", [-torch.inf, 1e30])
def test_what_is_not_seen_has_no_part_in_a_softmax(hidden: float) -> None:
    scores, seen = torch.tensor([[0.5, 2.0, hidden]]).double(), torch.tensor([[True, True, False]])
    square = torch.tensor([[1e-20, 2e-20, torch.inf]]).double()
    found = Rounded(scores, square, UNIT).softmax(seen)
    padded = Rounded(torch.tensor([[0.5, 2.0, 0.0]]).double(), square.nan_to_num(posinf=0.0), UNIT).softmax(seen)
    torch.testing.assert_close(found.square, padded.square)
    assert found.square[0, 2] == found.value[0, 2] == 0


# ── what each operation inherits ────────────────────────────────────────────────────────────────────────────────────

GIVEN = torch.randn(4, 2, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
MATRIX = torch.randn(6, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
SEEN = torch.rand(4, 2, 6, generator=torch.Generator().manual_seed(3)) < 0.7
SEEN[..., 0] = True
ERRORS = 1e-6 * torch.rand(GIVEN.shape, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
OPERATIONS: dict[str, tuple[Callable[[Rounded], Rounded], Callable[[Tensor], Tensor]]] = {
    "sum": (lambda x: x + GIVEN[:1], lambda x: x + GIVEN[:1]),
    "multiple": (lambda x: x * -3.0, lambda x: x * -3.0),
    "product from the left": (lambda x: x @ Rounded.exact(MATRIX), lambda x: x @ MATRIX),
    "product from the right": (lambda x: Rounded.exact(MATRIX.mT) @ x.mT, lambda x: MATRIX.mT @ x.mT),
    "heads": (lambda x: x.heads(3), lambda x: x.unflatten(-1, (3, 2)).transpose(1, 2)),
    "merged": (lambda x: x.merged(), lambda x: x.transpose(0, 1).reshape(2, 24)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_errors_are_inherited_as_small_moves_of_random_signs_are(operation: str) -> None:
    """The mean square of what they make of the result is the sum of squares that the operation notes, without its own."""
    bounded, plain = OPERATIONS[operation]
    found = bounded(Rounded(GIVEN, ERRORS.square(), 0.0))
    torch.testing.assert_close(found.value, plain(GIVEN))
    torch.testing.assert_close(moved(plain), found.square, rtol=0.12, atol=0.0)


def test_a_softmax_inherits_a_little_more() -> None:
    """A part of what a weight's own score moves is taken back by the sum, which is not counted on."""

    def plain(x: Tensor) -> Tensor:
        return x.masked_fill(~SEEN, -torch.inf).softmax(-1)

    found, p = Rounded(GIVEN, ERRORS.square(), 0.0).softmax(SEEN), plain(GIVEN)
    torch.testing.assert_close(found.value, p)
    torch.testing.assert_close(moved(plain) + 2 * p**3 * ERRORS.square(), found.square, rtol=0.12, atol=0.0)


def moved(plain: Callable[[Tensor], Tensor]) -> Tensor:
    """The mean square of what moves of random signs make of a result."""
    signs = torch.randint(2, (4000, *GIVEN.shape), generator=torch.Generator().manual_seed(5)) * 2.0 - 1
    return (torch.stack([plain(GIVEN + sign * ERRORS) for sign in signs.double()]) - plain(GIVEN)).square().mean(0)
