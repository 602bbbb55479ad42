"""Options that several commands share."""

from pathlib import Path

import click


def folder(context: click.Context, option: click.Parameter, path: Path) -> Path:
    """A folder to write to, made if its parent exists; raises click.UsageError otherwise."""
    if not path.resolve().parent.is_dir():
        raise click.UsageError(f"--out: the folder {path.parent} does not exist, a path in an existing folder is accepted")
    if path.exists() and not path.is_dir():
        raise click.UsageError(f"--out: {path} is a file, a folder is accepted")
    return path


out = click.option("--out", type=click.Path(path_type=Path), default=Path("figures"), show_default=True, callback=folder,
                   help="folder for pictures and tables, made if it is missing")
