"""Write files atomically, whole or not at all, and know where to keep what can be computed again."""

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """The user's folder for what is kept between runs and belongs to no ledger."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attention-proofs"


def write_whole(path: Path, text: str) -> None:
    """Write a text to a file beside `path` and rename it; if anything is raised, the old file is unchanged.

    The new file has no name until it is whole, where the system has such files, so that a killed process leaves nothing.
    """
    handle, name = _nameless(path)
    new = name or tempfile.mktemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if not name:
                os.link(f"/proc/self/fd/{handle}", new, src_dir_fd=handle, follow_symlinks=True)
        os.chmod(new, 0o644)
        os.replace(new, path)
    except BaseException:
        Path(new).unlink(missing_ok=True)
        raise


def _nameless(path: Path) -> tuple[int, str]:
    """Open a file without a name on the file system of a path; else one beside the path, with its name."""
    try:
        return os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o644), ""
    except (AttributeError, OSError):
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
