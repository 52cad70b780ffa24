"""Pipelines: functions whose body says which steps run, with what, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Never, ParamSpec, TypeVar, Unpack, cast, overload

from flowdsl.places.place import Site, here
from flowdsl.tracing.call import add
from flowdsl.tracing.trace import OutsidePipeline, current
from flowdsl.values.signature import Signature, innermost, read

if TYPE_CHECKING:
    from types import CodeType, FunctionType

    from flowdsl.options import PipelineOptions, SubgraphOptions

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class PipelineDef:
    """A pipeline as it was declared."""

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
        self.unnamed = unnamed  # what the decorator was given by position, and does not take so
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self._signature: Signature | None = None

    @property
    def signature(self) -> Signature:
        """The parameters and the result, read when first asked for."""
        if self._signature is None:
            self._signature = read(self.plain)
        return self._signature

    @property
    def code(self) -> CodeType:
        """The code of the function, for places in it."""
        return self.plain.__code__


class Pipeline(Generic[P, R_co]):
    """A function that says what a run consists of; called inside another pipeline it is a sub-graph."""

    def __init__(
        self,
        definition: PipelineDef,
        overrides: Mapping[str, Any] | None = None,
        site: Site | None = None,
        unnamed: tuple[object, ...] = (),
    ) -> None:
        self._definition = definition
        self._overrides = dict(overrides or {})
        self._override_site = site
        self._unnamed = unnamed  # what `.options` was given by position, and does not take so
        function = definition.function
        self.__wrapped__ = function
        self.__name__ = definition.name
        self.__qualname__: str = getattr(function, "__qualname__", definition.name)
        self.__doc__ = function.__doc__
        self.__module__ = getattr(function, "__module__", __name__)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Add the sub-graph to the pipeline whose body is running; raises `OutsidePipeline` elsewhere."""
        trace = current()
        if trace is None or not trace.open:
            raise OutsidePipeline(
                f"`{self.__name__}` is a pipeline, and was called outside of one",
                "compile it with `flowdsl compile`; only its steps can be called as functions",
            )
        from flowdsl.tracing.body import trace_graph

        trace_graph(trace, self._definition, here())
        return cast(R_co, add(trace, self, args, kwargs, here()))

    def options(self, *unnamed: Never, **options: Unpack[SubgraphOptions]) -> Pipeline[P, R_co]:
        """The same pipeline for one call inside another: `name=` and `after=`."""
        return Pipeline(self._definition, {**self._overrides, **options}, here(), unnamed)

    def __repr__(self) -> str:
        return f"<pipeline {self.__name__}>"


@overload
def pipeline(function: Callable[P, R_co], /) -> Pipeline[P, R_co]: ...
@overload
def pipeline(
    **options: Unpack[PipelineOptions],
) -> Callable[[Callable[P, R_co]], Pipeline[P, R_co]]: ...
def pipeline(function: Any = None, /, **options: Any) -> Any:
    """Declare that a function is a pipeline: `@pipeline`, or `@pipeline(parallelism=10)`.

    Its parameters are those of the workflow; what it returns are the workflow's outputs.
    """
    site = here()
    if callable(function):
        return Pipeline[..., object](PipelineDef(cast("FunctionType", function), options, site))
    unnamed = () if function is None else (function,)

    def decorate(function: FunctionType) -> Pipeline[..., object]:
        return Pipeline(PipelineDef(function, options, site, unnamed))

    return decorate
