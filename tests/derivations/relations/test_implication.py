"""A conclusion follows from premises with weights: what is combined, and what is refused before anything is proved."""

import pytest
import sympy as sp

from derivations.calculus.variables import scalar
from derivations.relations import AtLeast, Follows

x, w, z = scalar("x"), scalar("w"), scalar("z")
ONE = sp.Integer(1)
BOTH = (AtLeast(x, 0), AtLeast(w, 0))


def test_a_sum_of_premises() -> None:
    assert Follows(BOTH, AtLeast(x + w, 0), (ONE, ONE)).remainder() == ""
    assert Follows(BOTH, AtLeast(x + 2 * w, 0), (ONE, ONE)).remainder() == (
        "the conclusion is not this combination of the premises: they differ by w"
    )


@pytest.mark.parametrize(
    ("weights", "slack"), [((ONE, z**2), sp.S.Zero), ((z**2, ONE), sp.S.Zero), ((ONE, ONE), z**2), ((z**2, z**2), z**2)]
)
def test_a_variable_that_the_statement_does_not_have(weights: tuple[sp.Expr, ...], slack: sp.Expr) -> None:
    assert Follows(BOTH, AtLeast(x + w, 0), weights, slack).remainder() == (
        "weights: expected variables of the statement, got z"
    )
