"""The options of a step or pipeline, judged and in one form.

Each option has one reader here: it takes what the user wrote and answers what the IR wants, or raises
`Wrong`. A new option is a row in `_READERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar, cast

from flowdsl.compiler import mistakes
from flowdsl.compiler.ir import Mount, Placement
from flowdsl.compiler.placement import (
    Wrong,
    gpu_doubts,
    gpu_request,
    gpu_terms,
    gpu_toleration,
    node_selector,
    resource_name,
    said,
    toleration,
    where_terms,
)
from flowdsl.diagnostic import Diagnostic
from flowdsl.gpu import GPU
from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_dns_subdomain, is_env_name, is_label_value, is_qualified_name
from flowdsl.grammar.quantity import quantity
from flowdsl.place import Argument, Place
from flowdsl.trace import TOKEN
from flowdsl.value import is_value
from flowdsl.volume import Secret, Volume, VolumePath

if TYPE_CHECKING:
    from flowdsl.step import StepDef

T = TypeVar("T")
Reader = Callable[[str, Any], Any]

# `EOS_TOKEN=<eos>` is no secret: those are made of letters, digits and a few signs.
_SECRET_NAME = re.compile(r"(?:^|_)(?:TOKEN|PASSWORD|PASSWD|SECRET|API_?KEY|SECRET_KEY|ACCESS_KEY)$")
_SECRET_VALUE = re.compile(r"[A-Za-z0-9_.+/=-]{8,}")


class Settings(NamedTuple):
    """What the options of a step come to."""

    image: str | None
    requests: Mapping[str, str]
    limits: Mapping[str, str]
    placement: Placement
    env: tuple[tuple[str, str | Secret], ...]
    mounts: tuple[Mount, ...]
    volumes: tuple[Volume, ...]
    retries: int | None
    timeout: str | None


def settings(
    options: Mapping[str, Any], place: Callable[[str], Place], known: tuple[str, ...]
) -> tuple[Settings, list[Diagnostic]]:
    """The settings that options come to, and what is wrong with them.

    `place` says where an option was written.
    """
    found: dict[str, Any] = {}
    diagnostics: list[Diagnostic] = []
    for name, written in options.items():
        try:
            found[name] = _read(name, written, _READERS, known)
            if name in ("gpu", "env"):
                diagnostics.extend(_reported(doubt, place(name)) for doubt in _doubts(name, written))
        except* Wrong as group:
            diagnostics.extend(_reported(wrong, place(name)) for wrong in _each(group))
    return _settings(found), diagnostics


#: Gives the settings of a step's decorator, made once.
Declared = Callable[["StepDef"], "tuple[Settings, list[Diagnostic]]"]


def declared(step: StepDef) -> tuple[Settings, list[Diagnostic]]:
    """The settings that the decorator of a step asks for, and what is wrong with them."""
    return settings(step.options, partial(Argument, step.site), STEP_OPTIONS)


def _read(name: str, written: object, readers: Mapping[str, Reader], known: tuple[str, ...]) -> Any:
    reader = readers.get(name)
    if reader is None:
        raise Wrong(mistakes.UnknownOption(name, known), "name")
    if is_value(written):
        raise Wrong(mistakes.RunTimeOption(name))
    return reader(name, written)


def _entries(name: str, written: object, want: str, entry: Callable[[Any, Any], T]) -> list[T]:
    """What becomes of each entry of a dict; raises `Wrong`, or a group of it for all entries at fault."""
    if not _is_mapping(written):
        raise Wrong(mistakes.OptionType(name, want, said(written)))
    found: list[T] = []
    wrong: list[Wrong] = []
    for key, value in written.items():
        try:
            found.append(entry(key, value))
        except Wrong as error:
            wrong.append(error)
    if wrong:
        raise ExceptionGroup("entries", wrong)
    return found


def _is_mapping(thing: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(thing, Mapping)


def _each(group: BaseExceptionGroup[Wrong]) -> Iterator[Wrong]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _each(error)
        else:
            yield error


def _reported(wrong: Wrong, place: Place) -> Diagnostic:
    if wrong.part != "value" and isinstance(place, Argument):
        place = place._replace(part=wrong.part)
    return Diagnostic(wrong.finding, place)


def _doubts(name: str, written: Any) -> Iterator[Wrong]:
    """What can be used as written, and is probably not meant."""
    if name == "gpu" and isinstance(written, GPU):
        yield from gpu_doubts(written)
    elif name == "env":
        for variable, value in cast("Mapping[str, object]", written).items():
            if _SECRET_NAME.search(variable) and isinstance(value, str) and _SECRET_VALUE.fullmatch(value):
                yield Wrong(mistakes.SecretInText(variable), f"item:{variable}")


def _settings(found: Mapping[str, Any]) -> Settings:
    requests = {key: found[key] for key in ("cpu", "memory") if key in found}
    # Memory is what a node cannot take back, so its limit equals its request; a CPU that is idle may be used.
    limits = {"memory": found["memory"]} if "memory" in found else {}
    terms = found.get("where", ())
    tolerations = list(found.get("tolerations", ()))
    gpu: GPU | None = found.get("gpu")
    if gpu is not None and gpu.count > 0:
        resource = resource_name(gpu)
        limits = {**limits, resource: str(gpu.count)}
        terms = tuple((*gpu_terms(gpu), *group) for group in terms or ((),))
        terms = tuple(group for group in terms if group)
        if (extra := gpu_toleration(gpu, resource)) not in tolerations:
            tolerations.append(extra)
    mounts: tuple[tuple[Mount, Volume], ...] = found.get("mounts", ())
    return Settings(
        found.get("image"),
        requests,
        limits,
        Placement(found.get("node", {}), terms, tuple(tolerations), found.get("priority")),
        (*found.get("env", ()), *found.get("secrets", ())),
        tuple(mount for mount, _ in mounts),
        tuple(volume for _, volume in mounts),
        found.get("retries"),
        found.get("timeout"),
    )


def _text(name: str, written: object) -> str:
    if not isinstance(written, str):
        raise Wrong(mistakes.OptionType(name, "a text", said(written)))
    if not written.strip():
        raise Wrong(mistakes.OptionType(name, "a text that is not empty", said(written)))
    if TOKEN.search(written):
        raise Wrong(mistakes.RunTimeOption(name))
    if "{{" in written:
        raise Wrong(mistakes.OptionType(name, "a text without `{{`", said(written)))
    return written


def _image(name: str, written: object) -> str:
    text = _text(name, written)
    if any(character.isspace() for character in text):
        raise Wrong(mistakes.OptionType(name, "the name of an image without blanks", said(written)))
    return text


def _object_name(name: str, written: object) -> str:
    """The name of an object of the cluster."""
    text = _text(name, written)
    if not is_dns_subdomain(text):
        raise Wrong(mistakes.BadObjectName(repr(text), f"a {_OBJECTS[name]}"))
    return text


_OBJECTS = {"priority": "PriorityClass", "service_account": "ServiceAccount"}


def _amount(name: str, written: object) -> str:
    if isinstance(written, bool) or not isinstance(written, (int, float, str)):
        raise Wrong(mistakes.OptionType(name, "a number, or a text with a unit", said(written)))
    text = str(written)
    try:
        amount = quantity(text)
    except GrammarError as error:
        raise Wrong(mistakes.BadQuantity(name, text, error.expected)) from None
    if amount <= 0:
        raise Wrong(mistakes.BadQuantity(name, text, "an amount above 0"))
    if name == "memory" and amount < _LEAST_MEMORY:
        raise Wrong(mistakes.BadQuantity(name, text, f"4Mi or more: this is {amount:f} bytes"))
    return text


#: No container starts with less. Source: containerd and Docker, 4 and 6 MiB.
_LEAST_MEMORY = 4 * 1024 * 1024


def _node(name: str, written: object) -> Mapping[str, str]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        if is_value(value):
            raise Wrong(mistakes.RunTimeOption(f"{name}[{key!r}]"), f"item:{key}")
        try:
            return next(iter(node_selector({key: value}).items()))
        except GrammarError as error:
            part = "key" if error.text == key else "item"
            raise Wrong(mistakes.BadNode(error.text, error.expected), f"{part}:{key}") from None

    return dict(_entries(name, written, "a dict of labels", entry))


def _where(name: str, written: object) -> Any:
    text = _text(name, written)
    try:
        return where_terms(text)
    except GrammarError as error:
        found = f"`{error.found}`" if error.found else "the end"
        raise Wrong(mistakes.BadWhere(error.expected, found, error.start + 1)) from None


def _tolerations(name: str, written: object) -> tuple[Mapping[str, str], ...]:
    if not isinstance(written, (list, tuple)):
        raise Wrong(mistakes.OptionType(name, "a list", said(written)))
    try:
        return tuple(toleration(one) for one in cast("list[object]", written))
    except GrammarError as error:
        raise Wrong(mistakes.BadToleration(error.text, error.expected)) from None


def _env(name: str, written: object) -> tuple[tuple[str, str], ...]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        if not isinstance(key, str) or not is_env_name(key):
            raise Wrong(mistakes.BadEnvName(str(key)), f"key:{key}")
        if is_value(value) or (isinstance(value, str) and TOKEN.search(value)):
            raise Wrong(mistakes.RunTimeOption(f"{name}[{key!r}]"), f"item:{key}")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            finding = mistakes.OptionType(f"{name}[{key!r}]", "a text or a number", said(value))
            raise Wrong(finding, f"item:{key}")
        if "{{" in str(value):
            finding = mistakes.OptionType(f"{name}[{key!r}]", "a text without `{{`", said(value))
            raise Wrong(finding, f"item:{key}")
        return key, str(value)

    return tuple(_entries(name, written, "a dict of texts", entry))


def _secrets(name: str, written: object) -> tuple[tuple[str, Secret], ...]:

    def entry(key: Any, value: Any) -> tuple[str, Secret]:
        if not isinstance(key, str) or not is_env_name(key):
            raise Wrong(mistakes.BadEnvName(str(key)), f"key:{key}")
        if not isinstance(value, Secret):
            finding = mistakes.OptionType(f"{name}[{key!r}]", "Secret(name, key)", type(value).__name__)
            raise Wrong(finding, f"item:{key}")
        if not is_dns_subdomain(str(value.name)):
            raise Wrong(mistakes.BadObjectName(repr(value.name), "a Secret"), f"item:{key}")
        if not re.fullmatch(r"[-._a-zA-Z0-9]+", str(value.key)):
            raise Wrong(mistakes.BadObjectName(repr(value.key), "a key of a Secret"), f"item:{key}")
        return key, value

    return tuple(_entries(name, written, "a dict of Secret(name, key)", entry))


def _unmountable(path: object) -> str:
    """Why nothing can be mounted at a path, or nothing."""
    if not isinstance(path, str) or not path.startswith("/"):
        return "must begin with `/`"
    if ":" in path or "/../" in f"{path}/":
        return "must hold neither `:` nor `..`"
    if not path.strip("/"):
        return "would hide the files of the image"
    return "flowdsl keeps inputs and outputs there" if f"{path}/".startswith("/flowdsl/") else ""


def _mounts(name: str, written: object) -> tuple[tuple[Mount, Volume], ...]:
    taken: dict[str, str] = {}

    def entry(path: Any, what: Any) -> tuple[Mount, Volume]:
        reason = _unmountable(path)
        if not reason and (other := taken.setdefault(path.rstrip("/"), path)) is not path:
            reason = f"`{other}` is the same place"
        if reason:
            raise Wrong(mistakes.BadMountPath(str(path), reason), f"key:{path}")
        if isinstance(what, Volume):
            return Mount(what.name, path, None, what.read_only), what
        if type(what) is VolumePath:
            volume = what.volume
            if is_value(what.text) or "{{" in what.text:
                raise Wrong(mistakes.RunTimeOption(f"{name}[{path!r}]"), f"item:{path}")
            folder = what.text.strip("/")
            if ".." in folder.split("/"):
                raise Wrong(mistakes.OutsideVolume(what.text, str(volume.name)), f"item:{path}")
            return Mount(volume.name, path, folder, volume.read_only), volume
        finding = mistakes.OptionType(f"{name}[{path!r}]", "a Volume", type(what).__name__)
        raise Wrong(finding, f"item:{path}")

    return tuple(_entries(name, written, "a dict of paths to volumes", entry))


def _retries(name: str, written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or written < 0:
        raise Wrong(mistakes.OptionType(name, "a whole number of at least 0", said(written)))
    return written


def seconds(name: str, written: object) -> float:
    """A duration option in seconds; raises `Wrong`."""
    if isinstance(written, bool) or not isinstance(written, (int, str)):
        raise Wrong(mistakes.OptionType(name, "a text such as '6h' or whole seconds", said(written)))
    try:
        found = duration(str(written))
    except GrammarError as error:
        raise Wrong(mistakes.BadDuration(name, str(written), error.expected)) from None
    if found <= 0:
        raise Wrong(mistakes.BadDuration(name, str(written), "a time above 0"))
    return found


def _timeout(name: str, written: object) -> str:
    seconds(name, written)
    return f"{written}s" if isinstance(written, int) or str(written).isdigit() else str(written)


_READERS: dict[str, Reader] = {
    "image": _image,
    "cpu": _amount,
    "memory": _amount,
    "gpu": gpu_request,
    "node": _node,
    "where": _where,
    "tolerations": _tolerations,
    "priority": _object_name,
    "env": _env,
    "secrets": _secrets,
    "mounts": _mounts,
    "retries": _retries,
    "timeout": _timeout,
}
STEP_OPTIONS = tuple(_READERS)


def pipeline_options(
    options: Mapping[str, Any], place: Callable[[str], Place]
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The options of a pipeline in one form, and what is wrong with them."""
    found: dict[str, Any] = {}
    diagnostics: list[Diagnostic] = []
    for name, written in options.items():
        try:
            found[name] = _read(name, written, _PIPELINE_READERS, tuple(_PIPELINE_READERS))
        except* Wrong as group:
            diagnostics.extend(_reported(wrong, place(name)) for wrong in _each(group))
    return found, diagnostics


def _count(name: str, written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or written < 1:
        raise Wrong(mistakes.OptionType(name, "a whole number of at least 1", said(written)))
    return written


def _name(name: str, written: object) -> str:
    text = _text(name, written)
    if not text.isascii() or not any(character.isalnum() for character in text):
        raise Wrong(mistakes.BadTaskName(text, "a workflow", "Kubernetes takes letters and digits of ASCII"))
    return text


def _whole_seconds(name: str, written: object) -> int:
    return max(1, round(seconds(name, written)))


def _texts(name: str, written: object) -> dict[str, str]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        if is_value(value) or (isinstance(value, str) and TOKEN.search(value)):
            raise Wrong(mistakes.RunTimeOption(f"{name}[{key!r}]"), f"item:{key}")
        if not isinstance(value, str):
            raise Wrong(mistakes.OptionType(f"{name}[{key!r}]", "a text", said(value)), f"item:{key}")
        if not isinstance(key, str) or not is_qualified_name(key):
            finding = mistakes.BadLabelText(str(key), f"the key of {_ENTRIES[name]}")
            raise Wrong(finding, f"key:{key}")
        if name == "labels" and not is_label_value(value):
            raise Wrong(mistakes.BadLabelText(value, "the value of a label"), f"item:{key}")
        return key, value

    return dict(_entries(name, written, "a dict of texts", entry))


_ENTRIES = {"labels": "a label", "annotations": "an annotation"}

_PIPELINE_READERS: dict[str, Reader] = {
    "name": _name,
    "parallelism": _count,
    "timeout": _whole_seconds,
    "ttl": _whole_seconds,
    "priority": _object_name,
    "service_account": _object_name,
    "labels": _texts,
    "annotations": _texts,
}
