"""Macros: how their arguments are taken, and the commands of packages that papers use in formulas, those of `physics`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lark import Token


@dataclass(frozen=True)
class Macro:
    """The expansion of a command: a text in which #1, #2, … are its arguments."""

    arguments: int
    text: str
    delimiter: bool = False                                  # may have a star or a size, as \norm*{x} and \norm[\big]{x}


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
LOADED = re.compile(r"^[^%\n]*\\usepackage\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}", re.MULTILINE)


def macros_of_packages(text: str) -> dict[str, Macro]:
    """Return the macros of the packages that a document loads."""
    names = [name.strip() for group in LOADED.findall(text) for name in group.split(",")]
    return {command: macro for name in names for command, macro in PACKAGES.get(name, {}).items()}


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
        if macro.delimiter:
            at = _without_size(stream, at)
        arguments: list[str] = []
        for _ in range(macro.arguments):
            while at < len(stream) and not str(stream[at]).strip():
                at += 1
            argument, at = _argument(stream, at)
            arguments.append(argument)
        text = macro.text
        for number, argument in enumerate(arguments, start=1):
            text = text.replace(f"#{number}", argument)
        yield text + " " * text[-1:].isalpha()  # so that a command does not run into the next letter


def _without_size(stream: list[str | Token], at: int) -> int:
    """Drop the star of \\norm*{x}, or the size of \\norm[\\big]{x}."""
    text = "".join(map(str, stream[at : at + 3])) if at < len(stream) else ""
    if text.lstrip().startswith("*"):
        stream[at] = text.split("{", 1)[0].lstrip()[1:]
    return at + 3 if re.fullmatch(r"\s*\[\\\w+\]\s*", text) else at


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
