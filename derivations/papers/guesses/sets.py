"""Read sets of which a paper's symbols are members: ℝ^{n×d}, the simplex Δ_n, spheres, {1, …, m}, (0, 1), ℝ^d ∖ {0}."""

from derivations.papers.guesses.guesses import Guesses
from derivations.papers.guesses.norms import dimension
from derivations.reader.syntax.names import parts
from derivations.reader.syntax.tree import Bracket, Node, Operator, Product, Scripted, Sum, Symbol, spelled

DOTS = ("\\dots", "\\ldots", "\\cdots")
PLANS = ("\\Pi", "U", "\\mathcal{U}", "\\mathcal{C}", "\\Gamma", "\\mathbf{U}")
SIMPLICES = ("\\Delta", "\\mathcal{P}")
INTERIORS = ("\\mathrm{int}", "\\mathrm{ri}", "\\mathrm{relint}", "\\mathring")
WITHOUT_ZERO = (["\\setminus", "\\{0\\}"], ["\\backslash", "\\{0\\}"])


def domain_of(guesses: Guesses, node: Node, why: str) -> str | None:  # noqa: C901
    """Return the declaration equivalent to membership in a set; None for another set."""
    base, sub, sup = (node.base, node.sub, node.sup) if isinstance(node, Scripted) else (node, None, None)
    if isinstance(base, Symbol) and base.name == "\\mathbb{R}":
        kind = {
            "": "",
            "+": "nonnegative",
            "++": "positive",
            "> 0": "positive",
            "\\ge 0": "nonnegative",
            "\\geq 0": "nonnegative",
        }.get(spelled(sub).strip(), "")
        if sup is None:
            return kind or "real"
        axes = [each for each in (sup.factors if isinstance(sup, Product) else (sup,)) if not isinstance(each, Operator)]
        sizes = [guesses.size(each, why) for each in axes]
        if not all(sizes) or len(sizes) > 2:
            return None
        return f"{kind} {'vector' if len(sizes) == 1 else 'matrix'} {' '.join(map(str, sizes))}".strip()
    if isinstance(base, Symbol) and base.name in ("\\mathbb{N}", "\\mathbb{Z}"):
        return "size"
    if isinstance(node, Product) and [*map(spelled, node.factors[1:])] in WITHOUT_ZERO:
        return _without_zero(domain_of(guesses, node.factors[0], why))
    if isinstance(node, Product) and spelled(node.factors[0]) in PLANS and isinstance(plans := node.factors[-1], Bracket):
        return f"coupling {' '.join(map(spelled, parts(plans.inside)))}"
    if (axis := dimension(base, sup)) is not None:
        size = guesses.size(axis, why)
        return f"unit vector {size}" if size else None
    if isinstance(base, Symbol) and base.name == "\\Delta":
        return _simplex(guesses, sub, sup, why)
    if isinstance(node, Product) and spelled(node.factors[0]) in INTERIORS and len(node.factors) == 2:
        inner = node.factors[1]
        inside_of = domain_of(guesses, inner.inside if isinstance(inner, Bracket) else inner, why)
        return inside_of.replace("simplex", "interior") if inside_of else None
    if isinstance(base, Symbol) and base.name in guesses.sets:
        return f"index {guesses.sets[base.name]}"
    if isinstance(base, Product) and len(base.factors) == 2 and spelled(base.factors[0]) in ("\\Delta", "\\mathcal{P}"):
        inside = base.factors[1]
        size = guesses.sets.get(spelled(inside.inside)) if isinstance(inside, Bracket) else None
        return f"simplex {size}" if size else None
    if isinstance(node, Bracket) and node.kind in ("{}", "[]"):
        listed = parts(node.inside)
        if node.kind == "[]" and len(listed) == 1:
            size = guesses.size(listed[0], why)
            return f"index {size}" if size else None
        if len(listed) >= 3 and spelled(listed[-2]) in DOTS:
            size = guesses.size(listed[-1], why)
            return f"index {size}" if size else None
    if isinstance(node, Bracket) and node.kind in ("()", "[]") and len(parts(node.inside)) == 2:
        return _interval(node)
    return None


def _without_zero(meaning: str | None) -> str | None:
    """Return the domain without 0 of a real number or vector; None for another one."""
    return "real != 0" if meaning == "real" else f"nonzero {meaning}" if meaning and meaning.startswith("vector ") else None


def _interval(node: Bracket) -> str | None:
    """Return (0, 1) as positive < 1, [0, 1] as nonnegative <= 1, (0, ∞) as positive; None if an end is not a number."""
    low, high = (spelled(part).replace("- ", "-") for part in parts(node.inside))
    opened = node.kind == "()"
    if low == "0":
        start = "positive" if opened else "nonnegative"
    elif low.lstrip("-").isdigit():
        start = f"real {'>' if opened else '>='} {low}"
    else:
        return None
    if "\\infty" in high:
        return start
    return f"{start} {'<' if opened else '<='} {high}" if high.lstrip("-").isdigit() else None


def _simplex(guesses: Guesses, sub: Node | None, sup: Node | None, why: str) -> str | None:
    of = sup or sub
    if isinstance(of, Sum) and [sign for sign, _ in of.terms] == ["+", "-"] and spelled(of.terms[1][1]) == "1":
        of = of.terms[0][1]
    size = guesses.size(of, why) if of is not None else None
    return f"simplex {size}" if size else None
