"""Pod settings that are valid alone and not together: Kubernetes rejects the pod, or never starts it.

Source: Kubernetes 1.35, pkg/apis/core/validation/validation.go and pkg/kubelet/kuberuntime/security_context.go.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.findings import Alternatives, Incomplete, NotForPods, NotOfArgo
from flowdsl.compiler.lint.pods.patches import patch_of
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, names_of, string
from flowdsl.grammar.names import is_argo_container, is_port_name
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


def users(view: View) -> Iterator[Problem]:
    """No container with `runAsNonRoot` runs as root: the kubelet does not start it, and the pod waits for ever."""
    apart = [bool(each.data.get("securityContext")) for each in view.templates if each.is_pod]
    for owner, path in view.owners:
        if owner is view.spec and apart and all(apart):  # which applies to no pod
            continue
        yield from _root(inside(owner, "securityContext"), {}, (*path, "securityContext"))
    for template in view.templates:
        contexts = [inside(each, "securityContext") for each, _ in view.levels(template)]
        around = next(filter(None, contexts), contexts[-1])
        if _is_root(around):  # which is reported there
            continue
        for place, container in template.containers:
            own = inside(container, "securityContext")
            yield from _root(own, around, (*template.path, *place, "securityContext"))


def _is_root(context: Object) -> bool:
    return context.get("runAsUser") == 0 and context.get("runAsNonRoot") is True


def _root(context: Object, around: Object, path: Path) -> Iterator[Problem]:
    """The finding about a container's security context, within that of the pod."""
    given = {field: value for field, value in context.items() if value is not None}
    if given and _is_root({**around, **given}):
        both = "a container with `runAsNonRoot: true` has `runAsUser: 0`, which is root"
        yield Problem(path, Alternatives(both, "write the number of another user, or remove one of the two"))


def accounts(view: View) -> Iterator[Problem]:
    """If pods get no token, Argo's containers in them have a service account of their own.

    Source: Argo Workflows, setupServiceAccount.
    """
    if not view.runs or view.external:
        return
    field = "automountServiceAccountToken"
    told: set[Path] = set()
    for template in view.templates:
        owners = view.levels(template)
        accounts = [string(owner, "executor", "serviceAccountName") for owner, _ in owners]
        if not template.is_pod or any(accounts) or (view.base and inside(view.base.spec, "executor")):
            continue
        owner, path = next((each for each in owners if each[0].get(field) is not None), owners[0])
        if owner.get(field) is False and path not in told:
            told.add(path)
            way = "add `executor: {serviceAccountName: NAME}`, with the account that reports results"
            finding = Incomplete(f"`{field}: false`", "`executor.serviceAccountName`", way)
            yield Problem((*path, field), finding)


def propagation(view: View) -> Iterator[Problem]:
    """Mount propagation and recursive read-only mounts are used only where Kubernetes allows them.

    Argo repeats the mounts of `main` in a container of its own, which is not privileged, and may write there.
    Source: Argo Workflows, addOutputArtifactsVolumes; Kubernetes, ValidateVolumeMounts.
    """
    for template, place, container in view.containers:
        is_patched = view.is_patched(template)
        main = len(place) == 1 or (place[0] == "containerSet" and container.get("name") == "main")
        contexts = inside(view.defaults if main else {}, str(place[0])), container
        granted = any(inside(each, "securityContext").get("privileged") is True for each in contexts)
        for path, mount in entries_at(container, (*template.path, *place), "volumeMounts"):
            shared = string(mount, "mountPropagation") == "Bidirectional"
            if shared and not (granted and (is_patched or not main)):
                yield Problem((*path, "mountPropagation"), _bidirectional(main, granted))
            if not (main and is_patched) and (finding := _recursive(mount, main)) is not None:
                yield Problem((*path, "recursiveReadOnly"), finding)


def _bidirectional(main: bool, granted: bool) -> NotForPods:
    """The finding about a mount that shares its mounts with the node; `granted`: its container is privileged."""
    reason = "only in a container with `privileged: true`"
    if main and granted:
        reason = "Argo mounts it in its container `wait` too, which is not privileged"
    way = "mount it in a sidecar with" if main else "add"
    way = f"write `HostToContainer`, or {way} `securityContext: {{privileged: true}}`"
    return NotForPods("`mountPropagation`", "Bidirectional", reason, way)


def _recursive(mount: Object, main: bool) -> NotForPods | None:
    """The finding about a mount that is read-only with all below it."""
    word, propagated = string(mount, "recursiveReadOnly"), string(mount, "mountPropagation")
    way = "remove it, or mount the volume in a sidecar"
    if word not in ("IfPossible", "Enabled"):
        return None
    if main:
        reason = "Argo mounts it in its container `wait` too, where it is not read-only"
    elif not mount.get("readOnly"):
        reason, way = "only in a mount with `readOnly: true`", "add `readOnly: true`"
    elif propagated not in ("", "None"):
        reason, way = f"not in a mount with `mountPropagation: {propagated}`", "remove one of the two"
    else:
        return None
    return NotForPods("`recursiveReadOnly`", word, reason, way)


def devices(view: View) -> Iterator[Problem]:
    """Block devices of containers are volumes of the template: Argo adds volumes of the spec only for mounts.

    Source: Argo Workflows, addVolumeReferences; Kubernetes, ValidateVolumeDevices.
    """
    shared = names_of(view.spec, "volumes")
    shared |= {string(each, "metadata", "name") for each in entries(view.spec, "volumeClaimTemplates")}
    for template in view.templates:
        using = [each for each in template.containers if each[1].get("volumeDevices")]
        is_patched = view.is_patched(template)
        if not using or template.body == "containerSet" or is_patched:
            continue
        mounts = {string(each, "name") for _, each in template.mounts}
        volumes = (*entries(view.defaults, "volumes"), *entries(template.data, "volumes"))
        own = {string(each, "name"): each for each in volumes}
        for place, container in using:
            mounted = names_of(container, "volumeMounts")
            for path, device in entries_at(container, (*template.path, *place), "volumeDevices"):
                name = string(device, "name")
                reason, way = "", "declare it in `volumes` of the template, as a `persistentVolumeClaim`"
                if name in mounted:
                    reason, way = "the container mounts it as a folder too", "keep one of the two"
                elif name in own and own[name].keys().isdisjoint(("persistentVolumeClaim", "ephemeral")):
                    reason, way = (
                        "not a claim, and nothing else is a device",
                        "use a claim, or `volumeMounts`",
                    )
                elif name in shared and name not in own and name not in mounts:
                    reason = "Argo gives pods a volume of the spec for `volumeMounts` alone"
                if reason:
                    finding = NotForPods("the volume of a device", name, reason, way)
                    yield Problem((*path, "name"), finding)


def blocks(view: View) -> Iterator[Problem]:
    """No container mounts a claim of the run in block mode. Source: Kubernetes, createVolumeSpec of the kubelet."""
    claims = entries(view.spec, "volumeClaimTemplates")
    devices = [each for each in claims if string(each, "spec", "volumeMode") == "Block"]
    names = {string(each, "metadata", "name") for each in devices}
    names -= names_of(view.spec, "volumes")
    for template in view.templates if names else ():
        own = names_of(template.data, "volumes")
        for place, mount in template.mounts:
            name = string(mount, "name")
            if name in names - own:
                reason, way = "it is a device, without files", "take `volumeMode: Block` out of the claim"
                finding = NotForPods("the volume of a folder", name, reason, way)
                yield Problem((*template.path, *place, "name"), finding)


def expanded(view: View) -> Iterator[Problem]:
    """Variables in the paths of mounts exist in the container, and in Argo's own, which has the same mounts.

    Source: Kubernetes, ExpandContainerVolumeMounts of the kubelet; Argo Workflows, addOutputArtifactsVolumes.
    """
    for template, place, container in view.containers:
        if not any(each.get("subPathExpr") for each in entries(container, "volumeMounts")) or view.is_patched(
            template
        ):
            continue
        known = names_of(container, "env")
        known |= names_of(view.defaults, str(place[0]), "env")
        for at, mount in entries_at(container, (*template.path, *place), "volumeMounts"):
            text = string(mount, "subPathExpr")
            names = [] if "{{" in text else _EXPANDED.findall(text.replace("$$", ""))
            path = (*at, "subPathExpr")
            lost = next((each for each in names if each not in known and not _OF_ALL.match(each)), None)
            other = next((each for each in names if not _OF_ALL.match(each)), None)
            if lost is not None and not container.get("envFrom"):
                is_alone = len(place) > 1
                way = (
                    f"add `{lost}` to its `env`"
                    if is_alone
                    else "write `subPath` with a tag, such as `{{pod.name}}`"
                )
                reason = f"the container has no variable `{lost}`"
                yield Problem(path, NotForPods("`subPathExpr`", text, reason, way))
            elif other is not None and len(place) == 1:
                yield Problem(path, NotOfArgo(other))


_EXPANDED = regex(r"\$\(([^()]+)\)")
_OF_ALL = regex(r"ARGO_|KUBERNETES_|\w+_(?:SERVICE|PORT)")
"""Variables that Argo sets in containers, and Kubernetes for services."""


def kept(view: View) -> Iterator[Problem]:
    """Fields of containers that pods of Argo do not support: resize restarts, and host users.

    Source: Kubernetes, validateResizePolicy and ValidateSecurityContext; Argo Workflows, createWorkflowPod.
    """
    for template, place, container in view.containers:
        path = (*template.path, *place)
        for here, policy in entries_at(container, path, "resizePolicy"):
            word = string(policy, "restartPolicy")
            if word == "RestartContainer" and not _may_patch(view, template, "restartPolicy"):
                reason = "the containers of Argo's pods are not started again"
                finding = NotForPods("`restartPolicy`", word, reason, "write `NotRequired`")
                yield Problem((*here, "restartPolicy"), finding)
        word = string(container, "securityContext", "procMount")
        if word == "Unmasked" and not _may_patch(view, template, "hostUsers"):
            reason = "only in a pod with `hostUsers: false`"
            way = 'remove it, or add `podSpecPatch: "hostUsers: false"`'
            finding = NotForPods("`procMount`", word, reason, way)
            yield Problem((*path, "securityContext", "procMount"), finding)


def _may_patch(view: View, template: Template, field: str) -> bool:
    """Whether a patch sets a field of the pods of a template, or cannot be read."""
    patches = [each for each, _ in view.levels(template) if each.get("podSpecPatch")]
    return any(not (patch := patch_of(each)) or field in patch for each in patches)


def windows(view: View) -> Iterator[Problem]:
    """Either all containers of a pod are host processes or none; Argo's own are if the pod's context says so.

    Source: Kubernetes, validateWindowsHostProcessPod.
    """
    field = ("securityContext", "windowsOptions", "hostProcess")
    network = view.spec.get("hostNetwork") is True
    told: set[Path] = set()
    for template in (each for each in view.templates if each.is_pod and not view.is_patched(each)):
        levels = view.levels(template)
        around, place = next((each for each in levels if each[0].get("securityContext")), levels[-1])
        whole = inside(around, *field[:-1]).get(field[-1]) is True
        asked = [
            ((*template.path, *at, *field), inside(each, *field[:-1])) for at, each in template.containers
        ]
        asked += [((*place, *field), {field[-1]: True})] if whole and place not in told else []
        told.add(place)
        for path, options in asked:
            own: object = options.get(field[-1])
            reason, way = "", "write it into the `securityContext` of the template"
            if own is not None and own != whole:
                are = "such processes" if whole else "no such processes"
                reason = f"Argo's containers in the pod are {are}"
            elif own is True and not network:
                reason, way = "only in the network of the node", "add `hostNetwork: true` to the spec"
            if reason:
                yield Problem(path, NotForPods("`hostProcess`", str(own).lower(), reason, way))


def sysctls(view: View) -> Iterator[Problem]:
    """A sysctl is set once, and not one of the network with `hostNetwork`. Source: validateSysctls."""
    network = view.spec.get("hostNetwork") is True
    for owner, path in view.owners:
        taken: set[str] = set()
        for place, each in entries_at(owner, path, "securityContext", "sysctls"):
            name = string(each, "name")
            reason, way = "", "remove it"
            if name in taken:
                reason = "set already"
            elif network and name.replace("/", ".").startswith("net."):
                reason = "the pod is in the network of its node"
            if reason:
                finding = NotForPods("the name of a sysctl", name, reason, way)
                yield Problem((*place, "name"), finding)
            taken.add(name)


def ports(view: View) -> Iterator[Problem]:
    """A host port belongs to one container, and equals the container port with `hostNetwork`."""
    patches = {path: patch_of(owner) for owner, path in view.owners}
    above = (view.path, (*view.path, "templateDefaults"))
    shared = any(patches.get(path, {}).get("hostNetwork") is True for path in above)
    network = view.spec.get("hostNetwork") is True or shared
    for path, patch in patches.items():
        for container in entries(patch, "containers"):
            for port in entries(container, "ports"):
                if _apart(port, network or patch.get("hostNetwork") is True):
                    yield Problem((*path, "podSpecPatch"), _other_port(port))
    for template in view.templates:
        taken: set[tuple[object, ...]] = set()
        own = network or patches[template.path].get("hostNetwork") is True
        for place, container in template.containers:
            if place[0] == "initContainers":
                continue
            for at, port in entries_at(container, (*template.path, *place), "ports"):
                given = port.get("hostPort") or 0
                path = (*at, "hostPort")
                key = given, port.get("protocol") or "TCP", port.get("hostIP") or ""
                if _apart(port, own):
                    yield Problem(path, _other_port(port))
                elif given and key in taken:
                    reason, way = "already a port of the pod", "give each container a port of its own"
                    yield Problem(path, NotForPods("`hostPort`", str(given), reason, way))
                taken.add(key)


def _apart(port: Object, network: bool) -> bool:
    """Whether a host port differs from the container port with `hostNetwork`."""
    return network and port.get("hostPort") not in (None, 0, port.get("containerPort"))


def _other_port(port: Object) -> NotForPods:
    reason = "not the `containerPort`, and the pod is in the network of its node"
    way = f"write `{port.get('containerPort')}`, or remove it"
    return NotForPods("`hostPort`", str(port["hostPort"]), reason, way)


def probed(view: View) -> Iterator[Problem]:
    """The probes of daemons and the hooks of containers use ports that exist.

    Source: Kubernetes, ResolveContainerPort: a probe that finds no port never succeeds, and a hook fails.
    """
    for template in view.templates:
        asked: list[tuple[str, ...]] = [("lifecycle", "postStart")]
        if template.data.get("daemon"):
            asked += [("readinessProbe",), ("startupProbe",)]
        for place, container in template.containers:
            if place[0] == "initContainers":
                continue
            names = names_of(container, "ports")
            for fields, way in product(asked, ("httpGet", "tcpSocket")):
                port: object = inside(container, *fields, way).get("port")
                if not isinstance(port, str) or not is_port_name(port) or port in names or "{{" in f"{names}":
                    continue
                ends = "so the container is killed" if fields == asked[0] else "so the daemon is never ready"
                finding = NotForPods(
                    f"the port of `{fields[-1]}`",
                    port,
                    f"no port of the container has this name, {ends}",
                    f"add `{{name: {port}, containerPort: ...}}` to its `ports`, or write the number",
                )
                yield Problem((*template.path, *place, *fields, way, "port"), finding)


def told(view: View) -> Iterator[Problem]:
    """Variables and files tell the resources of containers that are in the pod.

    Source: Kubernetes, findContainerInPod, for which the kubelet tries again and again to start the pod.
    """
    pods = [each for each in view.all if each.is_pod]
    if view.external or any(map(view.is_patched, pods)):
        return
    for template in view.templates if pods else ():
        names = _names(template)
        for place, container in template.containers:
            for path, variable in entries_at(container, (*template.path, *place), "env"):
                yield from _of_container(inside(variable, "valueFrom"), (*path, "valueFrom"), names)
        yield from _of_files(template.data, template.path, names)
    yield from _of_files(view.spec, view.path, {name for each in pods for name in _names(each)})


def _names(template: Template) -> set[str]:
    """The names of the containers in the pods of a template."""
    named = {string(each, "name") for place, each in template.containers if len(place) > 1}
    return named if template.body == "containerSet" else named | {"main"}


def _of_files(owner: Object, path: Path, names: set[str]) -> Iterator[Problem]:
    """The findings about volumes whose files tell of other containers than those with the names."""
    for here, volume in entries_at(owner, path, "volumes"):
        for place, part in ((here, volume), *entries_at(volume, here, "projected", "sources")):
            for at, item in entries_at(part, place, "downwardAPI", "items"):
                yield from _of_container(item, at, names)


def _of_container(source: Object, path: Path, names: set[str]) -> Iterator[Problem]:
    """The finding about a resource of a container that has none of the names."""
    name = string(source, "resourceFieldRef", "containerName")
    if name and name not in names and not is_argo_container(name) and "{{" not in f"{name}{names}":
        way = "write " + " or ".join(f"`{each}`" for each in sorted(names))
        finding = NotForPods(
            "`containerName`", name, "no container of the pod has this name, so it never starts", way
        )
        yield Problem((*path, "resourceFieldRef", "containerName"), finding)


GRACE = 30
"""The termination grace period of a pod in seconds, unless a patch sets it: Argo has no field for it."""


def sleeps(view: View) -> Iterator[Problem]:
    """No hook sleeps for longer than the grace period of its pod. Source: validateSleepAction."""
    for template in view.templates:
        asked = [
            ((*template.path, *place, *fields), inside(container, *fields[:-1]).get("seconds"))
            for place, container in template.containers
            for fields in _SLEEPS
        ]
        counts = [(path, seconds) for path, seconds in asked if isinstance(seconds, int)]
        most = _grace(view, template) if counts else None
        for path, seconds in counts:
            if most is not None and seconds > most:
                reason = f"longer than the {most} seconds in which the pod has to end"
                way = f"write at most {most}, or give `terminationGracePeriodSeconds` in a `podSpecPatch`"
                yield Problem(path, NotForPods("`seconds`", str(seconds), reason, way))


_SLEEPS = [("lifecycle", hook, "sleep", "seconds") for hook in ("postStart", "preStop")]


def _grace(view: View, template: Template) -> int | None:
    """The grace period of a template's pods in seconds; None if a patch may set any."""
    given: list[int] = []
    for owner, _ in view.levels(template):
        if owner.get("podSpecPatch"):
            patch = patch_of(owner)
            seconds = patch.get("terminationGracePeriodSeconds", GRACE)
            if not patch or not isinstance(seconds, int):
                return None
            given.append(seconds)
    return max(given, default=GRACE)


def pages(view: View) -> Iterator[Problem]:
    """Containers with huge pages request cpu or memory too."""
    for template, place, container in view.containers:
        resources = inside(container, "resources")
        asked = [str(name) for field in ("limits", "requests") for name in inside(resources, field)]
        if any(name.startswith("hugepages-") for name in asked) and not {"cpu", "memory"} & set(asked):
            what, way = "a container with huge pages", "add `cpu` or `memory` to its limits"
            finding = Incomplete(what, "`cpu` or `memory`", way)
            yield Problem((*template.path, *place, "resources"), finding)
