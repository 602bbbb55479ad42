"""Atomic writing of files, by path: figures and tensors are written by libraries that open the file themselves.

Texts of the symbolic layer have a writer of their own, since the layers import nothing of each other.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and rename the file to `path` unless an exception was raised.

    The temporary name keeps the suffix, by which plotting libraries choose a format.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
