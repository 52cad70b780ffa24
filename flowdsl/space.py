"""Search spaces of a sweep: the distributions that it draws its parameters from.

Constructors store what was written and where. The compiler checks each space against the type of its parameter, and
draws the points.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Site, here

Method = Literal["grid", "random", "sobol", "tpe"]
"""How the points of a sweep are chosen, if a name suffices."""
Kind = Literal["grid", "random", "sobol", "tpe", "gp"]
"""How the points of a sweep are chosen: a `Method`, or one that needs settings."""


class Learning:
    """A search that learns: by rounds, Optuna chooses points by what the trials before them gave.

    The first `startup` points are random. `image` has Python and what the `kind` of search needs; None where that is
    installed before each round.
    """

    __slots__ = ("image", "site", "startup")
    kind: ClassVar[Kind]

    def __init__(self, startup: int, image: str | None) -> None:
        self.startup = startup
        self.image = image
        self.site = here()


class Tpe(Learning):
    """A search that learns: by rounds, Optuna's tree-structured Parzen estimator chooses where good trials were.

    The first `startup` points are random. `image` has Python and Optuna; without one, Optuna is installed into
    `python:3.12-slim` before each round. Its other settings are Optuna's own.
    """

    __slots__ = ()
    kind = "tpe"

    def __init__(self, *, startup: int = 10, image: str | None = None) -> None:
        super().__init__(startup, image)


class Gp(Learning):
    """A search that learns: by rounds, Optuna's Gaussian process chooses points, for few, expensive trials.

    The first `startup` points are random. `image` has Python, Optuna, SciPy and PyTorch, which is too large to be
    installed before each round. Its other settings are Optuna's own.
    """

    __slots__ = ()
    kind = "gp"

    def __init__(self, *, image: str, startup: int = 10) -> None:
        super().__init__(startup, image)


class When(NamedTuple):
    """A condition of a space as written, and the call that sets it."""

    text: str
    site: Site


class Space:
    """The values one parameter may take: a kind, its arguments, where it was written, and when it is searched."""

    __slots__ = ("arguments", "conditions", "kind", "site")

    def __init__(
        self, kind: str, arguments: tuple[Any, ...], site: Site, conditions: tuple[When, ...] = ()
    ) -> None:
        self.kind = kind
        self.arguments = arguments
        self.site = site
        self.conditions = conditions

    def when(self, condition: str) -> Space:
        """The same space, searched only in the points where a condition on other parameters of the sweep holds.

        `uniform(0.0, 0.5).when("layers > 3 and optimizer in (sgd, adam)")`: comparisons of parameters with values,
        joined by `and`, `or`, `not` and parentheses. In all other points the parameter has its default.
        """
        return Space(self.kind, self.arguments, self.site, (*self.conditions, When(condition, here())))

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.arguments))})"


def choice(*values: object) -> Space:
    """One of the values, each as likely as the others."""
    return Space("choice", values, here())


def uniform(low: float, high: float) -> Space:
    """A float between `low` and `high`, every one as likely as the others."""
    return Space("uniform", (low, high), here())


def loguniform(low: float, high: float) -> Space:
    """A float between `low` and `high`, both above zero, every order of magnitude as likely as the others."""
    return Space("loguniform", (low, high), here())


def quniform(low: float, high: float, step: float) -> Space:
    """A multiple of `step` between `low` and `high`."""
    return Space("quniform", (low, high, step), here())


def integer(low: int, high: int) -> Space:
    """A whole number from `low` to `high`, both included."""
    return Space("integer", (low, high), here())


def normal(mean: float, deviation: float) -> Space:
    """A float from the normal distribution with this mean and standard deviation."""
    return Space("normal", (mean, deviation), here())


class Objective:
    """What a sweep looks for: the output `metric`, as large or as small as possible."""

    __slots__ = ("goal", "metric", "site")

    def __init__(self, goal: str, metric: str, site: Site) -> None:
        self.goal = goal
        self.metric = metric
        self.site = site


def maximize(metric: str = "return") -> Objective:
    """The trial whose output `metric` is largest is the best; without a name, the trial's one result."""
    return Objective("max", metric, here())


def minimize(metric: str = "return") -> Objective:
    """The trial whose output `metric` is smallest is the best; without a name, the trial's one result."""
    return Objective("min", metric, here())


class Grid:
    """The product of several lists, in the order written: the last one varies fastest."""

    __slots__ = ("lists", "site")

    def __init__(self, lists: dict[str, object], site: Site) -> None:
        self.lists = lists
        self.site = site


def grid(**lists: object) -> Grid:
    """Every combination of the values of the lists, for `fan_out(over=...)`."""
    return Grid(lists, here())
