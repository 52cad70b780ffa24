"""The arguments of a test run, told from the parameters of its pipeline."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from flowdsl.diagnostic import near, together
from flowdsl.testing.error import IS_TOLD, CannotRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__tracebackhide__ = IS_TOLD
_FORMS = {
    "mounts": '{"CLAIM": "PATH"}',
    "artifacts": '{"NAME": "PATH"}',
    "config_maps": '{"NAME": {"KEY": "TEXT"}}',
    "secrets": '{"NAME": {"KEY": "TEXT"}}',
    "fakes": '{"STEP": VALUE}',
    "parameters": '{"NAME": VALUE}',
}

_NEEDED = ("approve", "python")  # for all others None means: not given


def check(given: Mapping[str, object], own: Mapping[str, object]) -> None:
    """Raise CannotRun, with all that is wrong, for arguments that cannot be used.

    `own` are the parameters of the pipeline. Of one that is called like an argument only `parameters` can tell.
    """
    told = dict(_entries("parameters", given["parameters"]) or ())
    wrong: list[CannotRun] = []
    for name, value in given.items():
        if name in own and f'parameters["{name}"]' not in told and value not in (None, False, sys.executable):
            form = f'parameters={{"{name}": VALUE}}'
            wrong.append(CannotRun(f"{name} is also a parameter of the pipeline: say what that is, {form}"))
        elif value is not None or name in _NEEDED:
            wrong += [CannotRun(text) for text in _WRONG[name](name, value)]
    if wrong:
        raise CannotRun(together("arguments", wrong))


def values(
    named: Mapping[str, object], listed: Mapping[str, object], own: Mapping[str, object]
) -> dict[str, object]:
    """The values of the pipeline's parameters, given by their names or in `parameters`. Raises CannotRun."""
    for name in named:
        if name in listed:
            raise CannotRun(f"`{name}` is given twice: by its name, and in parameters")
        if name not in own and (meant := near(name, [*own, *_WRONG])) in _WRONG and meant not in own:
            raise CannotRun(f"the pipeline has no parameter `{name}`; did you mean the argument `{meant}`?")
    return {**named, **listed}


def _entries(name: str, value: object) -> Iterator[tuple[str, object]] | None:
    """The entries of a dict with str keys, each with its location; None for anything else."""
    entries = cast("Mapping[object, object]", value)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in entries):
        return None
    return ((f'{name}["{key}"]', one) for key, one in entries.items())


def _form(name: str, value: object) -> str:
    return f"{name} is a dict by names, {name}={_FORMS[name]}, not {value!r}"


def _values(name: str, value: object) -> Iterator[str]:
    if _entries(name, value) is None:
        yield _form(name, value)


def _paths(name: str, value: object) -> Iterator[str]:
    entries = _entries(name, value)
    if entries is None:
        yield _form(name, value)
    for where, path in entries or ():
        if not isinstance(path, (str, Path)):
            yield f"{where} is a path, not {path!r}"
        elif not Path(path).exists():
            yield f"{where}: there is no {Path(path).resolve()}"


# Without the values: a test may have real secrets.
def _data(name: str, value: object) -> Iterator[str]:
    entries = _entries(name, value)
    if entries is None:
        yield _form(name, value)
    for where, data in entries or ():
        texts = _entries(where, data)
        if texts is None:
            yield f"{where} is a dict of texts by keys, not {type(data).__name__}"
        for inner, text in texts or ():
            if not isinstance(text, str):
                yield f"{inner} is a text, not {type(text).__name__}"


def _flag(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, bool):
        yield f"{name} is True or False, not {value!r}"


def _text(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{name} is a text, not {value!r}"


def _program(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{name} is the path of an interpreter, not {value!r}"
    elif shutil.which(value) is None:
        yield f"{name}: there is no program {value}"
    else:
        from flowdsl.runtime.local.error import RunError
        from flowdsl.runtime.local.pods.interpreter import interpreter

        try:
            interpreter(value)
        except RunError as error:
            yield f'{name}="{value}": {error}'


_WRONG: dict[str, Callable[[str, object], Iterator[str]]] = {
    "mounts": _paths,
    "artifacts": _paths,
    "config_maps": _data,
    "secrets": _data,
    "fakes": _values,
    "parameters": _values,
    "approve": _flag,
    "python": _program,
    "cluster": _text,
}
