"""What is made of Rocq's answers, by a process that answers as it is told: which theorems are accepted, and what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import pytest

from derivations.rocq import checking
from derivations.rocq.checking import TOGETHER, Checked, checked, headlines_checked
from derivations.rocq.export import Theorem
from derivations.rocq.headline import Headline
from derivations.rocq.library import Library
from derivations.rocq.toplevel import Answer

CLOSED = "Closed under the global context"
ALLOWED = "Axioms:\nboolp.propositional_extensionality : forall P Q : Prop, P <-> Q -> P = Q\n"
FOREIGN = f"{ALLOWED}mine : False\n"
LIBRARY = Library(Path("lib"), "digest", "whole", {}, {"Good": 1.5})


@dataclass
class Rocq:
    """Proves all but the theorems that it refuses; ends at those that end it."""

    refuses: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    listings: Mapping[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    proved: list[str] = field(default_factory=list)
    sessions: list[Sequence[str]] = field(default_factory=list)

    def __enter__(self) -> "Rocq":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def prove(self, source: str, limit: float = inf) -> Answer:
        assert limit == 30
        name = source.split()[1]
        if name in self.ends:
            self.ends = tuple(each for each in self.ends if each != name)
            raise EOFError("coqtop ended")
        self.proved.append(name)
        return Answer(name not in self.refuses, 0.12345, error="fld.\nno such equality" if name in self.refuses else "")

    def say(self, sentence: str, until: float = inf) -> str:
        self.said.append(sentence)
        return self.listings.get(sentence.removeprefix("Print Assumptions ").removesuffix("."), CLOSED)


@pytest.fixture
def rocq(monkeypatch: pytest.MonkeyPatch) -> Rocq:
    running = Rocq()

    def opened(library: Library, imports: Sequence[str]) -> Rocq:
        assert library is LIBRARY or library.broken
        running.sessions.append(imports)
        return running

    monkeypatch.setattr(checking, "opened", opened)
    monkeypatch.setattr(checking, "cache_folder", lambda: pytest.fail("another store was requested"))
    return running


def made(*names: str, proof: str = "exact: I.") -> list[Theorem]:
    return [Theorem(name, f"Theorem {name} : True (* {name} *).", proof, {}) for name in names]


def test_what_is_proved_without_foreign_axioms_is_accepted(rocq: Rocq, tmp_path: Path) -> None:
    rocq.refuses, rocq.listings = ("b",), {TOGETHER: ALLOWED}
    counted: list[int] = []
    answers = checked(made("a", "b", "ccc"), LIBRARY, 1, tmp_path, counted.append)
    accepted = Checked(True, 0.12, ("boolp.propositional_extensionality",))
    assert answers == {"a": accepted, "b": Checked(False, 0.12, detail="fld.\nno such equality"), "ccc": accepted}
    assert rocq.proved == ["ccc", "a", "b"]  # the longest first
    assert rocq.said == [f"Definition {TOGETHER} := (@ccc, @a, I).", f"Print Assumptions {TOGETHER}."]
    assert counted == [1, 2, 3]
    assert len(rocq.sessions) == 1


def test_axioms_of_the_library_are_noted_and_those_of_one_theorem_refuse_it_only(rocq: Rocq, tmp_path: Path) -> None:
    rocq.listings = {TOGETHER: ALLOWED}
    assert checked(made("a"), LIBRARY, 1, tmp_path)["a"] == Checked(True, 0.12, ("boolp.propositional_extensionality",))
    rocq.listings = {TOGETHER: FOREIGN, "b": FOREIGN, "c": ALLOWED}
    answers = checked(made("b", "c"), LIBRARY, 1, tmp_path)
    assert (answers["b"].accepted, answers["b"].detail) == (False, "it rests on the axiom mine")
    assert answers["b"].assumptions == ("boolp.propositional_extensionality", "mine")
    assert answers["c"] == Checked(True, 0.12, ("boolp.propositional_extensionality",))


def test_a_theorem_whose_assumptions_are_not_listed_is_not_accepted(rocq: Rocq, tmp_path: Path) -> None:
    rocq.listings = {TOGETHER: "Error: not found.", "a": "Error: a not found.", "b": CLOSED}
    answers = checked(made("a", "b"), LIBRARY, 1, tmp_path)
    assert (answers["a"].accepted, answers["b"].accepted) == (False, True)
    assert answers["a"].detail.startswith("assumptions: expected a list of axioms, got 'Error: a not found.'")


def test_a_source_with_a_forbidden_word_is_not_read(rocq: Rocq, tmp_path: Path) -> None:
    wrong = made("wrong", proof="Admitted.")
    answers = checked([*wrong, *made("sound")], LIBRARY, 1, tmp_path)
    assert answers["wrong"] == Checked(False, 0.0, detail="Admitted is not allowed")
    assert answers["sound"].accepted
    assert rocq.proved == ["sound"]


def test_answers_are_stored_by_content(rocq: Rocq, tmp_path: Path) -> None:
    rocq.refuses, rocq.listings = ("b",), {TOGETHER: ALLOWED}
    first = checked(made("a", "b"), LIBRARY, 1, tmp_path)
    rocq.proved.clear()
    assert checked(made("a", "b"), LIBRARY, 1, tmp_path) == first
    assert rocq.proved == []
    changed = checked(made("a", proof="by []."), LIBRARY, 2, tmp_path)
    assert (changed["a"].accepted, rocq.proved) == (True, ["a"])
    twins = [Theorem(name, f"Theorem {name} : True.", "exact: I.", {}) for name in ("one", "two")]
    rocq.proved.clear()
    assert set(checked(twins, LIBRARY, 1, tmp_path)) == {"one", "two"}
    assert len(rocq.proved) == 1  # they are the same but for their names


def test_a_rocq_that_ends_takes_no_answer_with_it(rocq: Rocq, tmp_path: Path) -> None:
    rocq.ends = ("bb",)
    answers = checked(made("ccc", "bb", "a"), LIBRARY, 1, tmp_path)
    assert answers["bb"] == Checked(False, 0.0, detail="coqtop ended")
    assert answers["a"].accepted
    assert answers["ccc"].accepted
    assert rocq.proved == ["ccc", "ccc", "a"]
    assert len(rocq.sessions) == 2


def test_one_rocq_reads_so_many_letters(rocq: Rocq, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = made("a", "b", "c")
    monkeypatch.setattr(checking, "LETTERS", 2 * len(long[0].source))
    assert all(answer.accepted for answer in checked(long, LIBRARY, 1, tmp_path).values())
    assert len(rocq.sessions) == 2


def headline(file: str, theorem: str, line: int = 3) -> Headline:
    return Headline("eot.1", file, theorem, line)


@pytest.fixture
def by_hand() -> list[Headline]:
    return [headline("Good", "one"), headline("Good", "two"), headline("Bad", "three")]


def test_theorems_by_hand_are_accepted_if_their_file_compiles(rocq: Rocq, tmp_path: Path, by_hand: list[Headline]) -> None:
    library = Library(Path("lib"), "digest", "whole", {"Bad": "line 7: no such lemma"}, {"Good": 1.5})
    rocq.listings = {TOGETHER: FOREIGN, "AttentionProofs.Good.one": CLOSED, "AttentionProofs.Good.two": FOREIGN}
    answers = headlines_checked(by_hand, library, tmp_path)
    assert [answers[each] for each in by_hand] == [
        Checked(True, 1.5),
        Checked(False, 1.5, ("boolp.propositional_extensionality", "mine"), "it rests on the axiom mine"),
        Checked(False, 0.0, detail="Bad.v: line 7: no such lemma"),
    ]
    assert rocq.sessions == [["From AttentionProofs Require Good."]]
    assert rocq.said[0] == f"Definition {TOGETHER} := (@AttentionProofs.Good.one, @AttentionProofs.Good.two, I)."
    assert headlines_checked(by_hand, library, tmp_path) == answers
    assert len(rocq.sessions) == 1
    other = Library(Path("lib"), "digest", "another", {"Bad": "line 7: no such lemma"}, {"Good": 1.5})
    headlines_checked(by_hand, other, tmp_path)
    assert len(rocq.sessions) == 2


def test_without_theorems_by_hand_nothing_is_printed(rocq: Rocq, tmp_path: Path) -> None:
    assert headlines_checked([], LIBRARY, tmp_path) == {}
    assert rocq.said == []
