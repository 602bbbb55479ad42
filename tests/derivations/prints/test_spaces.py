"""Spaces, mappings, random vectors, couplings, separate problems, unequal vectors: read, or refused."""

import pytest

from derivations import AtLeast, Equation, Fails, interior, simplex, size, total, vector
from derivations.calculus.variables import index
from derivations.domains import Nonnegative
from derivations.prints import tables
from derivations.prints.agreement import check
from derivations.prints.expressions import in_normal_form
from derivations.reader.meaning.assertions import Shown
from derivations.reader.meaning.links import links
from derivations.reader.meaning.notation import Notation
from derivations.reader.syntax.tree import LatexError
from derivations.records.prints import Standing

TABLE = Notation(
    {
        "n, m, d": "size",
        "i": "index n",
        "j, k": "index m",
        "t": "index m",
        "q": "random vector d",
        "K": "random matrix m d",
        "z": "random vector m",
        "p": "simplex m",
        "a": "simplex n",
        "b": "simplex m",
        "P": "coupling a b",
        "C": "matrix n m",
        "x, y": "vector m",
        "V": "matrix m d",
        "f(x)": r"= \langle x, x \rangle",
        r"\varepsilon": "positive as eps",
        r"\cos\angle(x, y)": r"= \frac{\langle x, y \rangle}{\|x\| \|y\|}",
    }
)
M, N = size("m"), size("n")


def read(latex: str) -> list[str]:
    return [str(each.assertion) for each in links(latex, TABLE)]


# ── spaces and mappings ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "latex",
    [
        r"x \in \mathbb R^m",
        r"C \in \mathbb R^{n \times m}",
        r"t \in m",
        r"V: m \to \mathbb R^d",
        r"f: \mathbb R^m \to \mathbb R",
    ],
)
def test_a_space_beside_a_statement_adds_nothing(latex: str) -> None:
    assert read(rf"{latex},\quad \langle x, y \rangle = 0") == read(r"\langle x, y \rangle = 0")


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"x \in \mathbb R^n", "expected a point of"),
        (r"C \in \mathbb R^m", "expected a point of"),
        (r"x \in m", "expected a point of"),
        (r"V: m \to \mathbb R^m", "expected a function from"),
        (r"V: n \to \mathbb R^d", "expected a function from"),
        (r"f: \mathbb R^n \to \mathbb R", "expected a function from"),
        (r"f: \mathbb R^m \to \mathbb R^m", "expected a function from"),
    ],
)
def test_a_space_that_is_not_that_of_the_table_is_refused(latex: str, reason: str) -> None:
    with pytest.raises(LatexError, match=reason):
        links(latex, TABLE)


def test_a_separate_space_declares_its_point_and_states_positive_entries() -> None:
    (space,) = links(r"C \in \mathbb R^{n \times m}", TABLE)
    assert isinstance(space.assertion, Shown)
    (positive,) = links(r"C \in \mathbb R_+^{n \times m}", TABLE)
    assert isinstance(positive.assertion, AtLeast)


def test_spaces_are_equal_by_their_dimensions() -> None:
    (same,) = links(r"\mathbb R^{m} = \mathbb R^{m \times d}", TABLE)
    assert same.assertion.sides == (M, M * size("d"))


# ── random vectors and couplings ────────────────────────────────────────────────────────────────────────────────────


def test_moments_of_random_vectors() -> None:
    (mean,) = links(r"\mathbb E\langle q, K_j \rangle = 0", TABLE)
    (spread,) = links(r"\mathrm{Var}\langle q, K_j \rangle = d", TABLE)
    (mixed,) = links(r"\mathrm{Var}\sum_t p_t z_t = 1", TABLE)
    assert mean.assertion.sides[0] == 0
    assert in_normal_form(spread.assertion.sides[0], size("d"))
    weights = simplex("p", M)
    k = index("k", M)
    assert in_normal_form(mixed.assertion.sides[0], total(k, weights[k] ** 2))


@pytest.mark.parametrize("latex", [r"\mathrm{Var}\langle x, y \rangle = 0", r"\mathbb E[x_j] = 0", r"\mathrm{Var} = 0"])
def test_a_moment_without_a_law_needs_something_random(latex: str) -> None:
    with pytest.raises(LatexError, match=r"missing distribution as subscript|expected a distribution"):
        links(latex, TABLE)


def test_a_coupling_has_its_marginals() -> None:
    rows, columns, wrong = links(r"\sum_j P_{ij} = a_i,\quad \sum_i P_{ij} = b_j,\quad \sum_j P_{ij} = 2 a_i", TABLE)
    assert in_normal_form(*rows.assertion.sides)
    assert in_normal_form(*columns.assertion.sides)
    assert not in_normal_form(*wrong.assertion.sides)


def test_a_coupling_is_one_of_two_distributions() -> None:
    table = Notation({"n, m": "size", "a": "simplex n", "P": "coupling a", "R": "coupling a c"})
    assert set(table.broken) == {"P", "R"}


# ── separate problems, differences, and functions of two arguments ───────────────────────────────────────────────────


def test_a_problem_is_printed_by_itself_or_under_a_new_name() -> None:
    plans = Notation({"n, m": "size", "C": "matrix n m", "a": "simplex n", "b": "simplex m", "P": "coupling a b"})
    named = links(r"\mathrm{OT}(a, b) \triangleq \min_{P \in U(a, b)} \langle P, C \rangle", plans)
    problem = links(r"C = 0,\quad \min_{P \in U(a, b)} \langle P, C \rangle", plans)
    assert isinstance(named[0].assertion, Shown)
    assert isinstance(problem[0].assertion, Shown)
    with pytest.raises(LatexError):  # the name has a meaning, and the right side is no problem over a simplex
        links(r"C_{ij} = \min_{P \in U(a, b)} \langle P, C \rangle", plans)


def test_vectors_differ_if_some_entry_does() -> None:
    (link,) = links(r"x \ne y", TABLE)
    x, y, k = vector("x", M), vector("y", M), index("k", M)
    assert isinstance(link.assertion, AtLeast)
    assert link.assertion.strict
    assert in_normal_form(link.assertion.sides[0], total(k, (x[k] - y[k]) ** 2))


def test_the_cosine_of_an_angle_is_a_function_of_two_vectors() -> None:
    one, other = links(r"\cos\angle(x, y) = 1,\quad \frac{\langle x, y \rangle}{\|x\| \|y\|} = 1", TABLE)
    assert one.assertion.sides == other.assertion.sides or in_normal_form(one.assertion.sides[0], other.assertion.sides[0])


# ── agreement and difference ────────────────────────────────────────────────────────────────────────────────────────

PLAIN = Notation(
    {"m": "size", "j, k": "index m", "x": "vector m", "c": "positive", "w": "interior m", "u": "nonnegative vector m"}
)
KNOWN = tables.known_names(PLAIN)
x, w, u = vector("x", M), interior("w", M), vector("u", M, kind=Nonnegative)
j, k = index("j", M), index("k", M)


def test_an_intermediate_disproof_is_no_agreement() -> None:
    false = Equation(total(j, x[j]), 0, at={M: 2, x.label: [1, 0]})
    checked = check(r"\sum_j x_j = 0", PLAIN, KNOWN, [Fails(false), Equation(total(j, w[j]), 1)])
    assert (checked.standing, "disproves it" in checked.reason) == (Standing.DIFFERS, True)
    assert check(r"\sum_j x_j = 0", PLAIN, KNOWN, [Fails(false)]).standing is Standing.AGREES


def test_premises_must_hold_at_the_witness_of_a_disproof() -> None:
    false = Fails(Equation(total(j, x[j]), 0, at={M: 2, x.label: [1, 0]}))
    assert check(r"x_1 = 1 \implies \sum_j x_j = 0", PLAIN, KNOWN, [false]).standing is Standing.AGREES
    assert check(r"x_1 = 2 \implies \sum_j x_j = 0", PLAIN, KNOWN, [false]).standing is not Standing.AGREES
    assert check(r"x_1 \ge 1 \implies \sum_j x_j = 0", PLAIN, KNOWN, [false]).standing is Standing.AGREES
    assert check(r"x_1 > 1 \implies \sum_j x_j = 0", PLAIN, KNOWN, [false]).standing is not Standing.AGREES


def test_a_premise_that_the_table_has_need_not_be_one_of_the_step() -> None:
    least = AtLeast(total(j, u[j]), 0)
    assert check(r"u_j \ge 0 \implies \sum_j u_j \ge 0", PLAIN, KNOWN, [least]).standing is Standing.AGREES
    assert check(r"x_j \ge 0 \implies \sum_j u_j \ge 0", PLAIN, KNOWN, [least]).standing is not Standing.AGREES


def test_an_inequality_may_be_multiplied_by_a_positive_number_only() -> None:
    squares = AtLeast(total(j, x[j] ** 2), 0)
    assert check(r"\frac{1}{c} \sum_j x_j^2 \ge 0", PLAIN, KNOWN, [squares]).standing is Standing.AGREES
    assert check(r"-c \sum_j x_j^2 \ge 0", PLAIN, KNOWN, [squares]).standing is not Standing.AGREES


def test_one_name_has_one_meaning_in_a_part_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    module = tables.table("geometric")
    assert module is not None
    monkeypatch.setitem(module.CLAIMS, "geometric.2", {r"\hat p(x)": "= 1", r"\hat p_j": "= 2"})
    with pytest.raises(ValueError, match="declared twice"):
        tables._notation.__wrapped__("geometric", "section2_naive", "geometric.2", instance=True)
