"""The container of a pod, in Argo's fields."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl import types as t
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.expressions import text_of
from flowdsl.compiler.ports import OUT
from flowdsl.expr import Const, Expr, Join, Param
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json, Origins

OUTPUTS = "flowdsl-outputs"
"""The empty folder that a container step writes its outputs to: Argo makes none."""


def container(pod: ir.Pod, template: ir.Template, origins: Origins) -> Json:
    """The `container` or `script` of a template."""
    environment, resources = template.settings.environment, template.settings.resources
    words = [pod_text(word) for word in pod.command]
    found: Json = {"image": environment.image or "", "command": words[:1]}
    if words[1:]:
        found["args"] = words[1:]
    origins.option(found, "image", template, "image")
    env: list[Json] = []
    for name, value in pod.env:
        if isinstance(value, Secret):
            source = {"secretKeyRef": {"name": value.name, "key": value.key}}
            entry: Json = {"name": name, "valueFrom": source}
            option = "secrets"
        else:
            entry = {"name": name, "value": pod_text(value)}
            option = "env"
        origins.option(entry, "name", template, option)
        env.append(entry)
    if env:
        found["env"] = env
        origins.option(found, "env", template, "env")
    amounts = filled({"requests": dict(resources.requests), "limits": dict(resources.limits)})
    if amounts:
        found["resources"] = amounts
        for part in amounts.values():
            for name in part:
                origins.option(part, name, template, name if name in ("cpu", "memory") else "gpu")
    mounts = [_mount(mount) for mount in pod.mounts]
    if pod.output_folder:
        mounts.append({"name": OUTPUTS, "mountPath": OUT})
    if mounts:
        found["volumeMounts"] = mounts
        origins.option(found, "volumeMounts", template, "mounts")
    if pod.source is not None:
        found["source"] = pod.source
    return found


def _mount(mount: ir.Mount) -> Json:
    found: Json = {"name": mount.volume, "mountPath": mount.path}
    if mount.sub_path:
        path = mount.sub_path
        found["subPath"] = path if isinstance(path, str) else text_of(path, t.TEXT)
    if mount.read_only:
        found["readOnly"] = True
    return found


_DOLLAR = re.compile(r"\$(?=[$(]|\Z)")


def pod_text(expr: Expr) -> str:
    """A word of a command line or a variable's value, such that the pod sees it as it is.

    The kubelet replaces `$(NAME)` and `$$`; a `$` that may begin either is doubled. Source: Kubernetes, the
    expansion of variables in command, args and env.
    """
    match expr:
        case Const(value):
            return _DOLLAR.sub("$$", str(value))
        case Join(parts):
            return "".join(pod_text(Const(p, t.TEXT) if isinstance(p, str) else p) for p in parts)
        case Param(name, kind) if may_hold_dollar(kind):
            return f"{{{{=replace(inputs.parameters['{name}'], '$', '$$')}}}}"
        case _:
            return text_of(expr, expr.type)


def may_hold_dollar(kind: t.Type) -> bool:
    """Whether the text of a value of the type may hold a `$`."""
    match kind:
        case t.Number() | t.Flag() | t.Nothing() | t.Enumeration():
            return False
        case t.Choice(values):
            return any("$" in str(value) for value in values)
        case t.Maybe(item) | t.Sequence(item):
            return may_hold_dollar(item)
        case _:
            return True
