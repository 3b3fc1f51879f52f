"""Combinations of parameters that a user names, as ``J2/J1`` or ``mass_1*com_y_1 [kg m]``.

An expression is read as arithmetic and nothing else: numbers, names, ``+ - * / **``, brackets,
sqrt, exp and log. Every value carries its dimension, so that metres are not added to kilograms,
and the result has a unit of its own; one in square brackets behind the expression is converted to.
An angle counts as a plain number.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from pdsim.settings.messages import close_name
from pdsim.units.conversion import unit

# Longer ones are no expression that a person wrote.
_LONGEST = 200
# Of a unit's dimensions, those that are shown; the radian is none.
_SYMBOLS = {0: "kg", 1: "m", 2: "s", 4: "A"}
_PLAIN = (Fraction(0),) * 5
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class Amount(NamedTuple):
    """Values (draw,) or one number in SI units, and the powers of these.

    Attributes:
        dimension: powers of kilogram, metre, second, radian (always 0) and ampere.
    """

    value: Any
    dimension: tuple[Fraction, ...]

    @classmethod
    def of(cls, values: Any, unit_text: str) -> "Amount":
        """From values in a unit."""
        factor, powers = unit(unit_text)
        return cls(
            np.asarray(values, float) * factor,
            tuple(Fraction(0 if i == 3 else power) for i, power in enumerate(powers)),
        )

    @property
    def unit(self) -> str:
        """Its unit in SI's own; ``-`` for a plain number."""
        parts = [
            symbol if self.dimension[i] == 1 else f"{symbol}^{self.dimension[i]}"
            for i, symbol in _SYMBOLS.items()
            if self.dimension[i]
        ]
        return " ".join(parts) or "-"


class Expression(NamedTuple):
    """A combination that was read.

    Attributes:
        text: of the arithmetic.
        unit: it is wanted in; empty: that which follows.
        tree: of the arithmetic.
    """

    text: str
    unit: str
    tree: ast.expr

    @property
    def names(self) -> list[str]:
        """Of the quantities it is made of, in their order, each once."""
        nodes = sorted(
            (node.col_offset, node.id)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and node.id not in _FUNCTIONS
        )
        return list(dict.fromkeys(name for _, name in nodes))

    def of(
        self, known: Mapping[str, tuple[Any, str]], *, finite: bool = False
    ) -> tuple[np.ndarray, str]:
        """Values and unit.

        Args:
            known: name → values (draw,) and their unit.
            finite: whether every part of the expression must have a finite value.

        Raises:
            ValueError: a name is not known, the units do not go together, or a part is not finite.
        """
        for name in self.names:
            if name not in known:
                raise ValueError(f"there is no {name!r} to combine{close_name(name, known)}")
        with np.errstate(all="ignore"):
            amounts = {name: Amount.of(*known[name]) for name in self.names}
            found = _amount(self.tree, amounts, finite=finite)
        if not self.unit:
            return np.asarray(found.value), found.unit
        wanted = Amount.of(1.0, self.unit)
        if wanted.dimension != found.dimension:
            raise ValueError(f"{self.text} is in {found.unit}, not in {self.unit}")
        return np.asarray(found.value / wanted.value), self.unit


def parse(text: str) -> Expression:
    """Read an expression, with its unit in square brackets behind it if there is one.

    Raises:
        ValueError: says what is not arithmetic.
    """
    plain, bracket, rest = text.strip().partition("[")
    given = rest.strip()
    if bracket and not given.endswith("]"):
        raise ValueError(f"{text!r}: a unit stands in square brackets at the end, as in a*b [kg m]")
    given = given.removesuffix("]").strip()
    if given:
        unit(given)
    if "#" in plain:
        raise ValueError(f"{text!r}: # has no meaning here, and what follows it would be dropped")
    if len(plain) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST} characters; name parts of it instead")
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{plain.strip()!r} is no arithmetic, as in J2/J1 or a*b**2") from None
    expression = Expression(plain.strip(), given, tree)
    _check(tree)
    if not expression.names:
        raise ValueError(f"{expression.text!r} combines nothing; name a parameter, as in J2/J1")
    return expression


def _check(node: ast.expr) -> None:
    """Refuse all but arithmetic."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left)
            _check(right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            _check(argument)
        case ast.Name():
            pass
        case ast.Constant(value=value) if type(value) in (int, float):
            pass
        case _:
            raise ValueError(
                f"{ast.unparse(node)!r} is not allowed; numbers, names, + - * / **, brackets, "
                f"{', '.join(_FUNCTIONS)} are"
            )


def _amount(node: ast.expr, known: Mapping[str, Amount], *, finite: bool) -> Amount:
    """The value of a part; ``finite``: refuse one without a finite value."""
    found = _computed(node, known, finite=finite)
    if finite and not np.isfinite(found.value).all():
        raise ValueError(f"{ast.unparse(node)} has no finite value at the centre of the bounds")
    return found


def _computed(node: ast.expr, known: Mapping[str, Amount], *, finite: bool) -> Amount:
    match node:
        case ast.Name(id=name):
            return known[name]
        case ast.Constant(value=value):
            return Amount(np.float64(value), _PLAIN)  # type: ignore[arg-type]
        case ast.UnaryOp(op=op, operand=operand):
            value, dimension = _amount(operand, known, finite=finite)
            return Amount(-value if isinstance(op, ast.USub) else value, dimension)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            value, dimension = _amount(argument, known, finite=finite)
            if name == "sqrt":
                return Amount(np.sqrt(value), tuple(power / 2 for power in dimension))
            if dimension != _PLAIN:
                raise ValueError(f"{name}({ast.unparse(argument)}) needs a plain number")
            return Amount(_FUNCTIONS[name](value), _PLAIN)
    assert isinstance(node, ast.BinOp)
    left, right = (_amount(side, known, finite=finite) for side in (node.left, node.right))
    value = _OPERATORS[type(node.op)](left.value, right.value)
    return Amount(value, _dimension(node, left, right))


def _dimension(node: ast.BinOp, left: Amount, right: Amount) -> tuple[Fraction, ...]:
    pairs = list(zip(left.dimension, right.dimension, strict=True))
    if isinstance(node.op, ast.Mult):
        return tuple(a + b for a, b in pairs)
    if isinstance(node.op, ast.Div):
        return tuple(a - b for a, b in pairs)
    if isinstance(node.op, ast.Pow):
        if right.dimension != _PLAIN or (left.dimension != _PLAIN and np.ndim(right.value)):
            raise ValueError(f"{ast.unparse(node)!r}: the power must be a plain number")
        if left.dimension == _PLAIN:
            return _PLAIN
        if not np.isfinite(right.value):
            raise ValueError(f"{ast.unparse(node)!r}: the power is not finite")
        power = Fraction(float(right.value)).limit_denominator(12)
        return tuple(a * power for a in left.dimension)
    if left.dimension != right.dimension:
        raise ValueError(f"{ast.unparse(node)!r}: {left.unit} and {right.unit} cannot be added")
    return left.dimension
