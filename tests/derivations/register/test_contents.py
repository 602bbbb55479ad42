"""What the text of chapters says they register is what they register."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from derivations.records.documents import DOCUMENTS, location
from derivations.register import catalogue, contents, freezing
from derivations.register.catalogue import entries, parts_of, title_and_place
from derivations.register.contents import registered, registration, title
from derivations.register.entry import Entry
from derivations.register.freezing import Chapters, freeze_chapter
from derivations.register.loading import LoadingError, imported


def test_the_text_says_what_is_registered() -> None:
    stated = [each for document in DOCUMENTS for each in registered(document).values()]
    loaded = [entries()[each.id] for each in stated]
    assert [each.id for each in stated] == list(entries())
    assert [each.module for each in stated] == [each.module for each in loaded]
    assert [each.part_of for each in stated] == [each.part_of for each in loaded]
    assert [title_and_place(each.id) for each in stated] == [(each.title, each.where) for each in loaded]
    parents = {each.part_of for each in loaded if each.part_of}
    assert {id: parts_of(id) for id in parents} == {id: [each.id for each in loaded if each.part_of == id] for id in parents}


CHAPTER = """
from derivations.documents.eot import section0
from derivations.documents.eot.section0 import first as one

@claim(
    "eot.2", "identity", title="Two", latex="x", part_of="eot.1")
def two(): ...

again = reprint("eot.3", two, latex="x")
reprint(id="eot.4", of=section0.first, latex="x")
reprint("eot.5", again, latex="x", title="Five")
"""


@pytest.fixture
def chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a document with the chapters section0 and section1."""
    (tmp_path / "section0.py").write_text('@claim("eot.1", "limit", title="One", latex="x")\ndef first(): ...\n')
    (tmp_path / "section1.py").write_text(CHAPTER)
    home = SimpleNamespace(__name__="derivations.documents.eot", __path__=[str(tmp_path)])
    monkeypatch.setattr(contents, "package", lambda document: home)
    monkeypatch.setattr(contents, "registered", registered.__wrapped__)
    return tmp_path


def test_a_reprint_without_a_title_has_that_of_its_original(chapters: Path) -> None:
    found = contents.registered("eot")
    assert [(each.id, each.line, each.part_of) for each in found.values()] == [
        ("eot.1", 1, None),
        ("eot.2", 5, "eot.1"),
        ("eot.3", 9, None),
        ("eot.4", 10, None),
        ("eot.5", 11, None),
    ]
    assert [title(id) for id in found] == ["One", "Two", "Two", "One", "Five"]
    assert registration("eot.6") is None
    assert contents.registered("paper") == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('reprint("eot.1", first, latex="x")\n', "duplicate id eot.1, which derivations.documents.eot.section0"),
        ('reprint("inference.1", first, latex="x")\n', "expected ids like eot.1 in .*section1, got inference.1"),
        ("def first(:\n", r"SyntaxError: .*section1.py:1\)"),
    ],
)
def test_a_text_that_cannot_be_right_is_refused(chapters: Path, text: str, why: str) -> None:
    (chapters / "section1.py").write_text(text)
    with pytest.raises(LoadingError, match=why):
        contents.registered("eot")


@pytest.mark.parametrize("more", [True, False])
def test_a_chapter_registers_what_its_text_says(more: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = entries()["eot.59"]
    own: dict[str, Entry] = {id: each for id, each in catalogue.ENTRIES.items() if each.module == entry.module}
    changed = {"eot.x": entry, **own} if more else {id: each for id, each in own.items() if each is not entry}
    monkeypatch.setattr(catalogue, "ENTRIES", changed)
    with pytest.raises(ValueError, match=rf"{entry.module} registers at its top.* got {'eot.x' if more else 'eot.59'}$"):
        freeze_chapter(entry.module)


def test_a_chapter_is_frozen_once_it_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "frozen").mkdir()
    (tmp_path / "frozen" / "section1.py").write_text("VALUE = 1\n")
    name, frozen = "derivations.documents.frozen", list[str]()
    package = ModuleType(name)
    package.__path__ = [str(tmp_path / "frozen")]
    monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.setattr(freezing, "freeze_chapter", frozen.append)
    module = imported(f"{name}.section1")
    assert frozen == [module]
    assert sys.modules.pop(module).VALUE == 1
    assert Chapters().find_spec("derivations.register.loading", None) is None
    assert Chapters().find_spec(f"{name}.section2", package.__path__) is None


def test_a_place_is_a_file_of_the_project() -> None:
    _, place = title_and_place("eot.59")
    assert place == location(entries()["eot.59"].module, entries()["eot.59"].line)
