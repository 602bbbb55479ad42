"""The slope of a term, by the rules of the script in the same order, so that the proof finds the same form."""

from fractions import Fraction

from derivations.rocq.terms import LEAVES, NotExportedError, Term, mentions

ZERO: Term = ("num", Fraction(0))
ONE: Term = ("num", Fraction(1))


def opened(part: Term) -> Term:
    """A term in which x log x, divergences and real powers are replaced by their definitions."""
    kind = part[0]
    if kind in LEAVES:
        return part
    if kind == "sum":
        return (*part[:3], opened(part[3]))
    if kind == "pow":
        return (kind, opened(part[1]), part[2])
    parts = [opened(each) for each in part[1:]]
    if kind == "xlogx":
        return ("mul", parts[0], ("ln", parts[0]))
    if kind == "kl":
        y, x = parts
        return ("add", ("mul", y, ("ln", y)), ("neg", ("mul", y, ("ln", x))), ("neg", y), x)
    if kind == "rpow":
        return ("exp", ("mul", parts[1], ("ln", parts[0])))
    return (kind, *parts)


def slope(part: Term, by: Term) -> Term:
    """The slope of an opened term along a scalar or an entry; raises NotExportedError for a function without a rule."""
    kind = part[0]
    if not mentions(part, by[1]):
        return ZERO
    if kind == "var":
        return ONE
    if kind == "band":
        raise NotExportedError("a slope along an entry of a vector of differences")
    if kind == "entry":
        deltas = [("dlt", *pair) for pair in zip(part[2], by[2], strict=True)]
        return deltas[0] if len(deltas) == 1 else ("mul", *deltas)
    if kind == "neg":
        return ("neg", slope(part[1], by))
    if kind == "add":
        *others, last = part[1:]  # a sum of constants has the slope 0, not 0 + 0
        return ("add", slope(others[0] if len(others) == 1 else ("add", *others), by), slope(last, by))
    if kind == "mul":
        return _product(part, by)
    if kind == "sum":
        return (*part[:3], slope(part[3], by))
    if kind == "inv":
        return ("mul", ("neg", slope(part[1], by)), ("inv", ("pow", part[1], 2)))
    if kind == "pow":
        n = part[2]
        return ("mul", ("num", Fraction(n)), ("pow", part[1], n - 1), slope(part[1], by))
    if kind == "exp":
        return ("mul", part, slope(part[1], by))
    if kind == "ln":
        return ("mul", slope(part[1], by), ("inv", part[1]))
    raise NotExportedError(f"the slope of {kind}")


def _product(part: Term, by: Term) -> Term:
    """Σ of the products with one factor replaced; constant factors are not differentiated."""
    *others, last = part[1:]
    rest: Term = others[0] if len(others) == 1 else ("mul", *others)
    if not mentions(rest, by[1]):
        return ("mul", rest, slope(last, by))
    if not mentions(last, by[1]):
        return ("mul", slope(rest, by), last)
    return ("add", ("mul", slope(rest, by), last), ("mul", rest, slope(last, by)))
