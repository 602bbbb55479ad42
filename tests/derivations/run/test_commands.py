"""The command line as a user sees it, in a separate process and folder."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from derivations.__main__ import main
from derivations.__main__ import run as run_command_line
from derivations.ledger.incremental import ROOT
from derivations.ledger.rows import settle
from derivations.records.documents import VARIABLE
from derivations.register.catalogue import entries
from tests.derivations.report.samples import of, row, saved
from tests.processes import derivations, forked

COMMAND = [sys.executable, "-m", "derivations"]
FIELDS = {
    "id",
    "document",
    "number",
    "kind",
    "title",
    "statement",
    "hypotheses",
    "verdict",
    "severity",
    "scope",
    "correction",
    "witness",
    "evidence",
    "twins",
    "depends_on",
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user would; commands that only need a separate process are forked, which is faster."""
    return subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process if it needs no other, since starting one takes seconds."""

    def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        for name, value in ({VARIABLE: ""} | environment).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["derivations", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run_command_line()
        output = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, end.value.code or 0, output.out, output.err)  # type: ignore[arg-type]

    return command


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("verify", "eot.466"), "eot.466"),
        (("verify", "nosuchdocument"), "nosuchdocument"),
        (("verify", "eot.46", "--device", "abacus"), "abacus"),
        (("verify", "eot.46", "--json", "no/such/folder.json"), "no/such"),
        (("verify", "--no-such-option"), "--no-such-option"),
        (("list", "nosuchdocument"), "nosuchdocument"),
        (("show", "eot.4x"), "eot.4x"),
        (("show", "eot"), "eot"),
        (("regress", "--json", "missing.json"), "missing.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_input_is_one_line_and_exit_2(within: Command, tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    refused_in_a_line(within(*arguments), named)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("verify", "eot.46", "--model", "./no-such-folder"), "no-such-folder"),
        (("regress", "--json", "missing.json"), "missing.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_input_in_a_separate_process(tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    refused_in_a_line(derivations(tmp_path, *arguments), named)
    assert not list(tmp_path.iterdir())


def test_bad_input_of_a_process_that_a_user_starts(tmp_path: Path) -> None:
    refused_in_a_line(run(tmp_path, "show", "eot.4x"), "eot.4x")
    assert not list(tmp_path.iterdir())


def refused_in_a_line(result: subprocess.CompletedProcess[str], named: str) -> None:
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1
    assert named in result.stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_missing_gpu_is_named(tmp_path: Path) -> None:
    result = derivations(tmp_path, "verify", "eot.46", "--device", "cuda")
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "cuda" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "[]",
        '{"schema": 99}',
        '{"schema": 1}',
        '{"schema": 1, "environment": {}, "claims": [3]}',
        '{"schema": 1, "environment": {}, "claims": [{"id": "eot.59"}]}',
    ],
)
def test_a_broken_ledger_is_named(tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ledger.json").write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")
    for command in (["list"], ["show", "eot.59"], ["regress"], ["verify", "eot.59", "--incremental"], ["report"]):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 2, result.output
        assert "ledger.json" in result.output
    result = derivations(tmp_path, "list")
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]


def test_list_names_every_claim_at_once(tmp_path: Path, within: Command) -> None:
    start = time.perf_counter()
    result = run(tmp_path, "list")
    assert result.returncode == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(entries())
    assert time.perf_counter() - start < 60  # list imports neither torch nor a solver
    own = [line for line in result.stdout.splitlines() if line.startswith("eot.")]
    assert within("list", "eot").stdout.splitlines() == own


def test_list_and_show_import_no_numerics(tmp_path: Path) -> None:
    probe = (
        "import sys; sys.argv = ['derivations', 'show', 'eot.46']\n"
        "try:\n    from derivations.__main__ import run; run()\nexcept SystemExit:\n    pass\n"
        "sys.exit(any(m in sys.modules for m in ('torch', 'cvxpy', 'transformers', 'numerics')))"
    )
    assert subprocess.run([sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_an_id_after_k_collects_only_the_files_that_speak_for_claims() -> None:
    def collected(*arguments: str) -> set[str]:
        result = forked(collect, *arguments, folder=ROOT)
        return {line.split("::")[0] for line in result.stdout.splitlines() if "::" in line}

    assert collected() == {"derivations/test_derivations.py", "evidence/test_votes.py"}
    assert collected("tests/test_readme.py") == set()  # an explicitly named file is not replaced


def collect(*arguments: str) -> None:
    raise SystemExit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "-k", "eot.59", *arguments]))


def test_verify_show_and_regress_one_claim(tmp_path: Path, within: Command) -> None:
    result = run(tmp_path, "verify", "eot.59", "-n", "0", "--quick")
    assert result.returncode == 0, result.stdout + result.stderr
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    assert ledger["schema"] == 1
    assert set(ledger["environment"]) >= {"commit", "python", "packages", "devices", "seed", "seconds"}
    assert [row["id"] for row in ledger["claims"]] == ["eot.59"]
    row = ledger["claims"][0]
    assert set(row) >= FIELDS
    assert {e["layer"] for e in row["evidence"]} == {"symbolic", "primal", "torch"}
    assert all(twin["refuted_by"] == ["primal", "symbolic", "torch"] for twin in row["twins"])
    assert list(tmp_path.iterdir()) == [tmp_path / "ledger.json"]
    shown = within("show", "eot.59").stdout
    for part in (row["statement"]["latex"], row["verdict"], *(twin["name"] for twin in row["twins"])):
        assert part in shown
    assert within("regress").returncode == 0
    again(tmp_path, within)


def again(folder: Path, within: Command) -> None:
    """A run without changes, then one after a change of the claim's check."""
    path = folder / "ledger.json"
    text = path.read_text()
    start = time.perf_counter()
    probe = (
        "import sys; sys.argv = ['derivations', 'verify', 'eot.59', '--quick', '--incremental']\n"
        "try:\n    from derivations.__main__ import run; run()\nexcept SystemExit as end:\n    assert not end.code\n"
        "sys.exit(any(m in sys.modules for m in ('torch', 'cvxpy', 'numerics', 'pytest')))"
    )
    result = subprocess.run([sys.executable, "-c", probe], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip() == "nothing changed: 1 claims reused"
    assert time.perf_counter() - start < 30  # under ten seconds on a machine that is not busy
    assert path.read_text() == text
    ledger = json.loads(text)
    assert "outdated" not in within("show", "eot.59").stdout + within("list", "eot").stdout
    ledger["files"]["evidence.eot.section5_gradient"] = "another"
    path.write_text(json.dumps(ledger))
    assert (
        "outdated   evidence.eot.section5_gradient changed after the ledger was written: run `python -m derivations "
        "verify eot.59` again" in within("show", "eot.59").stdout
    )
    assert "(outdated: evidence.eot.section5_gradient changed after" in within("list", "eot").stdout
    stale = within("regress")
    assert stale.returncode == 1
    assert "ledger.json is older than evidence.eot.section5_gradient: `verify --incremental` brings" in stale.stdout
    result = derivations(folder, "verify", "eot.59", "-n", "0", "--quick", "--incremental")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "re-ran 1 of 1 claims (because evidence.eot.section5_gradient changed), reused the rest" in result.stdout
    assert json.loads(path.read_text())["files"] == json.loads(text)["files"]


def test_regress_fails_when_a_verdict_is_lost(tmp_path: Path, within: Command) -> None:
    derivations(tmp_path, "verify", "eot.11", "-n", "0", "--quick")
    path = tmp_path / "ledger.json"
    ledger = json.loads(path.read_text())
    ledger["claims"][0]["verdict"] = "open"
    path.write_text(json.dumps(ledger))
    for command in (["regress"], ["list"], ["show", "eot.11"], ["report"], ["verify", "eot.11", "--quick", "--incremental"]):
        refused = within(*command)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "eot.11: verdict: expected 'proved', which follows from the evidence, got 'open'" in refused.stderr
    for evidence in ledger["claims"][0]["evidence"]:
        evidence["outcome"] = "inconclusive"
    ledger["claims"] = settle(ledger["claims"])
    path.write_text(json.dumps(ledger))
    result = within("regress")
    assert result.returncode == 1
    assert "eot.11" in result.stdout


def test_a_ledger_about_another_statement_is_not_as_before(tmp_path: Path, within: Command) -> None:
    saved(tmp_path, of(row(), complete=True))
    result = within("regress")
    assert result.returncode == 1
    assert "ledger.json has another statement of eot.1 than the document has now: `verify" in result.stdout


def test_assertions_are_evaluated(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-O", "-m", "derivations", "list"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: python: -O and PYTHONOPTIMIZE are not allowed")


def test_a_baseline_is_never_accepted_in_ci(tmp_path: Path, within: Command) -> None:
    (tmp_path / "ledger.json").write_text('{"schema": 1, "claims": []}')
    assert within("regress", "--accept", CI="true").returncode == 2


def test_a_quick_run_is_no_baseline(tmp_path: Path, within: Command) -> None:
    saved(tmp_path, of(row(), quick=True))
    result = within("regress", "--accept", CI="")
    assert result.returncode == 2
    assert "quick" in result.stderr


def test_rows_with_problems_are_no_baseline(tmp_path: Path, within: Command) -> None:
    saved(tmp_path, of(row(), complete=True))
    result = within("regress", "--accept", CI="")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: --accept: ledger.json: expected rows without problems, got eot.1: ")
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", [("list",), ("show", "eot.59"), ("regress",), ("mutants", "eot.59")], ids=" ".join)
def test_a_ledger_that_is_named_must_be_there(within: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    refused_in_a_line(within(*command, "--json", "missing.json"), "missing.json")
    (tmp_path / "broken.json").write_text("{}")
    refused_in_a_line(within(*command, "--json", "broken.json"), "broken.json")


def test_interruption_leaves_nothing_but_what_it_says_is_kept(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "verify", "eot", "-n", "0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    said = b"".join(process.communicate(timeout=60)).decode()
    assert process.returncode in (130, -signal.SIGINT)  # the second while Python is still importing
    assert [path.name for path in tmp_path.iterdir()] == (["ledger.json.journal"] if "checks are kept in" in said else [])
