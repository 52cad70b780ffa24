"""Reads the profile of a cluster by a closed schema, and reports each mistake with its table and key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast, get_args

from flowdsl.compiler.argo_versions import LATEST, VERSIONS
from flowdsl.compiler.findings.profile import BadSetting, OwnShortName, UnknownCluster, UnknownSetting
from flowdsl.compiler.options.placement import LABELS
from flowdsl.compiler.profile import Claim, Pool, Product, Profile, Sharing, Spot
from flowdsl.compiler.taints import toleration
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.diagnostic import near
from flowdsl.grammar.devices import VENDORS
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.image import fault as image_fault
from flowdsl.grammar.image import parted
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_dns_subdomain, is_label_value, is_qualified_name
from flowdsl.grammar.quantity import quantity
from flowdsl.volume import AccessMode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

Wrong = BadSetting | OwnShortName | UnknownCluster | UnknownSetting

_MEBI = 1024 * 1024
_FEW = 3
"""The most keys of a table that are named in a message."""
_LABEL = 'label = "karpenter.sh/capacity-type=spot"'
_RESOURCE = 'resource = "nvidia.com/gpu.shared"'


class _Bad(Exception):
    """A value that cannot be used: what is expected, and an example; `key`: its key is what is wrong."""

    def __init__(self, want: str, example: str, key: str | None = None) -> None:
        super().__init__(want)
        self.want = want
        self.example = example
        self.key = key


class _Field(NamedTuple):
    """How the value of a key is read, and the field of the profile for it, if its name differs."""

    read: Callable[[Any], object]
    field: str = ""


class _Entries(NamedTuple):
    """How a table with any keys is read: each entry as a pair of texts; an example of the table."""

    read: Callable[[str, object], tuple[str, str]]
    example: str


class _Table(NamedTuple):
    """How a table is read: its keys, and what is made of their values.

    `needed`: keys that have to be there, each with an example. `or_false`: false may stand in its place.
    """

    keys: Mapping[str, _Field | _Entries]
    make: Callable[..., object]
    needed: Mapping[str, str] = {}
    or_false: bool = False


class _Tables(NamedTuple):
    """How the tables in a table are read, each by its name, which `make` takes first.

    `names`: the only ones that there may be. `or_names`: a list of names may stand for tables without keys.
    """

    keys: Mapping[str, _Field | _Entries]
    make: Callable[..., object]
    field: str = ""
    needed: Mapping[str, str] = {}
    names: tuple[str, ...] = ()
    or_names: bool = False


_Kind = _Field | _Entries | _Table | _Tables


def profile(
    clusters: Mapping[str, object], name: str, file: str, within: str = "clusters"
) -> tuple[Profile, list[Wrong]]:
    """The profile of a cluster among the tables of a file, which are `within` one, and the errors in it.

    Where there is no file, `file` is the folder in which the search for it began.
    """
    found: list[Wrong] = []
    if name not in clusters:
        return Profile(name), [UnknownCluster(file, name, tuple(clusters))]
    at = f"{within}.{name}"
    made = Profile(name, **_Reader(found).values(at, clusters[name], _CLUSTER))
    found.extend(_beside_each_other(made, at))
    others = [_listed(table) for other, table in clusters.items() if other != name]
    return made._replace(elsewhere=tuple(dict.fromkeys(one for listed in others for one in listed))), found


def _listed(table: object) -> Iterator[str]:
    """The names of the products in the profile of a cluster, and their labels, as far as it can be read."""
    products: object = table.get("products") if is_mapping(table) else None
    if is_list(products):
        yield from (one for one in products if isinstance(one, str))
    elif is_mapping(products):
        for name, product in products.items():
            labels = product.get("label") if is_mapping(product) else None
            texts = [name, *(labels if is_list(labels) else [labels])]
            yield from (one for one in texts if isinstance(one, str))


def _beside_each_other(made: Profile, at: str) -> Iterator[Wrong]:
    """What is wrong with names in a profile: short ones that exist already, and products that do not."""
    for short in made.labels:
        meant = None if short in LABELS or "/" in short else near(short, LABELS, 0.8)
        if meant is not None:
            yield OwnShortName(f"{at}.labels", short, meant)
    for product, one in made.products.items():
        if not all(map(is_label_value, one.labels)):
            want = "named as the nodes are labelled, or have a `label`"
            yield BadSetting(f"{at}.products", product, want, repr(product), '{ label = "..." }')
    for name, pool in made.pools.items():
        for product in pool.products or ():
            if product not in made.products:
                want = f"names of [{at}.products]"
                shown = ", ".join(made.products) or f"[{at}.products.{product}]"
                yield BadSetting(f"{at}.pools.{name}", "products", want, repr(product), shown)


class _Reader:
    """Reads tables, and collects the errors in them."""

    def __init__(self, found: list[Wrong]) -> None:
        self.found = found

    def values(self, at: str, given: object, keys: Mapping[str, _Kind]) -> dict[str, Any]:
        """What a table says, by the fields for its keys."""
        made: dict[str, Any] = {}
        if not is_mapping(given):
            known = f", with {' and '.join(f'`{key}`' for key in keys)}" if len(keys) <= _FEW else ""
            self._whole(at, given, f"[{at}]{known}")
            return made
        for key, value in given.items():
            match keys.get(key):
                case None:
                    self.found.append(UnknownSetting(at, key, tuple(keys)))
                case _Field(read, field):
                    try:
                        made[field or key] = read(value)
                    except _Bad as bad:
                        self._bad(at, key, value, bad)
                case _Entries() as kind:
                    made[key] = self._entries(f"{at}.{key}", value, kind)
                case _Table(or_false=True) if value is False:
                    made[key] = False
                case _Table() as kind:
                    if (part := self._one(f"{at}.{key}", value, kind)) is not None:
                        made[key] = part
                case _Tables() as kind:
                    made[kind.field or key] = self._each(f"{at}.{key}", value, kind)
        return made

    def _entries(self, at: str, given: object, kind: _Entries) -> dict[str, str]:
        """The entries of a table with any keys."""
        if not is_mapping(given):
            self._whole(at, given, kind.example)
            return {}
        found: dict[str, str] = {}
        for key, value in given.items():
            try:
                name, text = kind.read(key, value)
                found[name] = text
            except _Bad as bad:
                self._bad(at, key, value if bad.key is None else bad.key, bad)
        return found

    def _one(self, at: str, given: object, kind: _Table | _Tables, *name: str) -> object | None:
        """The object that a table describes, or None if it is invalid."""
        before = len(self.found)
        made = self.values(at, given, kind.keys)
        for key, example in kind.needed.items():
            if len(self.found) == before and key not in made:
                self._bad(at, key, None, _Bad("given", example))
        return kind.make(*name, **made) if len(self.found) == before else None

    def _each(self, at: str, given: object, kind: _Tables) -> dict[str, object]:
        """The objects that the tables in a table describe, by name."""
        tables: dict[str, object] = {}
        if is_mapping(given):
            tables = given
        elif kind.or_names and is_list(given) and given:
            tables = {str(name): {} for name in given}
        else:
            self._whole(at, given, f"[{at}.NAME]")
        found: dict[str, object] = {}
        for name, table in tables.items():
            if kind.names and name not in kind.names:
                self.found.append(UnknownSetting(at, name, kind.names))
            elif (made := self._one(f"{at}.{name}", table, kind, name)) is not None:
                found[name] = made
        return found

    def _whole(self, at: str, value: object, example: str) -> None:
        table, _, key = at.rpartition(".")
        self._bad(table, key, value, _Bad("a table", example))

    def _bad(self, table: str, key: str, value: object, bad: _Bad) -> None:
        self.found.append(BadSetting(table, key, bad.want, _said(value), bad.example))


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
        raise _Bad(f"one of {', '.join(VERSIONS)}, in quotes", f'argo = "{LATEST}"')
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


def _short_name(name: str, key: object) -> tuple[str, str]:
    """A name in `where`, and the key of the label that it means."""
    if not isinstance(key, str) or not is_qualified_name(key):
        raise _Bad("the key of a label", '"cloud.google.com/gke-accelerator"')
    return name, key


def _node_label(key: str, text: object) -> tuple[str, str]:
    """A label of nodes."""
    if not is_qualified_name(key):
        raise _Bad("the key of a label", '"cloud.google.com/gke-nodepool"', key)
    if not isinstance(text, str) or not is_label_value(text):
        raise _Bad("the value of a label, which is a text", '"gpu-new"')
    return key, text


def _label(value: object) -> tuple[str, str]:
    key, equals, text = value.partition("=") if isinstance(value, str) else ("", "", "")
    if not equals or not is_qualified_name(key) or not is_label_value(text):
        raise _Bad("a label of nodes", _LABEL)
    return key, text


def _tolerations(value: object) -> tuple[dict[str, str], ...]:
    """The tolerations of taints. Soft ones too: a pod that tolerates them is not kept away."""
    try:
        return tuple(toleration(_text(one)) for one in _list(value))
    except GrammarError as error:
        want = f"a list of taints as kubectl writes them, with {error.expected}"
        raise _Bad(want, '["nvidia.com/gpu=present:NoSchedule"]') from None


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        quoted = isinstance(value, str) and value.isdecimal()
        raise _Bad("a whole number from 0", f"{value}, without quotes" if quoted else "8")
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
        raise _Bad("the full name of an extended resource", _RESOURCE)
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


def _registry(origin: str, mirror: object) -> tuple[str, str]:
    """The prefix of images, and what the cluster has in its place."""
    return _prefix(origin, origin), _prefix(mirror, None)


def _prefix(text: object, key: str | None) -> str:
    """A registry, or a folder or an image in one, without a tag; `key`: the text if it is a key."""
    image = f"{text}/image"
    registry, path = parted(image)
    if not isinstance(text, str) or not registry or image_fault(image):
        bare = str(text).rpartition("://")[2].rstrip("/")
        meant = bare if parted(f"{bare}/image")[0] else f"docker.io/{bare}"
        known = not image_fault(f"{meant}/image")
        raise _Bad(
            "a registry, alone or with a folder in it",
            f'"{meant if known else "registry.example.com/hub"}"',
            key,
        )
    return f"{registry}/{path}".removesuffix("/image")


# --- tables ----------------------------------------------------------------------------------------


def _product(name: str, labels: tuple[str, ...] = (), memory: int | None = None) -> Product:
    return Product(labels or (name,), memory)


def _claim(name: str, claim: str = "", mode: str | None = None) -> Claim:
    return Claim(claim or name, mode)


def _pool(_: str, **values: Any) -> Pool:
    return Pool(**values)


def _sharing(_: str, **values: Any) -> Sharing:
    return Sharing(**values)


_LABELS = _Entries(_node_label, 'labels = {pool = "gpu-new"}')
_CLUSTER: dict[str, _Kind] = {
    "argo": _Field(_version),
    "context": _Field(_text),
    "namespace": _Field(_object),
    "labels": _Entries(_short_name, 'labels = {"gpu.product" = "cloud.google.com/gke-accelerator"}'),
    "gpu-taints": _Field(_tolerations, "tolerations"),
    "products": _Tables(
        {"label": _Field(_label_texts, "labels"), "memory": _Field(_mebibytes)}, _product, or_names=True
    ),
    "pools": _Tables(
        {
            "labels": _LABELS,
            "taints": _Field(_tolerations, "tolerations"),
            "products": _Field(_names),
            "gpus": _Field(_count),
            "cpu": _Field(_quantity),
            "memory": _Field(_memory),
        },
        _pool,
    ),
    "volumes": _Tables({"claim": _Field(_object), "mode": _Field(_mode)}, _claim),
    "queues": _Field(_objects),
    "spot": _Table(
        {"label": _Field(_label), "taints": _Field(_tolerations, "tolerations")},
        Spot,
        needed={"label": _LABEL},
        or_false=True,
    ),
    "share": _Tables(
        {
            "resource": _Field(_resource),
            "unit": _Field(_mebibytes),
            "replicas": _Field(_times),
            "labels": _LABELS,
        },
        _sharing,
        "sharing",
        needed={"resource": _RESOURCE},
        names=tuple(VENDORS),
    ),
    "checkpoints": _Field(_folder),
    "registries": _Entries(_registry, 'registries = {"docker.io" = "registry.example.com/hub"}'),
}
