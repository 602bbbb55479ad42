"""A claim from its LaTeX alone: its steps, its kind, twins that are false, and a correction that is true."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from derivations import AtLeast, Equation, Fails, index, positive, scalar, size, total, vector, xlogx
from derivations.papers import claims
from derivations.papers.claims import DEFINES, SAME, TWINS, _coarse, _own_meanings, _wrong, equation
from derivations.papers.repairs import failing, is_refuted, repair
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.records.claims import Kind, Severity
from derivations.register.claiming import Undecidable
from derivations.relations import Limit, Relation, UniqueMinimum

x, y, tau = scalar("x"), scalar("y"), positive("tau")
m = size("m")
j, l = index("j", m), index("l", m)  # noqa: E741
s = vector("s", m)
TABLE = Notation(
    {
        "m": "size",
        "j, k": "index m",
        "x, y": "real",
        r"\tau": "positive",
        "s": "vector m",
        "q": "simplex m",
        r"\ell": "= x + y",
        "p_j": r"= e^{s_j/\tau} / \sum_k e^{s_k/\tau}",
        r"\ln\tau": "real",
    },
    local={"paper.5": {"x": "positive", r"\ell": "= 1"}},
)
SOLUTION = r"p = \arg\min_{q\in\Delta^{m-1}} \{\tau\sum_k q_k\log q_k - \sum_k q_k s_k\}"


def entropic(q: Any) -> sp.Expr:
    return total(l, tau * xlogx(q(l)) - q(l) * s[l])


def softmax(i: sp.Expr) -> sp.Expr:
    return sp.exp(s[i] / tau) / total(l, sp.exp(s[l] / tau))


MINIMUM = UniqueMinimum(entropic, softmax, m, tau)


class Made(SimpleNamespace):
    """What a formula is registered as."""

    def twin(self, name: str, wrong: Callable[[], Relation]) -> None:
        self.twins[name] = wrong()

    def corrected(self, latex: str, severity: Severity) -> Callable[[Any], None]:
        def proved(steps: Callable[[], Iterable[Relation]]) -> None:
            self.correction = latex, severity, list(steps()), steps.__doc__

        return proved


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    def claim(id: str, kind: Kind, *, title: str, latex: str) -> Callable[[Callable[[], Any]], Made]:
        return lambda derivation: Made(
            id=id, kind=kind, title=title, latex=latex, derivation=derivation, twins={}, module="here", correction=None
        )

    monkeypatch.setattr(claims, "claim", claim)


def made(latex: str, id: str = "paper.1", *, defines: bool = False) -> Any:
    return equation(id, latex, TABLE, title="it", line=7, defines=defines)


def steps(latex: str, **options: Any) -> list[Relation]:
    return list(made(latex, **options).derivation())


def test_a_true_formula_is_stated_with_false_twins() -> None:
    entry = made(r"(x + y)^2 = x^2 + 2xy + y^2")
    assert (entry.kind, entry.read, entry.correction) == (Kind.IDENTITY, True, None)
    assert entry.derivation.__doc__ == "Line 7 of the paper."
    (step,) = entry.derivation()
    assert isinstance(step, Equation)
    assert step.prove()
    assert len(entry.twins) == TWINS == 3
    assert all(twin.counterexample() is not None for twin in entry.twins.values())


def test_a_false_formula_fails_and_has_a_correction() -> None:
    entry = made(r"(x + y)^2 = x^2 + xy + y^2")
    (step,) = entry.derivation()
    assert isinstance(step, Fails)
    latex, severity, (correct,), words = entry.correction
    assert severity is Severity.SLIP
    assert correct.prove()
    assert words.startswith("One edit away it is true: ")
    assert [str(each) for each in read(latex, TABLE)] == [str(correct)]
    assert entry.twins
    hopeless = made(r"x = e^{y^2} + \tau")
    assert isinstance(next(iter(hopeless.derivation())), Fails)
    assert hopeless.correction is None


def test_a_chain_is_stated_up_to_the_first_link_that_fails() -> None:
    links = steps(r"x + x = 2x = 3x = 4x")
    assert [type(each) for each in links] == [Equation, Fails] or [type(each) for each in links] == [AtLeast, Fails]
    true = steps(r"\log e^{x} \le x \le |x|")
    assert len(true) == 2


@pytest.mark.parametrize(
    ("latex", "kind", "why"),
    [
        ("x^2 = x", "not asserted", "the text does not assert it: “one might think”"),
        ("(x + y)^2 = x^2 + 2xy + y^2", "not asserted", "the text does not assert it: “one might think”"),
        ("x^2 = x", "qualified", "the text does not say that it always holds: “one might think”"),
        ("(x + y)^2 = x^2 + 2xy + y^2", "qualified", ""),
    ],
)
def test_the_words_of_the_text_leave_an_equation_open(latex: str, kind: str, why: str) -> None:
    notation = Notation({"x, y": "real"}, local={"paper.1": {kind: "one might think"}})
    entry = equation("paper.1", latex, notation, title="it", line=7)
    result = entry.derivation()
    assert result.reason.endswith(why) if isinstance(result, Undecidable) else next(iter(result)).prove() and not why
    assert bool(entry.twins) is not bool(why)
    assert entry.derivation.__doc__ == "Line 7 of the paper."
    assert entry.derivation.__module__ == __name__  # where the equation is registered


def test_a_definition_has_a_value_and_no_twins() -> None:
    for defines, reason in ((True, DEFINES), (False, SAME)):
        entry = made(r"\ell = x + y", defines=defines)
        assert (entry.kind, entry.twins, entry.correction) == (Kind.DEFINITION, {}, None)
        (step,) = entry.derivation()
        assert isinstance(step, AtLeast)
        assert step.sides == ((x + y) ** 2, 0)
        assert step.reason == reason
        assert step.prove()


def test_a_formula_that_cannot_be_read_is_open() -> None:
    entry = made(r"x = \xi")
    assert not entry.read
    answer = entry.derivation()
    assert isinstance(answer, Undecidable)
    assert answer.reason.startswith("could not be read: ")
    assert (entry.twins, entry.kind) == ({}, Kind.IDENTITY)


def test_an_error_of_the_reader_is_named_and_affects_no_other_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(latex: str, notation: Notation) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(claims, "read", broken)
    assert made("x = y").derivation().reason == "could not be read: KeyError: 'a bug'"


@pytest.mark.parametrize(
    ("latex", "kind"),
    [
        (r"x \le |x|", Kind.INEQUALITY),
        (r"x^2 - y^2 = (x - y)(x + y)", Kind.IDENTITY),
        (SOLUTION, Kind.OPTIMALITY),
        (r"x^2 = x x + y - y \le x^2 + y^2", Kind.INEQUALITY),
    ],
)
def test_the_kind_is_that_of_the_last_link(latex: str, kind: Kind) -> None:
    assert made(latex).kind is kind


def test_meanings_of_one_equation_are_said() -> None:
    entry = made(r"\ell + x > 0", id="paper.5")
    assert entry.derivation.__doc__ == r"Line 7 of the paper. Here x: positive; \ell = 1."
    assert all(step.prove() for step in entry.derivation())
    assert _own_meanings({}) == []


# ── twins ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("relation", "names"),
    [
        (Equation(x * 0 + y, y), ["1 more", "1 less", "2 more"]),
        (AtLeast(x**2, 0), ["the other way round", "1 more", "2 more", "7 more"]),
        (Limit(1 / x, x, sp.oo, 0), ["1 more", "1 less", "2 more"]),
        (MINIMUM, ["squares of the weights", "roots of the weights"]),
    ],
)
def test_coarse_versions_are_other_statements(relation: Relation, names: list[str]) -> None:
    found = dict(_coarse(relation))
    assert list(found) == names
    assert all(is_refuted(wrong) for wrong in found.values())
    if isinstance(relation, UniqueMinimum):
        return
    shifts = {"1 more": 1, "1 less": -1, "2 more": 2, "7 more": 7}
    if isinstance(relation, Limit):
        assert [wrong.limit for wrong in found.values() if isinstance(wrong, Limit)] == [shifts[name] for name in names]
        return
    left, right = relation.sides
    assert {name: wrong.sides for name, wrong in found.items() if name in shifts} == {
        name: (left, right + shift) for name, shift in shifts.items() if name in found
    }


def test_a_reversed_inequality_is_strict_and_keeps_its_hypotheses() -> None:
    given = (AtLeast(x, 1),)
    reversed_ = dict(_coarse(AtLeast(x**2, x, given=given)))["the other way round"]
    assert isinstance(reversed_, AtLeast)
    assert (reversed_.sides, reversed_.strict, reversed_.given) == ((x, x**2), True, given)


def test_tempered_weights_are_powers_that_sum_to_one() -> None:
    squares = dict(_coarse(MINIMUM))["squares of the weights"]
    assert isinstance(squares, UniqueMinimum)
    assert Equation(squares.candidate(j), sp.exp(2 * s[j] / tau) / total(l, sp.exp(2 * s[l] / tau))).prove()


def test_wrong_versions_differ_from_each_other_and_from_the_statement() -> None:
    found = list(_wrong(Equation((x + y) ** 2, x**2 + 2 * x * y + y**2)))
    assert len({name for name, _ in found}) == len(found) >= 4
    assert all(wrong.counterexample() is not None for _, wrong in found)


def test_what_fails_is_refuted_and_nothing_else() -> None:
    true, false, open_ = Equation(x, x + 0 * y), Equation(x, y), AtLeast(x**4 + y**4 + 1, x * y - sp.Rational(1, 2))
    assert failing([true, open_, false, Equation(y, x)]) is false
    assert failing([true, open_]) is None
    assert failing([]) is None


def test_a_repair_is_that_of_the_link_that_fails() -> None:
    false, latex = Equation((x + y) ** 2, x**2 + 2 * x * y - y**2), r"|x|^2 = x^2, \quad (x + y)^2 = x^2 + 2 x y - y^2"
    found = repair(false, latex, TABLE)
    assert found is not None
    assert found.relation.prove()
    assert [str(each) for each in read(found.latex, TABLE)] == [str(found.relation)]
    assert found.latex == "(x + y)^{2} = x^{2} + 2 x y + y^{2}"
