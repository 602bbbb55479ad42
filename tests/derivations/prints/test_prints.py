"""Prints compared with relations: kinds of agreement, differences with their position, refusals, and sound tables."""

import pytest
import sympy as sp

from derivations import AtLeast, Equation, Fails, derivative, index, positive, size, total, vector
from derivations.documents.eot.notation import expect, j, k, m, s, softmax, tau, u
from derivations.documents.eot.section5_gradient import exponential, softmax_jacobian
from derivations.prints import tables
from derivations.prints.agreement import check
from derivations.prints.claims import is_formula, print_of
from derivations.prints.expressions import Values, in_normal_form
from derivations.prints.matching import match
from derivations.reader.meaning.links import links
from derivations.reader.meaning.notation import Notation
from derivations.reader.syntax.tree import LatexError
from derivations.records.documents import DOCUMENTS
from derivations.records.prints import Check, Standing
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from derivations.relations import Relation

WITH_A_PRINT = [document for document in DOCUMENTS if document != "beyond"]

NOTATION = tables.notation("eot", "section5_gradient", "eot.59")
assert NOTATION is not None
KNOWN = tables.known_names(NOTATION)
p = softmax(lambda key: s[key], tau)
PRINTED = r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_k(\delta_{kj}-p_j)"


def check_of(latex: str, *steps: Relation, defines: bool = False, before: str | None = None) -> Check:
    assert NOTATION is not None
    return check(latex, NOTATION, KNOWN, steps, defines=defines, before=before)


def proved() -> Relation:
    statement = softmax_jacobian.printed()
    assert statement is not None
    return statement


# ── agreement ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "latex",
    [
        PRINTED,
        r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau (p_k\delta_{kj}-p_jp_k)",
        r"\tfrac1\tau p_k(\delta_{kj}-p_j) = \partial p_k/\partial s_j",
        r"\frac{\partial p_j}{\partial s_k} = \tfrac1\tau p_j(\delta_{jk}-p_k)",
    ],
)
def test_equivalent_forms_of_a_statement_agree(latex: str) -> None:
    checked = check_of(latex, proved())
    assert checked.standing is Standing.AGREES, checked.reason
    assert "in normal form" in checked.reason


def test_each_link_names_the_step_that_states_it() -> None:
    mean = expect(p, lambda key: u[key])
    first = Equation(total(k, p(k) * u[k]), mean + 0 * tau, reason="the definition")
    checked = check_of(
        r"\mathbb E_p[u] = \sum_k p_ku_k,\quad \frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_k(\delta_{kj}-p_j)",
        first,
        proved(),
    )
    assert "link 1: step 1" in checked.reason
    assert "link 2: the statement" in checked.reason


def test_an_equation_with_unknowns_agrees_after_eliminating_them() -> None:
    lam = positive("lam")
    weights = vector("w", m)
    step = Equation(tau * (sp.log(weights[j]) + 1) - lam, tau * sp.log(weights[j]) + tau - lam)
    notation = Notation(
        {"m": "size", "j": "index m", r"\tau": "positive", r"\lambda": "positive", "w": "positive vector m"},
        {r"\tau": "tau", r"\lambda": "lam"},
    )
    checked = check(r"\tau \log w_j = \lambda - \tau", notation, tables.known_names(notation), [step])
    assert (checked.standing, "left − right is a side" in checked.reason) == (Standing.AGREES, True)
    wrong = check(r"\tau \log w_j = \lambda + \tau", notation, tables.known_names(notation), [step])
    assert wrong.standing is not Standing.AGREES


def test_a_line_that_begins_with_equals_continues_the_chain() -> None:
    assert check_of(r"= \tfrac1\tau p_k(\delta_{kj}-p_j)", proved(), before=PRINTED).standing is Standing.AGREES
    assert check_of(r"= \tfrac1\tau p_k(\delta_{kj}+p_j)", proved(), before=PRINTED).standing is Standing.DIFFERS
    assert check_of(r"= \tfrac1\tau p_k(\delta_{kj}-p_j)", proved()).standing is Standing.UNREAD


def test_a_stronger_inequality_serves_and_a_weaker_one_does_not() -> None:
    strict, weak = AtLeast(p(j), 0, strict=True), AtLeast(p(j), 0)
    assert check_of(r"p_j \ge 0", strict).standing is Standing.AGREES
    assert match(links(r"p_j > 0", NOTATION)[0], weak, KNOWN) is None  # type: ignore[arg-type]


# ── difference ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{\partial p_k}{\partial s_j} = -\tfrac1\tau p_k(\delta_{kj}-p_j)",  # a sign
        r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_k(\delta_{kj}-p_k)",  # an index
        r"\frac{\partial p_k}{\partial s_j} = \tfrac2\tau p_k(\delta_{kj}-p_j)",  # a factor
        r"\frac{\partial p_k}{\partial s_j} = p_k(\delta_{kj}-p_j)",  # τ is lost
        r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_k(\delta_{kj}-p_jp_j)",
    ],
)
def test_a_planted_change_differs_at_a_point(latex: str) -> None:
    checked = check_of(latex, proved())
    assert checked.standing is Standing.DIFFERS
    assert " ≠ " in checked.reason
    assert "m = " in checked.reason


def test_different_identities_do_not_agree() -> None:
    """All true equations have difference 0, which does not make them the same statement."""
    partition = total(index("l", m), exponential(index("l", m)))
    assert check_of(r"\frac{\partial Z}{\partial s_j} = \tfrac1\tau e^{s_j/\tau}", proved()).standing is not Standing.DIFFERS
    assert match(links(r"\frac{\partial Z}{\partial s_j} = \tfrac1\tau e^{s_j/\tau}", NOTATION)[0], proved(), KNOWN) is None  # type: ignore[arg-type]
    assert match(links(r"Z = \sum_l e^{s_l/\tau}", NOTATION)[0], Equation(2 * partition, partition + partition), KNOWN) is None  # type: ignore[arg-type]


def test_twice_an_identity_is_no_residual() -> None:
    """A − 2B equals −B where A = B, and −B is a side, but that is no agreement."""
    twice = r"\frac{\partial p_k}{\partial s_j} = 2 \tfrac1\tau p_k(\delta_{kj}-p_j)"
    assert check_of(twice, proved()).standing is Standing.DIFFERS
    more = twice.replace("2", r"(1+\tfrac1\tau)")
    for latex in (
        twice,
        twice.replace("2", "-2").replace(r"\frac", r"-\frac", 1),
        more,
        more.replace("(1", "-(1").replace(r"\frac", r"-\frac", 1),
    ):
        assert match(links(latex, NOTATION)[0], proved(), KNOWN) is None  # type: ignore[arg-type]


def test_constants_agree_only_about_the_same_thing() -> None:
    other = Equation(total(j, p(j) ** 2 / p(j)), 1)
    n = size("n")
    mass = Equation(total(index("i", n), vector("w", n)[index("i", n)] * 0) + 1, 1)
    link = links(r"\sum_j p_j = 1", NOTATION)[0]  # type: ignore[arg-type]
    assert match(link, other, KNOWN) is not None
    assert match(link, mass, KNOWN) is None


def test_a_disproof_must_refer_to_the_printed_statement() -> None:
    wrong = r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_k(p_j-\delta_{kj})"
    false = softmax_jacobian.twins["the sign"]()
    assert check_of(wrong, Fails(false)).standing is Standing.AGREES
    assert check_of(PRINTED, Fails(false)).standing is not Standing.AGREES


def test_a_definition_is_that_of_the_table_and_is_shown_in_a_step() -> None:
    step = Equation(total(k, (u[k] + tau) * p(k)), tau + total(k, p(k) * u[k]))
    assert check_of(r"\mathbb E_p[u] = \sum_k p_ku_k", step, defines=True).standing is Standing.AGREES
    assert check_of(r"\mathbb E_p[u] = \sum_k p_ks_k", step, defines=True).standing is Standing.DIFFERS
    assert check_of(r"Z = \sum_l e^{s_l/\tau}", step, defines=True).standing is Standing.AGREES  # it occurs in p
    assert check_of(r"A_j = u_j - \mathbb E_p[u]", proved(), defines=True).standing is Standing.APART


def test_normal_forms_and_points_refuse() -> None:
    values = Values([m, tau, s.label, j, k])
    assert not values.same(p(j), p(k))
    assert not values.same(p(j), p(j) / tau)
    assert not values.same(tau, -tau)
    assert values.same(p(j) + p(k), p(k) + p(j))
    assert not in_normal_form(p(j), p(k))
    assert not in_normal_form(p(j), p(j) / tau)
    assert in_normal_form(total(j, p(j)), 1)


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_another_symbol_of_the_table_is_not_renamed() -> None:
    step = Equation(derivative(p(k) * tau, s[j]), tau * derivative(p(k), s[j]))
    notation = Notation(
        {
            "m": "size",
            "j, k": "index m",
            r"\tau": "positive",
            r"\gamma": "positive",
            "s": "vector m",
            "p_j": r"= e^{s_j/\tau} / \sum_k e^{s_k/\tau}",
            "q_j": r"= e^{s_j/\gamma} / \sum_k e^{s_k/\gamma}",
        },
        {r"\tau": "tau"},
    )
    known = tables.known_names(notation)
    right = links(r"\partial_{s_j} (\tau p_k) = \tau \partial_{s_j} p_k", notation)[0]
    wrong = links(r"\partial_{s_j} (\gamma q_k) = \gamma \partial_{s_j} q_k", notation)[0]
    assert match(right, step, known) is not None
    assert match(wrong, step, known) is None
    assert match(wrong, step, frozenset()) is not None  # a statement about any number, whatever its name


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("document", WITH_A_PRINT)
def test_every_line_of_a_table_can_be_read_and_is_about_something(document: str) -> None:
    module = tables.table(document)
    assert module is not None
    catalogue = entries()
    chapters = {entry.module.rpartition(".")[2] for id, entry in catalogue.items() if id.startswith(f"{document}.")}
    assert set(module.CHAPTERS) <= chapters
    assert {*module.CLAIMS, *module.INSTANCES} <= set(catalogue)
    for id in [*module.CLAIMS, *module.INSTANCES]:
        notation = tables.notation(document, catalogue[id].module.rpartition(".")[2], id)
        assert notation is not None
        assert not notation.broken, id
    for chapter in chapters:
        notation = tables.notation(document, chapter, f"{document}.none")
        assert notation is not None
        assert not notation.broken, chapter


def test_a_table_is_written_from_the_document_and_holds_no_expression_of_the_derivations() -> None:
    for document in WITH_A_PRINT:
        module = tables.table(document)
        assert module is not None
        own = {"SYMBOLS": module.SYMBOLS, **module.CHAPTERS, **module.CLAIMS, **module.INSTANCES}
        assert all(isinstance(line, str | None) for lines in own.values() for line in lines.values())


def test_a_print_that_differs_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from derivations.register import examining

    wrong = Check(Standing.DIFFERS, "", "at a point: 1 ≠ 2")
    monkeypatch.setattr(examining, "_prints", lambda id: (wrong, None))
    evidence = examine(entries()["eot.59"]).evidence
    assert any("the print differs from its relation" in fault for fault in evidence.faults)


def test_formulas_only() -> None:
    assert is_formula(r"a = b \text{ for all } j")
    assert not is_formula(r"f \text{ is convex}")


def test_section_5_is_read_and_agrees() -> None:
    catalogue = entries()
    ids = [f"eot.{number}" for number in (*range(44, 48), *range(49, 65))]
    prints = {id: print_of(catalogue[id], catalogue) for id in ids}
    assert {id for id, own in prints.items() if own is None or own.standing is not Standing.AGREES} == set()


# ── the language ────────────────────────────────────────────────────────────────────────────────────────────────────

SPOKEN = Notation(
    {
        "m, n": "size",
        "i, j, k": "index m",
        r"\tau": "positive",
        "s, x": "vector m",
        "p": "simplex m",
        "w": "positive vector m",
        "P": "stochastic n m",
        "f(w)": r"= \sum_j w_j \log w_j",
        "g(s)": r"= \tau \log \sum_j e^{s_j/\tau}",
        r"p^\star_j": r"= e^{s_j/\tau} / \sum_k e^{s_k/\tau}",
        "t": "matrix n m",
        "a": "point of t",
        "u": "interior n",
        "d": "size",
        r"\mathbb E": "expectation under p",
    }
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\nabla f(p^\star) = x", r"\nabla_w f(w)|_{w = p^\star} = x"),
        (r"[s_jx_j]_j = s \odot x", r"[s_jx_j]_{j=1}^m = s \odot x"),
        (r"p^{\star\top}x = \sum_j p^\star_jx_j", r"(p^\star)^\top x = \sum_j p^\star_jx_j"),
        (r"\partial g/\partial s_j = 0", r"\frac{\partial g}{\partial s_j} = 0"),
        (r"\int a u(a) da = 0", r"\sum_{i=1}^n t_iu_i = 0"),
        (r"\mathbb E[x] = 0", r"\sum_j p_jx_j = 0"),
        (r"\tau = \max_{p \in \Delta^{m-1}} \{\langle p, s\rangle\}", r"\tau = \sup_{p \in \Delta^{m-1}} \langle p, s\rangle"),
    ],
)
def test_two_ways_to_print_one_thing(one: str, other: str) -> None:
    first, second = (links(each, SPOKEN)[0].assertion for each in (one, other))
    assert all(in_normal_form(*pair) for pair in zip(first.sides, second.sides, strict=True))


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"\frac{d}{dt} g = 0", "expected .*partial in a derivative"),
        (r"x^{(k)} = s", "can be a label, the order of a derivative or a power"),
        (r"\mathbb E_p[|i-j|] = 0", "can be the mean over"),
        (r"p^\star = \arg\min_{p \in \Delta^{m+1}} \langle p, s\rangle", "expected the simplex of m numbers"),
        (r"[s_j]_{j=1}^n = x", "expected entries up to m"),
        (r"g(s)|_{s \ge 0} = 0", "expected x = y below the bar"),
    ],
)
def test_formulas_with_two_readings_or_none_are_refused(latex: str, reason: str) -> None:
    with pytest.raises(LatexError, match=reason):
        links(latex, SPOKEN)
