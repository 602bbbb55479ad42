"""The schema of a ledger: required fields of a row, and messages about violations."""

from typing import Any

import pytest

from derivations.ledger.schema import Environment, LedgerRow, Shard, Vote, check
from derivations.records.base import from_json, to_json
from tests.derivations.ledger.test_ledger import built, evidence


def ledger(**changes: Any) -> dict[str, Any]:
    """A ledger of one claim with a changed row."""
    data: dict[str, Any] = to_json(built(evidence()))
    data["claims"][0] |= changes
    return data


def named(id: str, document: str = "eot") -> dict[str, str]:
    return {"id": id, "document": document, "number": id.removeprefix(f"{document}.")}


def refusal(data: Any) -> str:
    with pytest.raises(ValueError, match=r"expected|got|missing|duplicate") as refused:
        check(data)
    return str(refused.value)


def test_a_written_file_matches_the_schema() -> None:
    assert built(evidence())["schema"] == 1
    check(ledger())
    check(ledger(**named("eot." + "a" * 196)))


def test_a_ledger_of_another_version_or_of_nothing_is_refused() -> None:
    assert refusal({**ledger(), "schema": 2}) == "schema: expected 1, got 2"
    assert refusal({**ledger(), "schema": "1"}) == "schema: expected 1, got '1'"
    unnumbered = {name: value for name, value in ledger().items() if name != "schema"}
    assert refusal(unnumbered) == "missing field schema"
    assert refusal([]) == "expected object, got array"
    assert refusal({**ledger(), "claims": []}) == "claims: missing"


def test_ids_of_rows_are_unique() -> None:
    assert refusal(ledger(**named("eot.a b"))).startswith("claim 1 (eot.a b): id: expected letters and digits with dots")
    long = "eot." + "a" * 197
    assert refusal(ledger(**named(long))) == f"claim 1 ({long[:200]}): id: expected at most 200 letters, got 201"
    assert refusal(ledger(number="60")) == "claim 1 (eot.59): id: expected eot.60, which document and number make, got eot.59"
    row = ledger()["claims"][0]
    twice = {**ledger(), "claims": [{**row, **named("eot.60")}, row, {**row, **named("eot.60")}]}
    assert refusal(twice) == "claim 3 (eot.60): id: duplicate"


def test_a_refusal_is_no_longer_than_a_page() -> None:
    assert refusal(ledger(id=None)).startswith("claim 1 (None): id: expected str, got null")
    start = "claim 1 (eot.59): "
    assert len(refusal(ledger(**{"x" * 3000: 1}))) == len(start) + 1000


def test_optional_fields_of_a_row() -> None:
    row = ledger()["claims"][0]
    needed = LedgerRow.__struct_fields__[: LedgerRow.__struct_fields__.index("digest") + 1]
    row_read = from_json({name: row[name] for name in needed}, LedgerRow)
    assert (row_read.complete, row_read.canonical, row_read.print) == (False, None, None)
    assert (row_read.voters, row_read.kernel) == ((), ())
    vote = {name: row["evidence"][0][name] for name in Vote.__struct_fields__[: Vote.__struct_fields__.index("error")]}
    assert [getattr(from_json(vote, Vote), name) for name in ("error", "power", "mutants", "alive", "where")] == [
        None,
        None,
        0,
        (),
        "",
    ]
    assert (Environment().complete, Environment().quick, Environment().seed, Environment().shard) == (False, False, None, None)
    assert from_json({"part": 1, "of": 2, "asked": []}, Shard) == Shard(1, 2, ())
