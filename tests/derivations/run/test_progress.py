"""Where there is no terminal, a line now and then says how far a run is; a signal is remembered."""

import os
import signal
import time
from types import SimpleNamespace
from typing import Any

import pytest

from derivations.run import progress
from derivations.run.progress import Progress


def shown(**fields: Any) -> Progress:
    own = Progress()
    for name, value in fields.items():
        setattr(own, name, value)
    return own


def test_a_line_while_tests_are_collected_and_while_they_run() -> None:
    own = shown(begun=time.monotonic() - 75)
    assert own.line() == "verify: collecting, 1:15 elapsed"
    keeper = SimpleNamespace(kept=["a", "b"])
    own.collector = SimpleNamespace(keeper=keeper)  # type: ignore[assignment]
    own.pytest_xdist_node_collection_finished(None, ["c", "d", "e", "f"])
    assert own.line() == "verify: 2/6 checks, 1:15 elapsed, eta unknown, collecting"
    own.running -= 60
    own.pytest_runtest_logreport(SimpleNamespace(failed=False, when="teardown", nodeid="x[eot.59]"))  # type: ignore[arg-type]
    assert own.line() == "verify: 3/6 checks, 1:15 elapsed, eta 3:00, eot.59"


def test_lines_are_written_past_pytest(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.02)
    with shown(log=True).interruptible():
        time.sleep(0.3)
    assert "verify: collecting, 0:00 elapsed\n" in capfd.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_remembered(number: signal.Signals) -> None:
    own, before = Progress(), signal.getsignal(number)
    with own.interruptible():
        os.kill(os.getpid(), number)
        time.sleep(1)
    assert own.interrupted == number
    assert signal.getsignal(number) is before
