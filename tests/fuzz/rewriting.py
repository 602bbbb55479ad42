"""Rules that keep the value of an expression on its whole domain."""

import random
from collections.abc import Callable

from tests.fuzz.grammar import sign_of, softmax
from tests.fuzz.nodes import CaptureError, Node, entry, leaf, make, over
from tests.fuzz.vocabulary import APART, AXES, INDICES, VECTORS

Rule = Callable[[Node, random.Random], Node | None]
ZERO, ONE, TWO = leaf(0), leaf(1), leaf(2)
RULES: dict[str, list[Rule]] = {}


def rule(*ops: str) -> Callable[[Rule], Rule]:
    """Register a rule for the operations that it may rewrite."""

    def register(function: Rule) -> Rule:
        for op in ops:
            RULES.setdefault(op, []).append(function)
        return function

    return register


EXPRESSIONS = (
    "leaf",
    "entry",
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "total",
    "log",
    "exp",
    "sqrt",
    "abs",
    "plus",
    "kl",
    "xlogx",
    "bregman",
    "derivative",
    "delta",
)


@rule("add", "mul")
def commuted(node: Node, rng: random.Random) -> Node:
    return make(node.op, node.args[1], node.args[0])


@rule("mul")
def distributed(node: Node, rng: random.Random) -> Node | None:
    first, second = rng.sample(node.args, 2)
    if second.op not in ("add", "sub"):
        return None
    return make(second.op, make("mul", first, second.args[0]), make("mul", first, second.args[1]))


@rule("mul")
def moved_into_sum(node: Node, rng: random.Random) -> Node | None:
    first, second = rng.sample(node.args, 2)
    if second.op != "total" or _depends(first, second.bound):
        return None
    return make("total", second.args[0], make("mul", first, second.args[1]))


@rule("mul")
def product_of_sums(node: Node, rng: random.Random) -> Node | None:
    first, second = node.args
    if first.op != "total" or second.op != "total" or len({*first.bound, *second.bound}) != 2:
        return None
    if _depends(first, second.bound) or _depends(second.args[1], first.bound) or _apart(first, second):
        return None
    return over((*first.bound, *second.bound), make("mul", first.args[1], second.args[1]))


@rule("total")
def split(node: Node, rng: random.Random) -> Node | None:
    body = node.args[1]
    if body.op not in ("add", "sub"):
        return None
    return make(body.op, make("total", node.args[0], body.args[0]), make("total", node.args[0], body.args[1]))


@rule("total")
def factor_out(node: Node, rng: random.Random) -> Node | None:
    body = node.args[1]
    if body.op not in ("mul", "div"):
        return None
    first, second = (0, 1) if body.op == "div" or rng.random() < 0.5 else (1, 0)
    constant, rest = body.args[second], body.args[first]
    if _depends(constant, node.bound):
        return None
    inside = make("total", node.args[0], rest)
    return make("div", inside, constant) if body.op == "div" else make("mul", inside, constant)


@rule("total")
def exchanged(node: Node, rng: random.Random) -> Node | None:
    inner = node.args[1]
    if inner.op != "total" or set(node.bound) & set(inner.bound) or _apart(node, inner):
        return None
    if len(node.bound) == len(inner.bound) == 1 and rng.random() < 0.5:
        return over((*node.bound, *inner.bound), inner.args[1])
    return make("total", inner.args[0], make("total", node.args[0], inner.args[1]))


@rule("total")
def separated(node: Node, rng: random.Random) -> Node | None:
    if len(node.bound) != 2 or any(APART[name] for name in node.bound):
        return None
    first, second = rng.sample(node.bound, 2)
    return over(first, over(second, node.args[1]))


@rule("total")
def renamed(node: Node, rng: random.Random) -> Node | None:
    if len(node.bound) != 1 or APART[node.bound[0]]:
        return None
    new = rng.choice([name for name in INDICES if AXES[name] == AXES[node.bound[0]] and not APART[name]])
    return None if new in node.args[1].free else over(new, node.args[1].put_index(node.bound[0], leaf(new)))


@rule("total")
def all_but_one(node: Node, rng: random.Random) -> Node | None:
    if len(node.bound) != 1 or APART[node.bound[0]] or AXES[node.bound[0]] not in ("m", "n"):
        return None
    (name,), body = node.bound, node.args[1]
    single, rest = ("j", "k") if AXES[name] == "m" else ("h", "e")
    if rest in body.free or (single in body.free and name != single):
        return None
    picked, others = body.put_index(name, leaf(single)), body.put_index(name, leaf(rest))
    return make("add", picked, over(rest, others))


@rule("total")
def constant_summand(node: Node, rng: random.Random) -> Node | None:
    if len(node.bound) != 1 or APART[node.bound[0]] or _depends(node.args[1], node.bound):
        return None
    return make("mul", leaf(AXES[node.bound[0]]), node.args[1])


@rule("total")
def from_behind(node: Node, rng: random.Random) -> Node | None:
    if len(node.bound) != 1 or APART[node.bound[0]] or rng.random() < 0.9:
        return None
    (name,) = node.bound
    return over(name, node.args[1].put_index(name, make("reversed", leaf(AXES[name]), leaf(name))))


@rule("entry", "mul", "log", "exp", "div", "add")
def picked_by_delta(node: Node, rng: random.Random) -> Node | None:
    candidates = [name for name in node.free if name in INDICES and not APART[name]]
    if not candidates:
        return None
    old = rng.choice(sorted(candidates))
    new = rng.choice([name for name in INDICES if AXES[name] == AXES[old] and not APART[name]])
    if new in node.free or any(old in APART[name] for name in node.free if name in INDICES):
        return None
    return over(new, make("mul", make("delta", leaf(new), leaf(old)), node.put_index(old, leaf(new))))


@rule("pow")
def opened_power(node: Node, rng: random.Random) -> Node | None:
    base, exponent = node.args
    if exponent.text == "2":
        if base.op == "total" and len(base.bound) == 1 and not APART[base.bound[0]] and rng.random() < 0.6:
            new = _other_name(base.bound[0], base, rng)
            return over((base.bound[0], new), make("mul", base.args[1], base.args[1].put_index(base.bound[0], leaf(new))))
        if base.op in ("add", "sub") and rng.random() < 0.6:
            first, second = base.args
            middle = make("mul", TWO, make("mul", first, second))
            return make("add", make(base.op, make("pow", first, TWO), middle), make("pow", second, TWO))
        return make("mul", base, base)
    if exponent.text == "3":
        return make("mul", make("pow", base, TWO), base)
    if exponent.text == "sp.Rational(-1, 1)":
        return make("div", ONE, base)
    if sign_of(base) == "positive" and base.op == "mul" and all(sign_of(arg) == "positive" for arg in base.args):
        return make("mul", make("pow", base.args[0], exponent), make("pow", base.args[1], exponent))
    return make("exp", make("mul", exponent, make("log", base))) if sign_of(base) == "positive" else None


@rule("exp")
def exp_of_sum(node: Node, rng: random.Random) -> Node | None:
    inner = node.args[0]
    if inner.op not in ("add", "sub"):
        return None
    return make("mul" if inner.op == "add" else "div", *(make("exp", arg) for arg in inner.args))


@rule("log")
def log_of_product(node: Node, rng: random.Random) -> Node | None:
    inner = node.args[0]
    if inner.op in ("mul", "div") and all(sign_of(arg) == "positive" for arg in inner.args):
        return make("add" if inner.op == "mul" else "sub", *(make("log", arg) for arg in inner.args))
    if inner.op == "pow" and sign_of(inner.args[0]) == "positive":
        return make("mul", inner.args[1], make("log", inner.args[0]))
    return inner.args[0] if inner.op == "exp" else None


@rule("sqrt")
def root_of_product(node: Node, rng: random.Random) -> Node | None:
    inner = node.args[0]
    if inner.op == "mul" and all(sign_of(arg) != "real" for arg in inner.args):
        return make("mul", *(make("sqrt", arg) for arg in inner.args))
    return make("abs", inner.args[0]) if inner.op == "pow" and inner.args[1].text == "2" else None


@rule("abs")
def opened_abs(node: Node, rng: random.Random) -> Node:
    inner = node.args[0]
    if sign_of(inner) != "real":
        return inner
    return make("add", make("plus", inner), make("plus", make("neg", inner)))


@rule("kl")
def opened_kl(node: Node, rng: random.Random) -> Node | None:
    first, second = node.args
    if sign_of(first) == "real" or sign_of(second) != "positive":
        return None
    rest = make("sub", second, first)
    return make("add", make("sub", make("xlogx", first), make("mul", first, make("log", second))), rest)


@rule("xlogx")
def opened_xlogx(node: Node, rng: random.Random) -> Node | None:
    inner = node.args[0]
    if inner.op == "mul" and all(sign_of(arg) != "real" for arg in inner.args):
        first, second = inner.args
        return make("add", make("mul", first, make("xlogx", second)), make("mul", second, make("xlogx", first)))
    return make("mul", inner, make("log", inner)) if sign_of(inner) == "positive" else None


@rule("bregman")
def opened_bregman(node: Node, rng: random.Random) -> Node | None:
    first, second, alpha = node.args
    if alpha.text != "2" or "real" in (sign_of(first), sign_of(second)):
        return None
    return make("div", make("pow", make("sub", first, second), TWO), TWO)


@rule("derivative")
def differentiated(node: Node, rng: random.Random) -> Node | None:
    body, by = node.args
    slope = lambda part: make("derivative", part, by)  # noqa: E731
    if body.op in ("add", "sub"):
        return make(body.op, *map(slope, body.args))
    if body.op == "mul":
        first, second = body.args
        return make("add", make("mul", slope(first), second), make("mul", first, slope(second)))
    if body.op == "div" and sign_of(body.args[1]) == "positive":
        above, below = body.args
        return make(
            "div", make("sub", make("mul", slope(above), below), make("mul", above, slope(below))), make("pow", below, TWO)
        )
    if body.op == "exp":
        return make("mul", body, slope(body.args[0]))
    if body.op == "log" and sign_of(body.args[0]) == "positive":
        return make("div", slope(body.args[0]), body.args[0])
    if body.op == "pow" and body.args[1].text in ("2", "3"):
        degree = int(body.args[1].text)
        return make("mul", make("mul", leaf(degree), make("pow", body.args[0], leaf(degree - 1))), slope(body.args[0]))
    if body.op == "total" and not _depends(by, body.bound):
        return make("total", body.args[0], slope(body.args[1]))
    if body.op == "leaf":
        return None if len(body.free) > 1 or "(" in body.text else ONE if by == body else ZERO
    if body.op == "entry":
        if by.op != "entry" or by.text != body.text:
            return ZERO
        same = [make("delta", one, other) for one, other in zip(body.args, by.args, strict=True)]
        if any("reversed" in (part.op for part in pair.args) for pair in same):
            return None
        return same[0] if len(same) == 1 else make("mul", *same)
    return ZERO if body.op == "delta" else None


@rule("entry")
def marginal(node: Node, rng: random.Random) -> Node | None:
    plans = {"q": [("P", 1), ("T", 1)], "w": [("P", 0)], "u": [("G", 1)], "p": [("G", 0)], "r": [("T", 0)]}.get(node.text)
    if not plans:
        return None
    plan, other = rng.choice(plans)
    length = str(VECTORS[plan].shape[other])
    new = rng.choice([name for name in INDICES if AXES[name] == length and not APART[name]])
    if new in node.free:
        return None
    return over(new, entry(plan, node.args[0], new) if other else entry(plan, new, node.args[0]))


@rule(*EXPRESSIONS)
def times_one(node: Node, rng: random.Random) -> Node:
    ones = [
        lambda: over("l", entry("q", "l")),
        lambda: over("h", entry("w", "h")),
        lambda: over("g", entry("R", "i", "g")),
        lambda: over("j", softmax("a", leaf("j"), "y")),
        lambda: over(("i", "j"), entry("S", "i", "j")),
        lambda: make("div", leaf("y"), leaf("y")),
        lambda: over("l", make("delta", leaf("l"), leaf("j"))),
        lambda: over(("l", "h"), entry("P", "l", "h")),
        lambda: over("j", entry("r", "j")),
        lambda: make("mul", make("exp", leaf("x")), make("exp", make("neg", leaf("x")))),
        lambda: over("one", ONE),
        lambda: over("f", entry("Q3", "f")),
        lambda: over("l", entry("U", "j", "l")),
    ]
    return make("mul", node, rng.choice(ones)())


@rule(*EXPRESSIONS)
def plus_zero(node: Node, rng: random.Random) -> Node:
    zeros = [
        lambda: make("sub", leaf("x"), leaf("x")),
        lambda: make("mul", make("delta", leaf("j"), leaf("k")), entry("a", "k")),
        lambda: make("mul", entry("mu", "j"), entry("q", "j")),
        lambda: over("l", make("mul", entry("mu", "l"), entry("q", "l"))),
        lambda: make("sub", make("log", entry("b", "j")), make("log", entry("b", "j"))),
        lambda: make("sub", over("j", entry("a", "j")), over("l", entry("a", "l"))),
        lambda: make("derivative", leaf("v"), leaf("x")),
        lambda: make("derivative", over("l", entry("a", "l")), entry("d", "j")),
    ]
    return make("add", node, rng.choice(zeros)())


def _depends(node: Node, names: tuple[str, ...]) -> bool:
    return bool(node.free & set(names)) or any(set(APART[name]) & set(names) for name in node.free if name in INDICES)


def _apart(first: Node, second: Node) -> bool:
    """Whether an index that one of the sums binds must differ from one that the other binds."""
    names = {*first.bound, *second.bound}
    return any(set(APART[name]) & names for name in names)


def _other_name(name: str, node: Node, rng: random.Random) -> str:
    fitting = [new for new in INDICES if AXES[new] == AXES[name] and not APART[new] and new not in {name, *node.args[1].free}]
    if not fitting:
        raise CaptureError(f"no name left beside {name}")
    return rng.choice(fitting)


def positions(node: Node) -> list[tuple[tuple[int, ...], Node]]:
    """The subtrees that are numbers and may be replaced, without variables of derivatives and exponents."""
    fixed: set[tuple[int, ...]] = set()
    result = []
    for path, part in node.walk():
        if any(path[: len(stem)] == stem for stem in fixed) or part.op == "statement" or part.is_index:
            continue
        if part.op in ("delta", "entry"):
            fixed |= {(*path, at) for at in range(len(part.args))}
        if part.op in ("derivative", "pow"):
            fixed.add((*path, 1))
        if part.op == "bregman":
            fixed.add((*path, 2))
        if part.op in ("total", "tail"):
            fixed |= {(*path, at) for at in range(len(part.args)) if at != 1}
        result.append((path, part))
    return result


def rewrite(node: Node, rng: random.Random, times: int) -> Node:
    """The expression after that many random rules that keep its value."""
    for _ in range(times):
        for _attempt in range(12):
            if not (candidates := positions(node)):
                return node
            path, part = rng.choice(candidates)
            rules = RULES.get(part.op, [])
            specific = [one for one in rules if one not in (times_one, plus_zero)]
            chosen = rng.choice(specific if specific and rng.random() < 0.85 else rules or [times_one])
            try:
                new = chosen(part, rng)
            except CaptureError:
                continue
            if new is not None and new != part and not _bound_apart(node, path, new, part):
                node = node.put(path, new)
                break
    return node


def _bound_apart(node: Node, path: tuple[int, ...], new: Node, part: Node) -> bool:
    """Whether the condition k ≠ j occurs inside of a sum over j, where it has no effect."""
    around: set[str] = set()
    for step in path:
        around |= set(node.bound)
        node = node.args[step]
    return any(set(APART[name]) & around for name in new.free - part.free if name in INDICES)
