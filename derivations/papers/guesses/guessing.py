"""Guess a first notation of a paper from its formulas: domains, ranges, definitions; open questions are marked “?”.

Each guess records its source.  No guess is trusted: the author sees all of them in `notation.py` and can correct them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from derivations.papers.guesses.definitions import is_slope, read_definition
from derivations.papers.guesses.descriptions import lines_before, settle_bold, settle_lines
from derivations.papers.guesses.domains import read_bounds, read_domains, read_sets, read_simplex
from derivations.papers.guesses.functions import divergences, guess_function, guess_functions, several_functions
from derivations.papers.guesses.guesses import Guess, Guesses
from derivations.papers.guesses.indices import fix_indices, range_indices, rebind_indices
from derivations.papers.guesses.losses import settle_losses
from derivations.papers.guesses.masses import settle_masses
from derivations.papers.guesses.premises import drop_powers, is_restriction, read_premises, read_updates, unread
from derivations.papers.guesses.properties import read_properties, read_words
from derivations.papers.guesses.redeclarations import read_narrowings, read_redeclarations, read_redefinitions
from derivations.papers.guesses.shapes import read_shapes
from derivations.papers.guesses.stances import denial, read_stances
from derivations.reader.meaning import operators
from derivations.reader.meaning.derivatives import PARTIAL, STARTING
from derivations.reader.meaning.uses import RESERVED, declared_name, is_index_list, uses
from derivations.reader.syntax.names import LETTER, index_parts, parts, pattern, thin
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import (
    EMPTY,
    Bracket,
    Fraction,
    LatexError,
    Node,
    Number,
    Operator,
    Product,
    Root,
    Scripted,
    Sum,
    Symbol,
    spelled,
    walk,
)
from derivations.reader.tex.paper import Formula, Paper

PLAIN = Symbol | Scripted | Product | Sum | Number | Operator | Fraction | Root
REMAINDERS = ("O", "o")
POSITIVE = ("\\tau", "\\beta", "\\varepsilon", "\\epsilon", "\\sigma", "\\gamma", "\\eta", "T", "\\kappa", "\\rho")
DISTRIBUTIONS = ("p", "q", "\\pi", "w", "r", "\\rho", "\\mu", "\\nu")


def guess(paper: Paper) -> Guesses:
    """Guess the meanings of all symbols of a paper."""
    guesses = Guesses()
    trees: list[tuple[int, Formula, Node]] = []
    for position, formula in enumerate(paper.formulas):
        try:
            trees.append((position, formula, parse(formula.latex)))
        except LatexError:
            continue
    for _, formula, tree in trees:
        guesses.section = formula.section
        read_sets(guesses, tree, formula)
    for _, formula, tree in trees:
        guesses.section = formula.section
        read_bounds(guesses, tree, formula)
    guesses.called = {name for _, _, tree in trees for name, node in uses(tree) if isinstance(node, Product)}
    guesses.indexed = {
        spelled(node.base)
        for _, _, tree in trees
        for node in walk(tree)
        if isinstance(node, Scripted) and node.sub is not None and is_index_list(node.sub)
    }
    before: Node = EMPTY
    guesses.diverging = divergences([tree for _, _, tree in trees])
    guesses.crowded = several_functions([tree for _, _, tree in trees])
    history: list[dict[str, str]] = []  # the domains read so far, after each formula
    for position, formula, tree in trees:
        guesses.section, guesses.position = formula.section, position if formula.display else None
        read_simplex(guesses, before, tree, formula)
        read_properties(guesses, tree, formula)
        read_domains(guesses, tree, formula)
        lines_before(guesses, before, tree, formula, f"line {formula.line}")
        before = tree
        if not (formula.display and denial(formula)):
            read_definition(guesses, position, tree, formula)
        _use(guesses, tree, formula)
        history.append({name: guesses.lines[symbol].meaning for name, symbol in guesses.names.items()})
    drop_powers(guesses)
    range_indices(guesses)
    fix_indices(guesses, [tree for _, _, tree in trees])
    for _ in range(2):  # a reading may wait for another one
        waiting, guesses.later = guesses.later, []
        for section, reading in waiting:
            guesses.section = section
            reading()
    settle_masses(guesses)
    settle_lines(guesses)
    settle_bold(guesses)
    settle_losses(guesses, trees)
    read_shapes(guesses, [tree for _, _, tree in trees])
    for name, nodes in guesses.used.items():
        _rest(guesses, name, nodes)
    _stochastic(guesses)
    rebind_indices(guesses, [(position, tree) for position, formula, tree in trees if formula.display])
    read_premises(guesses, trees)
    read_words(guesses, trees)
    read_updates(guesses, trees)
    read_redeclarations(guesses, trees, history)
    read_narrowings(guesses, trees, history)
    read_redefinitions(guesses, trees)
    read_stances(guesses, trees)
    for position, formula, tree in trees:
        _off_simplex(guesses, position, tree, formula)
    for formula in unread(guesses, trees):
        (guesses.restrictions if is_restriction(formula) else guesses.unread).append((formula.line, formula.latex))
    guesses.restrictions = list(dict.fromkeys(guesses.restrictions))
    return guesses


def _off_simplex(guesses: Guesses, position: int, tree: Node, formula: Formula) -> None:
    """Let the entries of a distribution be any positive numbers in formulas that differentiate by them."""
    for name in _differentiated(tree):
        known = guesses.lines.get(guesses.names.get(name, ""))
        words = known.meaning.split() if known is not None else []
        if formula.display and words[:1] in (["simplex"], ["interior"]):
            local = guesses.local.setdefault(("formula", position), {})
            shape = f"vector {words[1]}" if len(words) == 2 else f"matrix {words[1]} {words[2]}"
            local.setdefault(name, Guess(f"positive {shape}", "differentiated by its entries, off the simplex"))
        elif formula.display and words[:1] == ["nonnegative"] and len(words) > 1:
            local = guesses.local.setdefault(("formula", position), {})
            local.setdefault(name, Guess(f"positive {' '.join(words[1:])}", "differentiated by its entries"))
        elif formula.display and words[:1] == ["="] and (domain := _free(guesses, name, tree)):
            local = guesses.local.setdefault(("formula", position), {})
            local.setdefault(name, Guess(domain, "differentiated by, whatever defines it"))


def _free(guesses: Guesses, name: str, tree: Node) -> str | None:
    """Return a domain of real numbers for a symbol defined by sums and products that the formula does not use otherwise."""
    shown, body = pattern(guesses.names[name]), parse(guesses.lines[guesses.names[name]].meaning[1:])
    letters = shown.indices or next((own for used, node in uses(tree) if used == name and (own := _letters(node))), ())
    sizes = [_axis(guesses, each, body) or guesses.range_of(each) for each in letters]
    ranges = {
        part
        for node in walk(body)
        if isinstance(node, Scripted) and spelled(node.base) == "\\sum"
        for part in walk(node.sub or EMPTY)
    }
    plain = all(isinstance(node, PLAIN) for node in walk(body) if node not in ranges)
    below = {spelled(node) for node in walk(body)}
    if shown.arguments or not all(sizes) or len(sizes) > 2 or not plain or below & ({*STARTING, "e"} - {"\\sum"}):
        return None
    if "\\sum" in below and any(_is_signed(guesses, symbol) for symbol, _ in uses(body)):
        return None  # such a sum is no free real number
    others = guesses.behind({symbol for symbol, _ in uses(tree)} - {name}, but=name)
    if (others & {symbol for symbol, _ in uses(body)}) - {*guesses.indices, *letters}:
        return None
    return ["real", f"vector {' '.join(sizes)}", f"matrix {' '.join(sizes)}"][len(sizes)]


def _letters(node: Node) -> tuple[str, ...]:
    """Return the indices of an entry, i of z_i, also where z = … defines the whole vector."""
    if not isinstance(node, Scripted) or node.sub is None or not is_index_list(node.sub):
        return ()
    return tuple(spelled(part) for part in index_parts(node.sub))


def _axis(guesses: Guesses, letter: str, body: Node) -> str:
    """Return the size of the axis that a letter indexes in a definition, empty if no declared vector or matrix tells."""
    for node in walk(body):
        if isinstance(node, Scripted) and node.sub is not None and (line := guesses.lines.get(spelled(node.base))) is not None:
            letters, words = [spelled(part) for part in index_parts(node.sub)], line.meaning.split()
            if letter in letters and words[0] in ("vector", "matrix") and len(words) == len(letters) + 1:
                return words[1 + letters.index(letter)]
    return ""


def _is_signed(guesses: Guesses, name: str) -> bool:
    """Return whether a symbol of a definition has other values than all real numbers, sizes and indices excepted."""
    line = guesses.lines.get(guesses.names.get(name, ""))
    return line is not None and line.meaning.split()[0] not in ("real", "vector", "matrix", "size", "index")


def _differentiated(tree: Node) -> Iterator[str]:
    """The names by which a formula differentiates, x of ∂f/∂x_i, of ∇_x f and of f'(x)."""
    for node in walk(tree):
        for one, call in pairwise(node.factors) if isinstance(node, Product) else ():
            if isinstance(one, Scripted) and one.primes and isinstance(call, Bracket) and isinstance(call.inside, Symbol):
                yield call.inside.name
        if isinstance(node, Fraction) and isinstance(node.under, Product) and spelled(node.under.factors[0]) in PARTIAL:
            yield from map(declared_name, node.under.factors)
        elif isinstance(node, Scripted) and spelled(node.base) in ("\\nabla", "\\partial") and node.sub is not None:
            yield declared_name(node.sub)


def _use(guesses: Guesses, tree: Node, formula: Formula) -> None:
    for name, node in uses(tree):
        guesses.used.setdefault(name, []).append(node)
        guesses.first_section.setdefault(name, guesses.section)
        if formula.display:
            guesses.displayed.add(name)


def _stochastic(guesses: Guesses) -> None:
    """Give the rows of matrices that the paper calls stochastic the mass 1; other masses than those of rows are a question."""
    for name, masses in guesses.stochastic.items():
        line = guesses.lines.get(name)
        words = line.meaning.split() if line is not None else []
        if line is not None and words[-3:-2] == ["matrix"]:
            line.meaning = f"stochastic {' '.join(words[-2:])}" if masses == "row-" else "?"
            line.why += f", after “{masses}stochastic”"


def _rest(guesses: Guesses, name: str, nodes: Sequence[Node]) -> None:  # noqa: C901
    """Guess an undeclared symbol from how it is written; leave a question if that does not help."""
    if (
        name in guesses.names
        or name in guesses.sets
        or name in operators.DEFAULT
        or name in RESERVED
        or name in PARTIAL[1:]
        or name == "e"
    ):
        return
    if name.startswith(("\\mathbb", "\\mathrm{new}", "\\mathrm{old}")):
        return
    if name in guesses.labels or all(_is_labelled(guesses, node) for node in nodes):
        return
    if name in guesses.diverging:
        guesses.record(name, "KL", "D(q‖p) without a definition")
        return
    if (drawn := guesses.range_of(guesses.laws_of.get(name, ""))) and all(isinstance(node, Symbol) for node in nodes):
        guesses.record(name, f"simplex {drawn}", f"the law of {guesses.laws_of[name]}")
        return
    if name in REMAINDERS and name in guesses.called:
        return
    if name == "\\pi" and not any(isinstance(node, Scripted | Product) for node in nodes):
        return
    if any(isinstance(node, Scripted) and _is_end(guesses, node) for node in nodes):
        return
    if name in guesses.crowded:
        guess_functions(guesses, name, nodes)
        return
    bare = name.rstrip("'")
    if is_slope(guesses, name) or f"\\mathbf{{{name}}}" in guesses.names:
        return
    if bare != name and bare in guesses.names and guesses.lines[guesses.names[bare]].meaning.startswith("index"):
        return
    if thin(name) != name and guesses.names.get(thin(name), "").startswith(f"{thin(name)}_"):
        guesses.record(name, f"= {thin(name)}", "the vector of these entries")
        return
    calls = [node for node in nodes if isinstance(node, Product)]
    if calls:
        bracket = calls[0].factors[1]
        assert isinstance(bracket, Bracket)
        if any(spelled(part) in guesses.indices for part in parts(bracket.inside)):
            guess_function(guesses, name, calls[0])
            return
    indexed = [node for node in nodes if isinstance(node, Scripted) and node.sub is not None and is_index_list(node.sub)]
    if name == "\\mathbf{e}" and len(indexed) == len(nodes) and len({each.sub for each in indexed}) == 1:
        y = spelled(indexed[0].sub)
        guesses.record(f"{name}_{{{y}}}", f"= [\\delta_{{{y}' {y}}}]_{{{y}'}}", "basis vectors")
        return
    if indexed:
        first = indexed[0]
        assert isinstance(first, Scripted)
        assert first.sub is not None
        letters = [spelled(part).rstrip("'") for part in index_parts(first.sub)]
        section = guesses.first_section[name]
        shape = [guesses.ranges.get((section, letter)) or guesses.range_of(letter) for letter in letters]
        if all(shape) and len(shape) <= 2:
            kind = "vector" if len(shape) == 1 else "matrix"
            like = guesses.lines[guesses.names[bare]].meaning if bare != name and bare in guesses.names else ""
            if like.split()[1:] == shape and like.split()[0] in ("simplex", "interior"):
                guesses.record(name, like, f"as {bare}")
                return
            if name in guesses.distributions and len(shape) == 1:
                kind = "interior" if name in guesses.interior else "simplex"
                guesses.record(name, f"{kind} {shape[0]}", "called a distribution, or a point of the simplex")
                return
            question = f"interior {shape[0]}?" if name in DISTRIBUTIONS and len(shape) == 1 else ""
            guesses.record(name, "?" if question else f"{kind} {' '.join(shape)}", question or "its indices")
            return
    if (size := _shared_range(guesses, name)) is not None:
        guesses.record(name, f"index {size}", "an argument where another index stands, too")
    elif guesses.is_argument(name):
        guesses.record(name, "real", "the argument of a definition")
    elif name in POSITIVE and name not in guesses.called:
        guesses.record(name, "positive", "a letter that usually stands for positive numbers")
    else:
        guesses.record(name, "?", "not declared: real? positive? vector? = a definition?")


def _is_labelled(guesses: Guesses, node: Node) -> bool:
    """Return whether a node is declared with its subscript, r_w, or is its transpose."""
    return isinstance(node, Scripted) and spelled(replace(node, sup=None)) in guesses.names


def _shared_range(guesses: Guesses, name: str) -> str | None:
    """Return the size of the index that replaces a letter elsewhere: of y for w if both r(y) and r(w) occur."""
    if not LETTER.fullmatch(name):
        return None
    for function, nodes in guesses.used.items():
        if function in guesses.crowded:
            continue
        calls = [node.factors[1] for node in nodes if isinstance(node, Product)]
        lists = [parts(call.inside) for call in calls if isinstance(call, Bracket)]
        for mine in lists:
            positions = [at for at, part in enumerate(mine) if spelled(part) == name]
            others = [spelled(each[at]) for at in positions for each in lists if len(each) == len(mine)]
            sizes = {guesses.indices[other] for other in others if guesses.indices.get(other)}
            if len(sizes) == 1:
                return sizes.pop()
    return None


def _is_end(guesses: Guesses, node: Scripted) -> bool:
    """Return whether a symbol is the first or last of a declared family: x_1, x_N."""
    end = spelled(node.sub)
    size = guesses.lines.get(end)
    base = spelled(node.base)
    declared = base in guesses.names or f"\\mathbf{{{base}}}" in guesses.names
    return declared and (end.isdigit() or (size is not None and size.meaning.startswith("size")))
