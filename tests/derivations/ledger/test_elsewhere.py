"""Files that this process opens are noted, but for what is installed, known, written or an output."""

import os
import sys
from pathlib import Path

import pytest
import sympy

from derivations.ledger import elsewhere


@pytest.fixture
def read(tmp_path: Path) -> Path:
    """A file that was opened to be read."""
    path = tmp_path / "data.csv"
    path.write_text("1", encoding="utf-8")
    path.read_text(encoding="utf-8")
    return path.resolve()


def test_a_file_that_is_read_is_noted_once(read: Path) -> None:
    with open(os.fsencode(read), "rb"):
        pass
    assert sorted(path for path in elsewhere.opened([], []) if path.startswith(str(read.parent))) == [str(read)]


def test_what_is_known_or_named_like_an_output_is_left_out(read: Path) -> None:
    link = read.with_name("link.csv")
    link.symlink_to(read)
    assert str(read) not in elsewhere.opened([link], [])
    assert str(read) not in elsewhere.opened([], ["data.csv"])
    assert str(read) in elsewhere.opened([read.parent], ["other.csv"])


def test_a_link_is_noted_as_what_it_leads_to(read: Path) -> None:
    link = read.with_name("link.csv")
    read.rename(read.with_name("moved.csv"))
    link.symlink_to(read.with_name("moved.csv"))
    link.read_text(encoding="utf-8")
    assert str(read.with_name("moved.csv")) in elsewhere.opened([], [])
    assert not {str(link), str(read)} & elsewhere.opened([], [])


@pytest.mark.parametrize("mode", ["w", "a", "x", "r+"])
def test_what_is_written_is_not_noted(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "written"
    if mode == "r+":
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    with path.open(mode, encoding="utf-8"):
        pass
    os.close(os.open(path, os.O_RDWR))
    assert str(path.resolve()) not in elsewhere.opened([], [])


def test_what_is_opened_below_python_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "low"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    assert str(path.resolve()) not in elsewhere.opened([], [])
    os.close(os.open(path, os.O_RDONLY))
    assert str(path.resolve()) in elsewhere.opened([], [])


def test_what_is_installed_or_gone_is_left_out(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.touch()
    for path in (Path(sympy.__file__), Path("/etc/hostname"), gone):
        if path.exists():
            path.read_bytes()
    gone.unlink()
    found = elsewhere.opened([], [])
    assert not {os.path.realpath(sympy.__file__), "/etc/hostname", str(gone.resolve())} & found


def test_compiled_code_stands_for_its_module(tmp_path: Path) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    (tmp_path / "helper.py").touch()
    for name in (f"helper.{sys.implementation.cache_tag}.pyc", "helper.nbi"):
        (cache / name).touch()
        (cache / name).read_bytes()
    found = {Path(path).name for path in elsewhere.opened([], []) if path.startswith(str(tmp_path.resolve()))}
    assert found == {"helper.py"}
