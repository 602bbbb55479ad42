"""Macros: how their arguments are taken, and the commands of packages that papers use in formulas, those of `physics`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lark import Token


@dataclass(frozen=True)
class Macro:
    """The expansion of a command: a text in which #1, #2, … are its arguments."""

    arguments: int
    text: str
    delimiter: bool = False  # may have a star or a size, as \norm*{x} and \norm[\big]{x}


PHYSICS = {
    "\\qty": Macro(0, ""),
    "\\norm": Macro(1, r"\left\lVert #1 \right\rVert"),
    "\\abs": Macro(1, r"\left| #1 \right|"),
    "\\pdv": Macro(2, r"\frac{\partial #1}{\partial #2}"),
    "\\dv": Macro(2, r"\frac{d #1}{d #2}"),
    "\\dd": Macro(0, r"\mathrm{d}"),
    "\\vdot": Macro(0, r"\cdot"),
    "\\grad": Macro(0, r"\nabla"),
    "\\vb": Macro(1, r"\mathbf{#1}"),
    "\\order": Macro(1, r"\mathcal{O}(#1)"),
    "\\Tr": Macro(0, r"\operatorname{tr}"),
    "\\tr": Macro(0, r"\operatorname{tr}"),
}
PACKAGES = {"physics": PHYSICS}
COMMANDS = {
    "\\colon": Macro(0, ":"),
    "\\operatornamewithlimits": Macro(1, r"\operatorname*{#1}"),
    "\\underset": Macro(2, r"#2_{#1}"),
    "\\boxed": Macro(1, "#1"),
    "\\lefteqn": Macro(1, "#1"),
    "\\smash": Macro(1, "#1"),
    "\\vphantom": Macro(1, ""),
    "\\mathstrut": Macro(0, ""),
    "\\allowbreak": Macro(0, ""),
    "\\hspace": Macro(1, r"\quad"),
    "\\addtocounter": Macro(2, ""),
}
OLD_STYLES = {"rm": "mathrm", "bf": "mathbf", "sf": "mathsf", "it": "mathit", "cal": "mathcal"}
OLD_STYLE = re.compile(rf"\{{\s*\\({'|'.join(OLD_STYLES)})(?![a-zA-Z])\s*([^{{}}]*)\}}")
RELATION = r"=|<|>|\\(?:le|leq|leqslant|ge|geq|geqslant|approx|propto|equiv|implies|iff)"
REMARK = r"\s*(?:\\(?:text|textrm|mathrm)\s*\{\s*\(\w+\)\s*\}|\(\w+\)|\(?\\(?:eq)?ref\s*\{[^{}]*\}\)?)\s*"
DEFINED = r"\s*(?:\\(?:text|textrm|textup|mathrm)\s*\{\s*def\.?\s*\}|\\triangle|\\Delta)\s*"
REMARKED = re.compile(rf"\\(?:stackrel|overset)\s*\{{{REMARK}\}}\s*(?:\{{\s*({RELATION})\s*\}}|([=<>]))")
SIZE = re.compile(r"\s*(\*|\[\s*\\[a-zA-Z]+\s*\])")
DELIMITER = re.compile(r"\\(left|right)\s*(\\[a-zA-Z]+|\\?.)")
AT_POINT = re.compile(r"\\right\s*(?:\||\\r?vert(?![a-zA-Z]))\s*_\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
DEFINING = re.compile(rf"\\(?:stackrel|overset)\s*\{{{DEFINED}\}}\s*(?:\{{\s*=\s*\}}|=)")
LOADED = re.compile(r"^[^%\n]*\\usepackage\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}", re.MULTILINE)


def macros_of_packages(text: str) -> dict[str, Macro]:
    """Return the macros of the packages that a document loads, after the commands that need none."""
    names = [name.strip() for group in LOADED.findall(text) for name in group.split(",")]
    return COMMANDS | {command: macro for name in names for command, macro in PACKAGES.get(name, {}).items()}


def modern(latex: str) -> str:
    """Write {\\rm KL} as \\mathrm{KL}, a relation with a mark (i) above it without the mark, and one marked “def” as :=."""
    latex = OLD_STYLE.sub(lambda found: f"{{\\{OLD_STYLES[found[1]]}{{{found[2]}}}}}", latex)
    return DEFINING.sub(" := ", REMARKED.sub(lambda found: f" {found[1] or found[2]} ", _evaluated(latex)))


def _evaluated(latex: str) -> str:
    """Group what is taken at a point, \\left. f \\right|_{x = 0} as {f |_{x = 0}}."""
    opened: list[re.Match[str]] = []
    for delimiter in DELIMITER.finditer(latex):
        if delimiter[1] == "left":
            opened.append(delimiter)
        elif opened and (start := opened.pop())[2] == "." and (point := AT_POINT.match(latex, delimiter.start())):
            inside = latex[start.end() : delimiter.start()]
            return f"{latex[: start.start()]}{{{inside} |_{{{point[1]}}}}}{_evaluated(latex[point.end() :])}"
    return latex


def expanded(given: Sequence[Token], macros: Mapping[str, Macro]) -> Iterator[str]:
    """Yield the text of tokens with their macros expanded once."""
    stream: list[str | Token] = [*given]
    at = 0
    while at < len(stream):
        token = stream[at]
        at += 1
        macro = macros.get(token) if isinstance(token, Token) and token.type in ("COMMAND", "DEFINITION") else None
        if macro is None:
            yield str(token)
            continue
        before = str(stream[at - 2]) if at > 1 else ""
        if macro.delimiter:
            at = _without_size(stream, at)
        arguments: list[str] = []
        for _ in range(macro.arguments):
            argument, at = _argument(stream, _after_spaces(stream, at))
            arguments.append(argument)
        text = re.sub(r"#(\d)", partial(_argument_after, macro.text, arguments), macro.text)
        yield _apart(before, text) + " " * text[-1:].isalpha()  # so that a command does not run into the next letter


def _argument_after(text: str, arguments: Sequence[str], place: re.Match[str]) -> str:
    """The argument at a place of a macro's text; the place itself if there is no such argument."""
    number = int(place[1])
    return _apart(text[: place.start()], arguments[number - 1]) if number <= len(arguments) else place[0]


def _apart(before: str, text: str) -> str:
    """A text with a space before it if it would run into the command before it: \\beta and D are \\beta D."""
    return f" {text}" if re.search(r"\\[a-zA-Z]+$", before) and text[:1].isalpha() else text


def _without_size(stream: list[str | Token], at: int) -> int:
    """Drop the star of \\norm*{x}, or the size of \\norm[\\big]{x}; what follows it in its token stays."""
    at = _after_spaces(stream, at)
    size = SIZE.match("".join(map(str, stream[at : at + 3])))
    if size:
        end = at + (1 if size[1] == "*" else 3)
        stream[at:end] = ["".join(map(str, stream[at:end]))[size.end() :]]
    return at


def _after_spaces(stream: Sequence[str | Token], at: int) -> int:
    """The place of the next token that is more than a space."""
    while at < len(stream) and not str(stream[at]).strip():
        at += 1
    return at


def _argument(stream: list[str | Token], at: int) -> tuple[str, int]:
    """The next argument of a macro: a group, a command, or one letter, the rest of whose text stays in the stream."""
    if at >= len(stream):
        return "", at
    first = stream[at]
    if not isinstance(first, Token) or first.type == "TEXT":
        text = first.lstrip()
        stream[at : at + 1] = [text[0], text[1:]]
        return text[0], at + 1
    if first.type != "OPEN":
        return str(first), at + 1
    start, depth = at, 0
    while at < len(stream):
        depth += {"{": 1, "}": -1}.get(str(stream[at]), 0)
        at += 1
        if depth == 0:
            break
    return "".join(map(str, stream[start + 1 : at - 1])), at
