"""Handwritten theorems, each under a comment that names its claims: `(* claim: eot.59 *)`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

COMMENT = re.compile(r"\(\*\s*claim:\s*([^*]+?)\s*\*\)")
STATED = re.compile(r"^\s*(?:Theorem|Lemma|Corollary|Fact|Proposition)\s+([\w']+)", re.M)


@dataclass(frozen=True)
class Headline:
    """A theorem of the library and the claim it is about."""

    claim: str
    file: str
    theorem: str
    line: int


def headlines(name: str, source: str) -> Iterator[Headline]:
    """The theorems of a file; raises ValueError for a comment that no theorem follows."""
    for comment in COMMENT.finditer(source):
        stated = STATED.search(source, comment.end())
        if stated is None:
            raise ValueError(f"formal/theories/{name}.v: expected a theorem after {comment.group()}, got none")
        line = source.count("\n", 0, stated.start(1)) + 1
        for id in re.split(r"[,\s]+", comment.group(1)):
            yield Headline(id, name, stated.group(1), line)
