"""What a pod asks of its node: CPU, memory and GPUs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.findings.amounts import (
    BadGpuCount,
    BadGpuResource,
    BadQuantity,
    MigVendor,
    SharedCount,
    ShareWith,
    UnknownVendor,
    UnusualResource,
)
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.ir import Resources
from flowdsl.compiler.options.reading import Parts, Wrong, said
from flowdsl.compiler.profile import Sharing
from flowdsl.gpu import GPU
from flowdsl.grammar.devices import VENDORS, is_mig_profile
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_label_value, is_qualified_name
from flowdsl.grammar.quantity import quantity, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.options.reading import Doubter, Reader
    from flowdsl.compiler.profile import Profile


#: No container starts with less. Source: containerd and Docker, 4 and 6 MiB.
_LEAST_MEMORY = 4 * 1024 * 1024


#: The name of a device's replicas in its device plug-in, unless a profile says otherwise.
#: Source: NVIDIA's k8s-device-plugin, time-slicing and MPS with `renameByDefault`.
SHARED = {"nvidia": Sharing("nvidia.com/gpu.shared")}


def settled(found: Mapping[str, Any], profile: Profile) -> Resources:
    """The resources that the options of a step result in on a cluster."""
    requests = {key: found[key] for key in ("cpu", "memory") if key in found}
    # A node cannot take memory back, so its limit equals its request; an idle CPU may be used.
    limits = {"memory": found["memory"]} if "memory" in found else {}
    gpu = wanted(found)
    if gpu is not None:
        limits[resource_name(gpu, profile)] = str(gpu_amount(gpu, profile))
    return Resources(requests, limits)


def wanted(found: Mapping[str, Any]) -> GPU | None:
    """The GPUs that a step requests, if any."""
    gpu: GPU | None = found.get("gpu")
    return gpu if gpu is not None and gpu.count > 0 else None


def _amount(name: str, written: object) -> str:
    if isinstance(written, bool) or not isinstance(written, (int, float, str)):
        raise Wrong(OptionType(name, "a number, or a string with a unit", said(written)))
    text = str(written)
    try:
        amount = quantity(text)
    except GrammarError as error:
        raise Wrong(BadQuantity(name, text, error.expected)) from None
    if amount <= 0:
        raise Wrong(BadQuantity(name, text, "an amount above 0"))
    if name != "cpu" and amount < _LEAST_MEMORY:
        raise Wrong(BadQuantity(name, text, f"4Mi or more: this is {amount:f} bytes"))
    return text


def sharing(gpu: GPU, profile: Profile) -> Sharing | None:
    """How a part of a device is requested, if a part is wanted and the cluster supports it."""
    if gpu.share is None:
        return None
    return profile.sharing.get(gpu.vendor) or SHARED.get(gpu.vendor)


def gpu_amount(gpu: GPU, profile: Profile) -> int:
    """How many units of its resource a GPU request needs: devices, replicas of them, or pieces of memory."""
    shared, part = sharing(gpu, profile), gpu_memory(gpu.share)
    if shared is None or shared.unit is None or part is None:
        return gpu.count
    return gpu.count * math.ceil(part / shared.unit)


def resource_name(gpu: GPU, profile: Profile) -> str:
    """The extended resource for a GPU request."""
    if (shared := sharing(gpu, profile)) is not None:
        return shared.resource
    if gpu.resource is not None:
        return gpu.resource
    if gpu.mig is not None:
        return f"nvidia.com/mig-{gpu.mig.replace('+', '.')}"
    return VENDORS[gpu.vendor]


def gpu_request(name: str, written: object) -> GPU:
    """The GPUs that an option requests; raises `Wrong`."""
    gpu = GPU(written) if isinstance(written, int) and not isinstance(written, bool) else written
    if not isinstance(gpu, GPU):
        raise Wrong(OptionType(name, "a whole number or GPU(...)", said(written)))
    parts = Parts()
    parts.read("count", _gpu_count, gpu.count)
    memory, resource, mig, share = (
        parts.read(field, _text, f"{field} of GPU", getattr(gpu, field))
        for field in ("memory", "resource", "mig", "share")
    )
    if gpu.resource is None and str(gpu.vendor) not in VENDORS:
        parts.add("vendor", UnknownVendor(str(gpu.vendor), tuple(VENDORS)))
    if resource is not None and ("/" not in resource or not is_qualified_name(resource)):
        parts.add("resource", BadGpuResource(resource))
    if mig is not None and (gpu.resource is not None or gpu.vendor != "nvidia"):
        parts.add("mig", MigVendor())
    elif mig is not None and not is_mig_profile(mig):
        parts.add("mig", OptionType("mig of GPU", 'a profile such as "1g.5gb"', said(mig)))
    if share is not None and (gpu.resource is not None or gpu.mig is not None):
        parts.add("share", ShareWith())
    parts.read("product", _products, gpu)
    for field, amount in (("memory", memory), ("share", share)):
        if amount is not None:
            parts.read(field, _amount, field, amount)
    parts.end()
    return gpu


def _gpu_count(written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or written < 0:
        raise Wrong(BadGpuCount(said(written)))
    return written


def _text(name: str, written: object) -> str | None:
    if written is not None and not isinstance(written, str):
        raise Wrong(OptionType(name, "a string", said(written)))
    return written


def _products(gpu: GPU) -> None:
    for product in gpu_products(gpu):
        if not product or not is_label_value(product.replace("*", "x").replace("?", "x")):
            label = "the value of a node label"
            raise Wrong(OptionType("product of GPU", label, said(product)))


def gpu_products(gpu: GPU) -> tuple[str, ...]:
    """The products that a GPU request names; raises `Wrong`."""
    written = cast("object", gpu.product)
    products = () if written is None else (written,) if isinstance(written, str) else written
    if isinstance(products, (list, tuple)):
        given = cast("list[object]", products)
        texts = tuple(one for one in given if isinstance(one, str))
        if len(texts) == len(given):
            return texts
    have = said(cast("object", gpu.product))
    raise Wrong(OptionType("product of GPU", "a string or a list of strings", have), "item:product")


def _gpu_doubts(gpu: object) -> Iterator[Wrong]:
    """What a GPU request may contain, but probably does not mean."""
    if not isinstance(gpu, GPU):
        return
    for usual in VENDORS.values():
        if gpu.resource is not None and _misspells(gpu.resource, usual):
            yield Wrong(UnusualResource(gpu.resource, usual), "item:resource")
    if gpu.share is not None and gpu.count > 1:
        whole = spelled(quantity(gpu.share) * gpu.count)
        yield Wrong(SharedCount(gpu.count, whole), "item:count")


def gpu_memory(text: str | None) -> int | None:
    """An amount of a device's memory in MiB, as in node labels; raises `GrammarError`."""
    return None if text is None else math.ceil(quantity(str(text)) / (1024 * 1024))


def least_memory(gpu: GPU, profile: Profile) -> int | None:
    """The memory in MiB that a device needs for a request, or for all parts of it; raises `GrammarError`."""
    least, shared = gpu_memory(gpu.memory), sharing(gpu, profile)
    return least if shared is None else max(least or 0, (gpu_memory(gpu.share) or 0) * shared.replicas)


def _misspells(text: str, name: str) -> bool:
    """Whether a text differs from a name by one character added, removed or replaced."""
    if text == name or abs(len(text) - len(name)) > 1:
        return False
    same = next((at for at, (one, other) in enumerate(zip(text, name, strict=False)) if one != other), None)
    at = min(len(text), len(name)) if same is None else same
    longer, shorter = (text, name) if len(text) > len(name) else (name, text)
    return longer[at + 1 :] == (shorter[at:] if len(longer) > len(shorter) else shorter[at + 1 :])


READERS: dict[str, Reader] = {"cpu": _amount, "memory": _amount, "gpu": gpu_request}
DOUBTS: dict[str, Doubter] = {"gpu": _gpu_doubts}
