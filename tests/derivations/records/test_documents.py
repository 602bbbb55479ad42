"""Documents of one's own: where they are found, and which names they may have."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from derivations.records import documents
from derivations.records.documents import DOCUMENTS, VARIABLE, location, outside, package, title


@pytest.fixture
def _own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name, text in (("minnow", '"""On fish.\n\nAnd more."""\nLOADED = True\n'), ("perch", "")):
        (tmp_path / name / "checks").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text(text)
    (tmp_path / "minnow" / "checks" / "__init__.py").write_text("")
    name_them(monkeypatch, tmp_path / "minnow", tmp_path / "perch", tmp_path / "minnow")
    yield
    for name in ("minnow", "perch"):
        sys.modules.pop(name, None)


def name_them(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, folders)))


@pytest.mark.usefixtures("_own")
def test_folders_that_are_named_are_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outside() == {"minnow": tmp_path / "minnow", "perch": tmp_path / "perch"}
    assert documents.documents() == (*DOCUMENTS, "minnow", "perch")
    assert documents.checks() == ["minnow.checks"]
    assert documents.baselines()["perch"] == tmp_path / "perch" / "baseline.json"
    assert documents.baselines()["eot"].parent.name == "eot"
    monkeypatch.delenv(VARIABLE)
    assert outside() == {}


@pytest.mark.usefixtures("_own")
def test_a_document_is_loaded_once_under_its_key() -> None:
    assert package("minnow").LOADED
    assert package("minnow") is package("minnow") is sys.modules["minnow"]
    assert package("eot") is sys.modules["derivations.documents.eot"]
    assert [title(key) for key in ("minnow", "perch")] == ["On fish", "perch"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none", "expected a folder with an __init__.py, got .*none"),
        ("Minnow", "expected a folder named in small letters, digits and _, got Minnow"),
        ("2fish", "expected a folder named in small letters, digits and _, got 2fish"),
        ("gold-fish", "expected a folder named in small letters, digits and _, got gold-fish"),
        ("eot", "expected a folder with a name of its own, got eot, which names something else"),
        ("json", "expected a folder with a name of its own, got json, which names something else"),
        ("evidence", "expected a folder with a name of its own, got evidence, which names something else"),
    ],
)
def test_other_folders_are_refused(name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "none":
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    name_them(monkeypatch, tmp_path / name)
    with pytest.raises(ValueError, match=f"^document: {why}$"):
        outside()


def test_two_folders_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / parent / "minnow" for parent in "ab"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    name_them(monkeypatch, *folders)
    with pytest.raises(ValueError, match="expected a folder with a name of its own, got minnow"):
        outside()


def test_a_folder_on_the_search_path_is_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "minnow").mkdir()
    (tmp_path / "minnow" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    name_them(monkeypatch, tmp_path / "minnow")
    assert outside() == {"minnow": tmp_path / "minnow"}


def test_a_document_that_cannot_be_imported_is_not_taken_for_one_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "minnow").mkdir()
    (tmp_path / "minnow" / "__init__.py").write_text("LOADED = True\nraise KeyError('more')\n")
    name_them(monkeypatch, tmp_path / "minnow")
    for _ in range(2):
        with pytest.raises(KeyError, match="more"):
            package("minnow")


def test_the_place_of_a_definition() -> None:
    assert location("derivations.documents.eot.section5_gradient", 61) == "derivations/documents/eot/section5_gradient.py:61"
