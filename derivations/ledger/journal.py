"""The journal of a run, beside its ledger: what every vote said so far, so that an interrupted run loses nothing.

It is a text that only grows: a line about the run (settings, hashes of the sources), then a line for each vote that ended.  A
line begins with a digest of itself, of the line before, and of a key that is kept apart: since a run believes what it goes on
from, it goes on from nothing that was edited or came from elsewhere.  A torn last line is left out.
The file is locked while its run lives, also against a second run that would write the same ledger.
"""

import fcntl
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from derivations.files import cache_folder


def place(ledger: Path) -> Path:
    """The path of the journal of a ledger."""
    return ledger.with_name(f"{ledger.name}.journal")


class Journal:
    """The journal of a ledger, locked; `run` describes the run that left it (None if none did), `votes` are what it says.

    Raises ValueError if another run has locked it.
    """

    def __init__(self, ledger: Path) -> None:
        self.path = place(ledger)
        self.run: dict[str, Any] | None = None
        self.votes: list[dict[str, Any]] = []
        self.edited = False
        self._file = self._locked(ledger)
        self._digest, self._length = "", 0
        self._read()

    def _locked(self, ledger: Path) -> int:
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                raise ValueError(f"--json: expected a ledger that no other run writes, got {ledger}") from None
            if self.path.exists() and os.path.samestat(os.fstat(file), self.path.stat()):
                return file
            os.close(file)  # the run that had it has just removed it

    def _read(self) -> None:
        """Read the lines up to a torn last one; none if a line before that is not as it was written."""
        *lines, torn = self.path.read_bytes().split(b"\n")
        digest, records = "", []
        for number, line in enumerate(lines):
            digest = _chained(digest, line[17:])
            if line[:17] != f"{digest} ".encode():
                self.edited = number < len(lines) - 1 or not torn
                break
            records.append(json.loads(line[17:]))
            self._digest, self._length = digest, self._length + len(line) + 1
        if records and not self.edited:
            self.run, *self.votes = records

    def begin(self, run: Mapping[str, Any]) -> None:
        """Start anew, with a description of the run."""
        self._digest, self._length, self.votes, self.run = "", 0, [], None
        self.go_on()
        self._append(run)

    def go_on(self) -> None:
        """Make ready for further votes, without a torn line."""
        os.ftruncate(self._file, self._length)

    def add(self, vote: dict[str, Any]) -> None:
        """Append what a vote said, at once."""
        self.votes.append(vote)
        self._append(vote)

    def _append(self, record: Mapping[str, Any]) -> None:
        text = json.dumps(record, ensure_ascii=False).encode()
        self._digest = _chained(self._digest, text)
        os.write(self._file, f"{self._digest} ".encode() + text + b"\n")

    def close(self, *, keep: bool) -> None:
        """Unlock the journal; remove it unless it is to be kept and says anything."""
        if self._file < 0:
            return
        if not (keep and self.votes):
            self.path.unlink(missing_ok=True)
        os.close(self._file)
        self._file = -1


def _chained(digest: str, text: bytes) -> str:
    return hmac.new(_key(), digest.encode() + text, "sha256").hexdigest()[:16]


@cache
def _key() -> bytes:
    """The secret of this user on this machine; where none can be kept, that of this process."""
    path, new = cache_folder() / "journal.key", secrets.token_bytes(32)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent) as file, suppress(FileExistsError):
            file.write(new)
            file.flush()
            os.link(file.name, path)  # whole or not at all
        return path.read_bytes()
    return new
