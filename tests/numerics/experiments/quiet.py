"""`python -m numerics` without pictures, whose drawing would dominate the time of a test."""

import os
import sys

from numerics.__main__ import main

DRAWING = ("layers", "heads", "maps", "save")
"""The functions of `figures` that compose pictures and write them."""


def quiet(command: list[str]) -> None:
    from numerics.experiments.deviation import figures

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for name in DRAWING:
        setattr(figures, name, lambda *arguments: None)
    main(command, standalone_mode=False)


if __name__ == "__main__":  # in each process of torchrun
    quiet(sys.argv[1:])
