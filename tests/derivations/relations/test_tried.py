"""What was tried is counted as it is: sizes one by one, magnitudes by the least and the largest number other than 0."""

from fractions import Fraction

from derivations.relations.tried import Tried
from tests.attacks.vocabulary import a, j, m, n, u, x


def test_points_are_counted_with_their_sizes_and_magnitudes() -> None:
    tried = Tried()
    for size in (1, 2, 3, 8, 10**6):
        tried.note({m: size, j: 1, x: Fraction(-(10**9), 7), a.label: [0, Fraction(1, 4)], u.label: [Fraction(3, 10**30)]})
    tried.note({m: 4, n: 1, j: 2, x: Fraction(0), a.label: [Fraction(1, 2), Fraction(-7)]})
    assert tried.count == 6
    assert tried.sizes == {m: {1, 2, 3, 4, 8, 10**6}, n: {1}}
    assert tried.magnitudes[a.label] == (Fraction(1, 4), 7)
    assert str(tried) == "6 exact points, m 1…4, 8, 10^6, n 1, |x| about 10^8…10^8, |a| about 0.25…7, |u| about 10^-30…10^-30"
    assert str(Tried(1)) == "1 exact point"
