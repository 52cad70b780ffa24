"""What steps and pipelines have in common: the declared function with its options, and its wrapper for users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from flowdsl.places.place import Argument
from flowdsl.tracing.trace import Declared
from flowdsl.values.signature import Signature, innermost, read

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType, FunctionType

    from flowdsl.places.place import Site

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Declaration:
    """A function as it was declared, its options, and where."""

    __slots__ = ("_signature", "function", "name", "options", "plain", "site", "unnamed")

    def __init__(
        self,
        function: FunctionType,
        options: Mapping[str, Any],
        site: Site,
        unnamed: tuple[object, ...] = (),
    ) -> None:
        self.function = function
        self.plain = innermost(function)  # without the user's decorators
        self.options = dict(options)
        self.site = site
        self.unnamed = unnamed  # positional arguments of the decorator that it does not accept
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self._signature: Signature | None = None

    @property
    def signature(self) -> Signature:
        """The parameters and the result, read on first use."""
        if self._signature is None:
            self._signature = read(self.plain)
        return self._signature

    @property
    def code(self) -> CodeType:
        """The code of the function, to locate places in it."""
        return self.plain.__code__

    def option(self, name: str) -> Argument:
        """The place of an option of the decorator."""
        return Argument(self.site, name)


D = TypeVar("D", bound=Declaration)


class Wrapper(Declared, Generic[D, P, R_co]):
    """The stand-in for a declared function, with the options of one call if `.options` has created it."""

    def __init__(
        self,
        definition: D,
        overrides: Mapping[str, Any] | None = None,
        site: Site | None = None,
        unnamed: tuple[object, ...] = (),
    ) -> None:
        self._definition = definition
        self._overrides = dict(overrides or {})
        self._override_site = site
        self._unnamed = unnamed  # positional arguments of `.options`, which it does not accept
        function = definition.function
        self.__wrapped__ = function
        self.__name__ = definition.name
        self.__qualname__: str = getattr(function, "__qualname__", definition.name)
        self.__doc__ = function.__doc__
        self.__module__ = getattr(function, "__module__", __name__)
