"""Requests of steps against the profile of the cluster: pools, products, amounts, queues, volumes."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings import cluster as findings
from flowdsl.compiler.findings.placement import ProductPattern
from flowdsl.compiler.options import readable
from flowdsl.compiler.options.placement import LABELS, fitting, label, labelled, node_labels, settled
from flowdsl.compiler.options.resources import (
    gpu_memory,
    gpu_products,
    least_memory,
    resource_name,
    sharing,
    wanted,
)
from flowdsl.compiler.taints import notation, tolerates
from flowdsl.diagnostic import Diagnostic, near
from flowdsl.grammar.devices import VENDORS, vendor_of
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.quantity import quantity, spelled
from flowdsl.places.place import Argument
from flowdsl.step import StepDef
from flowdsl.values.expr import OnVolume, children
from flowdsl.values.lift import is_dict
from flowdsl.volume import Volume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flowdsl.compiler.options.placement import Term
    from flowdsl.compiler.profile import Pool, Product, Profile
    from flowdsl.diagnostic import Finding
    from flowdsl.gpu import GPU
    from flowdsl.pipeline import PipelineDef
    from flowdsl.tracing.trace import Call, Graph
    from flowdsl.values.expr import Expr

_ASKED = frozenset({"pool", "spot", "gpu", "node", "where"})
"""The options that may be wrong without a cluster, too."""

_OTHERS = {*VENDORS, "huawei.com"} - {"nvidia"}
"""Vendors whose devices NVIDIA's GPU feature discovery does not label."""

#: By the access mode of a claim, the modes that a pipeline may rely on.
_SERVES: dict[str | None, tuple[str, ...]] = {
    "ReadWriteMany": ("ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce", "ReadWriteOncePod"),
    "ReadOnlyMany": ("ReadOnlyMany",),
    "ReadWriteOnce": ("ReadWriteOnce", "ReadWriteOncePod"),
    "ReadWriteOncePod": ("ReadWriteOncePod",),
}
_LET_IN = frozenset({"argo", "pool", "queue"})
"""The options of a pod that may tolerate the taints of a pool: a queue of Kueue may add tolerations."""
_UNITS = {"cpu": "{} CPUs", "memory": "{} of memory"}


class _Labels(NamedTuple):
    """What `node` and `where` require of the labels of a node: single ones, and one of several groups of terms."""

    single: Mapping[str, str]
    groups: tuple[tuple[Term, ...], ...]
    options: str

    @classmethod
    def of(cls, found: dict[str, Any], profile: Profile) -> _Labels:
        """The requirements of a step, in the labels of a cluster."""
        single, several = node_labels(found, profile)
        groups = (
            tuple(labelled(term, profile) for term in (*several, *one)) for one in found.get("where") or ((),)
        )
        return cls(
            single, tuple(groups), " and ".join(f"`{one}`" for one in ("node", "where") if one in found)
        )

    def allow(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels, and any others, can be meant."""
        if any(self.single.get(key, text) != text for key, text in labels.items()):
            return False
        return any(
            not any(_denies(term, key, text) for term in group for key, text in labels.items())
            for group in self.groups
        )


class _Asked(NamedTuple):
    """A finding, and the part of an option that it is about."""

    finding: Finding
    option: str
    part: str = "value"


def fits(graph: Graph, root: PipelineDef, profile: Profile) -> Iterator[Diagnostic]:
    """What the steps of a graph request and the cluster lacks; `root` is the pipeline that a run begins with."""
    if graph.owner is root:
        for asked in _queue(readable({"queue": root.options.get("queue")}), profile):
            yield Diagnostic(asked.finding, root.option(asked.option))
    told: set[object] = set()
    patched = "argo" in root.options  # it may tolerate anything
    for call in graph.calls:
        step = call.target
        key = id(step) if call.override is None else (id(step), call.override)
        if key in told or not isinstance(step, StepDef):
            continue
        told.add(key)
        options = {**step.options, **call.options} if call.options else step.options
        if not profile.name and not options.keys() & _ASKED:
            continue
        found = readable(options)
        place = functools.partial(_place, step, call)
        for check in (_words, _clashes, _memories, _room):
            for asked in check(found, profile):
                if not (patched and isinstance(asked.finding, findings.KeptAway)):
                    yield Diagnostic(asked.finding, place(asked.option, asked.part))
    if profile.volumes:
        yield from _modes(graph, profile)


def _place(step: StepDef, call: Call, option: str, part: str) -> Argument:
    site = call.override if option in call.options and call.override is not None else step.site
    return Argument(site, option, part=part)


def _words(found: dict[str, Any], profile: Profile) -> Iterator[_Asked]:
    """Names that the profile has to define."""
    pool, gpu = found.get("pool"), wanted(found)
    if pool is not None and pool not in profile.pools:
        if profile.name:
            yield _Asked(findings.UnknownPool(pool, tuple(profile.pools), profile.name), "pool")
        else:
            yield _Asked(findings.NeedsCluster("pool"), "pool")
    asked = [(key, "node", f"key:{key}") for key in found.get("node", {})]
    asked += [(term[0], "where", "value") for group in found.get("where", ()) for term in group]
    short = {**LABELS, **profile.labels}
    own = {key for one in profile.pools.values() for key in one.labels}
    for key, option, part in dict.fromkeys(asked):
        meant = near(key, short) if key not in short and key not in own and "/" not in key else None
        if meant is not None:
            yield _Asked(findings.UnknownLabel(key, meant), option, part)
    if found.get("spot") and profile.spot is None:
        yield _Asked(findings.NoSpot(profile.name) if profile.name else findings.NeedsCluster("spot"), "spot")
    yield from _queue(found, profile)
    if gpu is not None:
        yield from _gpu_words(gpu, profile)
    if profile.products:
        yield from _labelled_products(found, profile)


def _queue(found: dict[str, Any], profile: Profile) -> Iterator[_Asked]:
    """A queue that the cluster does not have."""
    queue = found.get("queue")
    if queue is not None and profile.queues and queue not in profile.queues:
        yield _Asked(findings.UnknownQueue(queue, profile.queues, profile.name), "queue")


def _labelled_products(found: dict[str, Any], profile: Profile) -> Iterator[_Asked]:
    """Products in `where` and `node` that the profile does not list."""
    known = {text for name, product in profile.products.items() for text in (name, *product.labels)}
    terms = [term for group in found.get("where", ()) for term in group]
    asked = [
        (value, "where", "value")
        for key, operator, values in terms
        if (key, operator) == ("gpu.product", "In")
        for value in profile.offered(values)
    ]
    asked += [
        (text, "node", f"item:{key}") for key, text in found.get("node", {}).items() if key == "gpu.product"
    ]
    for value, option, part in dict.fromkeys(asked):
        if value not in known:
            yield _Asked(findings.UnknownProduct(value, tuple(profile.products), profile.name), option, part)


def _gpu_words(gpu: GPU, profile: Profile) -> Iterator[_Asked]:
    """Requests for devices that the profile has to define."""
    if gpu.share is not None and sharing(gpu, profile) is None:
        yield _Asked(findings.NoSharing(gpu.vendor, profile.name), "gpu", "item:share")
    for field in _unlabelled(gpu, profile):
        unknown = findings.NoLabel(field, resource_name(gpu, profile))
        yield _Asked(unknown, "gpu", f"item:{field}")
    labels = {text for product in profile.products.values() for text in product.labels}
    for product in profile.offered(gpu_products(gpu)):
        pattern = "*" in product or "?" in product
        if profile.named(product) or (not pattern and (not profile.products or product in labels)):
            continue
        if not profile.products:
            yield _Asked(ProductPattern(product), "gpu", "item:product")
        else:
            missing = findings.UnknownProduct(product, tuple(profile.products), profile.name)
            yield _Asked(missing, "gpu", "item:product")


def _unlabelled(gpu: GPU, profile: Profile) -> Iterator[str]:
    """Requests that become a label of NVIDIA's GPU feature discovery, but are for devices of another vendor."""
    if vendor_of(gpu.resource or VENDORS[gpu.vendor]) in _OTHERS:
        if gpu.product is not None and "gpu.product" not in profile.labels:
            yield "product"
        says = "gpu.product" if profile.weighed else "gpu.memory"
        if gpu.memory is not None and says not in profile.labels:
            yield "memory"


def _clashes(found: dict[str, Any], profile: Profile) -> Iterator[_Asked]:
    """Two different values that are required of one label: no node has both."""
    pool = profile.pools.get(found.get("pool", ""))
    wants = [(key, text, "node") for key, text in node_labels(found, profile)[0].items()]
    wants += [(key, text, "pool") for key, text in _labels(pool)]
    if (gpu := wanted(found)) is not None and (shared := sharing(gpu, profile)) is not None:
        wants += [(key, text, "gpu") for key, text in shared.labels.items()]
    if found.get("spot") and profile.spot:
        wants.append((*profile.spot.label, "spot"))
    first: dict[str, tuple[str, str]] = {}
    for key, text, option in wants:
        other, by = first.setdefault(key, (text, option))
        if other != text:
            yield _Asked(findings.Clash(f"{key}={other}", by, f"{key}={text}", option), by)
    groups = [[labelled(term, profile) for term in group] for group in found.get("where", ())]
    for key, (text, by) in first.items():
        against = [next((term for term in group if _denies(term, key, text)), None) for group in groups]
        if against and None not in against:
            other = " or ".join(dict.fromkeys(_spelled(term) for term in against if term is not None))
            yield _Asked(findings.Clash(f"{key}={text}", by, other, "where"), "where")


def _labels(pool: Pool | None) -> Iterable[tuple[str, str]]:
    return () if pool is None else pool.labels.items()


def _memories(found: dict[str, Any], profile: Profile) -> Iterator[_Asked]:
    """Memory of GPUs in `where` that no product has, in every alternative."""
    groups: list[list[str]] = [
        [
            f"gpu.memory {_limit(operator, int(values[0]))}"
            for key, operator, values in group
            if key == "gpu.memory"
            and operator in ("Gt", "Lt")
            and not fitting(operator, int(values[0]), profile)
        ]
        for group in found.get("where", ())
    ]
    if profile.weighed and groups and all(groups):
        wrong = dict.fromkeys(text for group in groups for text in group)
        yield _Asked(findings.NoSuchProduct(tuple(wrong), f"`{profile.name}`"), "where")


def _denies(term: Term, key: str, text: str) -> bool:
    """Whether no node with this label value satisfies a term."""
    name, operator, values = term
    if name != key:
        return False
    if operator in ("In", "NotIn"):
        return (text in values) == (operator == "NotIn")
    return operator == "DoesNotExist"


def _spelled(term: Term) -> str:
    key, operator, values = term
    if operator == "DoesNotExist":
        return f"not {key}"
    return f"{key} {'in' if operator == 'In' else 'not in'} ({', '.join(values)})"


def _room(found: dict[str, Any], profile: Profile) -> Iterator[_Asked]:
    """Whether any node of the cluster, or of the pool, can provide what is requested."""
    named = found.get("pool")
    pools = dict(profile.pools)
    if named is not None:
        pools = {named: pools[named]} if named in pools else {}
    where = f"the pool `{named}`" if named else f"`{profile.name}`"
    labels = _Labels.of(found, profile)
    allowed = _left(pools, lambda pool: labels.allow(pool.labels))
    if allowed and len(allowed) < len(pools):
        pools, where = allowed, f"{where} that {labels.options} allows"
    gpu, kept = wanted(found), ("gpu", "such a GPU")
    if gpu is not None and pools:
        wrong, pools = _devices(gpu, pools, labels, where, profile)
        if wrong is not None:
            yield wrong
            return
    decided = gpu is not None
    for option in ("memory", "cpu"):
        own, asked = found.get(option), _of_pod(found, option)
        if not asked or not pools:
            continue
        amounts = [getattr(pool, option) for pool in pools.values()]
        alone = own is not None and quantity(own) == asked
        text = _UNITS[option].format(own if alone else spelled(asked))
        at = option if own is not None else "sidecars"
        if all(amount is not None and amount < asked for amount in amounts):
            too_much = findings.TooMuch(text if alone else f"{text} for a pod", spelled(max(amounts)), where)
            yield _Asked(too_much, at)
            return
        if gpu is None and not all(_holds(amount, asked) for amount in amounts):
            decided, kept = True, (at, text)
        pools = _left(pools, lambda pool: _holds(getattr(pool, option), asked))  # noqa: B023 -- used at once
    if decided and pools and not found.keys() & _LET_IN:
        tolerated = settled(found, profile).tolerations
        taints = [next(_untolerated(pool, tolerated, profile), None) for pool in pools.values()]
        if taints[0] is not None and None not in taints:
            option, text = kept
            away = findings.KeptAway(profile.name, text, next(iter(pools)), notation(taints[0]))
            yield _Asked(away, option)


def _untolerated(
    pool: Pool, tolerations: Iterable[Mapping[str, str]], profile: Profile
) -> Iterator[Mapping[str, str]]:
    """The taints of a pool that keep a pod away, as the tolerations that it lacks."""
    for taint in (*pool.tolerations, *(profile.tolerations if pool.has_gpus else ())):
        if taint.get("effect") != "PreferNoSchedule" and not any(
            tolerates(one, taint) for one in tolerations
        ):
            yield taint


def _of_pod(found: dict[str, Any], option: str) -> Decimal:
    """The request of a pod: the sum over its containers that run at the same time."""
    beside = [one.resources.requests.get(option, "0") for one in found.get("sidecars", ())]
    return sum(map(quantity, (found.get(option, "0"), *beside)), Decimal(0))


def _left(pools: dict[str, Pool], keep: Callable[[Pool], bool]) -> dict[str, Pool]:
    return {name: pool for name, pool in pools.items() if keep(pool)}


def _holds(have: Any, asked: Any) -> bool:
    return have is None or have >= asked


def _any_holds(have: Sequence[Any], asked: Any) -> bool:
    return not have or any(_holds(one, asked) for one in have)


class _Products:
    """The GPU products of a profile that a request means."""

    def __init__(self, gpu: GPU, labels: _Labels, profile: Profile) -> None:
        known, key = profile.products, label("gpu.product", profile)
        self._profile = profile
        self.written = profile.offered(gpu_products(gpu))
        self.names = {name for one in self.written for name in profile.named(one)}
        self.names |= {name for name, one in known.items() if not set(one.labels).isdisjoint(self.written)}
        allowed = {
            name for name, one in known.items() if any(labels.allow({key: text}) for text in one.labels)
        }
        self._meant = allowed or known.keys()  # without any, that is reported already
        if self.names:
            self._meant &= self.names

    def offered(self, pool: Pool) -> Iterable[str]:
        """The names of the products that a pool may have."""
        return self._profile.products if pool.products is None and _gpus(pool) != 0 else pool.products or ()

    def served(self, pool: Pool) -> list[Product]:
        """The products of a pool that the request means."""
        return [self._profile.products[name] for name in self.offered(pool) if name in self._meant]


def _devices(
    gpu: GPU, pools: dict[str, Pool], labels: _Labels, where: str, profile: Profile
) -> tuple[_Asked | None, dict[str, Pool]]:
    """The finding about GPUs that no node of the pools has; and the pools that have them."""
    products = _Products(gpu, labels, profile)
    if products.written and not products.names:
        return None, pools  # reported already, or the profile lists no products
    pools = _left(pools, lambda pool: _gpus(pool) != 0)
    if not pools:
        return _Asked(findings.NoSuchProduct(("a GPU",), where), "gpu"), pools
    if products.names:
        pools = _left(pools, lambda pool: not products.names.isdisjoint(products.offered(pool)))
        if not pools:
            return _Asked(
                findings.NoSuchProduct(tuple(products.written), where), "gpu", "item:product"
            ), pools
    pools = _left(pools, lambda pool: bool(products.served(pool)) or not products.offered(pool))
    if not pools:
        allowed = where if labels.options in where else f"{where} that {labels.options} allows"
        return _Asked(findings.NoSuchProduct(("such a GPU",), allowed), "gpu"), pools
    if gpu.mig is not None or gpu.resource is not None:
        return None, pools  # counted in units other than devices
    least = least_memory(gpu, profile)
    if least is not None:
        memories = [product.memory for pool in pools.values() for product in products.served(pool)]
        if memories and all(one is not None and one < least for one in memories):
            return _too_little(gpu, max(one or 0 for one in memories), where, profile), pools
        pools = _left(pools, lambda pool: _any_holds([one.memory for one in products.served(pool)], least))
    if gpu.share is not None:
        return None, pools
    enough = _left(pools, lambda pool: _holds(_gpus(pool), gpu.count))
    if not enough:
        most = str(max(_gpus(pool) or 0 for pool in pools.values()))
        return _Asked(findings.TooMuch(f"{gpu.count} GPUs", most, where), "gpu"), pools
    return None, enough


def _too_little(gpu: GPU, most: int, where: str, profile: Profile) -> _Asked:
    """The finding about GPUs that have too little memory, for a request or for all parts of a device."""
    shared = sharing(gpu, profile)
    if shared is None or gpu_memory(gpu.memory) == least_memory(gpu, profile):
        return _Asked(
            findings.TooMuch(f"a GPU with {gpu.memory}", _mebibytes(most), where), "gpu", "item:memory"
        )
    parts = f"{shared.replicas} parts of " if shared.replicas > 1 else ""
    each = _mebibytes(most // shared.replicas)
    return _Asked(findings.TooMuch(f"a GPU with {parts}{gpu.share}", each, where), "gpu", "item:share")


def _gpus(pool: Pool) -> int | None:
    """The GPUs of a node, if known; 0 if a profile describes nodes without a number or products."""
    unsaid = pool.products is None and pool.cpu is None and pool.memory is None
    return pool.gpus if pool.gpus is not None or pool.products or unsaid else 0


def _limit(operator: str, limit: int) -> str:
    """A bound in MiB as it was probably written: a label can only be above a number, so `>=` counts one less."""
    if operator == "Lt":
        return f"< {_mebibytes(limit)}"
    return f"> {_mebibytes(limit)}" if (limit + 1) % 1024 else f">= {_mebibytes(limit + 1)}"


def _mebibytes(number: int) -> str:
    return spelled(Decimal(number * 2**20))


def _modes(graph: Graph, profile: Profile) -> Iterator[Diagnostic]:
    """Volumes whose claims on the cluster have fewer access modes than the pipeline states."""
    told: set[int] = set()
    for volume in _volumes(graph):
        claim = profile.volumes.get(str(volume.name))
        if id(volume.site) in told or claim is None or volume.mode in _SERVES.get(claim.mode, (volume.mode,)):
            continue
        told.add(id(volume.site))
        wrong = findings.OtherMode(volume.name, volume.mode, str(claim.mode), profile.name)
        yield Diagnostic(wrong, Argument(volume.site, "mode"))


def _volumes(graph: Graph) -> Iterator[Volume]:
    options = [graph.owner.options]
    for call in graph.calls:
        options += [call.target.options, call.options]
        for expr in call.values:
            yield from _named(expr)
    for one in options:
        for written in (one.get("checkpoints"), *_mounted(one.get("mounts"))):
            volume = getattr(written, "volume", written)
            if isinstance(volume, Volume):
                yield volume


def _mounted(mounts: object) -> Iterable[object]:
    return mounts.values() if is_dict(mounts) else ()


def _named(expr: Expr) -> Iterator[Volume]:
    if isinstance(expr, OnVolume):
        yield expr.volume
    for child in children(expr):
        yield from _named(child)
