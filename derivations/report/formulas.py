"""Convert LaTeX to MathML when the pages are made.

`latex2mathml` parses the formula.  This module completes its tree to MathML Core, which every browser renders: styled letters
become Unicode characters, arrows become operators, limits go under max and min, `\\arg` joins the operator after it, `\\not`
strikes the sign after it, and named functions get a thin space.
"""

import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from xml.etree.ElementTree import Element, fromstring, tostring

from latex2mathml.converter import convert
from markupsafe import Markup

NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'  # HTML needs none

LIMITS = {"max", "min", "sup", "inf", "lim"}
WITH_LIMITS = LIMITS | {"⋃", "⋂", *(f"arg\u2009{name}" for name in LIMITS)}
JOINED = {f"arg{name}": f"arg\u2009{name}" for name in LIMITS}
ROWS = {"math", "mrow", "mstyle", "mtd"}
UNDER = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
SPACES = {"⟹": "0.5em", "⟺": "0.5em", ":": "0.2em", "~": "0.28em", "±": "0.22em", ";": "0.15em"}  # operators read as names
SPELLED = {**JOINED, "\\|": "‖"}
RAISED = {"⋆", "*", "∗", "⊤"}  # signs that are names, not operators, in a script
OPENING = set("([{⟨‖|")
ALPHABETS = {
    "script": "SCRIPT",
    "double-struck": "DOUBLE-STRUCK",
    "bold": "BOLD",
    "fraktur": "FRAKTUR",
    "monospace": "MONOSPACE",
}
STROKE = "⧸"
LONGEST = 5000  # longest formula that is converted
OVERLAY = "\N{COMBINING LONG SOLIDUS OVERLAY}"


@cache
def mathml(latex: str) -> Markup:
    """Return a display formula as MathML; the LaTeX source as code if it is too long or cannot be converted."""
    source = Markup('<code class="tex">{}</code>').format(latex)
    if len(latex) > LONGEST:
        return source
    try:
        tree = fromstring(convert(latex, display="block").replace(NAMESPACE, ""))
        _mend(tree)
    except Exception:  # the converter's errors have no common base; the source is shown instead
        return source
    if any("\\" in (node.text or "") for node in tree.iter()):
        return source
    tree.set("alttext", latex)
    return Markup(tostring(tree, encoding="unicode"))  # escaped by the serializer


def _mend(node: Element) -> None:
    """Rewrite a tree in place, from the leaves up."""
    for child in node:
        _mend(child)
    _spell(node)
    _join(
        node,
        lambda first, after: first.text == "\\arg" and _core(after).text in LIMITS,
        lambda first, after: f"arg\u2009{_core(after).text}",
    )
    _join(
        node,
        lambda first, after: "".join(first.itertext()) == STROKE and bool(after.text),
        lambda first, after: unicodedata.normalize("NFC", f"{after.text}{OVERLAY}"),
    )
    if node.tag in UNDER:
        for script in list(node)[1:]:
            _raise(script)
        _put_under(node)
    if node.tag in ROWS:
        _weigh(node)
        _space(node)


def _core(node: Element) -> Element:
    """The operator inside its limits."""
    return node[0] if node.tag in UNDER or node.tag in UNDER.values() else node


def _join(node: Element, fits: Callable[[Element, Element], bool], text: Callable[[Element, Element], str]) -> None:
    """Make one sign of two neighbours."""
    for first, after in list(pairwise(node)):
        if fits(first, after):
            _core(after).text = text(first, after)
            node.remove(first)
            if after.tag in UNDER:
                _put_under(after)


def _put_under(node: Element) -> None:
    if node[0].tag == "mo" and node[0].text in WITH_LIMITS:
        node.tag = UNDER[node.tag]
        node[0].set("movablelimits", "true")


def _raise(script: Element) -> None:
    """A star or a ⊤ in a script is a name, without the space around an operator."""
    for sign in script.iter("mo"):
        if sign.text in RAISED:
            sign.tag = "mi"


def _spell(node: Element) -> None:
    """A letter with a variant → the letter of that alphabet; an arrow among the names → an operator."""
    alphabet = ALPHABETS.get(node.get("mathvariant", ""))
    if alphabet and node.text:
        node.text = "".join(_letter(alphabet, letter) for letter in node.text)
        del node.attrib["mathvariant"]
    if node.tag == "mi" and node.text in SPACES:
        width = SPACES[node.text]
        node.tag = "mo"
        node.attrib |= {"lspace": "0" if node.text == ";" else width, "rspace": width, "stretchy": "false"}
        node.text = "∼" if node.text == "~" else node.text
    if node.tag == "mo":
        if node.get("minsize"):  # \\big and its kin, also under an exponent
            node.attrib |= {"stretchy": "true", "symmetric": "true"}
        node.text = SPELLED.get(node.text or "", node.text)


def _letter(alphabet: str, letter: str) -> str:
    case = "CAPITAL" if letter.isupper() else "DIGIT" if letter.isdigit() else "SMALL"
    plain = unicodedata.name(letter, "").rsplit(" ", 1)[-1]
    for name in (f"MATHEMATICAL {alphabet} {case} {plain}", f"{alphabet} {case} {plain}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return letter


def _weigh(row: Element) -> None:
    """Turn words into names, since MathML treats words as space and would set a sign between them without spacing."""
    if any(child.tag == "mo" for child in row) and all(child.tag in ("mo", "mtext", "mspace") for child in row):
        for words in row.findall("mtext"):
            words.tag = "mi"
            words.set("mathvariant", "normal")


def _space(node: Element) -> None:
    """A thin space around the name of a function, except towards a bracket or another operator."""
    row = list(node)
    for position, child in enumerate(row):
        name = _core(child)
        word = (name.text or "").replace("\u2009", "")
        if name.tag not in ("mi", "mo") or len(word) < 2 or not word.isalpha() or name.get("mathvariant"):
            continue
        before, after = row[position - 1] if position else None, row[position + 1] if position + 1 < len(row) else None
        name.tag = "mo"
        name.set("lspace", "0" if before is None or before.tag in ("mo", "mspace", "mtext") else "0.167em")
        name.set("rspace", "0" if after is None or (after.text in OPENING and after.get("form") != "prefix") else "0.167em")
