"""An outside document in its own folder: no other file is edited, and every command supports it."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from derivations.records import documents
from tests.processes import derivations, run_command, started

PAPER = Path(__file__).parent / "tiny_paper"


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command with the paper that was copied to `folder`."""
    return derivations(folder, "--document", str(folder / "tiny_paper"), *arguments, **{"CI": ""} | environment)


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the paper after a run of its claims."""
    folder = tmp_path_factory.mktemp("sixth")
    shutil.copytree(PAPER, folder / "tiny_paper", ignore=shutil.ignore_patterns("__pycache__"))
    result = run(folder, "verify", "tiny_paper", "-n", "0")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "tiny_paper: 3 claims: 1 proved, 1 corrected, 1 definition" in result.stdout
    return folder


def test_the_ledger_has_its_claims_and_its_title(verified: Path) -> None:
    ledger = json.loads((verified / "ledger.json").read_text())
    assert ledger["documents"] == {"tiny_paper": "A Tiny Paper on Softmax"}
    assert [(row["id"], row["verdict"]) for row in ledger["claims"]] == [
        ("tiny_paper.1", "definition"),
        ("tiny_paper.2", "proved"),
        ("tiny_paper.3", "corrected"),
    ]
    assert [twin["refuted_by"] for twin in ledger["claims"][1]["twins"]] == [["primal", "symbolic", "torch"]] * 2
    assert [twin["refuted_by"] for twin in ledger["claims"][2]["twins"]] == [["symbolic", "torch"]] * 2
    assert "tiny_paper.checks.votes" in ledger["claims"][1]["sources"]


def test_shards_of_a_run_join_to_the_complete_ledger(verified: Path) -> None:
    """Two shards together give the results of one run, claim by claim."""
    for part in (1, 2):
        result = run(verified, "verify", "tiny_paper", "-n", "0", f"--shard={part}/2", f"--json=shard{part}.json")
        assert result.returncode == 0, result.stdout + result.stderr
    joined = run(verified, "merge", "shard1.json", "shard2.json", "--json", "joined.json")
    assert joined.returncode == 0, joined.stderr
    joined_claims, again = (json.loads((verified / name).read_text())["claims"] for name in ("ledger.json", "joined.json"))
    parts = [json.loads((verified / f"shard{part}.json").read_text())["claims"] for part in (1, 2)]
    assert [len(rows) for rows in parts] == [2, 1]
    timed = ("evidence", "digest", "run")
    assert [{k: v for k, v in row.items() if k not in timed} for row in again] == [
        {k: v for k, v in row.items() if k not in timed} for row in joined_claims
    ]
    untimed = [[[{**vote, "seconds": 0} for vote in row["evidence"]] for row in rows] for rows in (joined_claims, again)]
    assert untimed[0] == untimed[1]
    refused = run(verified, "merge", "shard1.json", "--json", "joined.json")
    assert (refused.returncode, refused.stderr) == (2, "error: shards: expected all of one run, each once, got 1/2\n")


def test_the_report_has_its_pages(verified: Path) -> None:
    result = run(verified, "report", "--output", "site")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "A Tiny Paper on Softmax" in (verified / "site" / "index.html").read_text()
    assert sorted(page.stem for page in (verified / "site" / "claims").iterdir()) == [
        "tiny_paper.1",
        "tiny_paper.2",
        "tiny_paper.3",
    ]
    assert "slope" in (verified / "site" / "errata-tiny_paper.html").read_text()


def test_list_and_show_know_it(verified: Path) -> None:
    listed = run(verified, "list", "tiny_paper").stdout
    assert [line.split()[:2] for line in listed.splitlines()] == [
        ["tiny_paper.1", "definition"],
        ["tiny_paper.2", "proved"],
        ["tiny_paper.3", "corrected"],
    ]
    assert "exp(t/τ) cancels" in run(verified, "show", "tiny_paper.2").stdout


def test_regress_has_its_own_baseline(verified: Path) -> None:
    baseline, ours = verified / "tiny_paper" / "baseline.json", documents.baselines()["eot"]
    committed = ours.read_bytes()
    result = run(verified, "regress")
    assert result.returncode == 1
    assert "claim removed/added: 3 claims\n  tiny_paper.1" in result.stdout
    assert run(verified, "regress", "--accept", CI="true").returncode == 2
    assert not baseline.exists()
    accepted = run(verified, "regress", "--accept")
    assert accepted.returncode == 0, accepted.stderr
    assert "accepted 3 changes: 3 claim removed/added" in accepted.stdout
    assert list(json.loads(baseline.read_text())) == ["tiny_paper.1", "tiny_paper.2", "tiny_paper.3"]
    assert run(verified, "regress").returncode == 0
    assert ours.read_bytes() == committed
    ledger = json.loads((verified / "ledger.json").read_text())
    ledger["claims"][1]["canonical"]["values"][0]["left"] = "0.25"
    (verified / "other.json").write_text(json.dumps(ledger))
    result = run(verified, "regress", "--json", "other.json")
    assert result.returncode == 2
    assert "tiny_paper.2: digest: expected that of the row" in result.stderr
    accepted_claims = json.loads(baseline.read_text())
    accepted_claims["tiny_paper.2"]["canonical"]["values"][0]["left"] = "0.25"
    baseline.write_text(json.dumps(accepted_claims))
    result = run(verified, "regress")
    assert result.returncode == 1
    assert "value changed: 1 claim\n  tiny_paper.2\n    left side at " in result.stdout
    baseline.unlink()


def test_a_change_of_its_section_is_reported(verified: Path) -> None:
    unchanged = run(verified, "verify", "tiny_paper", "--incremental")
    assert unchanged.stdout == "nothing changed: 3 claims reused\n", unchanged.stdout + unchanged.stderr
    votes = verified / "tiny_paper" / "checks" / "votes.py"
    votes.write_text(votes.read_text() + "\n")
    again = run(verified, "verify", "tiny_paper", "--incremental", "-n", "0")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "re-ran 2 of 3 claims (because tiny_paper.checks.votes changed), reused the rest" in again.stdout


@pytest.mark.parametrize(("name", "named"), [("nothing", "__init__.py"), ("json", "json"), ("Paper", "Paper"), ("eot", "eot")])
def test_a_folder_without_document_is_reported(tmp_path: Path, name: str, named: str) -> None:
    folder = tmp_path / "papers" / name
    folder.mkdir(parents=True)
    if name != "nothing":
        (folder / "__init__.py").write_text('"""A title."""\n')
    result = derivations(tmp_path, "--document", str(folder), "list")
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert named in result.stderr


def test_ids_begin_with_the_name_of_the_folder(tmp_path: Path) -> None:
    shutil.copytree(PAPER, tmp_path / "another", ignore=shutil.ignore_patterns("__pycache__"))
    result = derivations(tmp_path, "--document", "another", "list")
    assert result.returncode == 2
    assert "tiny_paper.1" in result.stderr
    assert "another.1" in result.stderr


def test_folders_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert documents.documents() == documents.DOCUMENTS
    monkeypatch.setenv(documents.VARIABLE, str(PAPER))
    assert documents.documents() == (*documents.DOCUMENTS, "tiny_paper")
    assert documents.checks() == ["tiny_paper.checks"]
    assert documents.baselines()["tiny_paper"] == PAPER / "baseline.json"


def test_the_guide_shows_this_paper() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "a_document_of_your_own.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PAPER.rglob("*.py"))
    shown = {line.replace("mypaper", "tiny_paper") for block in blocks for line in block.splitlines() if line}
    assert shown
    assert not shown - set(sources.splitlines())


# ── nothing is lost ─────────────────────────────────────────────────────────────────────────────────────────────────


def untimed(path: Path) -> object:
    """A ledger without what depends on when its run was, and how long it took."""
    ledger = json.loads(path.read_text())
    for name in ("date", "seconds"):
        del ledger["environment"][name]
    for row in ledger["claims"]:
        del row["digest"], row["run"]
        row["evidence"] = [{**vote, "seconds": 0} for vote in row["evidence"]]
    return ledger


def test_a_run_of_one_claim_keeps_the_rows_of_the_others(verified: Path) -> None:
    path = verified / "ledger.json"
    assert run(verified, "verify", "tiny_paper", "-n", "0", "--incremental").returncode == 0
    before = {row["id"]: row for row in json.loads(path.read_text())["claims"]}
    result = run(verified, "verify", "tiny_paper.2", "-n", "0")
    assert "the rows of 2 other claims are those of earlier runs" in result.stdout
    after = {row["id"]: row for row in json.loads(path.read_text())["claims"]}
    assert [id for id in before if after[id] != before[id]] == ["tiny_paper.2"]
    assert run(verified, "verify", "tiny_paper", "--incremental").stdout == "nothing changed: 3 claims reused\n"
    partial = run(verified, "verify", "tiny_paper.3", "-n", "0", "--only", "symbolic")
    assert "the fuller rows of earlier runs stay for tiny_paper.3" in partial.stdout
    assert {row["id"]: row for row in json.loads(path.read_text())["claims"]} == after


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGKILL, "0"), (signal.SIGKILL, "2"), (signal.SIGTERM, "0")])
def test_an_interrupted_run_goes_on_where_it_was(number: int, workers: str, verified: Path, tmp_path: Path) -> None:
    """It is interrupted after each vote or so, and in the end its ledger is that of a run that was not."""
    shutil.copytree(verified / "tiny_paper", tmp_path / "tiny_paper", ignore=shutil.ignore_patterns("__pycache__"))
    command = ("--document", str(tmp_path / "tiny_paper"), "verify", "tiny_paper", "-n", workers)
    path, journal = tmp_path / "ledger.json", tmp_path / "ledger.json.journal"
    assert derivations(tmp_path, *command).returncode == 0
    undisturbed = untimed(path)
    path.unlink()
    for votes in (1, 3, 4):
        process = begun(tmp_path, *command)
        while process.is_alive() and not (journal.exists() and journal.read_bytes().count(b"\n") > votes):
            time.sleep(0.005)
        if process.pid and process.is_alive():
            os.kill(process.pid, number)
        process.join(60)
        assert {each.name for each in tmp_path.iterdir()} <= {"tiny_paper", journal.name, path.name, "out", "err"}
    assert derivations(tmp_path, *command).returncode == 0
    assert untimed(path) == undisturbed
    assert not journal.exists()


def test_a_journal_of_other_sources_gives_rows_of_its_own_run(verified: Path, tmp_path: Path) -> None:
    shutil.copytree(verified / "tiny_paper", tmp_path / "tiny_paper", ignore=shutil.ignore_patterns("__pycache__"))
    command = ("--document", str(tmp_path / "tiny_paper"), "verify", "tiny_paper", "-n", "0")
    journal = tmp_path / "ledger.json.journal"
    process = begun(tmp_path, *command)
    while process.is_alive() and not (journal.exists() and journal.read_bytes().count(b"\n") > 5):
        time.sleep(0.005)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(60)
    votes = tmp_path / "tiny_paper" / "checks" / "votes.py"
    votes.write_text(votes.read_text() + "\n")
    again = derivations(tmp_path, *command, "--incremental")
    assert again.returncode == 0, again.stdout + again.stderr
    assert re.search(r"re-ran \d of 3 claims \(because .*tiny_paper.checks.votes changed", again.stdout)
    assert not journal.exists()


def begun(folder: Path, *arguments: str) -> BaseProcess:
    """A command that runs on in a process of its own."""
    return started(run_command, *arguments, folder=folder, out=folder / "out", err=folder / "err")
