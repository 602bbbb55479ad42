"""A LaTeX paper as data: its title, its sections, its macros, and every formula with line, number and label.

A formula is the content of `$…$`, `\\(…\\)`, `\\[…\\]`, `$$…$$`, or one numbered line of an environment such as `align`.
Macros are expanded; comments are left out, and so is everything before `\\begin{document}` except macros.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from lark import Lark, Token

from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Chain, LatexError, Listing, spelled
from derivations.reader.tex.inputs import joined
from derivations.reader.tex.macros import Macro, expanded, macros_of_packages, modern

NUMBERED = ("equation", "align", "gather", "multline", "eqnarray", "flalign", "alignat")
PLAIN = ("displaymath", "math")
LINED = ("align", "gather", "eqnarray", "flalign", "alignat")
CASES = ("cases", "dcases")
INNER = ("split", "aligned", "gathered", "alignedat")
SKIPPED = ("verbatim", "lstlisting", "thebibliography", "tikzpicture", "table", "tabular", "algorithm", "algorithmic", "figure")
LISTS = ("enumerate", "itemize", "description", "center", "quote", "minipage")
UNNUMBERED = ("\\nonumber", "\\notag")
SPACES = ("\\quad", "\\qquad", "\\,", "\\;", "\\:", "\\!", "\\ ")
ADDING = ("+", "-", "\\cdot", "\\times")
RELATING = ("=", "<", ">", "\\le", "\\leq", "\\ge", "\\geq", "\\propto", "\\approx", "\\stackrel", "\\overset")
SENTENCE_END = re.compile(r"[.;!?](\s|$)")
LABELS = re.compile(r"[_^]\{\\text\{[^{}]*\}\}")  # of \pi_{\text{ref}}
TAG = re.compile(r"\\tag\*?\s*\{[^{}]*\}")  # that a macro puts there
DEEPEST = 40  # macros inside of macros
WORDS = 400  # characters of the text before a formula that are kept
SHOWN = 300  # and of these without repeated spaces


@dataclass(frozen=True)
class Formula:
    """A formula of a paper: its LaTeX with macros expanded, and where it stands.

    `number` is the printed number and `label` the LaTeX label, or empty; `words` is the text before it and `after` the text
    after it, up to the next formula; `rest` is the rest of its sentence, with … for each formula; `display` is true for a
    displayed formula; `environment` is the theorem or the like that it stands in, by its printed name in small letters.
    """

    latex: str
    line: int
    section: int
    number: str = ""
    label: str = ""
    display: bool = False
    words: str = ""
    after: str = ""
    rest: str = ""
    environment: str = ""


@dataclass
class Paper:
    """A paper: title, section titles from the first, and formulas in printed order; section 0 is what comes before."""

    title: str = ""
    sections: list[tuple[str, int]] = field(default_factory=list)
    formulas: list[Formula] = field(default_factory=list)


def read_paper(path: Path) -> Paper:
    """The paper in a file, with all files that it inputs; raises ValueError for files or brackets that cannot be read."""
    return paper_of(joined(path))


def paper_of(text: str) -> Paper:
    """The paper in a text; raises ValueError for brackets that do not match."""
    return _Scanner(text).paper()


@cache
def _lexer() -> Lark:
    return Lark(Path(__file__).with_name("tex.lark").read_text(encoding="utf-8"), parser="lalr", lexer="basic")


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text without comments; a line break that ends a comment stays."""
    return [token for token in _lexer().lex(text) if token.type != "COMMENT"]


class _Scanner:
    """One pass over the tokens of a paper."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.at = 0
        self.result = Paper()
        self.macros = macros_of_packages(text)
        self.number = 0
        self.words = ""
        self.sentence = 0  # how many formulas the current sentence has had so far
        self.environments: list[str] = []  # theorems, proofs, … that are not closed yet
        self.theorems: dict[str, str] = {}  # environment → its printed name
        self.begun = not any(token.type == "BEGIN" and _name(token) == "document" for token in self.tokens)

    def paper(self) -> Paper:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type == "DEFINITION":
                self._define(str(token))
            elif token.type == "COMMAND" and str(token) == "\\title":
                self.result.title = plain_words(self._group())
            elif token.type == "COMMAND" and str(token) == "\\newtheorem":
                self._theorem()
            elif token.type == "BEGIN":
                self._environment(_name(token), token)
            elif token.type == "END" and self.environments[-1:] == [_name(token).rstrip("*")]:
                self.environments.pop()
            elif not self.begun:
                continue
            elif token.type == "SECTION":
                starred_or_sub = "sub" in str(token)
                title = plain_words(self._group())
                if not starred_or_sub:
                    self.result.sections.append((title, token.line or 0))
                self.words = ""
            elif token.type in ("DISPLAY", "INLINE"):
                self._dollars(token)
            elif token.type == "TEXT":
                self._begin_sentence(str(token))
                self.words = (self.words + str(token))[-WORDS:]
                if self.result.formulas and not self.result.formulas[-1].after:
                    last = self.result.formulas[-1]
                    self.result.formulas[-1] = replace(last, after=" ".join(str(token).split())[:80] or " ")
                self._go_on(str(token))
            elif token.type == "COMMAND":
                self.words += " "
        return self.result

    def _begin_sentence(self, text: str) -> None:
        """Begin a sentence at a capital letter after a display, which need not have a period."""
        after = self.words.rstrip().endswith("…") and self.result.formulas[-1].display
        if after and text.strip()[:1].isupper():
            self.sentence = 0
            self.words += ". "

    def _go_on(self, text: str) -> None:
        """Add a text to the rest of the sentence of the formulas before it."""
        end = SENTENCE_END.search(text)
        formulas = self.result.formulas
        for at in range(len(formulas) - self.sentence, len(formulas)):
            rest = f"{formulas[at].rest} {text[: end.start()] if end else text}"
            formulas[at] = replace(formulas[at], rest=" ".join(rest.split()))
        self.sentence = 0 if end else self.sentence

    # ── formulas ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _dollars(self, opening: Token) -> None:
        closing = {"\\[": "\\]", "\\(": "\\)"}.get(str(opening), str(opening))
        body = self._until(lambda token: token.type in ("DISPLAY", "INLINE") and str(token) == closing, opening)
        display = opening.type == "DISPLAY"
        self._add(body, opening.line or 0, display=display, number=_tag(body) if display else "", label=_label(body))

    def _environment(self, name: str, opening: Token) -> None:
        own = name.rstrip("*")
        if own == "document":
            self.begun = True
        elif own in SKIPPED:
            self._until(lambda token: token.type == "END" and _name(token) == name, opening)
        elif self.begun and own in (*NUMBERED, *PLAIN):
            body = self._until(lambda token: token.type == "END" and _name(token) == name, opening)
            body = _without_remarks(body)
            lines = list(_joined(_rows(body))) if own in LINED else [body]
            for number, line in enumerate(lines):
                self._line(line, opening, own in NUMBERED and not name.endswith("*"), goes_on=number > 0)
        else:
            self.environments.append(own)

    def _line(self, body: Sequence[Token], opening: Token, numbered: bool, *, goes_on: bool) -> None:
        written = next((token for token in body if str(token).strip()), opening)
        number = _tag(body)
        if numbered and not number and not any(str(token) in UNNUMBERED for token in body):
            self.number += 1
            number = str(self.number)
        text = str(written)
        line = (written.line or 0) + text[: len(text) - len(text.lstrip())].count("\n")
        self._add(body, line, display=True, number=number, label=_label(body), goes_on=goes_on)

    def _add(self, body: Sequence[Token], line: int, *, display: bool, number: str, label: str, goes_on: bool = False) -> None:
        text = "".join(
            _unaligned(
                token
                for token in body
                if token.type not in ("LABEL", "TAG")
                and str(token) not in UNNUMBERED
                and not (token.type in ("BEGIN", "END") and _name(token).rstrip("*") in INNER)
            )
        )
        latex = " ".join(TAG.sub("", modern(self.expanded(text))).split()).strip(" .,;")
        if goes_on and self.result.formulas and begins_with_relation(latex):
            latex = f"{last_side(self.result.formulas[-1].latex)} {latex}".strip()
        if latex:
            self._go_on(" … ")
            self.sentence += 1
            words = " ".join(self.words.split())[-SHOWN:]
            inside = next((self.theorems.get(each, each) for each in reversed(self.environments) if each not in LISTS), "")
            section = len(self.result.sections)
            self.result.formulas.append(Formula(latex, line, section, number, label, display, words, environment=inside))
        ends = text.rstrip().endswith(".")
        self.words = (self.words + (" … . " if ends else " … "))[-WORDS:]
        self.sentence = 0 if ends else self.sentence

    # ── macros ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _define(self, command: str) -> None:
        if self.at < len(self.tokens) and str(self.tokens[self.at]).strip() == "*":
            self.at += 1
        name = self._group().strip() if self._next_opens() else str(self._take()).strip()
        arguments = 0
        if self.at < len(self.tokens) and self.tokens[self.at].type == "TEXT":
            match = re.match(r"\s*\[(\d)\](?:\[[^\]]*\])?|\s*((?:#\d)*)", str(self.tokens[self.at]))
            if match:
                arguments = int(match[1]) if match[1] else (match[2] or "").count("#")
                self.at += 1
        text = self._group()
        if "DeclarePairedDelimiter" in command:
            before, opening = (text, self._group()) if command.endswith("XPP") else ("", text)
            closing = self._group()
            after = self._group() if command.endswith("XPP") else ""
            inside = self._group().replace("\\delimsize", "") if command.endswith(("X", "XPP")) else "#1"
            whole = f"{before}\\left{opening} {inside} \\right{closing}{after}"
            self.macros[name] = Macro(max(arguments, 1), whole, delimiter=True)
            return
        self.macros[name] = Macro(arguments, f"\\operatorname{{{text}}}" if "DeclareMathOperator" in command else text)

    def _theorem(self) -> None:
        """\\newtheorem{conj}[theorem]{Conjecture}: an environment and its printed name."""
        while self.at < len(self.tokens) and not self._next_opens():  # a star
            self.at += 1
        name = self._group()
        while self.at < len(self.tokens) and not self._next_opens():
            self.at += 1
        self.theorems[name] = plain_words(self._group()).lower()

    def expanded(self, latex: str) -> str:
        """A formula with the paper's macros expanded; raises LatexError for macros without an end."""
        for _ in range(DEEPEST):
            pieces = list(expanded(tokens(latex), self.macros))
            new = "".join(pieces)
            if new == latex:
                return latex
            latex = new
        raise LatexError(f"macro: expected an end after {DEEPEST} expansions, got {latex[:60]!r}")

    # ── tokens ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _take(self) -> Token:
        if self.at >= len(self.tokens):
            raise ValueError("PAPER: expected an argument, got the end of the file")
        self.at += 1
        return self.tokens[self.at - 1]

    def _next_opens(self) -> bool:
        while self.at < len(self.tokens) and self.tokens[self.at].type == "TEXT" and not str(self.tokens[self.at]).strip():
            self.at += 1
        return self.at < len(self.tokens) and self.tokens[self.at].type == "OPEN"

    def _group(self) -> str:
        """The text of the next group in braces, without them, or the next command or character."""
        if not self._next_opens():
            token = self._take()
            if token.type == "TEXT" and len(text := str(token).lstrip()) > 1:
                self.at -= 1
                self.tokens[self.at] = token.update(value=text[1:])
            return text[0] if token.type == "TEXT" else str(token)
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            depth += {"OPEN": 1, "CLOSE": -1}.get(self.tokens[self.at].type, 0)
            self.at += 1
            if depth == 0:
                return "".join(map(str, self.tokens[start + 1 : self.at - 1]))
        raise ValueError(f"PAPER: expected a closing brace for line {self.tokens[start].line}, got the end of the file")

    def _until(self, ends: object, opening: Token) -> list[Token]:
        start = self.at
        while self.at < len(self.tokens):
            self.at += 1
            if ends(self.tokens[self.at - 1]):  # type: ignore[operator]
                return self.tokens[start : self.at - 1]
        raise ValueError(f"PAPER: expected an end of {opening} in line {opening.line}, got the end of the file")


def _unaligned(stream: Iterable[Token]) -> Iterator[str]:
    """Yield the text of tokens without alignment marks, except those before the conditions in cases."""
    depth = 0
    for token in stream:
        if token.type in ("BEGIN", "END") and _name(token) in CASES:
            depth += 1 if token.type == "BEGIN" else -1
        yield str(token) if depth else str(token).replace("&", " ")


def begins_with_relation(latex: str) -> bool:
    """Return whether a line continues with = b or ≤ b, without its own left side."""
    with suppress(LatexError):
        tree = parse(latex)
        first = tree.parts[0] if isinstance(tree, Listing) else tree
        return isinstance(first, Chain) and first.parts[0] is None
    return False


def last_side(latex: str) -> str:
    """Return the last side of a = b ≤ c, which the next line continues; empty if there is no chain or it contains words."""
    with suppress(LatexError):
        tree = parse(latex)
        first = tree.parts[0] if isinstance(tree, Listing) else tree
        side = spelled(first.parts[-1]) if isinstance(first, Chain) else ""
        return "" if "\\text" in LABELS.sub("", side) else side
    return ""


def _without_remarks(body: Sequence[Token]) -> list[Token]:
    """The tokens of an environment without \\intertext and its group."""
    kept: list[Token] = []
    depth, inside = 0, False
    for token in body:
        if str(token) in ("\\intertext", "\\shortintertext"):
            inside = True
        elif inside:
            depth += {"OPEN": 1, "CLOSE": -1}.get(token.type, 0)
            inside = depth > 0 or token.type not in ("CLOSE", "OPEN")
        else:
            kept.append(token)
    return kept


def _rows(body: Sequence[Token]) -> Iterator[list[Token]]:
    """The lines of an environment, those inside of inner ones left together."""
    row: list[Token] = []
    depth = 0
    for token in body:
        depth += {"BEGIN": 1, "END": -1, "OPEN": 1, "CLOSE": -1}.get(token.type, 0)
        if str(token) == "\\\\" and depth == 0:
            yield row
            row = []
        else:
            row.append(token)
    if any(str(token).strip() for token in row):
        yield row


def _joined(rows: Iterable[list[Token]]) -> Iterator[list[Token]]:
    """Join rows with their continuations: + c after a = b, and = c after a row without a number."""
    joined: list[Token] = []
    for row in rows:
        sign, aligned = _first_sign(row)
        adds = sign in ADDING and (aligned or not any(_relates(token) for token in _outside(row)))
        unnumbered = any(str(token) in UNNUMBERED for token in joined)
        if joined and (adds or (unnumbered and sign in RELATING)):
            joined = [*(token for token in joined if str(token) not in UNNUMBERED), *row]
            continue
        if joined:
            yield joined
        joined = row
    if joined:
        yield joined


def _first_sign(row: Sequence[Token]) -> tuple[str, bool]:
    """The first command or character of a row, and whether an alignment mark precedes it."""
    aligned = False
    for token in row:
        text = str(token).strip()
        aligned = aligned or text.startswith("&")
        text = text.lstrip("& \n")
        if text and text not in SPACES and token.type not in ("LABEL", "OPEN", "CLOSE"):
            return (text if token.type == "COMMAND" else text[0]), aligned
    return "", aligned


def _outside(row: Sequence[Token]) -> Iterator[Token]:
    """The tokens of a row outside of groups."""
    depth = 0
    for token in row:
        depth += {"OPEN": 1, "CLOSE": -1}.get(token.type, 0)
        if depth == 0:
            yield token


def _relates(token: Token) -> bool:
    return str(token) in RELATING if token.type == "COMMAND" else bool({*str(token)} & {*RELATING})


def _name(token: Token) -> str:
    text = str(token)
    return text[text.index("{") + 1 : -1].strip()


def _label(body: Sequence[Token]) -> str:
    return next((_name(token) for token in body if token.type == "LABEL"), "")


def _tag(body: Sequence[Token]) -> str:
    return next((_name(token) for token in body if token.type == "TAG"), "")


def plain_words(text: str) -> str:
    """Words without commands and braces, for titles."""
    return " ".join(re.sub(r"\\[a-zA-Z]+\*?|[{}$~\\]", " ", text).split())
