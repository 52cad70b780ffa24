"""Checks of a cluster before flowdsl uses it, in order; each is a function over a `Visit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.runtime.checkup.gpus import gpus
from flowdsl.runtime.checkup.installed import controller, credentials, definitions, namespace, server
from flowdsl.runtime.checkup.rights import accounts, rights
from flowdsl.runtime.checkup.storage import claims, classes, repository
from flowdsl.runtime.checkup.wanted import wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.runtime.checkup.visit import Check, Visit

CHECKS: tuple[Callable[[Visit], Iterator[Check]], ...] = (
    server,
    credentials,
    namespace,
    definitions,
    controller,
    rights,
    accounts,
    repository,
    classes,
    claims,
    gpus,
    wanted,
)


def checkup(visit: Visit) -> Iterator[Check]:
    """Runs all checks in order, and yields the results. Raises Unreachable, and Refusal (401) for bad credentials."""
    for check in CHECKS:
        yield from check(visit)
