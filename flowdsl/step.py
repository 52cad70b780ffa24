"""Steps: functions that run in a pod of their own.

Decorators store what was written and where, and validate nothing: a module can always be imported, and all findings
come from the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Never, ParamSpec, TypeVar, Unpack, cast

from flowdsl.declaration import Declaration, Wrapper
from flowdsl.places.place import Argument, Site, here
from flowdsl.tracing.call import add
from flowdsl.tracing.trace import OutsidePipeline, current
from flowdsl.values import types as t
from flowdsl.values.expr import InPod
from flowdsl.values.lift import spelled
from flowdsl.values.value import is_value, value

if TYPE_CHECKING:
    from types import FunctionType

    from flowdsl.options import CallOptions, DeclaredOptions

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class StepDef(Declaration):
    """A step as it was declared: the function, its kind, its options, and where."""

    __slots__ = ("kind", "leading")

    def __init__(
        self,
        function: FunctionType,
        kind: str,
        options: Mapping[str, Any],
        site: Site,
        leading: tuple[str, ...] = (),
        unnamed: tuple[object, ...] = (),
    ) -> None:
        super().__init__(function, options, site, unnamed)
        self.kind = kind  # its kind: "python", "container", "resource", "approve", "http" or "template"
        self.leading = leading  # the positional options of the decorator

    @property
    def call_options(self) -> frozenset[str]:
        """The options that a call of it may have."""
        from flowdsl.options import CallOptions

        return CallOptions.__optional_keys__

    def option(self, name: str) -> Argument:
        """The place of an option of the decorator."""
        if name in self.leading:
            return Argument(self.site, position=self.leading.index(name))
        return super().option(name)


class Step(Wrapper[StepDef, P, R_co]):
    """A function that becomes a task when a pipeline calls it, and stays a function elsewhere."""

    _word = "step"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Add a task to the pipeline whose body is running; elsewhere, call the function."""
        trace = current()
        if trace is None or not trace.open:
            return cast(R_co, self._definition.function(*args, **kwargs))
        return cast(R_co, add(trace, self, args, kwargs, here()))

    def options(self, *unnamed: Never, **options: Unpack[CallOptions]) -> Step[P, R_co]:
        """The same step with other options for one call: any word of the decorator, `name=` and `after=`."""
        return Step(self._definition, {**self._overrides, **options}, here(), unnamed)

    def __repr__(self) -> str:
        return f"<step {self.__name__}>"


class StepDecorator:
    """`@step(...)` and the like: keeps the function's own signature."""

    __slots__ = ("kind", "leading", "options", "site", "unnamed")

    def __init__(
        self,
        kind: str,
        options: Mapping[str, Any],
        site: Site,
        leading: tuple[str, ...] = (),
        unnamed: tuple[object, ...] = (),
    ) -> None:
        self.kind = kind
        self.options = options
        self.site = site
        self.leading = leading
        self.unnamed = unnamed

    def __call__(self, function: Callable[P, R_co]) -> Step[P, R_co]:
        """The step made from a function."""
        taken = cast("FunctionType", function)
        return Step(StepDef(taken, self.kind, self.options, self.site, self.leading, self.unnamed))


def step(*function: Never, **options: Unpack[DeclaredOptions]) -> StepDecorator:
    """Declare that a function is a step: `@step(image="python:3.12-slim", memory="4Gi")`.

    Calling it in a pipeline adds a task; elsewhere it is the plain function.
    """
    return declared("python", function, options)


def container(*function: Never, **options: Unpack[DeclaredOptions]) -> StepDecorator:
    """Declare a step in any language: the function says the command line by calling `command`."""
    return declared("container", function, options)


def declared(kind: str, given: tuple[Any, ...], options: Mapping[str, Any]) -> StepDecorator:
    """The decorator; or the step, if a decorator without parentheses got the function and lacks only options."""
    if len(given) == 1 and callable(given[0]):
        return cast("StepDecorator", StepDecorator(kind, options, here())(given[0]))
    return StepDecorator(kind, options, here(), (), given)


class Described(BaseException):
    """How a word such as `command` passes the description of a step to the compiler."""

    def __init__(
        self, word: str, arguments: tuple[object, ...], options: Mapping[str, object], site: Site
    ) -> None:
        self.word = word
        self.arguments = arguments
        self.options = options
        self.site = site


_describing: list[StepDef] = []


def describe(word: str, arguments: tuple[object, ...], options: Mapping[str, object]) -> Never:
    """Pass on the description of a step; raises `OutsidePipeline` if the step is called as a function."""
    if not _describing:
        raise OutsidePipeline(
            f"`{word}` describes a step that has no Python body to run",
            "call the step in a pipeline, and compile that",
            "put it into a function of its own, under `@container`, `@resource` or `@http`, and call that here",
        )
    raise Described(word, arguments, options, here())


def command(
    *arguments: object,
    env: Mapping[str, object] | None = None,
    source: str | None = None,
    stdout: bool = False,
    paths: Mapping[str, str] | None = None,
) -> Never:
    """The command line of a `container` step, and environment variables that name its inputs.

    Inputs of the function and `output(...)` become values and paths. `source`: a script that the command is
    given as a file, after its other words. `stdout`: what the program prints is the result of the step.
    `paths`: where the program expects inputs that are files, and where it writes outputs, by their names; the
    one result that is not a record is `"return"`. Other inputs may be part of the path of an output. It never
    returns, so the function keeps its own return type. Raises `OutsidePipeline` where the step is called as a
    function.
    """
    said: dict[str, object] = {"env": {} if env is None else env, "source": source, "stdout": stdout}
    describe("command", arguments, {**said, "paths": {} if paths is None else paths})


def output(name: str = "return") -> str:
    """The path in the container where the output of that name is to be written."""
    if not _describing:
        way = "write it in a call of `command`, in a function under `@container`"
        raise OutsidePipeline("`output` means something only in a container step", way, way)
    if is_value(name) or not isinstance(cast("object", name), str):
        name = spelled(name)  # no output has such a name: the compiler lists the known ones
    return cast(str, value(InPod(name, t.TEXT, output=True)))


def description(definition: StepDef) -> Described | BaseException | None:
    """Run the function of a step with stand-ins for its inputs, to learn what the step does.

    Returns the arguments of `command` or another such word, an exception of the user's, or None if no such
    word was called.
    """
    signature = definition.signature
    inputs = {
        parameter.name: value(InPod(parameter.name, parameter.type)) for parameter in signature.parameters
    }
    _describing.append(definition)
    try:
        positional = [inputs.pop(p.name) for p in signature.parameters if not p.keyword]
        definition.function(*positional, **inputs)
    except Described as described:
        return described
    except Exception as error:
        return error
    finally:
        _describing.pop()
    return None
