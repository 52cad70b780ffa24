"""The containers beside that of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.companion import Companion as Written
from flowdsl.companion import InitContainer, Sidecar
from flowdsl.compiler import kind_findings, mistakes
from flowdsl.compiler.ir import Companion, Companions
from flowdsl.compiler.options import environment, resources
from flowdsl.compiler.options.reading import Wrong, said, words
from flowdsl.grammar.names import is_dns_label
from flowdsl.value import is_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.ir import Settings
    from flowdsl.compiler.options.reading import Reader

#: Containers of Argo's own. Source: Argo Workflows, common.IsArgoSidecar, and its containers of a pod.
_RESERVED = ("main", "wait", "init", "supervisor")
_READERS = {**environment.READERS, **resources.READERS}
_FIELDS = ("image", "env", "secrets", "mounts", "cpu", "memory")


def settled(found: Mapping[str, Any]) -> Companions:
    """The companions that the options of a step come to."""
    return Companions(found.get("init", ()), found.get("sidecars", ()))


def doubts(made: Settings) -> Iterator[tuple[str, Wrong]]:
    """Containers of one name."""
    taken: set[str] = set()
    for option in ("init", "sidecars"):
        for one in getattr(made.companions, option):
            if one.name in taken:
                yield option, Wrong(kind_findings.BadCompanion(one.name, "is the name of another one"))
            taken.add(one.name)
            if option == "sidecars" and not one.command:
                yield option, Wrong(kind_findings.CompanionCommand(one.name))


def _companion(kind: type[Written], name: str, written: object) -> Companion:
    if not isinstance(written, kind):
        raise Wrong(mistakes.OptionType(name, f"a list of {kind.__name__}(...)", said(written)))
    own = cast("object", written.name)
    if is_value(own) or not isinstance(own, str) or not is_dns_label(own):
        reason = "cannot be the name of a container: use lower-case letters, digits and `-`"
        raise Wrong(kind_findings.BadCompanion(said(own), reason))
    if own in _RESERVED or own.startswith("artifact-plugin-"):
        raise Wrong(kind_findings.BadCompanion(own, "is the name of a container of Argo's own"))
    if is_value(written.mirror) or not isinstance(cast("object", written.mirror), bool):
        raise Wrong(mistakes.OptionType(f"mirror of {own}", "True or False", said(written.mirror)))
    found: dict[str, Any] = {}
    for field in _FIELDS:
        given: object = getattr(written, field)
        if given is None:
            continue
        if is_value(given):
            raise Wrong(mistakes.RunTimeOption(f"{field} of {own}"))
        found[field] = _READERS[field](field, given)
    command = words(f"command of {own}", written.command)
    return Companion(own, command, environment.settled(found), resources.settled(found), written.mirror)


def _companions(kind: type[Written]) -> Reader:
    def read(name: str, written: object) -> tuple[Companion, ...]:
        if not isinstance(written, (list, tuple)):
            raise Wrong(mistakes.OptionType(name, f"a list of {kind.__name__}(...)", said(written)))
        return tuple(_companion(kind, name, one) for one in cast("list[object]", written))

    return read


READERS: dict[str, Reader] = {"init": _companions(InitContainer), "sidecars": _companions(Sidecar)}
