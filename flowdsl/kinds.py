"""Steps without a container of the user's: Kubernetes objects, gates, HTTP requests, templates of the cluster.

As everywhere, a step is a typed function. The decorator says what executes it; the body either describes that or is
never run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Never, ParamSpec, TypeVar, Unpack, cast, overload

from flowdsl.places.place import here
from flowdsl.step import Step, StepDecorator, declared, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from flowdsl.duration import Duration
    from flowdsl.options import (
        GateStepOptions,
        LibraryStepOptions,
        RequestOptions,
        ResourceStepOptions,
    )
    from flowdsl.volume import Secret

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Action = Literal["create", "apply", "replace", "patch", "delete", "get"]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]


def resource(action: Action, /, **options: Unpack[ResourceStepOptions]) -> StepDecorator:
    """Declare a step that does something with an object of the cluster: `@resource("apply", success="...")`.

    The function says what object by calling `manifest`.
    """
    return _led("resource", {"action": action}, options)


def manifest(
    body: Mapping[str, Any] | Sequence[Any] | str | Path,
    result: str | None = None,
    /,
    *,
    outputs: Mapping[str, str] | None = None,
) -> Never:
    """The object of a `resource` step, and what is read from it when the step has ended.

    `body` is a dict or a text in YAML, in which inputs of the function are values; or an input that is
    a file, whose content is the object. `result`, or for several results `outputs` by name, is a JSONPath in
    braces (`"{.metadata.uid}"`) or a filter of jq (`".status.succeeded"`). It never returns, so the function
    keeps its own return type. Raises `OutsidePipeline` where the step is called as a function.
    """
    describe("manifest", (body, result), {"outputs": outputs})


@overload
def approve(function: Callable[P, R_co], /) -> Step[P, R_co]: ...
@overload
def approve(*function: Never, **options: Unpack[GateStepOptions]) -> StepDecorator: ...
def approve(*function: Any, **options: Any) -> Any:
    """Declare a gate that waits for a person: `@approve`, or with options `@approve(duration="24h")`.

    What the function returns is what the person supplies; its body is never run.
    """
    return declared("approve", function, options)


@overload
def http(function: Callable[P, R_co], /) -> Step[P, R_co]: ...
@overload
def http(*function: Never, **options: Unpack[RequestOptions]) -> StepDecorator: ...
def http(*function: Any, **options: Any) -> Any:
    """Declare a step that sends a request: the function says which by calling `request`.

    What it returns is the body of the answer.
    """
    return declared("http", function, options)


def request(
    method: Method,
    url: str,
    /,
    *,
    headers: Mapping[str, str | Secret] | None = None,
    body: object = None,
    success: str | None = None,
    timeout: Duration | None = None,
    insecure: bool = False,
) -> Never:
    """The request of an `http` step. Inputs of the function can be used in `url`, `headers` and `body`.

    `body` is a text, or a dict or list that is sent as JSON. `success` is an expression over `response`
    (`response.statusCode == 201`); without it every status from 200 to 299 is a success. `timeout` is a time
    such as "30s", whole seconds or a timedelta; `insecure` accepts any certificate. It never returns, so the function
    keeps its own return type. Raises `OutsidePipeline` where the step is called as a function.
    """
    said: dict[str, object] = {"body": body, "success": success, "timeout": timeout, "insecure": insecure}
    said["headers"] = {} if headers is None else headers
    describe("request", (method, url), said)


def call_template(library: str, template: str, /, **options: Unpack[LibraryStepOptions]) -> StepDecorator:
    """Declare a template of a WorkflowTemplate of the cluster as a step: `@call_template("library", "train")`.

    The function says what it takes and gives: a `Path` is an artifact, everything else a parameter. Its body
    is never run.
    """
    return _led("template", {"library": library, "template": template}, options)


def _led(kind: str, leading: Mapping[str, object], options: Mapping[str, Any]) -> StepDecorator:
    """The decorator whose first options are positional."""
    decorator = StepDecorator(kind, {**leading, **options}, here(), tuple(leading))
    first = next(iter(leading.values()))
    # For a function under a decorator without parentheses only its arguments are missing.
    return cast("StepDecorator", decorator(first)) if callable(first) else decorator
