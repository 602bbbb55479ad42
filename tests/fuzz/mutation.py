"""One-edit mutations, most of which change the value."""

import random
from fractions import Fraction

from tests.fuzz.nodes import Node, leaf, make, number
from tests.fuzz.rewriting import ONE, TWO
from tests.fuzz.vocabulary import AXES, INDICES, SCALARS, SIZES, VECTORS


def mutate(node: Node, rng: random.Random) -> Node:
    """Make one edit: of a sign, a factor, a name, an index, an exponent, a function, or remove a term or a sum."""
    for _ in range(40):
        path, part = rng.choice(list(node.walk()))
        new = _edited(part, rng)
        if new is not None and new != part:
            return node.put(path, new)
    return make("add", node, ONE)


def _edited(part: Node, rng: random.Random) -> Node | None:
    op, args = part.op, part.args
    if op == "leaf":
        return _edited_leaf(part.text, rng)
    if op == "entry":
        if len(args) == 2 and rng.random() < 0.3:
            return (
                Node("entry", (args[1], args[0]), part.text)
                if VECTORS[part.text].shape[0] == VECTORS[part.text].shape[1]
                else None
            )
        shape = VECTORS[part.text].shape
        return Node("entry", args, rng.choice([name for name, base in VECTORS.items() if base.shape == shape]))
    if op == "statement" or part.is_index:
        return None
    others = {
        "add": ["sub", "mul"],
        "sub": ["add"],
        "mul": ["add", "div"],
        "div": ["mul"],
        "log": ["exp"],
        "exp": ["log", "abs"],
        "abs": ["plus", "neg"],
        "plus": ["abs"],
        "kl": ["mul"],
        "sqrt": ["abs"],
        "xlogx": ["log"],
    }.get(op, [])
    edits = [lambda: make(rng.choice(others), *args)] * bool(others)
    if op in ("add", "sub", "mul", "div", "kl"):
        edits += [lambda: rng.choice(args), lambda: make(op, args[1], args[0])]
    if op in ("total", "tail"):
        edits += [lambda: args[1], lambda: make("tail", leaf(part.bound[0]), args[1], TWO, leaf(AXES[part.bound[0]]))]
    if op in ("derivative", "pow", "neg", "log", "exp", "sqrt", "abs", "plus"):
        edits += [lambda: args[0]]
    edits += [lambda: make("mul", part, rng.choice([leaf("y"), TWO, leaf("m")])), lambda: make("neg", part)]
    return rng.choice(edits)()


def _edited_leaf(text: str, rng: random.Random) -> Node | None:
    for names in (INDICES, SCALARS, SIZES):
        if text in names:
            same = [name for name in names if names is not INDICES or AXES[name] == AXES[text]]
            return leaf(rng.choice(same))
    if text.isdigit():
        return number(Fraction(text) + rng.choice((1, -1)))
    return leaf(text.replace(" - ", " + ").replace("-", "")) if "-" in text else None
