"""Guess which displayed equations define their left side, and which say something of a symbol that is known."""

from collections.abc import Sequence
from itertools import zip_longest

from derivations.papers.guesses.domains import DEFINE
from derivations.papers.guesses.functions import arguments_of, is_another, is_modified
from derivations.papers.guesses.guesses import Guess, Guesses
from derivations.papers.guesses.losses import gradient
from derivations.papers.guesses.premises import ASSUMPTION, is_condition
from derivations.papers.guesses.signs import NUMBER
from derivations.reader.meaning import operators
from derivations.reader.meaning.clauses import LEADING, without_words
from derivations.reader.meaning.uses import RESERVED, another_star, is_index_list, is_problem
from derivations.reader.syntax.names import pattern, signature
from derivations.reader.syntax.tree import (
    Bracket,
    Chain,
    Fraction,
    LatexError,
    Listing,
    Node,
    Number,
    Product,
    Scripted,
    Sum,
    spelled,
    walk,
)
from derivations.reader.tex.paper import Formula

CONDITIONAL = ("if", "iff", "when", "whenever", "only", "unless", "at", "for", "equality", "case", "until", "since", "because")
ARTICLES = ("the", "a", "an")
STANDARD = ("KL", "softmax", "tanh", "logsumexp", "variance", "covariance", "expectation", "diag", "trace", "ones", "identity")
DIVERGENCES = ("KL", "entropy")
WHERE = {"where", "with"}


def read_definition(guesses: Guesses, position: int, tree: Node, formula: Formula) -> None:
    """Record X = … as a definition if X is new and the display, the sign or the words before it make it one."""
    clauses = tree.parts if isinstance(tree, Listing) and not set(tree.separators) & {"|", "‖"} else (tree,)
    for number, clause_with_words in enumerate(clauses):
        with_words, clause = without_words(clause_with_words)
        if not isinstance(clause, Chain) or clause.parts[0] is None or clause.parts[1] is None:
            continue
        left, sign, right = clause.parts[0], clause.signs[0], clause.parts[1]
        words = formula.words.lower().replace(",", " ").split()
        spoken = with_words - {*LEADING}
        where = sign == "=" and bool(spoken) and spoken <= WHERE
        if spoken and not where:
            continue
        defines = sign in DEFINE or where or (sign == "=" and (formula.display or not _is_condition(words[-3:])))
        if not defines or (sign not in DEFINE and not where and is_problem(right)):
            continue
        name = _defined_name(guesses, left, right, sign, formula.display)
        if name and name not in guesses.names and is_condition(formula, ASSUMPTION) and _was_used(guesses, name):
            continue  # “Suppose that π(x) = 1/N”, of a π that was used before
        if name and (given := gradient(left, right, f"line {formula.line}")) is not None:
            guesses.gradients.append(given)
            continue
        if name and not is_problem(right) and _is_another(guesses, name, left):
            local = guesses.local.setdefault(("section", guesses.section), {})
            local.setdefault(spelled(left), Guess(f"= {spelled(right)}", f"line {formula.line}"))
        elif name and not is_problem(right):
            guesses.record(spelled(left), f"= {spelled(right)}", f"line {formula.line}", name)
            if number == 0:
                guesses.defining[position] = name


def _was_used(guesses: Guesses, name: str) -> bool:
    """Return whether an earlier formula uses a symbol, or a function that shares its name with others."""
    bare = name.partition("(")[0].strip()
    return name in guesses.used or any(
        guesses.function(bare, spelled(node)) == name for node in guesses.used.get(bare, ()) if isinstance(node, Product)
    )


def _is_another(guesses: Guesses, name: str, left: Node) -> bool:
    """Return whether b_j is defined in one section and b is a number that another one declares."""
    known = guesses.lines.get(guesses.names.get(name, ""))
    elsewhere = known is not None and guesses.homes[name] != guesses.section
    indexed = isinstance(left, Scripted) and left.sub is not None and is_index_list(left.sub)
    return indexed and elsewhere and known is not None and known.meaning.split()[0] in ("real", "positive", "nonnegative")


def _is_condition(words: Sequence[str]) -> bool:
    """Whether an equation after these words is a condition; “for the output” names what follows, “for all” does not."""
    return words[-1:] != ["let"] and any(
        word in CONDITIONAL and not (word == "for" and after in ARTICLES)
        for word, after in zip_longest(words, words[1:], fillvalue="")
    )


def _defined_name(guesses: Guesses, left: Node, right: Node, sign: str, display: bool) -> str | None:
    if isinstance(left, Product) and not isinstance(left.factors[-1], Bracket):
        return None  # a b = c defines neither a nor b
    if is_problem(left):
        return None  # the value of a problem is asserted, not chosen
    if isinstance(left, Product) and any(isinstance(each, Fraction | Number | Product | Sum) for each in arguments_of(left)):
        return None  # f(x/2) = … is a property of f
    try:
        shown = pattern(spelled(left))
    except LatexError:
        return None
    name = shown.name
    if any(each in guesses.called or (each in guesses.names and each not in guesses.indices) for each in shown.indices):
        base = left.factors[0] if isinstance(left, Product) else left
        name = spelled(base)
    whole = guesses.lines.get(guesses.names.get(name, ""))
    letters = [each for each in shown.arguments if each.rstrip("'") not in guesses.indices]
    if whole is not None and "(" not in guesses.names[name] and letters and not whole.meaning.startswith(("=", "?")):
        guesses.crowded.setdefault(name, []).append(signature(spelled(left)))  # p_i(t) beside a vector p
    name = guesses.function(name, spelled(left)) if shown.arguments else name
    known = guesses.lines.get(guesses.names.get(name, ""))
    another = _is_another(guesses, name, left)
    seen = known is not None and not another and (name in guesses.displayed or known.meaning.startswith("="))
    standard = operators.DEFAULT.get(name)
    own = standard in DIVERGENCES and (is_modified(left, right) or _is_of_number(guesses, left, right))
    if (
        (standard in STANDARD and not own and not shown.indices and not (standard == "identity" and "\\log" in spelled(right)))
        or (
            standard == "entropy"
            and not own
            and "\\log" in spelled(right)
            and (isinstance(left, Product) or name in guesses.called)
        )
        or name in guesses.indices
        or name in RESERVED
        or name.startswith(("\\nabla", "\\partial"))
        or (is_slope(guesses, name) and not is_another(guesses, name, right))
    ):
        return None
    size = known is not None and known.meaning.startswith("size")
    if (seen and sign not in DEFINE) or size or (known is not None and not display and not another):
        return None
    bare = guesses.lines.get(guesses.names.get(name.rstrip("'"), ""))
    if name.endswith("'") and bare is not None and "(" in guesses.names[name.rstrip("'")]:
        return name if is_another(guesses, name, right) else None  # f'(x) is the derivative of f
    inside = guesses.names_in(right)
    if name in inside or name in guesses.behind(inside) or another_star(name) in guesses.names:
        return None
    if isinstance(right, Number) or name in guesses.sets or name.startswith("\\mathbb"):
        return None
    numbered = isinstance(left, Scripted) and left.sub is not None and not shown.indices and spelled(left.sub).isdigit()
    if numbered and isinstance(left, Scripted) and spelled(left.base) in guesses.indexed | {*guesses.names}:
        return None  # x_1 = … of a vector x
    return name


def _is_of_number(guesses: Guesses, left: Node, right: Node) -> bool:
    """Return whether a number is the argument of a sum, as in H(τ) = −Σ p_i(τ) log p_i(τ)."""
    known = [guesses.lines.get(spelled(each)) for each in arguments_of(left)] if isinstance(left, Product) else []
    summed = any(spelled(node) == "\\sum" for node in walk(right))
    return summed and bool(known) and all(each is not None and NUMBER.fullmatch(each.meaning) for each in known)


def is_slope(guesses: Guesses, name: str) -> bool:
    """Return whether a name is that of the derivative f' of a defined f."""
    bare = name.replace("'", "")
    known = [guesses.names[each] for each in (bare, *guesses.crowded.get(bare, ())) if each in guesses.names]
    return bare != name and any(guesses.lines[symbol].meaning.startswith("=") for symbol in known)
