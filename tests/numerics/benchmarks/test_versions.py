"""Versions of the solver: those that cannot be timed are refused."""

import subprocess
import sys

import pytest

from numerics.benchmarks import versions

CHILD = "import sys; print('[1.0, 2.0]', flush=True); sys.stdin.readline(); print('[2.0, 6.0]', flush=True)"


def child(code: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", code], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_a_missing_commit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^commit: expected one of this repository, got nosuchcommit$"):
        versions.race(["nosuchcommit"], 1)


def test_a_version_that_does_not_run_is_refused() -> None:
    refusal = r"^commit: expected one whose mem\.solve runs here, got abc$"
    with child("raise SystemExit(1)") as process, pytest.raises(ValueError, match=refusal):
        versions._answer(process, "abc")


def test_a_turn_is_requested_and_answered() -> None:
    with child(CHILD) as process:
        assert versions._answer(process, "abc") == (1.0, 2.0)
        assert versions._turn(process, "abc") == (2.0, 6.0)
