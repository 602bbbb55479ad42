"""A file is written completely, or the old one stays unchanged."""

from pathlib import Path

import pytest

from derivations import files


def test_a_file_is_written(tmp_path: Path) -> None:
    files.write_whole(tmp_path / "page.html", "τ > 0")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "τ > 0"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.html").write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        files.write_whole(tmp_path / "page.html", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "old"


def test_a_file_is_one_that_all_may_read(tmp_path: Path) -> None:
    files.write_whole(tmp_path / "page.html", "τ > 0")
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o644


def test_what_was_wrong_is_raised_where_the_temporary_file_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def removed(name: str, _: object) -> None:
        Path(name).unlink()
        raise OSError("no space left")

    monkeypatch.setattr(files.os, "replace", removed)
    with pytest.raises(OSError, match="no space"):
        files.write_whole(tmp_path / "page.html", "new")
