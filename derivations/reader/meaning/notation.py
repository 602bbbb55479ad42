"""The meaning of each symbol of a paper: a table with one line per symbol, spelled as in the paper.

    Notation({
        "m": "size",
        "j, k, l": "index m",
        r"\\tau": "positive",
        "s": "vector m",
        "q": "simplex m",
        "p_j": r"= e^{s_j/\\tau} / \\sum_l e^{s_l/\\tau}",
        r"\\phi(s)": r"= \\tau\\log\\sum_l e^{s_l/\\tau}",
        r"\\mathcal K": "KL",
    })

A line that begins with = is a definition, whose left side names its indices and arguments.  `local` holds meanings valid in one
module or one equation only, by the name of the module or the id of the equation:

    Notation({"x": "vector n"}, local={"section3": {"x": "simplex n"}, "mine.12": {"x": "positive vector n"}})

A local line "not asserted" or "qualified" has the words of the text about its equation, see `stances`.

`restrictions` are conditions that the text sets and no line expresses, such as Σ_i c_i = 0: a point that violates one refutes
nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from derivations.calculus import variables
from derivations.calculus.variables import Variable
from derivations.domains import DOMAINS, Domain, Interior
from derivations.domains.written import Written, written
from derivations.reader.meaning.values import SYMMETRIC, Value, scalar, symmetric, transposed
from derivations.reader.syntax.names import Pattern, called, index_parts, pattern, plain, signature, split, styled, thin
from derivations.reader.syntax.overloads import crowded, indices_of, is_label, key, matching
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Bracket, LatexError, Node, Number, Product, Scripted, Sum, spelled
from derivations.relations import AtLeast, Differs

OPERATORS = (
    "softmax",
    "logistic",
    "KL",
    "entropy",
    "expectation",
    "variance",
    "covariance",
    "diag",
    "trace",
    "logsumexp",
    "ones",
    "zeros",
    "identity",
    "delta",
    "transpose",
    "tanh",
    "sum of squares",
)

DENIED, QUALIFIED = STANCES = ("not asserted", "qualified")  # lines of local meanings with the text's words about an equation
SCALARS = {domain.name: domain for domain in DOMAINS if domain.is_independent}
LAWS = {**{domain.name: domain for domain in DOMAINS if domain.noun and domain.below_one}, "distribution": Interior}
ACCEPTED = (
    "size, [fixed] index M, real, positive, nonnegative (with bounds, size >= 2, size = 2, positive < 1, real != 1), "
    "[positive|nonnegative|nonzero|random|unit] vector M, [positive|nonnegative|nonzero|random|unit] matrix N M, "
    "[symmetric|semidefinite|definite] matrix N N, rows of M, columns of M, "
    "simplex [N] M, interior [N] M, stochastic N M, coupling A B, complement of p, normal m (of a density u(a)), fixed, "
    "= definition, or an operator: " + ", ".join(OPERATORS)
)


@dataclass(frozen=True)
class Definition:
    """A symbol that stands for a formula in its indices and arguments."""

    pattern: Pattern
    body: Node


@dataclass(frozen=True)
class Named:
    """A function of indices written with parentheses, q(z): its axes are the indices among its arguments."""

    arguments: tuple[str, ...]
    value: Value
    axes: tuple[str, ...]


Meaning = Value | Definition | Named | str  # a string names an operator


def meanings(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lines of a local table that are about symbols."""
    return {symbol: meaning for symbol, meaning in table.items() if symbol not in STANCES}


@dataclass
class Notation:
    """The meaning of each symbol; an unreadable line raises an error when its symbol is used, see `broken`."""

    declarations: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)  # names of variables that differ from the printed ones
    local: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # other meanings, by module and by equation
    restrictions: Sequence[tuple[int, str]] = ()  # by line, conditions of the text that no meaning comes from
    meanings: dict[str, Meaning] = field(default_factory=dict, init=False)
    sizes: dict[str, sp.Expr] = field(default_factory=dict, init=False)
    indices: dict[str, Variable] = field(default_factory=dict, init=False)
    points: dict[str, str] = field(default_factory=dict, init=False)  # name of a point → the matrix whose rows are the points
    laws: dict[str, Node] = field(default_factory=dict, init=False)  # normal laws, with the mean of each
    crowded: set[str] = field(default_factory=set, init=False)  # names with several meanings
    functions: dict[str, Named | Definition] = field(default_factory=dict, init=False)  # of these names, by signature
    broken: dict[str, str] = field(default_factory=dict, init=False)
    labels: set[str] = field(default_factory=set, init=False)  # names that are declared as fixed
    fixed: set[str] = field(default_factory=set, init=False)  # indices that are the same everywhere
    bounds: list[AtLeast | Differs] = field(default_factory=list, init=False)  # bounds of numbers beyond their kind
    taken: dict[str, str] = field(default_factory=dict, init=False)  # name of a variable → the symbol that it stands for

    def __post_init__(self) -> None:
        self.crowded = crowded(self.declarations)
        waiting: list[tuple[str, str]] = []
        for symbols, meaning in self.declarations.items():
            for symbol in split(symbols):
                if isinstance(meaning, str):
                    waiting.append((symbol, meaning.strip()))
                else:
                    self.adopt(symbol, meaning)
        order = {"size": 0, "index": 1, "fixed": 1, "rows": 3, "columns": 3, "coupling": 3, "complement": 3, "normal": 4}

        def rank(line: tuple[str, str]) -> tuple[int, bool]:
            return 4 if line[1][0] == "=" else order.get(line[1].split()[0], 2), styled(line[0]) != plain(line[0])

        for symbol, meaning in sorted(waiting, key=rank):
            try:
                self.declare(symbol, meaning)
            except ValueError as error:
                self.broken[key(symbol, self.crowded)] = f"{symbol}: {error}"

    def within(self, *scopes: str) -> "Notation":
        """Return the notation with its local meanings in these scopes; later scopes take precedence."""
        own = [meanings(self.local[scope]) for scope in scopes if scope in self.local]
        if not any(own):
            return self
        lines: dict[str, tuple[str, Any]] = {}
        names = self.crowded | {name for table in own for name in crowded(table)}
        indices = indices_of(self.declarations, *own)
        for table in (self.declarations, *own):
            for symbols, meaning in table.items():
                for symbol in split(symbols):
                    whole = not str(meaning).startswith("=") and is_label(symbol, indices)  # d_v is another size than d
                    name = spelled(parse(symbol)) if whole else key(symbol, names)
                    lines.pop(name, None)
                    lines[name] = symbol, meaning
        return Notation(dict(lines.values()), self.names, restrictions=self.restrictions)

    # ── declarations ────────────────────────────────────────────────────────────────────────────────────────────────

    def adopt(self, symbol: str, meaning: Any) -> None:
        """Give a symbol the meaning of a variable, an expression, or a function of indices that exist already."""
        name = pattern(symbol).name if "(" in symbol else spelled(parse(symbol))
        if isinstance(meaning, Variable | sp.IndexedBase):
            self.taken.setdefault(str(meaning), name)
        if isinstance(meaning, Variable) and meaning.domain.is_size:
            self.sizes[name] = meaning
            self.meanings[name] = scalar(meaning)
        elif isinstance(meaning, Variable) and meaning.domain.is_index:
            self.indices[name] = meaning
        elif isinstance(meaning, sp.IndexedBase):
            self.meanings[name] = Value(tuple(meaning.shape), lambda *indices: meaning[indices])
        elif isinstance(meaning, Value | Definition | Named):
            self.meanings[name] = meaning
        else:
            self.meanings[name] = scalar(meaning)

    def declare(self, symbol: str, meaning: str) -> None:  # noqa: C901
        """Add one line of the table."""
        shown = pattern(symbol) if meaning.startswith("=") or "(" in symbol else Pattern(spelled(parse(symbol)))
        if meaning.startswith("="):
            shown = self._whole(symbol, shown)
        overloaded = bool(shown.arguments) and shown.name in self.crowded
        if not overloaded:
            self._refuse_second(shown.name)
        if meaning == "?":
            raise LatexError("the notation leaves its meaning open (?); fill it in")
        if overloaded:
            self.functions[signature(symbol)] = (
                Definition(shown, parse(meaning[1:])) if meaning.startswith("=") else self._named(shown, meaning, symbol)
            )
            return
        if meaning.startswith("="):
            axes = shown.arguments and all(argument in self.indices for argument in shown.arguments)
            own = Pattern(shown.name, (*shown.indices, *shown.arguments)) if axes else shown
            own = self._parametrized(symbol, own)
            if own.indices and all(each in self.meanings for each in own.indices):
                own = Pattern(own.name, (), own.arguments, own.indices)
            if own.subscripts and not own.arguments and self._is_labelled(symbol):
                own = Pattern(spelled(parse(symbol)))
            self._refuse_second(own.name)
            self.meanings[own.name] = Definition(own, parse(meaning[1:]))
        elif meaning.startswith("normal "):
            self._law(shown, meaning.removeprefix("normal "))
        elif meaning.startswith("point of "):
            self.points[shown.name] = spelled(parse(meaning.removeprefix("point of ")))
        elif meaning.partition(" under ")[0] in OPERATORS:
            self.meanings[shown.name] = meaning
        elif entry := self._entry(symbol):
            base, sizes = entry
            self._refuse_second(base)
            self.meanings[base] = self._array(base, sizes, meaning)
        elif shown.arguments:
            self.meanings[shown.name] = self._named(shown, meaning)
        elif meaning.startswith(("rows of ", "columns of ")):
            self.meanings[shown.name] = self._lines(*meaning.split(" of ", 1))
        elif meaning.removeprefix("fixed ").split()[0] == "index":
            if meaning.startswith("fixed "):
                self.fixed.add(shown.name)
            line = written(meaning.removeprefix("fixed "))
            assert line is not None
            self.indices[shown.name] = variables.index(self.called(shown.name), *map(self.size, line.shape))
        elif meaning.split()[0] in (*SCALARS, "size") and len(meaning.split()) % 2 == 1 and meaning.split()[1:2] != ["vector"]:
            self._number(shown.name, meaning.split())
        else:
            self.meanings[shown.name] = self._variable(shown.name, meaning)

    def function(self, name: str, call: Bracket) -> Named | Definition | None:
        """Return the function of a name with several meanings that a call has the arguments of; None if there is none."""
        if (exact := called(name, call)) in self.broken:
            raise LatexError(self.broken[exact])
        arguments = {
            own: each.arguments if isinstance(each, Named) else each.pattern.arguments for own, each in self.functions.items()
        }
        own = matching(name, call, arguments, self.indices, self.labels)
        return self.functions[own] if own else None

    def unconditional(self, name: str) -> Named | Definition | None:
        """Return what a name with several meanings stands for without arguments, p(x) beside p(x | y); None if unclear."""
        functions = {
            own: each.arguments if isinstance(each, Named) else each.pattern.arguments for own, each in self.functions.items()
        }
        own = [
            each
            for each, arguments in functions.items()
            if each.startswith(f"{name}(") and {*arguments} <= {*self.indices} and "|" not in each
        ]
        function = self.functions[own[0]] if len(own) == 1 else None
        if isinstance(function, Definition):
            return Definition(Pattern(name, (*function.pattern.indices, *function.pattern.arguments)), function.body)
        return function

    def _parametrized(self, symbol: str, shown: Pattern) -> Pattern:
        """Return the pattern of a definition whose subscript is a declared vector, p_\\theta, as an argument."""
        node = parse(symbol)
        parameter = self.meanings.get(spelled(node.sub)) if isinstance(node, Scripted) and not shown.indices else None
        if not isinstance(node, Scripted) or not isinstance(parameter, Value) or not parameter.shape:
            return shown
        base = Scripted(node.base, None, node.sup, node.primes) if node.sup or node.primes else node.base
        return Pattern(spelled(base), (), (), (spelled(node.sub),))

    def _is_labelled(self, symbol: str) -> bool:
        """Return whether \\ell_x is one of several definitions, as beside \\ell_y = …: its subscript is then no argument."""
        own = parse(symbol)
        trees = [
            parse(each)
            for symbols, meaning in self.declarations.items()
            for each in split(symbols)
            if isinstance(meaning, str) and meaning.startswith("=") and "(" not in each
        ]
        return any(
            isinstance(own, Scripted)
            and isinstance(tree, Scripted)
            and tree.sub not in (None, own.sub)
            and replace(tree, sub=own.sub) == own
            for tree in trees
        )

    def _law(self, shown: Pattern, mean: str) -> None:
        """Declare the density u(a) of N(mean, I) at a vector a, and record its mean for integrals."""
        vector = self.meanings.get(shown.arguments[0]) if len(shown.arguments) == 1 else None
        if not isinstance(vector, Value) or len(vector.shape) != 1:
            raise LatexError("expected a vector as argument of a density, u(a): normal m")
        (size,) = [name for name, each in self.sizes.items() if each == vector.shape[0]][:1]
        density = parse(f"(2\\pi)^{{-{size}/2}} e^{{-\\frac12\\|{shown.arguments[0]} - ({mean})\\|^2}}")
        self.meanings[shown.name] = Definition(shown, density)
        self.laws[shown.name] = parse(mean)

    def called(self, name: str) -> str:
        """Return the name of the variable for a printed name; two printed names never share one by accident."""
        if name in self.names:
            return self.names[name]
        unused = next((each for each in (plain(name), styled(name)) if self.taken.get(each, name) == name), None)
        if unused is None:
            raise LatexError(f"expected a name that differs from {self.taken[plain(name)]} in more than its style")
        self.taken[unused] = name
        return unused

    def _entry(self, symbol: str) -> tuple[str, tuple[sp.Expr, ...]] | None:
        """Return name and shape of a vector or matrix declared by its entries, x_i: real; None for other symbols."""
        node = parse(symbol)
        if not isinstance(node, Scripted) or node.sub is None or node.sup is not None:
            return None
        letters = [spelled(part) for part in index_parts(node.sub)]
        if not all(letter in self.indices for letter in letters):
            return None
        return spelled(Scripted(node.base, None, None, node.primes) if node.primes else node.base), tuple(
            self.indices[letter].domain.shape[0] for letter in letters
        )

    def _array(self, name: str, sizes: tuple[sp.Expr, ...], meaning: str) -> Value:
        """A vector or matrix with entries of one kind."""
        if meaning not in SCALARS:
            raise LatexError(f"expected {', '.join(SCALARS)} for an entry, got {meaning!r}")
        base = variables.vector(plain(name), *sizes, kind=SCALARS[meaning])
        return Value(tuple(base.shape), lambda *indices: base[indices])

    def _refuse_second(self, name: str) -> None:
        if name in self.meanings or name in self.indices or name in self.points:
            raise LatexError("it has a meaning already")

    def _whole(self, symbol: str, shown: Pattern) -> Pattern:
        """Return the pattern of a definition whose subscript is a name and not an index, such as r in \\pi_r."""
        functions = [each for each in shown.indices if isinstance(self.meanings.get(each), Named | Definition)]
        if not functions:
            return shown
        arguments = f"({', '.join(shown.arguments)})" if shown.arguments else ""
        return Pattern(spelled(parse(symbol.removesuffix(arguments).split("(")[0])), (), shown.arguments)

    def _number(self, name: str, words: list[str]) -> None:
        """A size or a number with its bounds: size >= 2, positive < 1, real != 1."""
        kind, *comparisons = words
        if words[:2] == ["size", "="] and len(words) == 3 and words[2].isdigit() and int(words[2]) >= 1:
            self.sizes[name] = sp.Integer(words[2])
            self.meanings[name] = scalar(self.sizes[name])
            return
        number = variables.size(self.called(name)) if kind == "size" else variables.scalar(self.called(name), SCALARS[kind])
        for sign, end in zip(comparisons[::2], comparisons[1::2], strict=True):
            if sign not in ("<", "<=", ">", ">=", "!="):
                raise LatexError(f"expected <, <=, >, >= or != after {kind}, got {sign!r}")
            value, strict = sp.Rational(end), sign in ("<", ">")
            sides = (number, value) if sign[0] == ">" else (value, number)
            self.bounds.append(Differs(number, value) if sign == "!=" else AtLeast(*sides, strict=strict))
        if kind == "size":
            self.sizes[name] = number
        self.meanings[name] = scalar(number)

    def _variable(self, printed: str, meaning: str) -> Value:
        name = self.called(printed)
        words = meaning.split()
        if meaning in SCALARS:
            return scalar(variables.scalar(name, SCALARS[meaning]))
        if meaning == "fixed":
            self.labels.add(printed)
            return scalar(variables.scalar(name))
        if words[0] in SYMMETRIC and (line := written(meaning.removeprefix(f"{words[0]} "))) and len(line.shape) == 2:
            return symmetric(name, words[0], *map(self.size, line.shape))
        line = written(meaning)
        if line is None:
            raise LatexError(f"expected {ACCEPTED}, got {meaning!r}")
        base = variables.declared(name, self._domain(line))
        plain_one = thin(printed)
        other = self.meanings.get(plain_one)
        if plain_one != printed and isinstance(other, Value) and other.shape == tuple(base.shape):
            raise LatexError(
                f"{plain_one}_i can be an entry of {printed} or of {plain_one}; expected one of them in the notation, got both"
            )
        return Value(tuple(base.shape), lambda *indices: base[indices])

    def _domain(self, line: Written) -> Domain:
        """The domain of a line, with the sizes and the distributions of the notation."""
        bases = [base for each in line.marginals if (base := self._base(each)) is not None]
        if len(bases) < len(line.marginals):
            raise LatexError(
                f"expected distributions of the notation after “{line.kind.phrase}”, got {' '.join(line.marginals)}"
            )
        sizes = (*map(self.size, line.shape), *(size for base in bases for size in base.shape))
        return line.kind(sizes, marginals=tuple(bases))

    def _base(self, name: str) -> variables.Vector | None:
        value = self.meanings.get(spelled(parse(name)))
        entry = value.entry(sp.S.One) if isinstance(value, Value) and len(value.shape) == 1 else None
        return entry.base if isinstance(entry, sp.Indexed) else None

    def _lines(self, kind: str, latex: str) -> Value:
        """The rows or columns of a matrix as a family of vectors, q_i of Q."""
        matrix = self.meanings.get(spelled(parse(latex)))
        if not isinstance(matrix, Value) or len(matrix.shape) != 2:
            raise LatexError(f"expected {kind} of a matrix of the notation, got {latex}")
        return matrix if kind == "rows" else transposed(matrix)

    def _named(self, shown: Pattern, meaning: str, symbol: str = "") -> Named:
        """A function of indices, q(z): its axes are those of its arguments that are indices."""
        axes = tuple(name for name in shown.arguments if name in self.indices)
        if not axes:
            raise LatexError(f"expected an index among its arguments, got {', '.join(shown.arguments)}")
        sizes = tuple(self.indices[name].domain.shape[0] for name in axes)
        kinds = {**SCALARS, **LAWS}
        if meaning not in kinds:
            raise LatexError(f"expected {', '.join(kinds)} for a function of indices, got {meaning!r}")
        name = re.sub(r"[(),|]", "", signature(symbol)) if symbol else shown.name
        base = variables.vector(self.called(name), *sizes, kind=kinds[meaning])
        return Named(shown.arguments, Value(sizes, lambda *indices: base[indices]), axes)

    def size(self, latex: str) -> sp.Expr:
        """Return the size that a text names, m, 3 or 2n-1; raises LatexError for other texts."""
        size = self._counted(parse(latex))
        if size is None or not (size.is_integer and size.is_positive):
            raise LatexError(f"expected one of the sizes {', '.join(self.sizes) or '(none is declared)'}, got {latex}")
        return size

    def _counted(self, node: Node) -> sp.Expr | None:
        """A number, a size, and sums and products of these; None for anything else."""
        if isinstance(node, Number) and node.text.isdigit():
            return sp.Integer(node.text)
        if isinstance(node, Sum | Product):
            terms = node.terms if isinstance(node, Sum) else tuple(("+", factor) for factor in node.factors)
            counts = [(sign, self._counted(each)) for sign, each in terms]
            known = [-count if sign == "-" else count for sign, count in counts if count is not None]
            join = sp.Add if isinstance(node, Sum) else sp.Mul
            return join(*known) if len(known) == len(counts) else None
        return self.sizes.get(spelled(node))
