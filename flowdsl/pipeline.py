"""Pipelines: functions whose body says which steps run, with what, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Never, ParamSpec, TypeVar, Unpack, cast, overload

from flowdsl.declaration import Declaration, Wrapper
from flowdsl.places.place import here
from flowdsl.tracing.body import trace_graph
from flowdsl.tracing.call import add
from flowdsl.tracing.trace import OutsidePipeline, current

if TYPE_CHECKING:
    from types import FunctionType

    from flowdsl.options import PipelineOptions, SubgraphOptions

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class PipelineDef(Declaration):
    """A pipeline as it was declared."""

    __slots__ = ()

    @property
    def call_options(self) -> frozenset[str]:
        """The options that a call of it may have."""
        from flowdsl.options import SubgraphOptions

        return SubgraphOptions.__optional_keys__


class Pipeline(Wrapper[PipelineDef, P, R_co]):
    """A function that says what a run consists of; called inside another pipeline it is a sub-graph."""

    _word = "pipeline"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Add the sub-graph to the pipeline whose body is running; raises `OutsidePipeline` elsewhere."""
        trace = current()
        if trace is None or not trace.open:
            raise OutsidePipeline(
                f"`{self.__name__}` is a pipeline, and was called outside of one",
                "run it with `flowdsl run`, or `flowdsl submit`; only its steps can be called as functions",
            )
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
