"""Options that several commands share, and their checks."""

from pathlib import Path

import click
import torch


def check_parent(name: str, path: Path) -> None:
    """Raise click.UsageError if the folder of a path does not exist."""
    if not path.resolve().parent.is_dir():
        raise click.UsageError(f"{name}: expected a path in an existing folder, got {path}")


def check_device(device: str) -> None:
    """Raise click.UsageError if cuda is requested but not available."""
    if device == "cuda" and not torch.cuda.is_available():
        raise click.UsageError("--device: expected cpu where there is no CUDA device, got cuda")


def folder(context: click.Context, option: click.Parameter, path: Path) -> Path:
    """Return a folder to write to, made if its parent exists; raises click.UsageError otherwise."""
    check_parent("--out", path)
    if path.exists() and not path.is_dir():
        raise click.UsageError(f"--out: expected a folder, got the file {path}")
    return path


def writable(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Return a file in a folder that exists; raises click.UsageError otherwise."""
    if path is not None:
        check_parent(option.opts[0], path)
        if path.is_dir():
            raise click.UsageError(f"{option.opts[0]}: expected a file, got the folder {path}")
    return path


out = click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("figures"),
    show_default=True,
    callback=folder,
    help="folder for pictures and tables, made if it is missing",
)
