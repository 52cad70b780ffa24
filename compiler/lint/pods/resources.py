"""Resource requests and limits of containers, and the devices among them."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.amounts import amounts, asked_by
from flowdsl.compiler.kinds import CONTAINER_BODIES
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.devices import is_mig_profile
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_qualified_name
from flowdsl.grammar.quantity import quantity
from flowdsl.grammar.template import is_filled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Object, Path

NATIVE = ("cpu", "memory", "ephemeral-storage")

MEANT = {
    "gpu": "nvidia.com/gpu",
    "gpus": "nvidia.com/gpu",
    "nvidia": "nvidia.com/gpu",
    "tpu": "google.com/tpu",
}
"""Wrong names of devices, and the correct ones."""


class BadQuantity(Finding):
    """A text that is not a quantity in Kubernetes."""

    code = "FD580"
    title = "`{text}` is not a quantity of {name}"
    label = "expected {expected}"
    help = "write {expected}"
    name: str
    text: str
    expected: str


class UnknownResource(Finding):
    """A resource that containers cannot ask for."""

    code = "FD581"
    title = "`{name}` is not a resource that a container can ask for"
    help = "{way}"
    name: str
    way: str


class FractionOfDevice(Finding):
    """A device requested in fractions."""

    code = "FD582"
    title = "`{name}` is given as `{text}`; devices are counted in whole numbers"
    label = "not a whole number"
    help = "write a whole number; a share of a device is a resource with its own name"
    name: str
    text: str


class RequestIsNotLimit(Finding):
    """A device whose request differs from its limit, or has none."""

    code = "FD583"
    title = "`{name}` needs {wanted}"
    label = "{wanted}"
    help = "write the number only under `limits`: the request follows it"
    name: str
    wanted: str


class RequestAboveLimit(Finding):
    """A request above the limit."""

    code = "FD584"
    title = "the request of {name}, `{request}`, is above its limit, `{limit}`"
    label = "more than the limit of `{limit}`"
    help = "lower the request to `{limit}`, or raise the limit"
    name: str
    request: str
    limit: str


class AbovePod(Finding):
    """Containers with more of a resource than their pod has."""

    code = "FD839"
    title = "{found} of {name}, but the pod has `{most}`"
    label = "the pod has `{most}`"
    help = "raise `{name}` under `podResources`, or lower it in the containers"
    name: str
    found: str
    most: object


def resources(view: View) -> Iterator[Problem]:
    """Quantities are valid, devices are whole and limited, requests do not exceed limits."""
    owners = [
        (container, "resources", (*template.path, *place))
        for template in view.templates
        for place, container in template.containers
    ]
    owners += [
        (inside(view.defaults, body), "resources", (*view.path, "templateDefaults", body))
        for body in CONTAINER_BODIES
    ]
    owners += [(owner, "podResources", path) for owner, path in view.owners]
    for holder, field, path in owners:
        owner: Object | None = holder.get(field)
        if owner is None:
            continue
        yield from asked(owner, (*path, field), of_pod=field == "podResources")
    yield from _claims(view)


def asked(owner: Object, here: Path, of_pod: bool = False) -> Iterator[Problem]:
    """The findings about the resources of a container, or of a pod as a whole."""
    read: dict[str, dict[str, tuple[Decimal, str]]] = {"limits": {}, "requests": {}}
    for kind, known in read.items():
        for name, value in inside(owner, kind).items():
            if of_pod and name not in NATIVE[:2] and not str(name).startswith(_PAGES):
                continue  # not allowed for a whole pod, as is reported elsewhere
            yield from _amount(str(name), value, (*here, kind, name), known)
    limited = {str(name) for name in inside(owner, "limits")}
    for name, (request, text) in read["requests"].items():
        place = (*here, "requests", name)
        limit, shown = read["limits"].get(name, (None, ""))
        if name not in limited and not is_native(name):
            yield Problem(place, RequestIsNotLimit(name, "a limit"))
        elif limit is not None and is_native(name) and request > limit:
            yield Problem(place, RequestAboveLimit(name, text, shown))
        elif limit is not None and not is_native(name) and request != limit:
            yield Problem(place, RequestIsNotLimit(name, "a request equal to its limit"))


def whole(view: View) -> Iterator[Problem]:
    """Pod-level resources cover those of the containers. Source: Kubernetes, validatePodResourceConsistency."""
    for template in view.templates:
        given = [each for each in view.levels(template) if each[0].get("podResources")]
        if not given or not template.is_pod or view.is_patched(template):
            continue
        pod, path = inside(given[0][0], "podResources"), (*given[0][1], "podResources")
        limits, requests = amounts(inside(pod, "limits")), amounts(inside(pod, "requests"))
        told: set[str] = set()
        for place, container in template.containers:
            own = inside(container, "resources", "limits") if place[0] != "initContainers" else {}
            for name, limit in amounts(own).items():
                if limit > limits.get(name, limit):
                    told.add(name)
                    here = (*template.path, *place, "resources", "limits", name)
                    finding = AbovePod(name, f"a container has `{own[name]}`", pod["limits"][name])
                    yield Problem(here, finding)
        for name, amount in asked_by(template.data).items():
            field, most = ("requests", requests) if name in inside(pod, "requests") else ("limits", limits)
            if name not in told and amount > most.get(name, amount):
                total = f"the containers ask for `{_short(amount)}`"
                yield Problem((*path, field, name), AbovePod(name, total, pod[field][name]))


def _short(amount: Decimal) -> str:
    """An amount in common notation: memory of whole mebibytes as their number."""
    mebibytes = amount / 2**20
    whole = mebibytes and not _leaves(mebibytes, Decimal(1))
    return f"{mebibytes.normalize():f}Mi" if whole else f"{amount.normalize():f}"


def is_native(name: str) -> bool:
    """Whether a resource may be requested below its limit; devices and huge pages may not."""
    return name in NATIVE


def _amount(name: str, value: Any, path: Path, read: dict[str, tuple[Decimal, str]]) -> Iterator[Problem]:
    """The finding about one amount of a resource; a good one is put into `read`."""
    if is_filled(name):
        pass  # its name is known later
    elif name.startswith(_PAGES):
        if not _page(name):
            way = "write the size of a page after it, such as `hugepages-2Mi`"
            yield Problem(path, UnknownResource(name, way), on_key=True)
    elif not is_native(name):
        if name.startswith("requests."):
            yield Problem(path, UnknownResource(name, "leave `requests.` out of the name"), on_key=True)
        elif "/" not in name or not is_qualified_name(name):
            device = MEANT.get(name.lower()) or near(name, NATIVE)
            way = (
                f"write `{device}`"
                if device
                else "use cpu, memory, ephemeral-storage or a device such as `nvidia.com/gpu`"
            )
            yield Problem(path, UnknownResource(name, way), on_key=True)
        elif (
            (profile := name.removeprefix(_MIG)) != name
            and profile[:1].isdigit()
            and not is_mig_profile(profile)
        ):
            way = "write a profile that GPUs have after `mig-`, such as `1g.5gb` or `3g.40gb`"
            yield Problem(path, UnknownResource(name, way), on_key=True)
    text = "0" if value is None else str(value)  # Kubernetes reads an empty value as 0
    if "{{" in text:
        return
    try:
        amount = quantity(text)
    except GrammarError as error:
        yield Problem(path, BadQuantity(name, text, error.expected), part=_part(error))
        return
    if amount < 0:
        yield Problem(path, BadQuantity(name, text, "a number from 0"))
    elif (page := _page(name)) and _leaves(amount, page):
        yield Problem(path, BadQuantity(name, text, f"a multiple of `{name.removeprefix(_PAGES)}`"))
    elif "/" in name and _leaves(amount, Decimal(1)):
        yield Problem(path, FractionOfDevice(name, text))
    else:
        read[name] = amount, text


_MIG = "nvidia.com/mig-"
_PAGES = "hugepages-"
_EXACT = Context(prec=100)
_LARGEST = 60
"""The most digits of an amount; one with more counts as whole."""


def _leaves(amount: Decimal, unit: Decimal) -> bool:
    """Whether an amount is not a multiple of a unit."""
    return amount.adjusted() < _LARGEST and bool(_EXACT.remainder(amount, unit))


def _page(name: str) -> Decimal | None:
    """The page size of a huge-pages resource. Source: Kubernetes, IsHugePageResourceValueDivisible."""
    if not name.startswith(_PAGES):
        return None
    try:
        size = quantity(name.removeprefix(_PAGES))
    except GrammarError:
        return None
    return None if size <= 0 or _leaves(size, Decimal(1)) else size


def _claims(view: View) -> Iterator[Problem]:
    """The sizes of claims that are made for the run or for a pod are valid."""
    made = [*entries_at(view.spec, view.path, "volumeClaimTemplates")]
    of_pods = "ephemeral", "volumeClaimTemplate"
    made += [
        ((*at, *of_pods), inside(volume, *of_pods))
        for owner, path in view.owners
        for at, volume in entries_at(owner, path, "volumes")
    ]
    for path, claim in made:
        requested = "spec", "resources", "requests"
        size: object = inside(claim, *requested).get("storage")
        text = "" if size is None else str(size)
        place = (*path, *requested, "storage")
        if text and "{{" not in text:
            try:
                if quantity(text) <= 0:
                    yield Problem(place, BadQuantity("storage", text, "a number above 0"))
            except GrammarError as error:
                yield Problem(place, BadQuantity("storage", text, error.expected), part=_part(error))


def _part(error: GrammarError) -> Part | None:
    """The invalid part of a quantity; all of it if the whole needs another notation."""
    return None if error.expected.startswith("`") else (error.start, error.end)
