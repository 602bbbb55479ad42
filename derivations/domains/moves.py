"""Moves of one exact number: by a step, by a factor, or at random."""

from fractions import Fraction
from random import Random
from typing import Any, Protocol

FACTORS = (Fraction(1, 2), Fraction(2), Fraction(9, 10), Fraction(10, 9), Fraction(99, 100), Fraction(100, 99))
STEPS = (Fraction(1), Fraction(1, 4), Fraction(1, 50))
LARGEST = 10**6  # of a denominator: what is moved on and on is rounded
SMALL = Fraction(1, 10**3)  # below it, the inverse is rounded
LONGEST = 10**60  # of a denominator that a move along a coordinate may lead to
HUGE = Fraction(10) ** 300  # a number's largest size, and the inverse of its smallest


class _Sign(Protocol):
    def fits(self, number: Fraction) -> bool: ...


def changed(number: Fraction, scaled: bool, step: Fraction) -> Fraction | None:
    """The number after a step, or after a factor 1 + step; None if it stays or becomes too long."""
    factor = 1 + step if step > 0 else 1 / (1 - step)
    moved = number * factor if scaled else number + step
    if moved == number or abs(moved) > HUGE or 0 < abs(moved) < 1 / HUGE:
        return None
    return moved if moved.denominator < LONGEST else simple(moved)


def varied(value: Fraction, sign: _Sign, rng: Random) -> Fraction:
    """Another number of the same sign, drawn at random near the value; 0 or the opposite one now and then."""
    signed = sign.fits(Fraction(-1))
    if not sign.fits(Fraction(0)):
        return simple(value * rng.choice(FACTORS)) or value
    if rng.random() < 0.1:
        return Fraction(0) if not signed or rng.random() < 0.5 else -value
    new = value * rng.choice(FACTORS) if rng.random() < 0.5 else value + rng.choice((1, -1)) * rng.choice(STEPS)
    return simple(new if signed else abs(new))


def vary(value: Any, axes: int, sign: _Sign, rng: Random) -> tuple[list[Any], int]:
    """Vary an entry drawn at random, in place, or make it equal to the one before; returns its row, and its index in it."""
    row, n = place(value, axes, rng)
    tied = len(row) > 1 and rng.random() < 0.2
    row[n] = row[n - 1] if tied else varied(Fraction(row[n]), sign, rng)
    return row, n


def place(value: Any, axes: int, rng: Random) -> tuple[list[Any], int]:
    """The row of an entry drawn at random, and the entry's index in it."""
    for _ in range(axes - 1):
        value = rng.choice(value)
    return value, rng.randrange(len(value))


def simple(value: Fraction) -> Fraction:
    """A fraction near the value that is short for its magnitude: a small one is one over a short one."""
    return 1 / (1 / value).limit_denominator(LARGEST) if 0 < abs(value) < SMALL else value.limit_denominator(LARGEST)
