"""The options that several commands share: the ledger that a command reads."""

from pathlib import Path
from typing import Any

import click

from derivations.ledger import ledger


def read_ledger(path: Path) -> dict[str, Any]:
    """Return the ledger at a path; raises click.UsageError if it is not a ledger or contradicts its own evidence."""
    try:
        return ledger.read(path)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def last_ledger(path: Path) -> dict[str, Any] | None:
    """Return the ledger that the option `--json` of a command names; None if it names none and there is none yet.

    Raises click.UsageError if it names a file that is missing, and for anything but a ledger.
    """
    named = click.get_current_context().get_parameter_source("path") is not click.core.ParameterSource.DEFAULT
    return read_ledger(path) if named or path.exists() else None
