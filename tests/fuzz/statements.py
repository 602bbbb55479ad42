"""Generate random statements."""

import random
from collections.abc import Collection

from tests.fuzz import equations, inequalities, problems
from tests.fuzz.kinds import KINDS
from tests.fuzz.nodes import Node

MODULES = (equations, inequalities, problems)  # importing them registers their kinds


def statement(seed: str, kinds: Collection[str] = ()) -> tuple[str, Node]:
    """The kind and the tree of a random statement, of one of these kinds if any are specified."""
    rng = random.Random(seed)
    names = [name for name in KINDS if name in kinds or not kinds]
    chosen = rng.choices(names, [KINDS[name][0] for name in names])[0]
    return chosen, KINDS[chosen][1](rng)
