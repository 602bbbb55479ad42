"""Functions that share a name, macros and slips, at the level of one formula."""

import pytest
import sympy as sp
from lark import Token

from derivations import AtLeast, positive, scalar, simplex, size, total, vector
from derivations.calculus.sums import equal
from derivations.calculus.variables import Variable
from derivations.domains import Index, Positive
from derivations.papers.guesses.functions import _is_same_function, is_modified
from derivations.papers.repairs import _by_signs
from derivations.papers.slips import _within, slips
from derivations.reader.meaning.gaps import _laws, _scales
from derivations.reader.meaning.problems import spread
from derivations.reader.meaning.sums import check_pairs
from derivations.reader.meaning.values import Value, entrywise
from derivations.reader.syntax.overloads import is_label, key, matching
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Bracket, LatexError, Product, Symbol, spelled, walk
from derivations.reader.tex.macros import COMMANDS, Macro, expanded

# ── overloads ───────────────────────────────────────────────────────────────────────────────────────────────────────

FUNCTIONS = {"p(z)": ("z",), "p(x|z)": ("x", "z"), "p(z|x)": ("z", "x"), "p(x,z)": ("x", "z"), "q(z)": ("z",)}


def call(latex: str) -> Bracket:
    product = parse(latex)
    assert isinstance(product, Product)
    bracket = product.factors[-1]
    assert isinstance(bracket, Bracket)
    return bracket


@pytest.mark.parametrize(
    ("latex", "own"),
    [
        ("p(z)", "p(z)"),
        ("p(z')", "p(z)"),
        ("p(k)", "p(z)"),
        ("p(1)", "p(z)"),
        ("p(x)", ""),
        ("p(u)", ""),
        ("p(x|z)", "p(x|z)"),
        ("p(x|k)", "p(x|z)"),
        ("p(z|x)", "p(z|x)"),
        ("p(k|x)", "p(z|x)"),
        ("p(k|u)", ""),
        ("p(x,k)", "p(x,z)"),
        ("p(x,z)", "p(x,z)"),
        ("p(k,x)", ""),
        ("p(x|k|z)", ""),
        ("r(z)", ""),
    ],
)
def test_which_function_a_call_is_of(latex: str, own: str) -> None:
    """Of z and k, which are indices, and x, which is a label, in the place that each has."""
    assert matching(latex[0], call(latex), FUNCTIONS, {"z", "k"}, {"x"}) == own


def test_a_call_of_two_functions_is_of_none() -> None:
    functions = {"f(a)": ("a",), "f(b)": ("b",)}
    assert matching("f", call("f(c)"), functions, set(), set()) == ""
    assert matching("f", call("f(c)"), {"f(a)": ("a",)}, set(), set()) == "f(a)"
    assert matching("f", call("f(c)"), {"f(a)": ("a",)}, {"a"}, set()) == ""


def test_the_name_of_a_function_may_be_two_words() -> None:
    functions = {r"\cos \angle(x,z)": ("x", "z"), r"\cos \angle(z)": ("z",)}
    assert matching(r"\cos \angle", call(r"\cos\angle(x, k)"), functions, {"z", "k"}, {"x"}) == r"\cos \angle(x,z)"


def test_a_line_is_known_by_its_arguments_where_several_share_its_name() -> None:
    assert key("p(z|x)", {"p"}) == "p(z|x)"
    assert key("p(z|x)", set()) == key("p", {"p"}) == "p"


def test_what_is_no_symbol_is_no_label() -> None:
    assert [is_label(each, {"i"}) for each in ("x + y", "x", "x_i", "x_w", "x_{iw}")] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("f(x)", "", "x"), ("f(y)", "", "y"), True),
        (("f(x)", "", "x"), ("f(x)", "", "x"), True),
        (("f(x)", "", "x"), ("f(x|y)", "|", "x", "y"), False),
        (("f(x)", "", "x"), ("f(a)", "", "a"), False),
        (("f(x,y)", ",", "x", "y"), ("f(x)", ",", "x"), False),
    ],
)
def test_calls_of_one_function(one: tuple[str, ...], other: tuple[str, ...], same: bool) -> None:
    """Letters that stand together in a call, as x and a do, are not the same argument."""
    assert _is_same_function(one, other, {frozenset(("x", "a"))}) is same


@pytest.mark.parametrize(
    ("left", "right", "modified"),
    [
        ("H(P)", r"-\sum_{ij} P_{ij} (\log P_{ij} - 1)", True),
        ("H(P)", r"-\sum_{ij} P_{ij} \log P_{ij}", False),
        (r"K(P, Q)", r"\sum_j (P_j \log P_j - P_j \log Q_j)", False),
        (r"K(P, Q)", r"\sum_j (P_j \log P_j - P_j + Q_j)", True),
        ("H(x)", r"-x \log x - (1 - x) \log (1 - x)", True),
        ("H(P)", r"-\sum_j P_j \log P_j", False),
        ("H(P)", r"-\mathbb{E}_P[\log P]", False),
    ],
)
def test_definitions_that_are_not_the_usual_ones(left: str, right: str, modified: bool) -> None:
    assert is_modified(parse(left), parse(right)) is modified


# ── macros ──────────────────────────────────────────────────────────────────────────────────────────────────────────

NORM = {"\\norm": Macro(1, "|#1|", delimiter=True), "\\pair": Macro(2, "<#1,#2>"), "\\half": Macro(0, "0.5")}


def tokens(*parts: str) -> list[Token]:
    types = {"{": "OPEN", "}": "CLOSE"}
    return [Token("COMMAND" if x.startswith("\\") else types.get(x, "TEXT"), x) for x in parts]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (("\\norm", "{", "x", "}", "y"), "|x|y"),
        (("\\norm", "*", "{", "x", "}"), "|x|"),
        (("\\norm", "[", "\\big", "]", "{", "x", "}"), "|x|"),
        (("\\norm", " ", "{", "x", "}"), "|x|"),
        (("\\norm", "xy"), "|x|y"),
        (("\\norm", " xy"), "|x|y"),
        (("\\norm", "\\beta", "y"), "|\\beta|y"),
        (("\\norm", "{", "a", "{", "b", "}", "c", "}", "d"), "|a{b}c|d"),
        (("\\norm",), "||"),
        (("\\norm", "*x ", "\\beta", "y"), "|x| \\betay"),
        (("\\norm", "*", "\\beta", "y"), "|\\beta|y"),
        (("\\norm", " ", "*", " ", "{", "x", "}", "y"), "|x|y"),
        (("\\norm", " *xyz", "{", "u", "}"), "|x|yz{u}"),
        (("\\norm", "[", "\\big", "]xy", "{", "u", "}"), "|x|y{u}"),
        (("\\norm", " [ ", "\\Big", " ]", "\\beta"), "|\\beta|"),
        (("\\norm", "[x]y"), "|[|x]y"),
        (("\\norm", "*"), "||"),
        (("\\pair", "{", "x", "}", " ", "{", "y", "}"), "<x,y>"),
        (("\\pair", "xyz"), "<x,y>z"),
        (("\\pair", "{", "x", "}"), "<x,>"),
        (("\\pair", "*", "{", "x", "}"), "<*,x>"),
        (("a", "\\half", "b"), "a0.5b"),
        (("\\other", "x"), "\\otherx"),
        ((), ""),
    ],
)
def test_macros_take_their_arguments(given: tuple[str, ...], text: str) -> None:
    assert "".join(expanded(tokens(*given), NORM)) == text


@pytest.mark.parametrize(("command", "text"), [("\\colon", ":"), ("\\mathstrut", ""), ("\\allowbreak", "")])
def test_commands_without_arguments_leave_what_follows_them(command: str, text: str) -> None:
    """As the colon of f \\colon A \\to B does."""
    assert "".join(expanded(tokens("f", command, "xy"), COMMANDS)) == f"f{text}xy"


# ── slips ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("latex", "sizes", "names"),
    [
        ("x", [], []),
        ("x - y", [], ["x multiplied by 2", "x multiplied by 1/2", "y multiplied by 2", "y multiplied by 1/2"]),
        ("x / d", ["d"], ["the root of d"]),
        (r"x / \sqrt{d}", ["d"], ["d without its root", "the root of d"]),
        ("A_{ij}", [], ["j for i in A_{i j}", "i for j in A_{i j}"]),
        ("A_{i2} b_j", [], []),  # 2 is no letter
    ],
)
def test_slips_of_a_side(latex: str, sizes: list[str], names: list[str]) -> None:
    assert [name for name, _ in slips(parse(latex), sizes)] == ["multiplied by 2", "multiplied by 1/2", *names]


@pytest.mark.parametrize(
    "latex",
    [
        "a + b - c",
        "a b c",
        r"\frac{a}{b}",
        "f(a, b)",
        r"\sqrt{a}",
        "(a)",
        "a_j b",
        r"\frac{a + b}{\sqrt{c} (a - d)}",
        r"\sum_j (a_j, b_j)",
    ],
)
def test_every_part_of_a_side_can_be_replaced(latex: str) -> None:
    """By a letter that then stands where the part stood, and nowhere else; replaced by itself it leaves the side as it was."""
    side = parse(latex)
    places = list(_within(side, lambda new: new))
    letters = {node.name for node in walk(side) if isinstance(node, Symbol)} - {"j", r"\sum"}
    assert letters - {"f"} <= {spelled(node) for node, _ in places}
    for node, put in places:
        assert put(node) == side
        changed = put(Symbol("w"))
        assert sum(each == Symbol("w") for each in walk(changed)) == 1
        if isinstance(node, Symbol):
            assert spelled(changed) == spelled(side) or spelled(changed).count("w") == 1


# ── gaps ────────────────────────────────────────────────────────────────────────────────────────────────────────────

n = size("n")
i = Variable("i", Index((n,)))


def test_the_numbers_that_may_stand_before_a_divergence() -> None:
    tau, x, v = positive("tau"), scalar("x"), vector("v", n)
    opened = 3 * sp.log(x) - tau * sp.log(2) + total(i, v[i] * sp.log(2 + v[i] ** 2)) + x
    assert set(_scales(opened)) == {1, 3, tau, 1 / tau}


def test_the_laws_that_may_be_compared() -> None:
    """Distributions among the variables, sums that logarithms and powers normalize, and the uniform law of each size."""
    v = vector("v", n)
    partition = total(i, sp.exp(v[i]))
    laws = _laws(sp.log(partition), sp.log(partition), [])
    assert [size for size, _ in laws] == [n, n]
    assert [law(i) for _, law in laws] == [sp.exp(v[i]) / partition, 1 / n]
    assert _laws(total(i, v[i]), total(i, v[i]), []) == []


def test_a_vector_of_the_notation_that_sums_to_one_is_a_law() -> None:
    """Where the difference depends on all that it is defined by."""
    v, x = vector("v", n), scalar("x")
    entry = Value((n,), lambda k: sp.exp(v[k]) / total(i, sp.exp(v[i])))
    for difference, count in ((total(i, v[i]), 2), (x * total(i, v[i]), 2), (sp.S(x), 0)):
        assert len(_laws(difference, difference, [entry])) == count


# ── forms of differences, values, sums over pairs ───────────────────────────────────────────────────────────────────


def test_a_difference_of_squares_is_a_spread() -> None:
    """With weights that sum to one, with any positive ones, and with none."""
    x, q, w = vector("x", n), simplex("q", n), vector("w", n, kind=Positive)
    for weight in (q[i], w[i], sp.S.One):
        mean = total(i, weight * x[i]) / total(i, weight)
        difference = total(i, weight * x[i] ** 2) - total(i, weight) * mean**2
        form = spread(difference)
        assert form is not None
        assert equal(form, total(i, weight * (x[i] - mean) ** 2))
    assert spread(total(i, q[i] * x[i] ** 2) - total(i, x[i]) ** 2) is None
    assert spread(total(i, x[i])) is None


@pytest.mark.parametrize(
    ("left", "right", "same"), [(2, -3, True), (2, 0, False), (0, -3, False), (1, -1, True), (-2, -3, False), (2, 3, False)]
)
def test_a_bound_by_signs_says_nothing_of_the_sizes(left: int, right: int, same: bool) -> None:
    """x² ≥ −y² holds whatever x and y are, x² ≥ 0 is a bound."""
    x = scalar("x")
    for size_ in (sp.S.One, x**2):
        assert _by_signs(AtLeast(left * size_, right * size_)) is same


def test_functions_of_entries_have_the_shape_of_what_is_a_vector() -> None:
    v = vector("v", n)
    entries, number = Value((n,), v.__getitem__), Value((), lambda: sp.S(3))
    assert entrywise(sp.exp, entries, what="exp").entry(i) == sp.exp(v[i])
    for values in ((entries, number), (number, entries)):
        both = entrywise(lambda a, b: a + b, *values, what="+")
        assert both.shape == (n,)
        assert both.entry(i) == v[i] + 3
    assert entrywise(sp.exp, number, what="exp").shape == ()


@pytest.mark.parametrize(
    ("latex", "refused"),
    [
        (r"\sum_{i \ne j} a_i", False),
        (r"\sum_{i \ne j} a_i b_j", True),
        (r"\sum_j \sum_{i \ne j} a_i b_j", False),
        (r"b_j \sum_{i \ne j} a_i", False),
        (r"\sum_{i \ne k} a_i b_k", False),
    ],
)
def test_a_sum_over_what_is_not_equal_may_be_one_over_pairs(latex: str, refused: bool) -> None:
    """If the other index is bound by no sum before it, and occurs in what is summed."""
    if refused:
        with pytest.raises(LatexError, match="expected j elsewhere in the formula, or a sum over it before this one"):
            check_pairs(parse(latex), {"j"})
    else:
        check_pairs(parse(latex), {"j"})
