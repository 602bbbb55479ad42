"""Prints with a remainder, a length, a problem over all vectors or a disproof of a link: what agrees, differs, is refused."""

import pytest
import sympy as sp

from derivations import AtLeast, Equation, Expansion, Fails, index, interior, positive, size, total, vector
from derivations.prints import tables
from derivations.prints.agreement import check
from derivations.reader.meaning.links import links
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.remainders import Expanded
from derivations.reader.syntax.tree import LatexError
from derivations.records.prints import Check, Standing
from derivations.relations import Relation

NOTATION = Notation(
    {
        "n, d": "size",
        "i, j": "index n",
        "k": "fixed index n",
        "r": "index d",
        "t": "matrix n d",
        "W": "point of t",
        r"\mathbb E": r"expectation under W \sim u",
        r"\lambda, z": "vector d",
        r"\alpha": "positive",
        "u": "interior n",
        "x": "real",
        "B": "vector 2n-1",
        r"M(\lambda)": r"= \sum_i u_i e^{\langle t_i, \lambda \rangle}",
        r"\mu": r"= \sum_i u_i t_i",
        "v_i^{(k)}": r"= B_{n+k-i}",
        r"\theta": "= u_k",
        r"\omega": "= u_j",
    },
    {r"\lambda": "lam", r"\alpha": "alpha"},
)
KNOWN = tables.known_names(NOTATION)

n, d = size("n"), size("d")
i, b = index("i", n), index("b", d)
T, lam, z, u = vector("t", n, d), vector("lam", d), vector("z", d), interior("u", n)
alpha, ray = positive("alpha"), positive("s")


def check_of(latex: str, *steps: Relation) -> Check:
    return check(latex, NOTATION, KNOWN, steps)


def log_of_m(second: int = 0) -> Expansion:
    """log M(sλ) = s⟨μ, λ⟩ + o(s), or with a term of the second order as well."""
    score = total(b, T[i, b] * lam[b])
    spread = total(i, u[i] * score**2) - total(i, u[i] * score) ** 2
    return Expansion(
        sp.log(total(i, u[i] * sp.exp(ray * score))),
        ray * total(i, u[i] * score) + second * ray**2 * spread / 2,
        ray,
        1 + second,
    )


# ── remainders ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("latex", "order"),
    [
        (r"x = 1 + o(\alpha)", 1),
        (r"x = 1 + \mathcal O(\alpha^3)", 2),
        (r"x = 2(1 + O(\alpha^3) + \alpha) + o(\alpha)", 1),
        (r"x = 1 + z_1 o(\|\lambda\|^2)", 2),
        (r"x = 1 + O(\|\lambda/\alpha\|^3)", 2),
        (r"x = \lambda_1 - \tfrac{\lambda_1^2}2 + o(\|\lambda\|^2)", 2),
        (r"1 = x - \tfrac{x^2}2 + \cdots", 2),
        (r"x \approx 1", None),
    ],
)
def test_a_remainder_is_read_with_its_order(latex: str, order: int | None) -> None:
    assertion = links(latex, NOTATION)[0].assertion
    assert isinstance(assertion, Expanded)
    assert assertion.order == order


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"x = 1 + e^{o(\alpha)}", "expected a remainder as a term"),
        (r"x = 1 + \alpha o(\alpha)", "expected a constant before a remainder"),
        (r"x = o(\alpha) + o(x)", "expected remainders in one quantity"),
        (r"x = 1 + o(\lambda)", "expected a number or the norm of a vector"),
        (r"x = 1 + o(\alpha + x)", "expected a multiple of a number or vector"),
        (r"o(\alpha) = o(\alpha^2)", "expected a remainder that is no smaller"),
        (r"x = 1 + o(\alpha)^2", "got the remainder o"),
        (r"x = e^x + \cdots", "expected the terms of a power series"),
    ],
)
def test_a_remainder_in_another_position_is_refused(latex: str, reason: str) -> None:
    with pytest.raises(LatexError, match=reason):
        links(latex, NOTATION)


PRINTED = r"\log M(\lambda) = \langle\mu,\lambda\rangle + o(\|\lambda\|)"


def test_an_expansion_agrees_on_every_ray_up_to_the_printed_order() -> None:
    assert check_of(PRINTED, log_of_m()).standing is Standing.AGREES
    assert check_of(PRINTED, log_of_m(second=1)).standing is Standing.AGREES  # of which less is printed
    assert check_of(r"\log M(\lambda) \approx \langle\mu,\lambda\rangle", log_of_m()).standing is Standing.APART  # on no ray
    more = r"\log M(\lambda) = \langle\mu,\lambda\rangle + o(\|\lambda\|^2)"
    assert check_of(more, log_of_m()).standing is Standing.APART  # more is printed than proved


@pytest.mark.parametrize("change", ["2 {}", "-{}", "{} + 1"])
def test_another_term_differs_at_a_point(change: str) -> None:
    right = change.format(r"\langle\mu,\lambda\rangle")
    checked = check_of(rf"\log M(\lambda) = {right} + o(\|\lambda\|)", log_of_m())
    assert checked.standing is Standing.DIFFERS
    assert "a term of the expansion differs" in checked.reason


def test_an_expression_is_shown_on_a_ray() -> None:
    assert check_of(r"\log M(\lambda)", log_of_m()).standing is Standing.AGREES
    assert check_of(r"\log M(z)", log_of_m()).standing is Standing.APART
    alone = Expansion(sp.exp(ray * total(b, lam[b])), 1 + ray * total(b, lam[b]), ray, 1)
    assert check_of(r"e^{\sum_r \lambda_r}", alone).standing is Standing.AGREES


def test_remainders_without_other_terms_state_nothing() -> None:
    assert check_of(r"o(\alpha^2) = o(\alpha)", log_of_m()).standing is Standing.APART
    assert check_of(r"\log M(\lambda) = \log M(\lambda) + o(\|\lambda\|)", log_of_m()).standing is Standing.APART


def test_a_power_series_is_proved_as_it_is_read() -> None:
    step = Equation(sp.log(1 + positive("y")), sp.log(1 + positive("y")))
    assert check_of(r"e^x = 1 + x + \tfrac{x^2}2 + o(x^2)", step).standing is Standing.AGREES
    assert check_of(r"e^x = 1 + x + x^2 + o(x^2)", step).standing is not Standing.AGREES


def test_a_definition_is_shown_on_a_ray() -> None:
    assert check_of(r"M(\lambda) = \mathbb E_u[\exp\langle W,\lambda\rangle]", log_of_m()).standing is Standing.AGREES
    assert check_of(r"M(\lambda) = \mathbb E_u[\exp\langle W,z\rangle]", log_of_m()).standing is not Standing.AGREES


# ── lengths, multiples and problems over all vectors ────────────────────────────────────────────────────────────────


def test_an_inequality_of_lengths_is_that_of_their_squares() -> None:
    squares = AtLeast(alpha**2 * total(b, z[b] ** 2), total(b, lam[b] ** 2))
    assert check_of(r"\|\lambda\| \le \alpha \|z\|", squares).standing is Standing.AGREES
    assert check_of(r"\tfrac1\alpha\|\lambda\| \le \|z\|", squares).standing is Standing.AGREES
    swapped = (r"\alpha\|z\|", r"\|\lambda\|")
    for left, right in ((r"\|\lambda\|", r"\|z\|"), swapped, (r"\|\lambda\|", r"\alpha^2\|z\|"), ("x", r"\alpha\|z\|")):
        wrong = rf"{left} \le {right}"
        assert check_of(wrong, squares).standing is not Standing.AGREES, wrong


def test_the_greatest_value_over_all_vectors_is_no_less_than_any() -> None:
    other = vector("y", d)

    def objective(of: sp.IndexedBase, factor: int = 1) -> sp.Expr:
        return total(b, of[b] * alpha * lam[b]) - factor * alpha * total(b, of[b] ** 2) / 2

    step = AtLeast(objective(lam), objective(other))
    printed = r"\lambda = \arg\max_{z \in \mathbb R^d} \langle z, \alpha\lambda\rangle - \tfrac\alpha2 \|z\|^2"
    assert check_of(printed, step).standing is Standing.AGREES
    for old, new in (("max", "min"), (r"\tfrac\alpha2", r"\alpha"), (r"\lambda =", "z =")):
        assert check_of(printed.replace(old, new), step).standing is not Standing.AGREES, new
    with pytest.raises(LatexError, match="expected a vector"):
        links(r"x = \arg\max_z \langle z, \lambda\rangle", NOTATION)


# ── disproofs and names ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_false_link_is_excused_only_after_the_disproved_step() -> None:
    step = Fails(Equation(2 * alpha, 3 * alpha))
    assert check_of(r"2\alpha = 3\alpha", step).standing is Standing.AGREES
    for latex in (r"5\alpha = 2\alpha = 3\alpha", r"5\alpha = 2\alpha", r"M(\lambda) \ge x,\quad 2\alpha = 3\alpha"):
        assert check_of(latex, step).standing is not Standing.AGREES, latex
    first = Fails(Equation(5 * alpha, 2 * alpha))
    assert check_of(r"5\alpha = 2\alpha = 3\alpha", first, step).standing is Standing.AGREES


def test_positions_and_labels_are_read() -> None:
    assertion = links(r"v_i^{(k)} = \theta", NOTATION)[0].assertion
    assert isinstance(assertion, Equation)
    assert assertion.left == vector("B", 2 * n - 1)[n + index("k", n) - i]
    with pytest.raises(LatexError, match="expected indices that its left side shows, got j"):
        links(r"\omega = 0", NOTATION)
    assert "x" in Notation({"n": "size", "x": "vector n y"}).broken
    assert "x" in Notation({"n": "size", "x": "vector -2n"}).broken
