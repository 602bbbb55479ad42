"""Domains in the words of notation tables are read once, and written as they were read."""

import pytest

from derivations.domains import DOMAINS, Interior, Positive, Real, Simplex
from derivations.domains.written import Written, written

LINES = [
    "size",
    "index m",
    "real",
    "positive",
    "nonnegative",
    "vector m",
    "matrix n m",
    "positive vector m",
    "nonnegative matrix n m",
    "nonzero vector d",
    "random vector d",
    "unit matrix n d",
    "simplex m",
    "simplex n m",
    "interior 2n-1",
    "stochastic n m",
    "coupling a b",
    r"complement of p_\theta",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_written_as_it_was_read(line: str) -> None:
    read = written(line)
    assert read is not None
    assert str(read) == line


def test_every_domain_has_a_line() -> None:
    assert {read.kind for line in LINES if (read := written(line))} == set(DOMAINS)


@pytest.mark.parametrize(
    "line", ["", "?", "= x", "vectors m", "KL", "real >= 1", "unit", "random", "rows of M", "fixed", "fixed index m"]
)
def test_what_is_no_domain(line: str) -> None:
    assert written(line) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vector", "expected 1 size, got none"),
        ("matrix m", "expected 2 sizes, got m"),
        ("positive vector n m", "expected 1 size, got n m"),
        ("simplex a b c", "expected 1 size, got a b c"),
        ("index", "expected 1 size, got none"),
        ("stochastic m", "expected 2 sizes, got m"),
    ],
)
def test_sizes_are_counted(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        written(line)


def test_what_is_inside_what() -> None:
    free, simplex = Written(Real, ("m",)), Written(Simplex, ("m",))
    assert simplex.is_inside(free)
    assert free.of_kind(Interior).is_inside(simplex)
    assert not free.is_inside(simplex)
    assert not free.is_inside(free)
    assert not Written(Positive, ("n",)).is_inside(free)
    assert str(free.of_kind(Positive)) == "positive vector m"
