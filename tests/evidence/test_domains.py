"""The evidence's table of domains beside that of the derivations: both admit and refuse the same points."""

from fractions import Fraction
from itertools import islice
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from derivations.calculus.admission import NotAdmittedError, admit
from derivations.calculus.points import points
from derivations.calculus.variables import Variable, complementary, coupling, interior, simplex, size
from derivations.domains import DOMAINS, Domain
from evidence import domains

m, n = size("m"), size("n")
SIZES = (m, n, m)
WHOLE = {domain.name for domain in DOMAINS if domain.is_size or domain.is_index}
PLAIN = [domain for domain in DOMAINS if domain.name not in {*WHOLE, "coupling", "slack"}]
TIED = [coupling("P", simplex("p", m), interior("q", n)).label, complementary("μ", simplex("p", m)).label]
VARIABLES: list[Variable] = [
    *(Variable("x", domain(SIZES[:axes])) for domain in PLAIN for axes in domain.axes if axes < 4),
    *TIED,
]
NUMBERS = [Fraction(value) for value in (0, 1, -1, "1/2", "-1/2", "3/5", "4/5", 2)]


def own(variable: Variable, point: dict[Variable, Any]) -> bool:
    """Whether the evidence admits the value of a variable at an exact point."""
    numeric = {
        v.name: value if v.domain.is_integer else torch.tensor(_floats(value), dtype=torch.float64)
        for v, value in point.items()
    }
    return not domains.outside(variable, numeric[variable.name], numeric)


def _floats(value: Any) -> Any:
    return [_floats(part) for part in value] if isinstance(value, list) else float(value)


def admitted(variable: Variable, point: dict[Variable, Any]) -> bool:
    """Whether the derivations admit it."""
    try:
        admit(point, list(point))
    except NotAdmittedError:
        return False
    return True


def around(variable: Variable) -> list[Variable]:
    """A variable behind the sizes and vectors that its domain depends on."""
    labels = [vector.label for vector in variable.domain.marginals]
    return [m, n, *labels, variable]


def test_each_domain_is_in_both_tables() -> None:
    assert set(domains.DOMAINS) | WHOLE == {domain.name for domain in DOMAINS}
    assert {v.domain.name for v in VARIABLES} == set(domains.DOMAINS)


@pytest.mark.parametrize(
    "variable", [v for v in VARIABLES if not v.domain.is_random], ids=lambda v: f"{v.domain.name}{len(v.domain.shape)}"
)
def test_points_of_the_derivations_are_admitted_and_others_refused_alike(variable: Variable) -> None:
    refused = 0
    for point in islice(points(around(variable)), 41):
        assert own(variable, point)
        for changed in _changed(point[variable]):
            other = {**point, variable: changed}
            assert own(variable, other) == admitted(variable, other), other
            refused += not own(variable, other)
    assert refused or variable.domain.is_whole


def _changed(value: Any) -> list[Any]:
    """The value with one number replaced, in turn by each of `NUMBERS`, and with all of them moved."""
    if not isinstance(value, list):
        return list(NUMBERS)
    replaced = [[*value[:n], each, *value[n + 1 :]] for n, part in enumerate(value[:2]) for each in _changed(part)]
    return [*replaced, *([list(reversed(value))] if len(value) > 1 else [])]


@given(st.data())
@pytest.mark.parametrize("name", [name for name, each in domains.DOMAINS.items() if each.entries is not None])
def test_what_the_evidence_draws_is_in_the_domain(name: str, data: st.DataObject) -> None:
    kind: type[Domain] = next(domain for domain in DOMAINS if domain.name == name)
    axes = data.draw(st.sampled_from([axes for axes in kind.axes if axes < 3]))
    variable = Variable("x", kind(SIZES[:axes]))
    value = data.draw(domains.strategy(variable, (3, 2)[:axes]))
    values = torch.as_tensor(value, dtype=torch.float64)
    assert not domains.outside(variable, values, {"m": 3, "n": 2})
    if name not in ("real", "nonzero"):
        assert domains.outside(variable, values - 7, {"m": 3, "n": 2})


def test_what_has_no_draws_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^P: expected a domain to draw from, got coupling$"):
        domains.strategy(TIED[0], (3, 2))
