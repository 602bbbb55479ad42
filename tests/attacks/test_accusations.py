"""Every attack is justified: an independent evaluator finds a point at which the statement is false or undefined."""

import random

import pytest
import sympy as sp

from derivations.relations import Relation
from tests.attacks import Make
from tests.attacks.test_capture import BOUND
from tests.attacks.test_definedness import ATTACKS as UNDEFINED
from tests.attacks.test_limits import SIDES
from tests.attacks.test_signs import ATTACKS as SIGNS
from tests.attacks.test_sums import ATTACKS as SUMS
from tests.attacks.test_taylor import ATTACKS as TAYLOR
from tests.fuzz.arithmetic import UncertainError, UndefinedError
from tests.fuzz.evaluate import UnsupportedError, evaluate
from tests.fuzz.sample import draw, names_of
from tests.fuzz.truth import holds, meant

ROWS = {**SUMS, **SIGNS, **UNDEFINED, **BOUND, **SIDES, **TAYLOR}
TURNS = 300
BY_REASON = {  # no rational point shows it, or it is no statement
    "over a plain symbol from 2",
    "a simplex said to have no length",
    "a simplex without axes",
    "a because with floats",
    "rounding decides",
    "rounding decides with a variable",
    "truth values",
    "strict unless equal, weights 0",
    "a divergence with α = ½",
    "a divergence with α = 1",
    "a divergence with α ≤ 0",
    "a divergence with an open α",
    "a divergence of reals",
    "strict unless equal, α = 1",
    "divided by e^x − 3, whose zero is transcendental",
    "divided by x² − 2, whose zero is irrational",
    "divided by x² + x − 1",
    "a phase",
    "log of −1",
    "an index without a range",
    "D4: k ≠ j in a range of one",
    "D4: three different indices of two",
    "kl of the same closed simplex",
    "0^z",
    "derivative a norm at 0",
    "derivative √z at the boundary",
    "derivative xlogx at the boundary",
    "derivative z^y at the boundary",
    "a hypothesis about one j in an expansion",
    "one entry moves to −∞",
    "a solution's index is bound",
    "a solution's index is bound in a product",
    "false near one number only",
    "a point that is no number of the calculus",
    "a floating point",
    "a premise for all j, and a k other than j",
    "a hypothesis for all j, and a k other than j, at this k",
    "a hypothesis for all j, and a k other than j, at all entries",
}


def wrong_somewhere(relation: Relation) -> bool:
    """Whether the statement is false, or has no value, at a point of its domain."""
    rng = random.Random(str(relation))
    names = list(dict.fromkeys([*names_of(relation.sides), *relation.variables()]))
    for turn in range(TURNS):
        point = draw(names, rng, largest=(3, 7, 9)[turn % 3])
        if point is None or (relation.given and meant(relation, point, rng) is not True):
            continue
        if any(undefined(side, point) for side in relation.sides):
            return True
        try:
            if holds(relation, point, rng)[0] is False:
                return True
        except (UnsupportedError, KeyError):
            pass
    return False


def undefined(expr: sp.Expr, point: dict[object, object]) -> bool:
    """Whether an expression is undefined; 0 times an undefined expression is undefined, too."""
    try:
        evaluate(expr, point)  # type: ignore[arg-type]
    except (UndefinedError, UnsupportedError):
        return True
    except UncertainError as error:
        return "not defined" in str(error)
    return False


def built(make: Make) -> Relation | None:
    """The statement, or None if its construction is refused."""
    try:
        return make()
    except (ValueError, TypeError):
        return None


@pytest.mark.parametrize("name", [name for name in ROWS if name not in BY_REASON])
def test_each_attack_statement_is_false_or_undefined(name: str) -> None:
    relation = built(ROWS[name])
    assert relation is None or wrong_somewhere(relation)


def test_the_exceptions_are_attacks() -> None:
    assert set(ROWS) >= BY_REASON
