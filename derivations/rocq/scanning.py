"""Forbidden parts of a source of Rocq: everything that gives a theorem without a proof."""

import re
from collections.abc import Iterator

FORBIDDEN = re.compile(
    r"\b(?:Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|bypass_check|Primitive|Declare\s+ML\s+Module|Load|Redirect"
    r"|(?:Unset|Set)\s+(?:Guard|Positivity|Universe)\s+Checking|Type\s+In\s+Type|native_compute|Drop|Add\s+(?:Rec\s+)?LoadPath)\b"
)
OUTSIDE_SECTIONS = re.compile(r"\b(?:Variables?|Hypothes[ie]s|Context)\b")


def without_comments(source: str) -> str:
    """The source with its nested comments and its strings blanked; line numbers are preserved."""
    blanked, depth, quoted = [], 0, False
    position = 0
    while position < len(source):
        two = source[position : position + 2]
        if quoted or (source[position] == '"' and not depth):
            quoted = not quoted if source[position] == '"' else quoted
            blanked.append("\n" if source[position] == "\n" else " ")
            position += 1
        elif two == "(*" or (two == "*)" and depth):
            depth += 1 if two == "(*" else -1
            blanked.append("  ")
            position += 2
        else:
            blanked.append(source[position] if not depth or source[position] == "\n" else " ")
            position += 1
    return "".join(blanked)


def forbidden(source: str) -> Iterator[tuple[int, str]]:
    """The line and the words of each forbidden part; a variable outside of sections is an axiom."""
    depth = 0
    for number, line in enumerate(without_comments(source).splitlines(), start=1):
        yield from ((number, match.group()) for match in FORBIDDEN.finditer(line))
        depth += len(re.findall(r"^\s*Section\b", line)) - (len(re.findall(r"^\s*End\b", line)) if depth else 0)
        if not depth and (match := OUTSIDE_SECTIONS.match(line.strip())):
            yield number, match.group()
