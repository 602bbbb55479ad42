"""How formulas are spelled, which symbols they use, and what names are made of."""

import re

import pytest

from derivations.reader.meaning.uses import uses
from derivations.reader.syntax.names import pattern, plain, styled, thin
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import LatexError, Sum, Symbol, product_node, spelled, sum_node

SPELLED = [
    (r"x = y \quad \forall z = x", r"x = y \forall z = x"),
    (r"x = y \quad z = x", r"x = y\\z = x"),
    (r"x = y \quad + z = x", r"x = y + z = x"),
    (r"x = y, \quad z = x", r"x = y,z = x"),
    (r"x = y \quad \text{and } z = x", r"x = y \text{and} z = x"),
    (r"x \quad y = z", r"x y = z"),
    (r"x \\ y = z", r"x\\y = z"),
    (r"a = b \\ + c", r"a = b + c"),
    (r"a \\ = c", r"a = c"),
    (r"a + b \\ = c", r"a + b = c"),
    (r"a = b \\ = c", r"a = b\\= c"),
    (r"a = b \\ c = d", r"a = b\\c = d"),
    (r"a \\ + b = c", r"a + b = c"),
    (r"a, b.", r"a,b"),
    (r"a = b.", r"a = b"),
    (r"x - - y", r"x - - y"),
    (r"x + - y", r"x + - y"),
    (r"|x| |y|", r"|x| |y|"),
    (r"|x - y|^2", r"|x - y|^{2}"),
    (r"||x||_2^2 \le ||a|| ||b||", r"\|x\|_{2}^{2} \le \|a\| \|b\|"),
    (r"\mathrm{KL}(q(z | x) || p(z))", r"\mathrm{KL} (q (z|x)\|p (z))"),
    (r"|a||b|", r"|a| |b|"),
    (r"\mathrm{e}^{x} + \mathrm{e}_x", r"e^{x} + \mathrm{e}_{x}"),
    (r"\|x\|_1^2", r"\|x\|_{1}^{2}"),
    (r"|x", r"|x"),
    (r"q(z | x)", r"q (z|x)"),
    (r"\mathrm{KL}(p \| q)", r"\mathrm{KL} (p\|q)"),
    (r"f |_{x = y}", r"f|_{x = y}"),
    (r"f(x)|_{x = y}", r"f (x)|_{x = y}"),
    (r"12.5 x", r"12.5 x"),
    (r"12^2", r"12^{2}"),
    (r"1.5^2", r"1.5^{2}"),
    (r"x_{12}", r"x_{12}"),
    (r"p^{\star\top}", r"{p^{\star}}^{\top}"),
    (r"p^{\star}_j", r"p_{j}^{\star}"),
    (r"f''(x)", r"f'' (x)"),
    (r"f^\prime(x)", r"f' (x)"),
    (r"\mathbb{R}_{++}^n", r"\mathbb{R}_{++}^{n}"),
    (r"\mathbb{R}_+", r"\mathbb{R}_{+}"),
    (r"x^{*}", r"x^{*}"),
    (r"\text{KL}(p)", r"\mathrm{KL} (p)"),
    (r"\text{for all } x", r"\text{for all} x"),
    (r"\operatorname*{argmax}_x f", r"\mathrm{argmax}_{x} f"),
    (r"\boldsymbol{x}", r"\mathbf{x}"),
    (r"\widehat{x} + \overline{y}", r"\hat{x} + \bar{y}"),
    (r"\begin{cases} 1 & x \\ 2 & \text{else} \end{cases}", r"\begin{cases} 1 & x \\ 2 & \text{else} \end{cases}"),
    (r"\sqrt{x + y}", r"\sqrt{x + y}"),
    (r"\frac{x}{y}", r"\frac{x}{y}"),
    (r"a / b", r"a / b"),
    (r"a \big/ b", r"a / b"),
    (r"{x + y}", r"x + y"),
    (r"(a, b; c)", r"(a,b,c)"),
    (r"x = ", r"x ="),
    (r"", r""),
    (r"x ' y", r"x' y"),
    (r"{x_i}^2 {x^2}_i", r"x_{i}^{2} x^{2}_{i}"),
    (r"{x_i}_j {x^2}^3", r"{x_{i}}_{j} {x^{2}}^{3}"),
    (r"f |_k", r"f|"),
]

REFUSED = [
    (r"x + ", r"missing term at the end of a sum"),
    (r"- + x", r"expected a term"),
    (r"x_i_j", r"expected one subscript of x, got two"),
    (r"x^2^3", r"expected one superscript of x, got two"),
    (r"\begin{cases} 1 \\ 2 & x \end{cases}", r"cases: expected a value & a condition in each row, got no condition"),
    (r"\frac{", r"expected a formula, got '{'"),
    (r". x", r"expected a formula, got '.' by itself"),
    (r"\frac{", r"after '\\frac'"),
]

USED = [
    (r"x_{i, \theta}", [r"x_{i,\theta}"]),
    (r"\tau s_i + K_{ij} f(x)", [r"\tau", "s", "i", "K", "i", "j", "f", "f", "x"]),
    (r"\frac{d x}{d y} + d", ["x", "y", "d"]),
    (r"\frac{\partial p_i}{\partial s_j}", ["p", "i", "s", "j"]),
    (r"\|x\|_2^2", ["x"]),
    (r"\mathrm{Var}_{a \sim \pi}[u]", ["a", r"\pi", "u"]),
    (r"H(p) + H", ["H", "H", "p", "H"]),
    (r"x_{t+1}", ["x_{t + 1}"]),
    (r"\theta^\star_i", [r"\theta^{\star}", "i"]),
    (r"x^\top y^{*}", ["x", "y^{*}"]),
    (r"f(a + b)", ["f", "a", "b"]),
    (r"\Delta s", ["s"]),
    (r"\mathbf{x}_i", [r"\mathbf{x}", "i"]),
    (r"e^{x}", ["x"]),
    (r"\mathbb{R}_+^m", ["m"]),
    (r"x_+", ["x"]),
    (r"\text{for } i", ["i"]),
    (r"p_\theta(x)", [r"p_{\theta}", r"p_{\theta}", "x"]),
    (r"q'(z)", ["q'", "q'", "z"]),
    (r"a_{i j}^2", ["a", "i", "j"]),
    (r"\mathrm{tr}_A(B)", [r"\mathrm{tr}_{A}", "A", "B"]),
]

NAMES = [
    (r"\Sigma", "Σ", "Σ", r"\Sigma"),
    (r"\sigma", "σ", "σ", r"\sigma"),
    (r"\tau'", "τ′", "τ′", r"\tau'"),
    (r"p^{\star}", "p⋆", "p⋆", r"p^{\star}"),
    (r"\mathcal{L}", "L", "calL", r"\mathcal{L}"),
    (r"\ell", "ℓ", "ℓ", r"\ell"),
    (r"\varepsilon", "ε", "ε", r"\varepsilon"),
    (r"\mathbf{\Phi}_{ij}", "Φij", "bfΦij", r"\Phi_{ij}"),
    (r"x^*", "x⋆", "x⋆", r"x^*"),
    (r"A^\top", "A⊤", "A⊤", r"A^\top"),
    (r"\vartheta", "ϑ", "ϑ", r"\vartheta"),
    (r"\lambda^{\prime}", "λ′", "λ′", r"\lambda^{\prime}"),
    (r"\Lambda", "Λ", "Λ", r"\Lambda"),
    (r"\mathbf{z}^{\star}", "z⋆", "bfz⋆", r"z^{\star}"),
]

PATTERNS = [
    (r"\cos\angle(x, y)", (r"\cos \angle", (), ("x", "y"), ())),
    (r"f(x)", ("f", (), ("x",), ())),
    (r"f_i(x, y)", ("f", ("i",), ("x", "y"), ())),
    (r"x_{ij}", ("x", ("i", "j"), (), ())),
    (r"\Delta s", (r"\Delta s", (), (), ())),
    (r"p(y | x)", ("p", (), ("y", "x"), ())),
    (r"x^\star_i", (r"x^{\star}", ("i",), (), ())),
    (r"x_{max}", ("x", ("m", "a", "x"), (), ())),
    (r"q'(z)", ("q'", (), ("z",), ())),
    (r"\sin\theta(x)", (r"\sin \theta", (), ("x",), ())),
]


@pytest.mark.parametrize(("latex", "shown"), SPELLED)
def test_how_a_formula_is_spelled(latex: str, shown: str) -> None:
    assert spelled(parse(latex)) == shown


@pytest.mark.parametrize(("latex", "why"), REFUSED)
def test_what_cannot_be_parsed_says_where(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=re.escape(why)):
        parse(latex)


@pytest.mark.parametrize(("latex", "names"), USED)
def test_the_symbols_that_a_formula_uses(latex: str, names: list[str]) -> None:
    assert [name for name, _ in uses(parse(latex))] == names


@pytest.mark.parametrize(("latex", "plainly", "with_style", "entry"), NAMES)
def test_names_in_plain_text(latex: str, plainly: str, with_style: str, entry: str) -> None:
    assert (plain(latex), styled(latex), thin(latex)) == (plainly, with_style, entry)


@pytest.mark.parametrize(("latex", "shown"), PATTERNS)
def test_what_a_declaration_names(latex: str, shown: tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]) -> None:
    assert tuple(vars(pattern(latex)).values()) == shown


@pytest.mark.parametrize("latex", ["x + y", "f(x)(y)", "f[x]", "1"])
def test_what_is_no_symbol_is_not_declared(latex: str) -> None:
    with pytest.raises(LatexError, match="expected a symbol, perhaps with indices or arguments"):
        pattern(latex)


def test_a_sum_of_one_term_is_the_term_and_a_product_of_one_factor_the_factor() -> None:
    x, y = Symbol("x"), Symbol("y")
    assert (sum_node([("+", x)]), product_node([x])) == (x, x)
    assert sum_node([("-", x)]) == Sum((("-", x),))
    assert sum_node([("+", x), ("-", y)]) == Sum((("+", x), ("-", y)))


def test_only_a_part_of_a_formula_is_spelled() -> None:
    with pytest.raises(TypeError, match="node: expected a part of a formula, got 1"):
        spelled(1)  # type: ignore[arg-type]
