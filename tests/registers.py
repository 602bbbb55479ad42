"""A register of claims for a test, in place of the real one."""

from typing import Any

import pytest

from derivations.register import catalogue, contents, selection


def register(monkeypatch: pytest.MonkeyPatch, *made: Any, documents: tuple[str, ...] = ()) -> dict[str, Any]:
    """Register these claims, and no others, for the duration of a test; `documents` takes the place of ours."""
    entries = {claim.id: claim for claim in made}
    monkeypatch.setattr(catalogue, "ENTRIES", entries)
    monkeypatch.setattr(catalogue, "FROZEN", {})
    monkeypatch.setattr(contents, "registered", lambda document: {})
    for module in (catalogue, selection) if documents else ():
        monkeypatch.setattr(module, "documents", lambda: documents)
    return entries
