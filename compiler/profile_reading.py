"""Reads the profile of a cluster by a closed schema, and reports each mistake with its table and key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from flowdsl.compiler.findings.profile import BadSetting, OwnShortName, UnknownCluster, UnknownSetting
from flowdsl.compiler.options.placement import LABELS, toleration
from flowdsl.compiler.profile import Claim, Pool, Product, Profile, Sharing, Spot
from flowdsl.compiler.schema.versions import VERSIONS
from flowdsl.diagnostic import near
from flowdsl.grammar.devices import VENDORS
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_dns_subdomain, is_label_value, is_qualified_name
from flowdsl.grammar.quantity import quantity
from flowdsl.values.lift import is_dict
from flowdsl.volume import AccessMode

if TYPE_CHECKING:
    from decimal import Decimal

T = TypeVar("T")
Wrong = BadSetting | OwnShortName | UnknownCluster | UnknownSetting

_MEBI = 1024 * 1024


class _Bad(Exception):
    """A value that cannot be used: what is expected, and an example."""

    def __init__(self, want: str, example: str) -> None:
        super().__init__(want)
        self.want = want
        self.example = example


class _Field(NamedTuple):
    """How the value of a key is read, and the field of the profile for it, if its name differs."""

    read: Callable[[Any], Any]
    field: str = ""


def profile(
    clusters: Mapping[str, object], name: str, file: str, within: str = "clusters"
) -> tuple[Profile, list[Wrong]]:
    """The profile of a cluster among the tables of a file, which are `within` one, and the errors in it.

    Where there is no file, `file` is the folder in which the search for it began.
    """
    found: list[Wrong] = []
    if name not in clusters:
        return Profile(name), [UnknownCluster(file, name, tuple(clusters))]
    reader = _Reader(found)
    at = f"{within}.{name}"
    given = reader.table(at, clusters[name], _CLUSTER)
    for key, (tabled, fields, make) in _TABLES.items():
        if key in given:
            read = reader.each if tabled else reader.one
            raw = given.pop(key)
            none = key == "spot" and raw is False
            if key == "share" and is_dict(raw):
                found += [
                    UnknownSetting(f"{at}.share", one, tuple(VENDORS)) for one in raw if one not in VENDORS
                ]
                raw = {one: table for one, table in raw.items() if one in VENDORS}
            part: Any = raw if none else read(f"{at}.{key}", raw, fields, make)
            if part is not None:
                given[_RENAMED.get(key, key)] = part
    made = Profile(name, **given)
    for short in made.labels:
        meant = None if short in LABELS or "/" in short else near(short, LABELS, 0.8)
        if meant is not None:
            found.append(OwnShortName(f"{at}.labels", short, meant))
    for product, one in made.products.items():
        if not all(map(is_label_value, one.labels)):
            want = "named as the nodes are labelled, or have a `label`"
            found.append(BadSetting(f"{at}.products", product, want, repr(product), '{ label = "..." }'))
    for name_of_pool, pool in made.pools.items():
        for product in pool.products or ():
            if product not in made.products:
                want = f"names of [{at}.products]"
                shown = ", ".join(made.products) or f"[{at}.products.{product}]"
                found.append(BadSetting(f"{at}.pools.{name_of_pool}", "products", want, repr(product), shown))
    return made, found


class _Reader:
    """Reads tables, and collects the errors in them."""

    def __init__(self, found: list[Wrong]) -> None:
        self.found = found

    def table(self, at: str, given: object, fields: Mapping[str, _Field]) -> dict[str, Any]:
        """The fields of a table."""
        made: dict[str, Any] = {}
        if not isinstance(given, dict):
            self._whole(at, given, f"[{at}]")
            return made
        for key, value in cast("dict[str, Any]", given).items():
            field = fields.get(key)
            if field is None:
                self.found.append(UnknownSetting(at, key, tuple(fields)))
                continue
            try:
                made[field.field or key] = field.read(value)
            except _Bad as bad:
                self._bad(at, key, value, bad)
        return made

    def one(self, at: str, given: object, fields: Mapping[str, _Field], make: Callable[..., T]) -> T | None:
        """The object that a table describes, or None if it is invalid."""
        before = len(self.found)
        made = self.table(at, given, fields)
        needed = _NEEDED.get(make, "")
        if len(self.found) == before and needed and needed not in made:
            self._bad(at, needed, None, _Bad("given", _EXAMPLES[needed]))
        return make(**made) if len(self.found) == before else None

    def each(
        self, at: str, given: object, fields: Mapping[str, _Field], make: Callable[..., T]
    ) -> dict[str, T]:
        """The objects that the subtables of a table describe, by name; a list of names stands for empty ones."""
        names = _several(given) if make is _product else []
        tables: dict[str, object] = {str(name): {} for name in names}
        if isinstance(given, dict):
            tables = cast("dict[str, object]", given)
        elif not names:
            self._whole(at, given, f"[{at}.NAME]")
        found: dict[str, T] = {}
        for name, table in tables.items():
            made = self.one(f"{at}.{name}", table, fields, _named(make, name))
            if made is not None:
                found[name] = made
        return found

    def _whole(self, at: str, value: object, example: str) -> None:
        table, _, key = at.rpartition(".")
        self._bad(table, key, value, _Bad("a table", example))

    def _bad(self, table: str, key: str, value: object, bad: _Bad) -> None:
        self.found.append(BadSetting(table, key, bad.want, _said(value), bad.example))


def _several(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _said(value: object) -> str:
    if value is None:
        return "left out"
    shown = repr(value)
    return shown if len(shown) < 60 else f"{shown[:56]} ..."


# --- values ----------------------------------------------------------------------------------------


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Bad("a text", '"..."')
    return value


def _version(value: object) -> str:
    if value not in VERSIONS:
        raise _Bad(f"one of {', '.join(VERSIONS)}, in quotes", 'argo = "4.1"')
    return str(value)


def _object(value: object) -> str:
    if not isinstance(value, str) or not is_dns_subdomain(value):
        raise _Bad("the name of an object of the cluster", 'it as `kubectl get` shows it: "ml-team"')
    return value


def _objects(value: object) -> tuple[str, ...]:
    return tuple(_object(one) for one in _list(value))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise _Bad("a list", '["...", "..."]')
    return cast("list[object]", value)


def _names(value: object) -> tuple[str, ...]:
    return tuple(_text(one) for one in _list(value))


def _label_texts(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else _list(value)
    if not texts or not all(isinstance(one, str) and one and is_label_value(one) for one in texts):
        raise _Bad("the value of a node label, or a list of them", '"NVIDIA-A100-SXM4-40GB"')
    return tuple(map(str, texts))


def _keys(value: object) -> dict[str, str]:
    keys = cast("dict[str, object]", value) if isinstance(value, dict) else {"": None}
    if not all(isinstance(key, str) and is_qualified_name(key) for key in keys.values()):
        example = 'labels = {"gpu.product" = "cloud.google.com/gke-accelerator"}'
        raise _Bad("a table from the names in `where` to the keys of labels", example)
    return {name: str(key) for name, key in keys.items()}


def _labels(value: object) -> dict[str, str]:
    labels = cast("dict[str, object]", value) if isinstance(value, dict) else {"": value}
    for key, text in labels.items():
        if not is_qualified_name(key) or not isinstance(text, str) or not is_label_value(text):
            raise _Bad("a table of labels of nodes, with texts", 'labels = {pool = "gpu-new"}')
    return {key: str(text) for key, text in labels.items()}


def _label(value: object) -> tuple[str, str]:
    key, equals, text = value.partition("=") if isinstance(value, str) else ("", "", "")
    if not equals or not is_qualified_name(key) or not is_label_value(text):
        raise _Bad("a label of nodes", 'label = "karpenter.sh/capacity-type=spot"')
    return key, text


def _tolerations(value: object) -> tuple[dict[str, str], ...]:
    """The tolerations of taints. Soft ones too: a pod that tolerates them is not kept away."""
    try:
        return tuple(toleration(_text(one)) for one in _list(value))
    except GrammarError:
        example = '["nvidia.com/gpu=present:NoSchedule"]'
        raise _Bad("a list of taints as kubectl writes them", example) from None


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Bad("a whole number from 0", "8")
    return value


def _times(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _Bad("a whole number from 1", "4")
    return value


def _quantity(value: object) -> Decimal:
    if not isinstance(value, bool) and isinstance(value, (int, float, str)):
        try:
            return quantity(str(value))
        except GrammarError:
            pass
    raise _Bad("an amount as Kubernetes reads it", '96 or "680Gi"')


def _memory(value: object) -> Decimal:
    """The memory of a node: a plain number lacks its unit, since no node has so few bytes."""
    found = _quantity(value)
    if found < _MEBI:
        raise _Bad("an amount of memory, with its unit", '"680Gi"')
    return found


def _mebibytes(value: object) -> int:
    """An integer in MiB, the unit in which node labels give the memory of GPUs."""
    found = math.floor(_quantity(value) / _MEBI)
    if found < 1:
        raise _Bad("an amount of memory", '"40Gi"')
    return found


def _resource(value: object) -> str:
    if not isinstance(value, str) or "/" not in value or not is_qualified_name(value):
        raise _Bad("the full name of an extended resource", 'resource = "nvidia.com/gpu.shared"')
    return value


def _mode(value: object) -> str:
    known: tuple[str, ...] = get_args(AccessMode)
    if value not in known:
        raise _Bad("an access mode", f"one of {', '.join(known)}")
    return str(value)


def _folder(value: object) -> tuple[str, str]:
    volume, _, folder = value.partition("/") if isinstance(value, str) else ("", "", "")
    if not is_dns_subdomain(volume) or ".." in folder.split("/"):
        raise _Bad("a volume and a folder on it", 'checkpoints = "datasets/checkpoints"')
    return volume, folder.strip("/")


def _any(value: Any) -> Any:
    return value


# --- tables ----------------------------------------------------------------------------------------


def _product(name: str, labels: tuple[str, ...] = (), memory: int | None = None) -> Product:
    return Product(labels or (name,), memory)


def _claim(name: str, claim: str = "", mode: str | None = None) -> Claim:
    return Claim(claim or name, mode)


def _named(make: Callable[..., T], name: str) -> Callable[..., T]:
    """A constructor with the name of what it makes already passed."""
    return partial(make, name) if make in (_product, _claim) else make


_CLUSTER = {
    "argo": _Field(_version),
    "context": _Field(_text),
    "namespace": _Field(_object),
    "labels": _Field(_keys),
    "gpu-taints": _Field(_tolerations, "tolerations"),
    "products": _Field(_any),
    "pools": _Field(_any),
    "volumes": _Field(_any),
    "queues": _Field(_objects),
    "spot": _Field(_any),
    "share": _Field(_any),
    "checkpoints": _Field(_folder),
}
_TABLES: dict[str, tuple[bool, dict[str, _Field], Callable[..., Any]]] = {
    "products": (True, {"label": _Field(_label_texts, "labels"), "memory": _Field(_mebibytes)}, _product),
    "pools": (
        True,
        {
            "labels": _Field(_labels),
            "taints": _Field(_tolerations, "tolerations"),
            "products": _Field(_names),
            "gpus": _Field(_count),
            "cpu": _Field(_quantity),
            "memory": _Field(_memory),
        },
        Pool,
    ),
    "volumes": (True, {"claim": _Field(_object), "mode": _Field(_mode)}, _claim),
    "spot": (False, {"label": _Field(_label), "taints": _Field(_tolerations, "tolerations")}, Spot),
    "share": (
        True,
        {
            "resource": _Field(_resource),
            "unit": _Field(_mebibytes),
            "replicas": _Field(_times),
            "labels": _Field(_labels),
        },
        Sharing,
    ),
}
_RENAMED = {"share": "sharing"}
_NEEDED: dict[Callable[..., Any], str] = {Spot: "label", Sharing: "resource"}
_EXAMPLES = {
    "label": 'label = "karpenter.sh/capacity-type=spot"',
    "resource": 'resource = "nvidia.com/gpu.shared"',
}
