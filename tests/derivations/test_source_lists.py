"""The lists that say which line of a document is stated by which claim name claims that exist, and leave no line out."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from derivations.catalogue import entries

LISTS = sorted((Path(__file__).parents[2] / "derivations").glob("*/source.txt"))
CLAIMS = ("printed", "paraphrased", "reconstructed", "added")
WORDS = ("none", "missing")
TEXTS = os.environ.get("ATTENTION_PROOFS_SOURCES", "")
every_list = pytest.mark.parametrize("path", LISTS, ids=lambda path: path.parent.name)


@dataclass(frozen=True)
class Line:
    """One entry: the lines of the text, none for what no line states; a status; ids, or words."""

    place: str
    status: str
    rest: str

    @property
    def lines(self) -> range:
        """The lines that it covers."""
        if self.place == "-":
            return range(0)
        first, _, last = self.place.partition("-")
        return range(int(first), int(last or first) + 1)

    @property
    def ids(self) -> list[str]:
        """The claims that it names."""
        return self.rest.split(", ") if self.status in CLAIMS else []


def read(text: str) -> list[Line]:
    """The entries of a list; raises ValueError for what is none."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            match = re.fullmatch(r"(\d+(?:-\d+)?|-) \| (\w+) \| (\S.*)", line)
            if not match or match[2] not in CLAIMS + WORDS or (match[1] == "-") != (match[2] == "added"):
                raise ValueError(f"line {number}: expected lines | status | ids or words, got {line!r}")
            found.append(Line(*match.groups()))
    return found


def faults(lines: list[Line], document: str, text: str | None = None) -> list[str]:
    """Ids that are unknown or another document's, claims with two statuses, and lines of the text that are left out."""
    named = {(id, line.status) for line in lines for id in line.ids}
    known = {id for id in entries() if id.startswith(f"{document}.")}
    wrong = [f"{id} is no claim of {document}" for id in sorted({id for id, _ in named} - known)]
    wrong += [f"{id} has two statuses" for id in sorted({id for id, _ in named}) if sum(id == other for other, _ in named) > 1]
    wrong += [f"{line.place} runs backwards" for line in lines if line.place != "-" and not line.lines]
    if text is not None:
        covered = {number for line in lines for number in line.lines}
        filled = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
        wrong += [f"line {number} of the text is left out" for number in sorted(filled - covered)]
    return wrong


@every_list
def test_list_names_claims_and_leaves_nothing_out(path: Path) -> None:
    document = path.parent.name
    text = Path(TEXTS, f"{document}.txt").read_text(encoding="utf-8") if TEXTS else None
    assert not faults(read(path.read_text(encoding="utf-8")), document, text)


@pytest.mark.parametrize(
    "line", ["3 | claimed | eot.1", "3-4 printed eot.1", "- | printed | eot.1", "3 | added | eot.1", "3 | none | "]
)
def test_what_is_no_entry_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="line 1: expected lines"):
        read(line)


def test_faults_are_found() -> None:
    lines = read("1 | printed | eot.1\n3 | paraphrased | eot.1, eot.nothing\n5-4 | none | heading")
    assert faults(lines, "eot", "a\nb\n\n") == [
        "eot.nothing is no claim of eot",
        "eot.1 has two statuses",
        "5-4 runs backwards",
        "line 2 of the text is left out",
    ]
