"""The containers beside that of a step, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.argo.pod import pod_text, referred
from flowdsl.compiler.argo.volumes import mount
from flowdsl.compiler.naming import volume_name
from flowdsl.values import types as t
from flowdsl.values.expr import Const
from flowdsl.volume import Config, Secret

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(companions: ir.Companions) -> tuple[Field, ...]:
    """The fields of a template, each with the options that determine it."""
    return (
        ("initContainers", [_container(one) for one in companions.init], ("init",)),
        ("sidecars", [_container(one) for one in companions.sidecars], ("sidecars",)),
    )


def _container(one: ir.Companion) -> Json:
    words = [pod_text(Const(word, t.TEXT)) for word in one.command]
    env: list[Json] = [
        {"name": name, "valueFrom": referred(value)}
        if isinstance(value, (Config, Secret))
        else {"name": name, "value": pod_text(Const(value, t.TEXT))}
        for name, value in one.environment.env
    ]
    amounts = filled({"requests": dict(one.resources.requests), "limits": dict(one.resources.limits)})
    mounts = [mount(place._replace(volume=volume_name(place.volume))) for place in one.environment.mounts]
    return filled(
        {
            "name": one.name,
            "image": one.environment.image,
            "command": words[:1],
            "args": words[1:],
            "env": env,
            "resources": amounts,
            "volumeMounts": mounts,
            "mirrorVolumeMounts": one.mirror,
        }
    )
