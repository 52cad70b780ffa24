"""The images of pods by the names from which a cluster pulls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.profile import Profile


def pulled(template: ir.Template, profile: Profile) -> ir.Template:
    """The template of a pod with the images of all its containers as a cluster pulls them.

    To be called when keys of caches are determined: these hold the names that the pipeline has.
    """
    if not profile.registries:
        return template

    def environment(found: ir.Environment) -> ir.Environment:
        return found if found.image is None else found._replace(image=profile.pulled(found.image))

    def beside(found: tuple[ir.Companion, ...]) -> tuple[ir.Companion, ...]:
        return tuple(one._replace(environment=environment(one.environment)) for one in found)

    settings = template.settings
    companions = settings.companions._replace(
        init=beside(settings.companions.init), sidecars=beside(settings.companions.sidecars)
    )
    return template._replace(
        settings=settings._replace(environment=environment(settings.environment), companions=companions)
    )
