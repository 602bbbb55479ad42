"""Read the domains of a paper's symbols from its formulas: x ∈ ℝ^n, τ > 0, i = 1, …, m, sums with bounds, finite sets."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from derivations.papers.guesses.descriptions import FULL_SUPPORT, described, is_value, lines_of, value_of
from derivations.papers.guesses.guesses import Guesses, domain_in
from derivations.papers.guesses.masses import read_marginal, read_mass
from derivations.papers.guesses.norms import is_unit, read_norms
from derivations.papers.guesses.premises import CASE, RANGING, is_condition, is_in_front, is_of_sentence, say
from derivations.papers.guesses.sets import DOTS, SIMPLICES, domain_of
from derivations.papers.guesses.signs import COMPARISONS, read_comparison
from derivations.reader.meaning.ranges import printed_ranges
from derivations.reader.meaning.sums import BIG
from derivations.reader.meaning.uses import declared_name, is_index_list, short
from derivations.reader.syntax.names import LETTER, index_parts, parts
from derivations.reader.syntax.tree import Bracket, Chain, Listing, Node, Product, Scripted, Sum, Symbol, spelled, walk
from derivations.reader.tex.paper import Formula

ENTRIES = ("real", "positive", "nonnegative")
DEFINE = (":=", "\\coloneqq", "\\triangleq")
BOUNDED = re.compile(r"(real|positive|nonnegative)( [<>]=? -?\d+)+")
DECLARED_WITH = re.compile(r"\b(for|given)( all| any| every| each| a)? … (with|where|such that|and)$", re.IGNORECASE)
SIGNS = {"<": "<", ">": ">", "<=": "\\le", ">=": "\\ge"}
POSITIVE_ENTRIES = re.compile(
    r"(be |is |are |has |have |with )?(the |entrywise |strictly )*positive "
    r"(features?|vectors?|entries|components|numbers|weights)\b"
)


def read_sets(guesses: Guesses, tree: Node, formula: Formula) -> None:
    """Finite sets: 𝒜 = {1, …, n}, |𝒜| = n, and those over which a sum runs."""
    why = f"line {formula.line}: ${short(formula.latex)}$"
    for node in walk(tree):
        if not isinstance(node, Chain):
            continue
        for left, sign, right in zip(node.parts, node.signs, node.parts[1:], strict=False):
            if left is None or right is None:
                continue
            if sign in ("=", *DEFINE) and _is_set(left) and isinstance(right, Bracket) and right.kind == "{}":
                last = parts(right.inside)[-1]
                of = last.sub if isinstance(last, Scripted) and last.sub is not None else last
                if size := guesses.size(of, why):
                    guesses.sets[spelled(left)] = size
            counted = sign == "=" and isinstance(left, Bracket) and left.kind == "||" and _is_set(left.inside)
            if counted and (size := guesses.size(right, why)):
                assert isinstance(left, Bracket)
                guesses.sets[spelled(left.inside)] = size
    for node in walk(tree):
        if (
            isinstance(node, Scripted)
            and isinstance(node.base, Symbol)
            and node.base.name in BIG
            and isinstance(node.sub, Chain)
        ):
            over = node.sub.parts[1]
            if node.sub.signs == ("\\in",) and over is not None and _is_set(over) and spelled(over) not in guesses.sets:
                guesses.record(spelled(over), "size", "a set over which sums run, for its number of elements")
                guesses.sets[spelled(over)] = spelled(over)


def _is_set(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name.startswith("\\mathcal{")


def read_bounds(guesses: Guesses, tree: Node, formula: Formula) -> None:
    """Sums with bounds, ranges such as i = 1, …, m, and indices of sums without bounds."""
    why = f"line {formula.line}: ${short(formula.latex)}$"
    for node in walk(tree):
        if (
            isinstance(node, Scripted)
            and isinstance(node.base, Symbol)
            and node.base.name in (*BIG, "\\max", "\\min")
            and node.sub
        ):
            if (ranges := printed_ranges(node.sub, node.sup)) is not None:
                if size := guesses.size(ranges.end, why):
                    guesses.runs(ranges.letters, size)
            elif node.base.name in BIG:
                first = node.sub.parts[0] if isinstance(node.sub, Chain) else node.sub
                over = spelled(node.sub.parts[1]) if isinstance(node.sub, Chain) and node.sub.signs == ("\\in",) else ""
                for part in index_parts(first) if first else ():
                    letter = spelled(part).rstrip("'")
                    guesses.indices[letter] = guesses.indices.get(letter) or guesses.sets.get(over, "")
        if isinstance(node, Chain) and node.signs[:1] == ("\\sim",) and isinstance(node.parts[0], Symbol):
            guesses.indices.setdefault(node.parts[0].name, "")
            guesses.laws_of.setdefault(spelled(node.parts[1]), node.parts[0].name)
        if isinstance(node, Listing):
            _range(guesses, node, why)


def _range(guesses: Guesses, node: Listing, why: str) -> None:
    """i = 1, …, m."""
    for first, dots, last in zip(node.parts, node.parts[1:], node.parts[2:], strict=False):
        begins = isinstance(first, Chain) and first.signs[-1:] == ("=",) and spelled(first.parts[-1]) == "1"
        if begins and spelled(dots) in DOTS and (size := guesses.size(last, why)):
            assert isinstance(first, Chain)
            letter = first.parts[-2]
            while isinstance(letter, Product | Sum):
                letter = letter.factors[-1] if isinstance(letter, Product) else letter.terms[-1][1]
            letters = [spelled(letter)]
            for other in reversed(node.parts[: node.parts.index(first)]):  # i, j = 1, …, m
                if not (isinstance(other, Symbol) and LETTER.fullmatch(other.name)):
                    break
                letters.append(other.name)
            guesses.runs((each for each in letters if each not in guesses.indices), size)


def read_domains(guesses: Guesses, tree: Node, formula: Formula) -> None:  # noqa: C901
    """Membership in sets, signs, and vectors that are written out."""
    why = f"line {formula.line}: ${short(formula.latex)}$"
    positive = any(words in f"{formula.words[-30:]} {formula.after[:40]}" for words in FULL_SUPPORT)
    before: list[Node] = []
    clauses = tree.parts if isinstance(tree, Listing) else (tree,)
    if isinstance(tree, Listing) and _enumerated(clauses[:-1], clauses[-1]) == 0:
        _family(guesses, clauses[-1], "real", why)
    if not formula.display:
        described(guesses, tree, formula, why)
        lines_of(guesses, tree, formula, why)
    for clause in clauses:
        if not isinstance(clause, Chain):
            before.append(clause)
            continue
        left, sign, right = clause.parts[0], clause.signs[0], clause.parts[1]
        if sign == "\\in" and right is not None:
            meaning = domain_of(guesses, right, why)
            said = POSITIVE_ENTRIES.match(formula.after) or POSITIVE_ENTRIES.match(formula.rest.removeprefix("and … "))
            if meaning and (positive or said):
                meaning = meaning.replace("simplex", "interior")
            if meaning and meaning.startswith(("vector", "matrix")) and said:
                meaning = f"positive {meaning}"
            symbols = [*before, left]
            if meaning and meaning.startswith("vector") and is_unit(formula):
                if is_of_sentence(formula):
                    say(guesses, formula, [rf"\|{spelled(symbol)}\| = 1" for symbol in symbols])
                else:
                    meaning = f"unit {meaning}"
            while meaning and symbols and (first := _enumerated(symbols[:-1], symbols[-1])) is not None:
                _family(guesses, symbols[-1], meaning, why)
                del symbols[first:]
            if meaning is None and spelled(right) in SIMPLICES:  # whose dimension the indices tell
                guesses.distributions |= {spelled(symbol) for symbol in symbols}
                continue
            if meaning and _are_labelled(guesses, symbols):
                for symbol in symbols:
                    guesses.record(spelled(symbol), meaning, why, name=spelled(symbol))
                guesses.labels |= {spelled(symbol.sub) for symbol in symbols if isinstance(symbol, Scripted)}
                continue
            for symbol in symbols:
                _declare(guesses, symbol, meaning or "?", why)
        elif set(clause.signs) <= {*COMPARISONS} and not (formula.display and clause is tree):
            assumed = _is_assumed(guesses, formula, clause)
            if assumed and is_in_front(formula):
                guesses.restrictions.append((formula.line, spelled(clause)))
            elif not assumed and _are_nonzero(guesses, [*before, left], clause, why):
                guesses.read.add(formula.latex)
            elif not assumed and read_comparison(guesses, before, clause, why):
                guesses.read.add(formula.latex)  # I ≥ 0 on its own line is asserted
        elif not formula.display and not is_condition(formula, CASE) and _settles(guesses, clause, why):
            guesses.read.add(formula.latex)
        elif sign == "=" and (inside := _listed(right)) is not None:
            _tuple(guesses, left, inside, why, clause.parts[2] if clause.signs[1:2] == ("\\in",) else None)
        if clause.signs == ("=",) and not formula.display:
            read_marginal(guesses, left, right, formula.latex, assumed=is_condition(formula, CASE))
        before = []
    for node in walk(tree):
        if isinstance(node, Chain) and _builds_set(node):
            continue
        if (isinstance(node, Chain) and "\\in" in node.signs and node not in clauses) or (
            isinstance(node, Chain) and "\\in" in node.signs[1:]
        ):
            _member(guesses, node, why)
        elif isinstance(node, Chain) and node.signs == (":", "\\to") and isinstance(node.parts[0], Symbol):
            _function(guesses, node, why)


def _are_labelled(guesses: Guesses, symbols: Sequence[Node | None]) -> bool:
    """Return whether symbols of one letter, r_w and r_l, have labels, which are no indices anywhere in the paper."""
    subs = [symbol.sub for symbol in symbols if isinstance(symbol, Scripted) and symbol.sup is None]
    bases = {spelled(symbol.base) for symbol in symbols if isinstance(symbol, Scripted)}
    labels = {spelled(sub) for sub in subs}
    alone = len(bases) == 1 and len(labels) == len(symbols) > 1 and not bases & {*guesses.names}
    return alone and all(LETTER.fullmatch(label) and label not in guesses.indices for label in labels)


def _is_assumed(guesses: Guesses, formula: Formula, clause: Chain) -> bool:
    """Return whether a comparison is a case, “If c_i ≤ 1”, of something declared elsewhere, which it does not restrict.

    A case “for α > 1” may go on in the next sentences, so counterexamples outside of it refute nothing.
    """
    known = {*guesses.names}
    names = {declared_name(part) for part in clause.parts if isinstance(part, Symbol | Scripted)}
    if _are_declared_here(guesses, names, formula):
        return False
    entries = {f"\\mathbf{{{name}}}" for name in names - known}  # “for p_j > 0”, of a vector that is printed bold
    used_before = names & known & guesses.displayed  # “for n ≥ 2”, of an n that equations have
    in_front = is_in_front(formula) and bool(entries & known or used_before)
    if not names & known:
        return in_front
    if ranging := is_condition(formula, RANGING) or bool(RANGING.fullmatch(formula.words.rpartition("…")[2].strip(" ,"))):
        guesses.restrictions.append((formula.line, spelled(clause)))
    return ranging or in_front or is_condition(formula, CASE)


def _are_declared_here(guesses: Guesses, names: set[str], formula: Formula) -> bool:
    """Return whether a sentence declares the symbols of a comparison for a definition: “For $x \\in ℝ^d$ with $x ≠ 0$ let …”.

    Where it goes on with “we have”, the comparison holds in this sentence only.
    """
    sources = {guesses.lines[guesses.names[name]].why.partition(":")[0] for name in names & {*guesses.names}}
    here = {f"line {line}" for line in (formula.line - 1, formula.line)}
    declared = DECLARED_WITH.search(formula.words) and not is_of_sentence(formula)
    return bool(declared and sources) and sources <= here and not names & guesses.displayed


def _are_nonzero(guesses: Guesses, symbols: Sequence[Node | None], clause: Chain, why: str) -> bool:
    """Read q, k ≠ 0 of vectors, and return whether it is that."""
    return all(read_norms(guesses, Chain((symbol, *clause.parts[1:]), clause.signs), why) for symbol in symbols)


def _settles(guesses: Guesses, clause: Chain, why: str) -> bool:
    """Read an equation of the text as masses or lengths of what is declared, and return whether it is one."""
    if read_norms(guesses, clause, why):
        return True
    if {*clause.signs} != {"="} or spelled(clause.parts[-1]) != "1":
        return False
    masses = [read_mass(guesses, side, why) for side in clause.parts[:-1]]  # Σ_i a_i = Σ_j b_j = 1
    return all(masses)


def _enumerated(before: Sequence[Node | None], last: Node | None) -> int | None:
    """Return the position of k_1 in a list q, k_1, …, k_N, or None for another list."""
    if len(before) < 2 or spelled(before[-1]) not in DOTS or not isinstance(last, Scripted):
        return None
    same = [isinstance(each, Scripted) and each.base == last.base for each in before[:-1]]
    return same.index(True) if same[-1] and all(same[same.index(True) :]) else None


def _family(guesses: Guesses, last: Node | None, meaning: str, why: str) -> None:
    """k_1, …, k_N ∈ ℝ^d are the rows of a matrix, x_1, …, x_N ∈ ℝ the entries of a vector."""
    assert isinstance(last, Scripted)
    if meaning == "real" and spelled(last.base).startswith("\\mathbf") and "\\in" not in why:
        return  # a list of vectors without further information
    size = guesses.size(last.sub, why) if last.sub is not None else None
    if size:
        guesses.share(spelled(last.base))
    own = domain_in(meaning)
    if size and own is not None and own.kind.adjective and len(own.shape) < 2:
        guesses.record_explicit(spelled(last.base), str(replace(own, shape=(size, *own.shape))), why)


def _builds_set(node: Chain) -> bool:
    """Return whether a chain is x ∈ X : …, the description of a set, in which x is bound."""
    return ":" in node.signs[1:] and node.signs[0] == "\\in"


def _member(guesses: Guesses, node: Chain, why: str) -> None:
    """x ∈ X somewhere in a formula: below a sum or a minimum, or at the end, for every x ∈ X."""
    position = node.signs.index("\\in")
    left, right = node.parts[position], node.parts[position + 1]
    while isinstance(left, Product | Sum):
        left = left.factors[-1] if isinstance(left, Product) else left.terms[-1][1]
    meaning = domain_of(guesses, right, why) if right is not None else None
    if meaning:
        _declare(guesses, left, meaning, why)


def _function(guesses: Guesses, node: Chain, why: str) -> None:
    """r : 𝒜 → ℝ, a number for each element of a finite set."""
    name, domain, target = node.parts
    if (
        name is not None
        and target is not None
        and spelled(domain) in guesses.sets
        and spelled(target).startswith("\\mathbb{R}")
    ):
        guesses.record(spelled(name), f"vector {guesses.sets[spelled(domain)]}", why)


def _declare(guesses: Guesses, symbol: Node | None, meaning: str, why: str) -> None:
    if symbol is not None and is_value(guesses, symbol) and meaning in ("real", "positive", "nonnegative"):
        value_of(guesses, symbol, meaning, why)
    if not isinstance(symbol, Symbol | Scripted):
        return
    text = spelled(symbol)
    if isinstance(symbol, Scripted) and symbol.sub is not None and is_index_list(symbol.sub) and BOUNDED.fullmatch(meaning):
        kind, *bounds = meaning.split()  # f_j ∈ [0, 1]
        line = int(why.split()[1].rstrip(":"))
        guesses.restrictions += [(line, f"{text} {SIGNS[sign]} {end}") for sign, end in pairwise(bounds) if sign in SIGNS]
        meaning = kind
    if meaning.startswith("index "):
        guesses.indices[text] = meaning.split()[1]
    elif (
        isinstance(symbol, Scripted) and symbol.sub is not None and is_index_list(symbol.sub) and meaning.startswith("vector ")
    ):
        name = spelled(Scripted(symbol.base, None, symbol.sup, symbol.primes) if symbol.sup or symbol.primes else symbol.base)
        sizes = [guesses.indices.get(spelled(part), "") for part in index_parts(symbol.sub)]
        if len(sizes) == 1 and sizes[0]:
            guesses.record(name, f"matrix {sizes[0]} {meaning.split()[1]}", why)
    elif isinstance(symbol, Scripted) and symbol.sub is not None and is_index_list(symbol.sub) and meaning in ENTRIES:
        name = spelled(Scripted(symbol.base, None, symbol.sup, symbol.primes) if symbol.sup or symbol.primes else symbol.base)
        sizes = [guesses.indices.get(spelled(part), "") for part in index_parts(symbol.sub)]
        shape = {1: "vector", 2: "matrix"}.get(len(sizes))
        kind = "" if meaning == "real" else f"{meaning} "
        known = all(sizes) and shape
        guesses.record(name if known else text, f"{kind}{shape} {' '.join(sizes)}" if known else meaning, why, name)
    else:
        guesses.record_explicit(text, meaning, why)


IN_SIMPLEX = re.compile(r"… (in|on) the( probability| unit)? simplex$")


def read_simplex(guesses: Guesses, before: Node, tree: Node, formula: Formula) -> None:
    """Read “$p$ in the simplex $\\Delta^{n-1}$”, where `before` is the formula before the words."""
    why = f"line {formula.line}: ${short(formula.latex)}$, after “simplex”"
    if IN_SIMPLEX.search(formula.words) and (meaning := domain_of(guesses, tree, why)):
        _declare(guesses, before, meaning, why)


def _listed(node: Node | None) -> Listing | None:
    """Return the entries of (s_1, …, s_m), [x_1, …, x_N] or (x_1, …, x_N)^⊤."""
    bracket = node.base if isinstance(node, Scripted) else node
    inside = bracket.inside if isinstance(bracket, Bracket) else None
    return inside if isinstance(inside, Listing) else None


def _tuple(guesses: Guesses, left: Node | None, inside: Listing, why: str, within: Node | None) -> None:
    """Read s = (s_1, …, s_m), and X = (x_1, …, x_N) ∈ ℝ^{d×N} with columns x_i (rows if N comes first)."""
    last = inside.parts[-1]
    dotted = any(spelled(part) in DOTS for part in inside.parts)
    if not (isinstance(left, Symbol) and dotted and isinstance(last, Scripted) and last.sub is not None):
        return
    size = guesses.size(last.sub, why)
    meaning = domain_of(guesses, within, why) if within is not None else None
    words = (meaning or "").split()
    if size and meaning and words[-3:-2] == ["matrix"] and words[-2] != words[-1] and size in words[-2:]:
        guesses.record(left.name, meaning, why)
        guesses.record(spelled(last.base), f"{'rows' if words[-2] == size else 'columns'} of {left.name}", why)
    elif size and not meaning:
        guesses.record(left.name, f"vector {size}", why)
    elif meaning:
        guesses.record(left.name, meaning, why)
