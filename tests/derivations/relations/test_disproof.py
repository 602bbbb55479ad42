"""A disproof concerns a statement at a point and has no hypotheses of its own."""

import pytest

from derivations.calculus.sums import total
from derivations.calculus.variables import index, scalar, size, vector
from derivations.relations import AtLeast, Equation, Fails

m = size("m")
j = index("j", m)
a, x, y = vector("a", m), scalar("x"), scalar("y")
MASS = Equation(total(j, a[j]), 1, at={m: 2})


def test_the_point_of_a_disproof_is_added_to_that_of_the_statement() -> None:
    disproof = Fails(MASS, at={a: [3, 4]})
    assert disproof.relation.at == {m: 2, a.label: [3, 4]}
    assert disproof.prove()
    assert Fails(MASS).relation is MASS
    assert not Fails(MASS, at={a.label: [3, -2]}).prove()


@pytest.mark.parametrize("own", [{"about": (x,)}, {"given": (AtLeast(x, 0),)}])
def test_arguments_of_the_relation_are_refused_by_the_disproof(own: dict[str, tuple[object, ...]]) -> None:
    with pytest.raises(ValueError, match=r"^about, given: expected at the relation that is disproved, got them"):
        Fails(Equation(x, y), **own)  # type: ignore[arg-type]


def test_a_disproof_takes_scope_and_sides_from_its_relation() -> None:
    disproof = Fails(Equation(x + y, x))
    assert (disproof.sides, disproof.variables()) == ((x + y, x), [x, y])
    assert (disproof.general(), disproof.scope()) == (True, "all x real, y real")
    assert disproof.counterexample() is None
    assert disproof.contradicted_at({x: 0, y: 1}) is None
    assert Fails(Equation(x, x)).explain() == f"no sample point contradicts {Equation(x, x)}"
    assert Fails(disproof).explain() == "expected a statement to disprove, got a disproof"
