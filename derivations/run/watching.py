"""`verify --watch`: run a command again whenever a source file that claims depend on has changed."""

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Event

import click
from watchfiles import Change, DefaultFilter, watch

from derivations.ledger.incremental import OUTPUT


class Sources(DefaultFilter):
    """A filter that accepts the sources of claims, and neither files that a run writes nor files of tools."""

    def __call__(self, change: Change, path: str) -> bool:
        """Return whether a change of that file should trigger a run."""
        return super().__call__(change, path) and Path(path).name not in OUTPUT


def rerun(command: Sequence[str], folders: Iterable[Path], stop: Event | None = None) -> None:
    """Run the command now and after every change in the folders, until it is interrupted or `stop` is set."""
    subprocess.run(command, check=False)
    for changes in watch(*folders, watch_filter=Sources(), stop_event=stop, raise_interrupt=False):
        click.echo("changed: " + ", ".join(sorted({Path(path).name for _, path in changes})))
        subprocess.run(command, check=False)
