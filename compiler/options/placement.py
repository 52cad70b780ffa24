"""Where a pod may run, in Kubernetes' own terms: label keys, operators, tolerations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.findings.placement import BadNode, BadToleration, BadWhere
from flowdsl.compiler.ir import Placement
from flowdsl.compiler.options.reading import (
    Wrong,
    each,
    entries,
    filled_in,
    flag,
    listed,
    object_name,
    said,
    text_option,
)
from flowdsl.compiler.options.resources import (
    gpu_products,
    least_memory,
    resource_name,
    sharing,
    wanted,
)
from flowdsl.compiler.taints import toleration
from flowdsl.grammar.devices import VENDORS
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_label_value, is_qualified_name
from flowdsl.options import Near

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader
    from flowdsl.compiler.profile import Profile
    from flowdsl.gpu import GPU
    from flowdsl.grammar import where as where_text

Term = tuple[str, str, tuple[str, ...]]

#: Short names for the labels that Kubernetes and the usual discovery tools set on nodes.
#: Sources: kubernetes.io/docs/reference/labels-annotations-taints; NVIDIA GPU feature discovery.
LABELS = {
    "arch": "kubernetes.io/arch",
    "host": "kubernetes.io/hostname",
    "os": "kubernetes.io/os",
    "instance": "node.kubernetes.io/instance-type",
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "gpu.product": "nvidia.com/gpu.product",
    "gpu.memory": "nvidia.com/gpu.memory",
    "gpu.count": "nvidia.com/gpu.count",
    "gpu.family": "nvidia.com/gpu.family",
}
_MEBI = 1024 * 1024
_LEAST = 1024  # MiB: no card has less, so a smaller number lacks its unit


def settled(found: Mapping[str, Any], profile: Profile) -> Placement:
    """The complete placement that the options of a step result in on a cluster: Argo merges nothing."""
    pool = profile.pools.get(found.get("pool", ""))
    spot = (found.get("spot") and profile.spot) or None
    node, several = node_labels(found, profile)
    terms: tuple[tuple[Term, ...], ...] = found.get("where", ())
    if several:
        terms = tuple((*several, *group) for group in terms or ((),))
    tolerations: list[Mapping[str, str]] = list(found.get("tolerations", ()))
    gpu = wanted(found)
    if gpu is not None:
        terms = tuple((*gpu_terms(gpu, profile), *group) for group in terms or ((),))
        if (shared := sharing(gpu, profile)) is not None:
            node |= shared.labels
    if gpu is not None or (pool is not None and pool.has_gpus):
        tolerations += [gpu_toleration(gpu, profile), *profile.tolerations]
    if pool is not None:
        node |= pool.labels
        tolerations += pool.tolerations
    if spot is not None:
        node[spot.label[0]] = spot.label[1]
        tolerations += spot.tolerations
    affinity = [joined(labelled(term, profile) for term in group) for group in terms]
    if gpu is not None and gpu.share is not None and not profile.products:
        affinity = [tuple(map(suffixed, group)) for group in affinity]
    return filled_in(Placement(), found)._replace(
        node=node,
        affinity=tuple(group for group in affinity if group),
        tolerations=tuple(
            one for at, one in enumerate(tolerations) if not any(map(one.__eq__, tolerations[:at]))
        ),
        near=found.get("placement"),
        spot=spot is not None,
    )


def where_terms(text: str) -> tuple[tuple[Term, ...], ...]:
    """A `where` text as node selector terms, with keys as written; raises `GrammarError`."""
    from flowdsl.grammar.where import where

    return tuple(
        tuple((term.key, term.operator, _values(term, text)) for term in group) for group in where(text)
    )


def label(key: str, profile: Profile) -> str:
    """The key of the label for which a pipeline uses a name."""
    return profile.labels.get(key) or LABELS.get(key, key)


def node_labels(found: Mapping[str, Any], profile: Profile) -> tuple[dict[str, str], list[Term]]:
    """The labels that `node` requires on a cluster, and terms for those that may have one of several values."""
    labels: dict[str, str] = {}
    several: list[Term] = []
    for key, text in found.get("node", {}).items():
        texts = product_labels(text, profile) if key == "gpu.product" else (text,)
        if len(texts) == 1:
            labels[label(key, profile)] = texts[0]
        else:
            several.append((key, "In", (text,)))
    return labels, several


def product_labels(name: str, profile: Profile) -> tuple[str, ...]:
    """The label values of a product; the text itself if the profile does not have it."""
    return profile.products[name].labels if name in profile.products else (name,)


def labelled(term: Term, profile: Profile) -> Term:
    """A term with the labels of a cluster."""
    key, operator, values = term
    if key == "spot" and profile.spot and not values:
        name, text = profile.spot.label
        return name, "In" if operator == "Exists" else "NotIn", (text,)
    if key == "gpu.memory" and profile.weighed:
        key = "gpu.product"
        if operator in ("Gt", "Lt"):
            operator, values = (
                "In",
                fitting(operator, int(values[0]), profile) or (f"gpu.memory-{values[0]}",),
            )
    if key == "gpu.product":
        values = profile.offered(values) if operator == "In" else values
        values = tuple(dict.fromkeys(text for one in values for text in product_labels(one, profile)))
    return label(key, profile), operator, values


def fitting(operator: str, limit: int, profile: Profile) -> tuple[str, ...]:
    """The products with more or less memory than `limit` MiB."""
    memory = {name: product.memory or 0 for name, product in profile.products.items()}
    return tuple(name for name, has in memory.items() if (has > limit if operator == "Gt" else has < limit))


def suffixed(term: Term) -> Term:
    """A term that also accepts products as NVIDIA's discovery may label them if devices are shared.

    Whether it does depends on its configuration; a profile gives the labels as they are.
    Source: k8s-device-plugin, "Shared Access to GPUs".
    """
    key, operator, values = term
    if key != LABELS["gpu.product"] or operator not in ("In", "NotIn"):
        return term
    return key, operator, (*values, *(f"{value}-SHARED" for value in values))


def joined(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Terms that must all hold, without duplicates, and one list of values for a label with several lists."""
    found: list[Term] = []
    for term in terms:
        key, operator, values = term
        same = next((at for at, one in enumerate(found) if one[:2] == (key, operator) == (key, "In")), None)
        if same is not None:
            both = tuple(value for value in found[same][2] if value in values)
            found[same] = key, operator, both or found[same][2]
            if not both:
                found.append(term)
        elif term not in found:
            found.append(term)
    return tuple(found)


def _values(term: where_text.Term, text: str) -> tuple[str, ...]:
    """The values of a term; memory of a GPU is labelled in MiB. Raises GrammarError."""
    if term.key != "gpu.memory" or not term.values:
        return term.values
    if term.operator not in ("Gt", "Lt"):
        if all(value.isdecimal() for value in term.values):
            return term.values
        expected = "a comparison such as `gpu.memory >= 40Gi`, or the MiB that the label of the node says"
        raise GrammarError(text, term.start, term.end, expected)
    number = int(term.values[0])
    if 0 < number < _LEAST:
        raise GrammarError(text, term.start, term.end, "an amount with its unit, as in `gpu.memory >= 40Gi`")
    if abs(number) < _MEBI:  # written without a suffix: MiB already
        return term.values
    # Gt counts whole MiB below the limit, Lt those above it.
    return (str(number // _MEBI if term.operator == "Gt" else math.ceil(number / _MEBI)),)


def gpu_terms(gpu: GPU, profile: Profile) -> tuple[Term, ...]:
    """The nodes that a GPU request requires; raises `GrammarError` for an invalid memory."""
    terms: list[Term] = []
    asked = profile.offered(gpu_products(gpu))
    names = [name for written in asked for name in profile.named(written) or (written,)]
    if names:
        terms.append(("gpu.product", "In", tuple(dict.fromkeys(names))))
    least = least_memory(gpu, profile)
    if least is not None:
        terms.append(("gpu.memory", "Gt", (str(least - 1),)))
    return tuple(terms)


def gpu_toleration(gpu: GPU | None, profile: Profile) -> dict[str, str]:
    """The toleration for the usual taint of GPU nodes, with any value; for a pod without a GPU, that of NVIDIA's.

    Source: the taint key is that of a whole device by convention, with differing values, so `Exists`.
    """
    vendor = "nvidia" if gpu is None else gpu.vendor
    key = VENDORS[vendor] if gpu is None or gpu.mig or gpu.share else resource_name(gpu, profile)
    return {"key": key, "operator": "Exists", "effect": "NoSchedule"}


def node_selector(labels: Mapping[object, object]) -> dict[str, str]:
    """A node selector, with keys as written; raises `GrammarError`."""
    found: dict[str, str] = {}
    for key, value in labels.items():
        if not isinstance(key, str) or not is_qualified_name(LABELS.get(key, key)):
            raise GrammarError(str(key), 0, len(str(key)), "a label name")
        if isinstance(value, bool) or not isinstance(value, (str, int)) or not is_label_value(str(value)):
            shown = f"{key}: {value}" if isinstance(value, str) else f"{key}: {value!r}"
            raise GrammarError(shown, 0, len(shown), "a label value in text: letters, digits, `-`, `_`, `.`")
        if key == "nvidia.com/gpu":
            raise GrammarError(key, 0, len(key), "a label; to ask for a GPU write gpu=1")
        found[key] = str(value)
    return found


def _node(name: str, written: object) -> Mapping[str, str]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        try:
            return next(iter(node_selector({key: value}).items()))
        except GrammarError as error:
            part = "key" if error.text == key else "item"
            raise Wrong(BadNode(error.text, error.expected), f"{part}:{key}") from None

    return dict(entries(name, written, "a dict of labels", entry))


def _near(name: str, written: object) -> str:
    if written not in get_args(Near):
        raise Wrong(OptionType(name, '"pack" or "spread"', said(written)))
    return str(written)


def _where(name: str, written: object) -> Any:
    text = text_option(name, written)
    try:
        return where_terms(text)
    except GrammarError as error:
        raise Wrong(BadWhere(error.expected, error.shown, error.start + 1)) from None


def _tolerations(name: str, written: object) -> tuple[Mapping[str, str], ...]:
    def one(entry: object) -> Mapping[str, str]:
        try:
            return toleration(entry)
        except GrammarError as error:
            raise Wrong(BadToleration(error.text, error.expected)) from None

    return each(listed(name, written, "a list"), one)


READERS: dict[str, Reader] = {
    "node": _node,
    "where": _where,
    "tolerations": _tolerations,
    "priority": object_name("PriorityClass"),
    "pool": text_option,
    "placement": _near,
    "queue": object_name("LocalQueue of Kueue"),
    "spot": flag,
}
