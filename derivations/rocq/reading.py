"""A reader of exported statements, by Rocq's conventions: 1/0 = 0, ln x = 0 for x ≤ 0, √x = 0 for x < 0.

Slopes are computed with dual numbers.
"""

import re
from collections.abc import Callable
from typing import Any

from flint import arb

from derivations.rocq.duals import FUNCTIONS, LEVELS, Dual, add, exp, inverse, ln, multiply, power, sqrt

TOKEN = re.compile(r"\s*(\\Sum_|%:R|%N|\.\+1|\^-1|\^\+|`\^|`\||->|=>|<=|!=|'I_\w+|[A-Za-z_]\w*|\d+|[()<=+*/,:|-])")

Scope = dict[str, Any]
Rule = Callable[[Scope], Any]


class Reader:
    """A statement as text, read from the left to the right."""

    def __init__(self, text: str) -> None:
        self.tokens = []
        position = 0
        while text[position:].strip():
            match = TOKEN.match(text, position)
            if match is None:
                raise ValueError(f"expected a statement, got {text[position : position + 20]!r}")
            self.tokens.append(match.group(1))
            position = match.end()
        self.at = 0

    def next(self, *expected: str) -> str:
        """The next token; raises ValueError where it is not one of the expected."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if not token or (expected and token not in expected):
            raise ValueError(f"expected {' or '.join(expected)}, got {token!r}")
        self.at += 1
        return token

    def sees(self, *tokens: str) -> bool:
        """Whether these tokens come next."""
        return self.tokens[self.at : self.at + len(tokens)] == list(tokens)

    def expression(self) -> Rule:
        """Terms with signs between."""
        rule = self.product()
        while self.sees("+") or self.sees("-"):
            sign, first, second = self.next(), rule, self.product()
            rule = _both(first, second, add if sign == "+" else lambda x, y: add(x, multiply(arb(-1), y)))
        return rule

    def product(self) -> Rule:
        """Factors and divisors."""
        rule = self.unary()
        while self.sees("*") or self.sees("/"):
            sign, first, second = self.next(), rule, self.unary()
            rule = _both(first, second, multiply if sign == "*" else lambda x, y: multiply(x, inverse(y)))
        return rule

    def unary(self) -> Rule:
        """A sign, a sum, or a power."""
        if self.sees("-"):
            self.next()
            inner = self.unary()
            return lambda scope: multiply(arb(-1), inner(scope))
        if self.sees("\\Sum_"):
            return self.sum()
        rule = self.postfix()
        if self.sees("^+"):
            self.next()
            n = int(self.next())
            return lambda scope: power(rule(scope), n)
        if self.sees("`^"):
            self.next()
            exponent = self.postfix()
            return lambda scope: exp(multiply(exponent(scope), ln(rule(scope))))
        return rule

    def sum(self) -> Rule:
        """A sum over an index from 0 up to a size."""
        self.next("\\Sum_")
        self.next("(")
        bound = self.next()
        self.next("<")
        size = self.next()
        self.next(")")
        body = self.product()

        def total(scope: Scope) -> Any:
            result: Any = arb(0)
            for position in range(int(size) if size.isdigit() else scope[size]):
                result = add(result, body({**scope, bound: position}))
            return result

        return total

    def postfix(self) -> Rule:
        """A name or a part with its arguments; a postfix operator belongs to its argument: f x^-1 is f (x^-1)."""
        named = self.at < len(self.tokens) and re.match(r"[A-Za-z_]", self.tokens[self.at])
        if not named:
            return self._with_arguments("", self.operand())
        name, before = self.tokens[self.at], self.at
        head = self.operand()
        return head if self.at > before + 1 else self._with_arguments(name, head)

    def _with_arguments(self, name: str, head: Rule) -> Rule:
        arguments = []
        while self.at < len(self.tokens) and (self.sees("(") or self.sees("`|") or re.match(r"\w", self.tokens[self.at])):
            arguments.append(self.operand())
        return head if not arguments else _applied(name, arguments) if name else _entry(head, arguments)

    def operand(self) -> Rule:
        """A name or a part, inverted, or with a cast to R."""
        rule = self.part()
        while self.sees("^-1") or self.sees("%:R") or self.sees(".+1"):
            rule = _changed(rule, self.next())
        return rule

    def part(self) -> Rule:
        """A name, a number, an absolute value, a function, or an expression in parentheses."""
        token = self.next()
        if token.isdigit():
            return lambda scope: int(token)
        if token == "`|":
            inside = self.expression()
            self.next("|")
            return lambda scope: abs(inside(scope))
        if token == "(" and self.sees("fun"):
            return self.function()
        if token == "(":
            inside = self.expression()
            if self.sees(":", "R"):
                self.next(), self.next()
            self.next(")")
            return inside
        return _applied(token, [])

    def function(self) -> Rule:
        """A function of one argument, as a function of its argument."""
        self.next("fun")
        name = self.next()
        while not self.sees("=>"):
            self.next()
        self.next("=>")
        body = self.expression()
        self.next(")")
        return lambda scope: lambda argument: body({**scope, name: argument})

    def comparison(self) -> Callable[[Scope], bool | None]:
        """Whether an equality or an inequality holds; None where the balls do not decide."""
        left = self.expression()
        sign = self.next("=", "<", "<=", "!=")
        right = self.expression()
        return lambda scope: _compared(real(left(scope)), sign, real(right(scope)))


def _changed(rule: Rule, sign: str) -> Rule:
    """The operand of ^-1, %:R or .+1."""
    change: dict[str, Callable[[Any], Any]] = {"^-1": lambda x: inverse(real(x)), "%:R": arb, ".+1": lambda x: x + 1}
    return lambda scope: change[sign](rule(scope))


def _both(first: Rule, second: Rule, operation: Callable[[Any, Any], Any]) -> Rule:
    return lambda scope: operation(real(first(scope)), real(second(scope)))


def real(x: Any) -> Any:
    """A number of any kind as a ball, or a dual number."""
    return arb(x) if isinstance(x, int) else x


def _compared(left: arb, sign: str, right: arb) -> bool | None:
    if sign in ("=", "!="):
        if left == right or not left.overlaps(right):
            return bool(left == right) is (sign == "=")
        return None
    if sign == "<":
        return True if left < right else False if left >= right else None
    return True if left <= right else False if left > right else None


def _applied(name: str, arguments: list[Rule]) -> Rule:
    if name == "root":
        return lambda scope: sqrt(real(arguments[0](scope)))
    if name == "pi":
        return lambda scope: arb.pi()
    if name == "dlt":
        return lambda scope: arb(int(arguments[0](scope) == arguments[1](scope)))
    if name == "offset":
        return lambda scope: _offset(*(argument(scope) for argument in arguments))
    if name in FUNCTIONS:
        return lambda scope: FUNCTIONS[name](*(real(argument(scope)) for argument in arguments))
    if name in ("upd", "upd2"):
        return lambda scope: _updated(*(argument(scope) for argument in arguments))
    if name == "derive1":
        return lambda scope: _derived(*(argument(scope) for argument in arguments))
    return _entry(lambda scope: scope[name], arguments)


def _entry(head: Rule, arguments: list[Rule]) -> Rule:
    """An entry of a vector or a matrix, or the vector itself."""

    def entry(scope: Scope) -> Any:
        value = head(scope)
        for argument in arguments:
            position = argument(scope)
            if position < 0:
                raise IndexError(f"expected a position from 0 on, got {position}")
            value = value[position]
        return value

    return entry


def _offset(size: int, i: int, j: int) -> int:
    return size + j - (i + 1)


def _updated(vector: Any, *positions: Any) -> Any:
    *indices, new = positions
    copied = list(vector)
    copied[indices[0]] = new if len(indices) == 1 else _updated(vector[indices[0]], *indices[1:], new)
    return copied


def _derived(function: Callable[[Any], Any], point: Any) -> Any:
    depth = next(LEVELS)  # a slope inside of another one begins later
    result = function(Dual(depth, point, arb(1)))
    return result.slope if isinstance(result, Dual) and result.level == depth else arb(0)
