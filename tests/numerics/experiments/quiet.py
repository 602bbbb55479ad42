"""`python -m numerics` without pictures, in whose drawing nearly all kills of a test would fall, and nearly all seconds."""

import os
import sys

from numerics.__main__ import main


def quiet(command: list[str]) -> None:
    from numerics.experiments.deviation import figures

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    figures.save = lambda figure, path: None
    main(command, standalone_mode=False)


if __name__ == "__main__":                                   # in each process of torchrun
    quiet(sys.argv[1:])
