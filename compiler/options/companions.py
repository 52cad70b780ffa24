"""The containers beside that of a step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from flowdsl.companion import Companion as Written
from flowdsl.companion import InitContainer, Sidecar
from flowdsl.compiler.findings import kinds
from flowdsl.compiler.findings.bodies import NoTag, is_secret, untagged
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.findings.surroundings import SecretInText
from flowdsl.compiler.ir import Companion
from flowdsl.compiler.options import environment, resources
from flowdsl.compiler.options.reading import Wrong, all_of, flag, flattened, listed, said, words
from flowdsl.compiler.profile import NOWHERE
from flowdsl.grammar.names import is_argo_container, is_dns_label
from flowdsl.places.place import Argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.ir import Settings
    from flowdsl.compiler.options.reading import Reader

_CONTAINER = {**environment.READERS, **resources.READERS}
_FIELDS: dict[str, Reader] = {
    **{field: _CONTAINER[field] for field in ("image", "env", "secrets", "mounts", "cpu", "memory")},
    "command": words,
    "mirror": flag,
}


def doubts(made: Settings) -> Iterator[tuple[str, Wrong]]:
    """Conflicts between containers: two with the same name, two things at one path in one of them."""
    if not any(made.companions):
        return
    taken: set[str] = set()
    paths = {mount.path.rstrip("/") for mount in made.environment.mounts}
    for option in ("init", "sidecars"):
        for one in getattr(made.companions, option):
            if one.name in taken:
                way = "give each container a name of its own"
                finding = kinds.BadCompanion(
                    one.name, "is the name of two containers of one pod", "the same name again", way
                )
                yield option, Wrong(finding, place=one.place)
            taken.add(one.name)
            for mount in one.environment.mounts:
                if one.mirror and mount.path.rstrip("/") in paths:
                    problem, cause = f"has two volumes at {mount.path}", "`mirror` puts one there, too"
                    way = "leave `mirror` or the mount out"
                    finding = kinds.BadCompanion(one.name, problem, cause, way)
                    yield option, Wrong(finding, place=one.place)
            if option == "sidecars" and not one.command:
                yield option, Wrong(kinds.CompanionCommand(one.name), place=one.place)
            image = one.environment.image or ""
            if untagged(image):
                yield option, Wrong(NoTag(image), place=Argument(one.place, "image"))
            for variable, value in one.environment.env:
                if isinstance(value, str) and is_secret(variable, value):
                    place = Argument(one.place, "env", part=f"item:{variable}")
                    yield option, Wrong(SecretInText(variable), place=place)


def _companion(kind: type[Written], name: str, written: object) -> Companion:
    if not isinstance(written, kind):
        raise Wrong(OptionType(name, f"a list of {kind.__name__}(...)", said(written)))
    own = cast("object", written.name)
    first = Argument(written.site, position=0)
    if not isinstance(own, str) or not is_dns_label(own):
        shown = own if isinstance(own, str) else said(own)
        way = "use lower-case letters, digits and `-`"
        problem, cause = "cannot be the name of a container", "Kubernetes refuses the name"
        finding = kinds.BadCompanion(shown, problem, cause, way)
        raise Wrong(finding, place=first)
    if own == "main" or is_argo_container(own):
        way = "give it another name"
        cause = "Argo puts one of that name into the pod"
        finding = kinds.BadCompanion(own, "is the name of a container of Argo's own", cause, way)
        raise Wrong(finding, place=first)
    wrong: list[Wrong] = []
    found: dict[str, Any] = {}
    for field, reader in _FIELDS.items():
        given: object = getattr(written, field)
        if given is None:
            continue
        place = Argument(written.site, field)
        try:
            found[field] = reader(field, given)
        except* Wrong as group:
            wrong += (Wrong(one.finding, place=place._replace(part=one.part)) for one in flattened(group))
    if wrong:
        raise ExceptionGroup("fields", wrong)
    return Companion(
        own,
        found.get("command", ()),
        environment.settled(found),
        resources.settled(found, NOWHERE),
        found.get("mirror", False),
        written.site,
    )


def _companions(kind: type[Written]) -> Reader:
    def read(name: str, written: object) -> tuple[Companion, ...]:
        given = listed(name, written, f"a list of {kind.__name__}(...)")
        return tuple(all_of(partial(_companion, kind, name, one) for one in given))

    return read


READERS: dict[str, Reader] = {"init": _companions(InitContainer), "sidecars": _companions(Sidecar)}
