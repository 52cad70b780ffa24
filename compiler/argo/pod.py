"""The container of a pod, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo import daemon
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.argo.volumes import mount
from flowdsl.compiler.expressions import raw, text_of
from flowdsl.compiler.ports import OUT
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Argument
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Get, Join, Param
from flowdsl.values.textual import Textual
from flowdsl.volume import Config, Secret

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json, Origins

OUTPUTS = "flowdsl-outputs"
"""The emptyDir that a container step writes its outputs to: Argo provides none."""


def container(pod: ir.Pod, template: ir.Template, origins: Origins) -> Json:
    """The `container` or `script` of a template."""
    environment, resources = template.settings.environment, template.settings.resources
    words = [pod_text(word) for word in pod.command]
    found: Json = {"image": environment.image or "", "command": words[:1]}
    if words[1:]:
        found["args"] = words[1:]
    if isinstance(said := template.places.get("command"), Argument):
        for position in range(len(words)):
            holder, index = (found["args"], position - 1) if position else (found["command"], 0)
            origins.note(holder, index, said._replace(position=position))
    origins.option(found, "image", template, "image")
    fields: tuple[Field, ...] = (
        ("imagePullPolicy", environment.image_pull_policy, ("image_pull_policy",)),
        ("workingDir", environment.workdir, ("workdir",)),
    )
    origins.write(found, fields, template)
    env: list[Json] = []
    for name, value in pod.env:
        if isinstance(value, (Config, Secret)):
            entry: Json = {"name": name, "valueFrom": referred(value)}
        else:
            entry = {"name": name, "value": pod_text(value)}
        if isinstance(value, Secret):
            for field in entry:
                origins.option(entry, field, template, "secrets")
        env.append(entry)
    if env:
        found["env"] = env
        origins.option(found, "env", template, "env")
    if resources.requests or resources.limits:
        amounts = filled({"requests": dict(resources.requests), "limits": dict(resources.limits)})
        found["resources"] = amounts
        for part in amounts.values():
            for name in part:
                origins.option(part, name, template, name if name in ("cpu", "memory") else "gpu")
    if ready := daemon.probe(template.settings.daemon):
        found["readinessProbe"] = ready
        origins.option(found, "readinessProbe", template, "ready")
    mounts = [mount(one) for one in pod.mounts]
    if pod.output_folder:
        mounts.append({"name": OUTPUTS, "mountPath": OUT})
    if mounts:
        found["volumeMounts"] = mounts
        origins.option(found, "volumeMounts", template, "mounts", "store")
        if isinstance(place := template.places.get("mounts"), Argument):
            for one in mounts:
                origins.note(one, "mountPath", place._replace(part=f"key:{one['mountPath']}"))
    if pod.source is not None:
        found["source"] = pod.source
    return found


def referred(value: Config | Secret) -> Json:
    """The source of a variable's value."""
    field = "secretKeyRef" if isinstance(value, Secret) else "configMapKeyRef"
    return {field: {"name": value.name, "key": value.key}}


_DOLLAR = regex(r"\$(?=[$(]|\Z)")


def pod_text(expr: Expr) -> str:
    """A word of a command line or a variable's value, escaped so that the pod sees it unchanged.

    The kubelet expands `$(NAME)` and `$$`; a `$` that may begin either is doubled. Source: Kubernetes, the
    expansion of variables in command, args and env.
    """
    match expr:
        case Const(value):
            return _DOLLAR.sub("$$", str(value))
        case Join(parts):
            return "".join(pod_text(Const(p, t.TEXT) if isinstance(p, str) else p) for p in parts)
        case Param(_, kind) | Get(_, _, kind) if may_hold_dollar(kind):
            return f"{{{{=replace({raw(expr)}, '$', '$$')}}}}"
        case _:
            return text_of(expr, expr.type)


def may_hold_dollar(kind: t.Type) -> bool:
    """Whether the text of a value of the type may contain a `$`."""
    match kind:
        case t.Number() | t.Flag() | t.Nothing() | t.Enumeration() | Textual():
            return False
        case t.Choice(values):
            return any("$" in str(value) for value in values)
        case t.Maybe(item) | t.Sequence(item):
            return may_hold_dollar(item)
        case _:
            return True
