"""A run in shards: division, joining of ledgers, and refusals."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from derivations.__main__ import main
from derivations.ledger import ledger
from derivations.ledger.rows import stated
from derivations.ledger.shards import divided, merge, merged, parsed, seconds_in
from derivations.register.catalogue import entries
from derivations.register.selection import selected
from tests.derivations.report.samples import of, saved
from tests.derivations.report.samples import row as sample


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), standalone_mode=False)


SOME_SECONDS = {id: float(position % 7) for position, id in enumerate(entries())}


@pytest.mark.parametrize("seconds", [{}, SOME_SECONDS], ids=["unknown", "known"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_claim_is_in_one_shard(count: int, seconds: dict[str, float]) -> None:
    shards = divided(entries(), count, seconds)
    assert sorted(id for shard in shards for id in shard) == sorted(entries())
    assert shards == divided(reversed(list(entries())), count, seconds)  # in any order of the names
    assert all(shard == [id for id in entries() if id in shard] for shard in shards)


def test_parts_stay_in_the_shard_of_their_claim() -> None:
    shards = divided(entries(), 7, {})
    shard_of = {id: k for k, shard in enumerate(shards) for id in shard}
    parts = {id: entry.part_of for id, entry in entries().items() if entry.part_of}
    assert parts
    assert all(shard_of[id] == shard_of[whole_id] for id, whole_id in parts.items())


def test_shards_are_as_long_as_the_seconds_allow() -> None:
    ids = [id for id, entry in entries().items() if not entry.part_of and entry.id in selected("geometric")]
    seconds = {id: 10.0 if position == 0 else 1.0 for position, id in enumerate(ids)}
    long, *others = (sum(seconds[id] for id in shard if id in seconds) for shard in divided(ids[:31], 4, seconds))
    assert (long, others) == (10.0, [10.0, 10.0, 10.0])
    first, second = divided(ids[:10], 2, {})  # in turns, if no seconds are known
    assert first == ids[:10:2]
    assert second == ids[1:10:2]


def test_seconds_are_summed_over_all_votes() -> None:
    vote = sample("eot.1")["evidence"][0]
    assert seconds_in({"claims": [sample("eot.1", evidence=[vote, {**vote, "layer": "torch"}])]}) == {"eot.1": 0.5}


@pytest.mark.parametrize("text", ["0/2", "3/2", "1/0", "1", "a/b", "1/2/3", "-1/2", "1/2 ", "", "1/99999"])
def test_other_shards_are_refused(text: str) -> None:
    result = run("verify", "geometric.1", f"--shard={text}")
    assert str(result.exception) == f"--shard: expected i/k with 1 ≤ i ≤ k ≤ 9999, got {text}"
    assert (parsed("2/3"), parsed("2/2")) == ((2, 3), (2, 2))


def test_a_shard_of_nothing_is_refused() -> None:
    result = run("verify", "eot.46", "eot.59", "--shard=1/3")
    assert str(result.exception) == "--shard: expected at most 2 shards of so few claims, got 1/3"


def test_seconds_need_a_ledger_and_a_shard(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")
    assert "--balance: ledger: " in str(run("verify", "eot", "--shard=1/2", f"--balance={missing}").exception)
    assert "--balance: expected --shard beside it" in str(run("verify", "eot", f"--balance={missing}").exception)


# ── one ledger out of many ──────────────────────────────────────────────────────────────────────────────────────────

FIRST, SECOND = "eot.46", "eot.s7.fisher-scaled"


def row(id: str, **changes: Any) -> dict[str, Any]:
    """A row with the catalogue's statement."""
    twins = [{"name": name, "refuted_by": ["symbolic"]} for name in entries()[id].twins]
    return sample(twins=twins, **stated(entries()[id]) | changes)


def shard(part: int, *rows: dict[str, Any], count: int = 2, **environment: Any) -> dict[str, Any]:
    run = {"part": part, "of": count, "asked": [FIRST, SECOND]}
    own = {"shard": run, "asked": [each["id"] for each in rows], "complete": True, "quick": False}
    return of(*rows, **{**own, **environment})


def test_joined_shards_are_the_run_of_all(tmp_path: Path) -> None:
    one = shard(1, row(FIRST), devices=["cpu"], seconds=3.0, skipped={"no GPU here": 1})
    other = shard(2, row(SECOND, verdict="corrected"), devices=["cuda"], seconds=2.0)
    paths = [str(saved(tmp_path, data, f"{number}.json")) for number, data in enumerate((other, one))]
    result = run("merge", *paths, f"--json={tmp_path / 'whole.json'}")
    assert result.exception is None, result.exception
    assert result.output == f"{tmp_path / 'whole.json'} written: 2 claims: 1 proved, 1 corrected\n"
    joined = ledger.read(tmp_path / "whole.json")
    assert [(each["id"], each["verdict"]) for each in joined["claims"]] == [(FIRST, "proved"), (SECOND, "corrected")]
    data = joined["environment"]
    assert (data["asked"], data["devices"], data["seconds"], data["skipped"]) == (
        [FIRST, SECOND],
        ["cpu", "cuda"],
        3.0,
        {"no GPU here": 4},
    )
    assert data["complete"]
    assert "shard" not in data


def test_a_row_with_another_statement_is_refused() -> None:
    with pytest.raises(ValueError, match=f"^shards: expected the statements .* another one for {re.escape(SECOND)}; "):
        merged([shard(1, row(FIRST)), shard(2, row(SECOND, title="Another"))])


def test_files_outside_of_the_project_are_joined() -> None:
    ledgers = [
        {**shard(k, row(id)), "files": {"a": "b", "/c": "d", **more}}
        for k, id, more in ((1, FIRST, {"/e": "f"}), (2, SECOND, {"/g": "h"}))
    ]
    assert merged(ledgers)["files"] == {"a": "b", "/c": "d", "/e": "f", "/g": "h"}
    ledgers[1]["files"]["/c"] = "another"
    with pytest.raises(ValueError, match=r"^files: expected the same in every shard, got another /c in ledger 1"):
        merged(ledgers)


@pytest.mark.parametrize(
    ("ledgers", "refusal"),
    [
        ([of(row(FIRST))], "ledger 1: expected a shard of a run, got a whole one"),
        ([shard(1, row(FIRST)), shard(2, row(SECOND), profile="explore")], "profile: expected the same in every shard"),
        ([shard(1, row(FIRST))], "shards: expected all of one run, each once, got 1/2"),
        ([shard(1, row(FIRST)), shard(1, row(SECOND))], "shards: expected all of one run, each once, got 1/2, 1/2"),
        ([shard(1, row(FIRST)), shard(2, row(SECOND), count=3)], "shards: expected all of one run, each once, got 1/2, 2/3"),
        ([shard(1, row(FIRST)), shard(2, row(FIRST))], f"shards: expected every claim once, got {FIRST} twice"),
        ([shard(1, row(FIRST)), shard(2, row("eot.54"))], "shards: expected every requested claim, got no row"),
        ([shard(1, row(FIRST)), shard(2, row(SECOND), row("eot.54"))], "shards: expected the requested claims only, got a row"),
        (
            [shard(1, row(FIRST)), shard(2, row(SECOND), commit="fedcba")],
            "commit: expected the same in every shard, got another",
        ),
        ([shard(1, row(FIRST)), shard(2, row(SECOND), quick=True)], "quick: expected the same in every shard, got another"),
        ([shard(1, row(FIRST)), {**shard(2, row(SECOND)), "files": {"a": "b"}}], "files: expected the same in every shard"),
        (
            [shard(1, row(FIRST)), shard(2, row(SECOND), shard={"part": 2, "of": 2, "asked": ["eot"]})],
            "asked: expected the same",
        ),
    ],
)
def test_incomplete_sets_of_shards_are_refused(ledgers: list[dict[str, Any]], refusal: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}"):
        merged(ledgers)


def test_shards_without_a_date_make_a_run_without_one() -> None:
    assert merged([shard(1, row(FIRST), date=None), shard(2, row(SECOND), date=None)])["environment"]["date"] is None


def test_a_shard_that_was_not_complete_leaves_the_run_incomplete() -> None:
    assert not merged([shard(1, row(FIRST)), shard(2, row(SECOND), complete=False)])["environment"]["complete"]


def test_no_report_of_a_shard(tmp_path: Path) -> None:
    result = run("report", str(saved(tmp_path, shard(1, row(FIRST)))), f"--output={tmp_path / 'pages'}")
    assert "expected whole runs, got" in str(result.exception)
    assert not (tmp_path / "pages").exists()


def test_a_ledger_needs_a_folder(tmp_path: Path) -> None:
    result = CliRunner().invoke(merge, [str(tmp_path / "one.json"), "--json", str(tmp_path / "none" / "ledger.json")])
    assert result.exit_code == 2
    assert "--json: expected a file in an existing folder" in result.output
