"""The options of a step or pipeline, judged and in one form.

Each option has one reader here: it takes what the user wrote and answers what the IR wants, or raises
`Wrong`. A new option is a row in `_READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flowdsl.compiler import mistakes
from flowdsl.compiler.ir import Mount, Placement
from flowdsl.compiler.placement import gpu_terms, gpu_toleration, node_selector, toleration, where_terms
from flowdsl.diagnostic import Diagnostic, Finding
from flowdsl.gpu import GPU
from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_env_name
from flowdsl.grammar.quantity import quantity
from flowdsl.place import Place
from flowdsl.value import is_value
from flowdsl.volume import Secret, Volume, VolumePath

NO_PLACEMENT = Placement({}, (), (), None)


class Wrong(Exception):
    """An option that cannot be used as written."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


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
        reader = _READERS.get(name)
        if reader is None:
            diagnostics.append(Diagnostic(mistakes.UnknownOption(name, known), place(name)))
            continue
        try:
            if is_value(written):
                raise Wrong(mistakes.RunTimeOption(name))
            found[name] = reader(name, written)
        except Wrong as wrong:
            diagnostics.append(Diagnostic(wrong.finding, place(name)))
    return _settings(found), diagnostics


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


_VENDORS = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "intel": "gpu.intel.com/i915",
    "habana": "habana.ai/gaudi",
    "google": "google.com/tpu",
}


def resource_name(gpu: GPU) -> str:
    """The extended resource that a GPU request asks for."""
    if gpu.resource is not None:
        return gpu.resource
    if gpu.mig is not None:
        return f"nvidia.com/mig-{gpu.mig}"
    return _VENDORS[gpu.vendor]


def _text(name: str, written: object) -> str:
    if not isinstance(written, str) or not written.strip():
        raise Wrong(mistakes.OptionType(name, "a text", repr(written)))
    if "{{" in written:
        raise Wrong(mistakes.OptionType(name, "a text without `{{`", repr(written)))
    return written


def _amount(name: str, written: object) -> str:
    if isinstance(written, bool) or not isinstance(written, (int, float, str)):
        raise Wrong(mistakes.OptionType(name, "a number or a text such as '4Gi'", repr(written)))
    text = str(written)
    try:
        amount = quantity(text)
    except GrammarError as error:
        raise Wrong(mistakes.BadQuantity(name, text, error.expected)) from None
    if amount <= 0:
        raise Wrong(mistakes.BadQuantity(name, text, "an amount above 0"))
    return text


def _gpu(name: str, written: object) -> GPU:
    gpu = written
    if isinstance(written, int) and not isinstance(written, bool):
        gpu = GPU(written)
    if not isinstance(gpu, GPU):
        raise Wrong(mistakes.OptionType(name, "a whole number or GPU(...)", repr(written)))
    if isinstance(gpu.count, bool) or not isinstance(gpu.count, int) or gpu.count < 0:
        raise Wrong(mistakes.BadGpuCount(repr(gpu.count)))
    if gpu.resource is None and gpu.vendor not in _VENDORS:
        raise Wrong(mistakes.UnknownVendor(str(gpu.vendor), tuple(_VENDORS)))
    if gpu.resource is not None and "/" not in gpu.resource:
        raise Wrong(mistakes.BadGpuResource(gpu.resource))
    if gpu.mig is not None and (gpu.resource is not None or gpu.vendor != "nvidia"):
        raise Wrong(mistakes.MigVendor())
    for product in gpu_products(gpu):
        if "*" in product:
            raise Wrong(mistakes.ProductPattern(product))
    try:
        gpu_terms(gpu)
    except GrammarError as error:
        raise Wrong(mistakes.BadQuantity("memory", str(gpu.memory), error.expected)) from None
    return gpu


def gpu_products(gpu: GPU) -> tuple[str, ...]:
    """The products a GPU request names."""
    if gpu.product is None:
        return ()
    return (gpu.product,) if isinstance(gpu.product, str) else tuple(gpu.product)


def _node(name: str, written: object) -> Mapping[str, str]:
    if not isinstance(written, Mapping):
        raise Wrong(mistakes.OptionType(name, "a dict of labels", repr(written)))
    try:
        return node_selector(written)
    except GrammarError as error:
        raise Wrong(mistakes.BadNode(error.text, error.expected)) from None


def _where(name: str, written: object) -> Any:
    text = _text(name, written)
    try:
        return where_terms(text)
    except GrammarError as error:
        pointer = " " * error.start + "^" * max(1, error.end - error.start)
        raise Wrong(mistakes.BadWhere(text, pointer, str(error))) from None


def _tolerations(name: str, written: object) -> tuple[Mapping[str, str], ...]:
    if isinstance(written, (str, Mapping)) or not isinstance(written, (list, tuple)):
        raise Wrong(mistakes.OptionType(name, "a list", repr(written)))
    try:
        return tuple(toleration(one) for one in written)
    except GrammarError as error:
        raise Wrong(mistakes.BadToleration(error.text, error.expected)) from None


def _env(name: str, written: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(written, Mapping):
        raise Wrong(mistakes.OptionType(name, "a dict of texts", repr(written)))
    found = []
    for key, value in written.items():
        if not isinstance(key, str) or not is_env_name(key):
            raise Wrong(mistakes.BadEnvName(str(key)))
        if is_value(value):
            raise Wrong(mistakes.RunTimeOption(f"{name}[{key!r}]"))
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Wrong(mistakes.OptionType(f"{name}[{key!r}]", "a text or a number", repr(value)))
        if "{{" in str(value):
            raise Wrong(mistakes.OptionType(f"{name}[{key!r}]", "a text without `{{`", repr(value)))
        found.append((key, str(value)))
    return tuple(found)


def _secrets(name: str, written: object) -> tuple[tuple[str, Secret], ...]:
    if not isinstance(written, Mapping):
        raise Wrong(mistakes.OptionType(name, "a dict of Secret(name, key)", repr(written)))
    for key, value in written.items():
        if not isinstance(key, str) or not is_env_name(key):
            raise Wrong(mistakes.BadEnvName(str(key)))
        if not isinstance(value, Secret):
            raise Wrong(mistakes.OptionType(f"{name}[{key!r}]", "Secret(name, key)", type(value).__name__))
    return tuple(written.items())


def _mounts(name: str, written: object) -> tuple[tuple[Mount, Volume], ...]:
    if not isinstance(written, Mapping):
        raise Wrong(mistakes.OptionType(name, "a dict of paths to volumes", repr(written)))
    found = []
    for path, what in written.items():
        if not isinstance(path, str) or not path.startswith("/") or ":" in path or "/../" in f"{path}/":
            raise Wrong(mistakes.BadMountPath(str(path)))
        if isinstance(what, Volume):
            found.append((Mount(what.name, path, None, what.read_only), what))
        elif type(what) is VolumePath:
            volume, folder = what.volume, what.text.strip("/")
            if "{{" in folder:
                raise Wrong(mistakes.RunTimeOption(f"{name}[{path!r}]"))
            found.append((Mount(volume.name, path, folder, volume.read_only), volume))
        else:
            raise Wrong(mistakes.OptionType(f"{name}[{path!r}]", "a Volume", type(what).__name__))
    return tuple(found)


def _retries(name: str, written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or written < 0:
        raise Wrong(mistakes.OptionType(name, "a whole number of at least 0", repr(written)))
    return written


def seconds(name: str, written: object) -> float:
    """A duration option in seconds; raises `Wrong`."""
    if isinstance(written, bool) or not isinstance(written, (int, str)):
        raise Wrong(mistakes.OptionType(name, "a text such as '6h' or whole seconds", repr(written)))
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


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "image": _text,
    "cpu": _amount,
    "memory": _amount,
    "gpu": _gpu,
    "node": _node,
    "where": _where,
    "tolerations": _tolerations,
    "priority": _text,
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
        reader = _PIPELINE_READERS.get(name)
        if reader is None:
            known = tuple(_PIPELINE_READERS)
            diagnostics.append(Diagnostic(mistakes.UnknownOption(name, known), place(name)))
            continue
        try:
            found[name] = reader(name, written)
        except Wrong as wrong:
            diagnostics.append(Diagnostic(wrong.finding, place(name)))
    return found, diagnostics


def _count(name: str, written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or written < 1:
        raise Wrong(mistakes.OptionType(name, "a whole number of at least 1", repr(written)))
    return written


def _whole_seconds(name: str, written: object) -> int:
    return max(1, round(seconds(name, written)))


def _texts(name: str, written: object) -> dict[str, str]:
    if not isinstance(written, Mapping):
        raise Wrong(mistakes.OptionType(name, "a dict of texts", repr(written)))
    for key, value in written.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise Wrong(mistakes.OptionType(name, "a dict of texts", f"{key!r}: {value!r}"))
    return dict(written)


_PIPELINE_READERS: dict[str, Callable[[str, Any], Any]] = {
    "name": _text,
    "parallelism": _count,
    "timeout": _whole_seconds,
    "ttl": _whole_seconds,
    "priority": _text,
    "service_account": _text,
    "labels": _texts,
    "annotations": _texts,
}
