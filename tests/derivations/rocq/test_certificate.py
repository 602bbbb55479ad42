"""The lines of a proof are trusted by nobody; that each of them is true is computed here, without Rocq."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product
from random import Random

import pytest
from flint import arb, ctx

from derivations.register.catalogue import entries
from derivations.rocq.certificate import Certificate
from derivations.rocq.export import Theorem, theorem
from derivations.rocq.polynomials import as_term
from derivations.rocq.readback import AMONG, BITS, _has_places, _scope
from derivations.rocq.reading import Reader, Scope
from derivations.rocq.statements import Facts
from derivations.rocq.sums import Flat, Summation, named_sum
from derivations.rocq.terms import NotExportedError, Term, written

LINE = re.compile(r"have H\d+ : (?:forall((?: \(\w+ : [^()]+\))+), )?(.*?)\.\n\{", re.DOTALL)
BINDER = re.compile(r"\((\w+) : ([^()]+)\)")
REALS = (arb(-2), arb(3) / 7)  # for names that stand for any real number
LARGEST, POINTS = 3, 4  # lines have several nested sums

CLAIMS = [
    "eot.24",
    "eot.46",
    "eot.58",
    "eot.59",
    "eot.142",
    "eot.s4.sparsemax-sparse",
    "deciphering.19",
    "deciphering.37",
    "deciphering.s5.general-covariance",
    "deciphering.s9.regular-attention",
    "deciphering.43",
    "beyond.cold-mass",
    "beyond.cocoercive-prior",
    "beyond.jacobian-total",
    "beyond.pass-certificate",
]


def exported(id: str) -> tuple[Theorem, list[Scope]]:
    """The theorem of a claim, and exact points of its variables."""
    relation = entries()[id].repaired() or entries()[id].printed()
    assert relation is not None
    made = theorem(id, relation)
    small = [
        point
        for point in islice(filter(_has_places, relation.points()), AMONG)
        if all(value <= LARGEST for v, value in point.items() if v.domain.is_size)
    ]
    return made, [_scope(made, point) for point in Random(0).sample(small, POINTS)]


def places(binders: str, scope: Scope) -> Iterator[Scope]:
    """The scope with each value of the names that a line is about."""
    names = BINDER.findall(binders or "")
    ranges = [
        REALS if type == "R" else range(int(size) if (size := type.removeprefix("'I_")).isdigit() else scope[size])
        for _, type in names
    ]
    for values in product(*ranges):
        yield {**scope, **dict(zip((name for name, _ in names), values, strict=True))}


@pytest.mark.parametrize("id", CLAIMS)
def test_every_line_of_a_proof_is_true_at_exact_points(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctx, "prec", BITS)
    made, scopes = exported(id)
    stated = LINE.findall(made.proof)
    assert len(stated) == made.proof.count("have H")
    assert stated
    assert scopes
    for binders, equation in stated:
        holds = Reader(equation).comparison()
        assert all(holds(at) is not False for scope in scopes for at in places(binders, scope)), equation


# ── normal forms ────────────────────────────────────────────────────────────────────────────────────────────────────

X: Term = ("var", "x")
Y: Term = ("var", "y")
P: Term = ("entry", "p", ("i",))
S: Term = ("entry", "s", ("i",))
FACTS = Facts(
    frozenset({"x", "y"}), {"p": "p_mass", "J": "J_mass"}, {("P", 1): ("", "P_rows"), ("K", 0): ("p", "K_columns")}, {}
)


def num(value: int | Fraction) -> Term:
    return ("num", Fraction(value))


def total(body: Term, bound: str = "i", size: str = "m") -> Term:
    return ("sum", bound, size, body)


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (("pow", ("add", X, Y), 2), "((2%:R * x * y) + (x ^+ 2) + (y ^+ 2))"),
        (("mul", ("add", X, Y), ("neg", X)), "((- (x * y)) + (- (x ^+ 2)))"),
        (("inv", num(2)), "(1 / 2%:R)"),
        (("inv", ("mul", num(2), X)), "((1 / 2%:R) * x^-1)"),
        (("inv", ("add", ("mul", X, Y), X)), "((1 + y)^-1 * x^-1)"),
        (("dlt", "j", "j"), "1"),
        (("dlt", "j", "i"), "(dlt i j)"),
        (("exp", ("add", X, ("neg", Y))), "((expR x) * (expR y)^-1)"),
        (("exp", ("mul", num(2), X)), "((expR x) ^+ 2)"),
        (("exp", ("mul", num(Fraction(3, 2)), X)), "((expR ((1 / 2%:R) * x)) ^+ 3)"),
        (("exp", ("ln", X)), "x"),
        (("exp", ("neg", ("ln", X))), "x^-1"),
        (("exp", num(0)), "1"),
        (("exp", ("ln", ("var", "z"))), "(expR (ln z))"),
        (("ln", ("mul", X, Y)), "((ln x) + (ln y))"),
        (("ln", ("inv", X)), "(- (ln x))"),
        (("ln", ("exp", S)), "(s i)"),
        (("ln", num(Fraction(12, 5))), "((2%:R * (ln 2%:R)) + (ln 3%:R) + (- (ln 5%:R)))"),
        (("ln", num(1)), "0"),
        (("ln", ("sqrt", X)), "((1 / 2%:R) * (ln x))"),
        (("ln", ("var", "z")), "(ln z)"),
        (("ln", ("mul", X, S)), "(ln ((s i) * x))"),
        (("ln", ("neg", ("mul", num(2), X, ("add", S, X)))), "(ln ((- (2%:R * (s i) * x)) + (- (2%:R * (x ^+ 2)))))"),
        (total(num(3)), "(3%:R * m%:R)"),
        (total(num(3), size="2"), "6%:R"),
        (total(P), "1"),
        (total(("mul", X, P)), "x"),
        (total(("add", S, X)), "((\\Sum_(x1 < m) (s x1)) + (m%:R * x))"),
        (total(("mul", num(2), S)), "(2%:R * (\\Sum_(x1 < m) (s x1)))"),
        (total(("mul", ("dlt", "i", "j"), S)), "(s j)"),
        (total(("mul", ("dlt", "j", "i"), ("pow", S, 2))), "((s j) ^+ 2)"),
        (total(("entry", "P", ("j", "i"))), "1"),
        (total(("entry", "K", ("i", "j"))), "(p j)"),
        (total(("add", S, ("neg", S))), "0"),
    ],
)
def test_the_normal_form_of_a_term(part: Term, shown: str) -> None:
    certificate = Certificate(FACTS)
    assert written(as_term(certificate.normal(part)[0])) == shown


def at(name: str, *indices: str) -> Term:
    return ("entry", name, indices)


Z: Term = ("inv", total(("exp", at("s", "k")), "k"))
SPREAD: Term = ("pow", total(("mul", at("T", "i", "j"), at("u", "j")), "j", "n"), 2)
NESTED = [
    (("mul", S, total(("mul", ("dlt", "j", "i"), at("u", "j")), "j")), "(\\Sum_(x1 < m) ((s x1) * (u x1)))"),
    (total(("mul", at("P", "i", "j"), S), "j"), "(\\Sum_(x1 < m) (s x1))"),
    (total(("mul", at("K", "i", "j"), at("s", "j")), "j", "n"), "(\\Sum_(x1 < n) ((p x1) * (s x1)))"),
    (("mul", ("exp", S), Z, total(("mul", ("exp", at("s", "j")), Z), "j")), "1"),
    (total(at("J", "i", "j"), "j"), "1"),
    (total(at("J", "j", "i"), "j"), "1"),
    (
        ("mul", S, SPREAD),
        "(\\Sum_(x3 < m) ((\\Sum_(x2 < n) ((T x3 x2) * (\\Sum_(x1 < n) ((T x3 x1) * (u x1))) * (u x2))) * (s x3)))",
    ),
]
SCOPE: Scope = {
    "m": 2,
    "n": 2,
    "s": [arb(3), arb(-2)],
    "u": [arb(5), arb(7)],
    "p": [arb(1) / 4, arb(3) / 4],
    "P": [[arb(1) / 4, arb(3) / 4], [arb(1) / 2, arb(1) / 2]],
    "T": [[arb(1), arb(2)], [arb(-3), arb(4)]],
    "J": [[arb(1) / 8, arb(1) / 2], [arb(1) / 4, arb(1) / 8]],
    "K": [[arb(1) / 8, arb(1) / 2], [arb(1) / 8, arb(1) / 4]],
}


@pytest.mark.parametrize(("body", "shown"), NESTED)
def test_sums_in_sums_by_lines_that_are_true(body: Term, shown: str) -> None:
    certificate = Certificate(FACTS)
    assert written(as_term(certificate.normal(total(body))[0])) == shown
    assert certificate.lines
    for binders, equation in LINE.findall("\n".join(certificate.lines)):
        holds = Reader(equation).comparison()
        assert all(holds(each) is not False for each in places(binders, SCOPE)), equation


def test_a_sum_is_taken_apart_only_where_it_has_several_terms() -> None:
    for body, times in ((("mul", num(2), S), 0), (("add", S, X), 1)):
        certificate = Certificate(FACTS)
        certificate.normal(total(body))
        assert "\n".join(certificate.lines).count("first by apart") == times


def test_functions_of_the_library_are_unfolded_before_their_slopes_are_taken() -> None:
    certificate = Certificate(FACTS)
    certificate.normal(("slope", X, ("xlogx", X)))
    assert "rewrite /kl /xlogx /exp_fun" in "\n".join(certificate.lines)


def test_only_a_power_has_a_second_way_to_its_definition() -> None:
    for part, ways in ((("rpow", ("add", X, X), ("exp", Y)), True), (("kl", ("add", X, X), Y), False)):
        certificate = Certificate(FACTS)
        certificate.normal(part)
        assert certificate.lines
        assert ("first [" in "\n".join(certificate.lines)) is ways


def test_only_a_denominator_is_a_sum_over_which_a_product_is_summed_by_itself() -> None:
    inside = ("exp", at("s", "j"))
    whole = named_sum("j", "m", ((inside, 1),))
    summation = Summation(Certificate(FACTS), "i", "m", (), {})
    for power, name in ((-1, "j"), (-2, "j"), (1, None), (2, None)):
        flat = Flat((("i", "m"), ("j", "m")), ((S, 1), (inside, 1), (whole, power)))
        assert summation._eliminable(flat) == name


def test_sums_are_exchanged_below_those_around_them() -> None:
    """The sum over i becomes the innermost of three: it changes places with the second, and below that with the third."""
    certificate = Certificate(FACTS)
    inner = total(("mul", at("T", "j", "k"), at("u", "k")), "k", "n")
    certificate.normal(total(total(("mul", at("K", "i", "j"), at("s", "j"), inner), "j", "n")))
    exchanges = re.findall(r"\{ ([^{}]*)exact: total_exchange", "\n".join(certificate.lines))
    assert exchanges[-2:] == ["", "do 1! (apply: eq_total => ?); "]


@pytest.mark.parametrize(
    ("part", "halves", "shown"),
    [
        (("abs", S), True, "((2%:R * (plus (s i))) + (- (s i)))"),
        (("abs", ("neg", S)), True, "((2%:R * (plus (s i))) + (- (s i)))"),
        (("plus", ("neg", S)), True, "((plus (s i)) + (- (s i)))"),
        (("plus", S), True, "(plus (s i))"),
        (("abs", S), False, "`|(s i)|"),
        (("pow", ("abs", S), 3), False, "(((s i) ^+ 2) * `|(s i)|)"),
        (("pow", ("abs", S), 2), False, "((s i) ^+ 2)"),
        (("pow", ("abs", ("mul", S, X)), 4), False, "(((s i) ^+ 4) * (x ^+ 4))"),
    ],
)
def test_absolute_values_by_positive_parts_or_squares(part: Term, halves: bool, shown: str) -> None:
    certificate = Certificate(FACTS, halves=halves, squares=not halves)
    assert written(as_term(certificate.normal(part)[0])) == shown


def test_what_has_no_value_is_not_exported() -> None:
    for part, why in ((("inv", ("add", X, ("neg", X))), "a division by 0"), (("ln", num(0)), "the logarithm of 0")):
        with pytest.raises(NotExportedError, match=why):
            Certificate(FACTS).normal(part)


@pytest.mark.parametrize(
    ("part", "positive"),
    [
        (num(2), True),
        (num(0), False),
        (num(-1), False),
        (X, True),
        (("var", "z"), False),
        (S, False),
        (("exp", S), True),
        (("mul", X, Y), True),
        (("mul", X, S), False),
        (("add", X, ("exp", S)), True),
        (("add", X, S), False),
        (("inv", X), True),
        (("sqrt", ("var", "z")), False),
        (("pow", X, 3), True),
        (("neg", X), False),
        (("size", "m"), True),
        (total(("exp", S)), True),
        (total(S), False),
        (total(("mul", P, ("exp", S))), True),
        (total(("mul", S, ("exp", S))), False),
        (total(("mul", ("entry", "p", ("j",)), ("exp", S))), False),
        (("abs", X), False),
    ],
)
def test_which_terms_are_seen_to_be_positive(part: Term, positive: bool) -> None:
    assert Certificate(FACTS).is_positive(part) is positive
