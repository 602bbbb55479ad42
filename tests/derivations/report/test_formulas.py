"""Formulas: every one in the catalogue becomes MathML that a browser can draw, and none is lost."""

from xml.etree import ElementTree

import pytest

from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.report.formulas import mathml

CORE = {
    "math",
    "mrow",
    "mi",
    "mo",
    "mn",
    "ms",
    "mtext",
    "mspace",
    "mfrac",
    "msqrt",
    "mroot",
    "mstyle",
    "mpadded",
    "mphantom",
    "merror",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mmultiscripts",
    "mtable",
    "mtr",
    "mtd",
}


def printed(entry: Entry) -> list[str]:
    return [entry.latex, *([entry.correction.statement.latex] if entry.correction else [])]


def tree(latex: str) -> ElementTree.Element:
    return ElementTree.fromstring(mathml(latex))


def faults(latex: str) -> list[str]:
    """Faults in the MathML that a browser would not draw correctly."""
    messages = mathml(latex)
    if "<math" not in messages:
        return [f"{latex} is not converted"]
    nodes = list(tree(latex).iter())
    return (
        [f"<{node.tag}>" for node in nodes if node.tag not in CORE]
        + [node.text for node in nodes if "\\" in (node.text or "")]
        + [f"mathvariant {node.get('mathvariant')}" for node in nodes if node.get("mathvariant", "normal") != "normal"]
    )


@pytest.mark.parametrize("document", sorted({id.split(".")[0] for id in entries()}))
def test_every_formula_is_drawn(document: str) -> None:
    assert {
        id: messages
        for id, entry in entries().items()
        if id.startswith(f"{document}.")
        for latex in printed(entry)
        if (messages := faults(latex))
    } == {}


@pytest.mark.parametrize("latex", [r"\nosuchcommand x", r"\quadx", r"\left(x", "a_b_c"])
def test_inconvertible_latex_is_shown_verbatim(latex: str) -> None:
    assert faults(latex)
    assert mathml(latex) == f'<code class="tex">{latex}</code>'


def test_text_is_escaped() -> None:
    assert "<b>" not in mathml(r"\text{<b>}") + mathml(r"\nosuchcommand <b>")


@pytest.mark.parametrize("latex", [r"\arg\min_{p\in\Delta}J(p)", r"\operatorname{argmin}_{p\in\Delta}J(p)"])
def test_arg_and_min_are_one_operator_over_its_limits(latex: str) -> None:
    operator = next(tree(latex).iter("munder"))
    assert operator[0].text == "arg\u2009min"
    assert "".join(operator[1].itertext()) == "p∈Δ"


@pytest.mark.parametrize(
    ("latex", "tag"),
    [
        (r"\max_pJ", "munder"),
        (r"\lim_{x\to0}f", "munder"),
        (r"\sum_i^nx_i", "munderover"),
        (r"\int_0^1f", "msubsup"),
        ("x_i", "msub"),
    ],
)
def test_limits_are_where_they_belong(latex: str, tag: str) -> None:
    assert tag in {node.tag for node in tree(latex).iter()}


@pytest.mark.parametrize(
    ("latex", "letters"),
    [
        (r"\mathcal L", "ℒ"),
        (r"\mathcal N", "𝒩"),
        (r"\mathbb R", "ℝ"),
        (r"\mathbb E", "𝔼"),
        (r"\mathbf 1", "𝟏"),
        (r"\mathbf x", "𝐱"),
        (r"\mathtt{ab}", "𝚊𝚋"),
        (r"u\not\propto Z", "u∝̸Z"),
        (r"a\not\in B", "a∉B"),
        (r"\Big\|x\Big\|", "‖x‖"),
        (r"a\sim b", "a∼b"),
    ],
)
def test_letters_and_signs(latex: str, letters: str) -> None:
    assert "".join(tree(latex).itertext()) == letters


def test_a_sign_between_words_is_not_between_spaces() -> None:
    row = tree(r"\text{lower}=\text{more concentrated}")[0]
    assert [(child.tag, child.text) for child in row] == [("mi", "lower"), ("mo", "="), ("mi", "more\u00a0concentrated")]
    assert [child.tag for child in tree(r"x=\text{b}")[0]] == ["mi", "mo", "mtext"]


def test_functions_keep_their_distance_but_not_from_brackets() -> None:
    log, exp = (next(node for node in tree(latex).iter("mo") if str(node.text).isalpha()) for latex in (r"a\log x", r"\exp(x)"))
    assert (log.get("lspace"), log.get("rspace")) == ("0.167em", "0.167em")
    assert (exp.get("lspace"), exp.get("rspace")) == ("0", "0")
