"""Changes after which `verify --incremental` would keep a row that a full run may decide otherwise."""

import os
import time
from pathlib import Path

import pytest

from derivations.ledger import incremental
from derivations.ledger.incremental import Sources
from derivations.records.documents import DOCUMENTS
from tests.processes import derivations

CHAPTER = '''"""Section 1."""
import importlib
import json
from pathlib import Path

from derivations import Equation, Steps, claim, scalar
from helper_beside import TWO
from paper.linked.more import NOTHING

HERE = Path(__file__).parents[1]
ONE = importlib.import_module("lib_" + "dynamic").ONE
ZERO = json.loads((HERE / "data.json").read_text())["zero"]
read = {}
exec((HERE / "rules.txt").read_text(), read)
x = scalar("x")


@claim("paper.1", "identity", title="A square", latex="(x+1)^2=x^2+2x+1")
def square() -> Steps:
    """The square."""
    from helper_late import FACTOR

    yield Equation((x + 1) ** 2, FACTOR * x**2 + TWO * x + ONE + ZERO + read["NULL"] + NOTHING)


square.twin("no mixed term", lambda: Equation((x + 1) ** 2, x**2 + 1))
square.twin("half of it", lambda: Equation((x + 1) ** 2, x**2 + x + 1))
'''
FILES = {
    "paper/__init__.py": '"""A paper."""\n',
    "paper/section1.py": CHAPTER,
    "helper_beside.py": "TWO = 2\n",
    "lib_dynamic.py": "ONE = 1\n",
    "data.json": '{"zero": 0}\n',
    "rules.txt": "NULL = 0\n",
    "shared/more.py": "NOTHING = 0\n",
    "helper_late.py": "FACTOR = 1\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document that reads files outside of its folder, and the ledger of a run of it."""
    folder = tmp_path_factory.mktemp("kept")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "paper" / "linked").symlink_to(folder / "shared")
    result = derivations(folder, "--document", "paper", "verify", "paper", "-n", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def listed(folder: Path) -> str:
    return derivations(folder, "--document", "paper", "list", "paper").stdout


def test_control_nothing_changed(folder: Path) -> None:
    assert "proved" in listed(folder)
    assert "outdated" not in listed(folder)
    again = derivations(folder, "--document", "paper", "verify", "paper", "--incremental")
    assert again.stdout == "nothing changed: 1 claims reused\n"


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_a_chapter_reads(name: str, folder: Path) -> None:
    path = folder / name
    time_before = path.stat()
    path.write_text(FILES[name].replace("0", "5").replace("TWO = 2", "TWO = 3").replace("= 1", "= 4") + "\n")
    os.utime(path, ns=(time_before.st_atime_ns, time_before.st_mtime_ns))
    outdated = listed(folder)
    path.write_text(FILES[name])
    assert "changed after the ledger was written" in outdated
    assert "outdated" not in listed(folder)


def test_a_file_that_is_gone(folder: Path) -> None:
    (folder / "helper_late.py").rename(folder / "helper_away.py")
    outdated = listed(folder)
    (folder / "helper_away.py").rename(folder / "helper_late.py")
    assert "helper_late.py changed after the ledger was written" in outdated


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if each != "beyond"])  # which prints nothing
def test_the_meanings_of_printed_symbols(document: str) -> None:
    sources = incremental.project()
    table = f"derivations.documents.{document}.print_notation"
    chapters = [name for name in sources.modules if name.startswith(f"derivations.documents.{document}.")]
    assert table in sources.modules
    assert all(table in sources.closure([chapter]) for chapter in chapters)


def test_what_pytest_loads_beside_the_votes() -> None:
    closure = incremental.project().closure(["evidence.test_votes"])
    assert {
        "evidence.pytest_plugin",
        "evidence/*",
        "derivations.run.pytest_plugin",
        "derivations.conftest",
        "evidence.conftest",
    } <= closure


# ── changes during a run ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name in ("__init__.py", "one.py", "two.py", "data.txt"):
        (tmp_path / name).write_text("")
    return tmp_path


def read(package: Path) -> Sources:
    return Sources({"proofs": package})


def test_control_files_that_did_not_change_during_a_run(package: Path) -> None:
    hashes = read(package).hashes
    time.sleep(0.01)
    assert read(package).unchanged_since(hashes, time.time()) == hashes


@pytest.mark.parametrize(("name", "key"), [("one.py", "proofs.one"), ("data.txt", "proofs/*")])
@pytest.mark.parametrize("text", ["ANOTHER = 1\n", ""], ids=["changed", "changed and changed back"])
def test_files_that_changed_during_a_run(name: str, key: str, text: str, package: Path) -> None:
    hashes = read(package).hashes
    time.sleep(0.01)
    started = time.time()
    time.sleep(0.01)
    path = package / name
    before = path.stat()
    path.write_text("ANOTHER = 1\n")
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert hashes.keys() - read(package).unchanged_since(hashes, started).keys() == {key}


def test_a_file_elsewhere_that_changed_during_a_run(package: Path) -> None:
    one, started = str(package / "one.py"), time.time() - 60
    assert incremental.hashes_elsewhere([one, "not absolute", str(package / "none.py")]).keys() == {one}
    assert not incremental.hashes_elsewhere([one], started)


# ── votes that did not run ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_module_of_votes_that_cannot_be_imported(workers: str, tmp_path: Path) -> None:
    """Worker processes run the other tests in spite of it, whose verdicts would be those without a vote."""
    plain = "\n".join(line for line in CHAPTER.splitlines() if "linked" not in line and "HERE" not in line)
    for name, text in {
        "paper/__init__.py": FILES["paper/__init__.py"],
        "paper/section1.py": plain.replace('ZERO + read["NULL"] + NOTHING', "0"),
        "paper/checks/__init__.py": "",
        "paper/checks/section1.py": "import faulthandler\n",
        **{name: FILES[name] for name in ("helper_beside.py", "helper_late.py", "lib_dynamic.py")},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    verify = ("--document", "paper", "verify", "paper")
    alone = derivations(tmp_path, *verify, "--only", "symbolic", "-n", "0", "--json", "alone.json")
    assert alone.returncode == 0, alone.stdout + alone.stderr
    result = derivations(tmp_path, *verify, "-n", workers)
    assert result.returncode == 1
    assert "verify: no verdict was reached: test_votes.py: evidence.lookups.LookUpError: paper.checks.section1" in result.stderr
    assert not (tmp_path / "ledger.json").exists()
