"""Features of a workflow that a local run does not support: warnings before it runs, and refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from typing import Any

from flowdsl.compiler.kinds import POD_BODIES, STORES, kind
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import TAG
from flowdsl.runtime.documents import called, claims, containers
from flowdsl.runtime.local import GIVEN, objects
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.local.controller.templates import Templates
from flowdsl.runtime.local.controller.workflow import spec_of
from flowdsl.runtime.local.pods.store import parts_of
from flowdsl.runtime.local.uses import Use, reached, the_step
from flowdsl.runtime.names import listed, meant
from flowdsl.runtime.parts import name_of, part, several, texts

Json = dict[str, Any]

_LONG = 60.0
"""Seconds; pauses of at least this length are announced before the run."""
_IGNORED = {
    "nodeSelector": "node selectors",
    "affinity": "affinity",
    "tolerations": "tolerations",
    "priorityClassName": "priorities",
    "podPriorityClassName": "priorities",
    "schedulerName": "schedulers",
    "topologySpreadConstraints": "spreading",
    "serviceAccountName": "service accounts",
    "executor": "service accounts",
    "securityContext": "users and capabilities",
    "hostNetwork": "the network of the node",
    "dnsPolicy": "DNS settings",
    "dnsConfig": "DNS settings",
    "hostAliases": "DNS settings",
}


class Asked(NamedTuple):
    """How a run was requested, as far as it matters here.

    `fakes`: tasks and templates that do not run; `artifacts`: names that are given; `config_maps`, `secrets`:
    names, each with the given keys. `has`: whether this machine has a program; `mounts`: claims with a given
    folder. `earlier`: names and keys of files of an earlier run, not all of which are needed. `approve`: whether
    gates open immediately. `unasked`: ConfigMaps and Secrets that are at hand, and need not be used.
    """

    engine: str | None = None
    kubectl: bool = False
    fakes: frozenset[str] = frozenset()
    mounts: frozenset[str] = frozenset()
    artifacts: frozenset[str] = frozenset()
    config_maps: Mapping[str, Collection[str]] = {}
    secrets: Mapping[str, Collection[str]] = {}
    has: Callable[[str], bool] = bool
    earlier: frozenset[str] = frozenset()
    approve: bool = False
    unasked: frozenset[str] = frozenset()


class Verdict(NamedTuple):
    """Sentences for the user: differences to a cluster, and reasons why the run is refused."""

    notes: list[str]
    refusals: list[str]


def judged(manifest: Json, references: list[Json], asked: Asked) -> Verdict:
    """What a local run of a workflow does differently, or cannot do."""
    try:
        spec = spec_of(manifest, references)
    except ArgoError as error:
        return Verdict([], [f"{error}: name the file that has it, too"])
    run = name_of(manifest)
    refusals: dict[str, None] = {}
    templates = Templates(run, spec, references)
    uses = list(reached(templates, spec, asked.fakes, refusals))
    every = list(reached(templates, spec))
    done = _done(every)
    for use in uses:
        refusals.update(dict.fromkeys(_refused(use, asked, done)))
    volumes = {one["name"]: one for one in several(spec, "volumes")}
    made = {key for use in every for key in _keys(several(part(use.template, "outputs"), "artifacts"))}
    refusals.update(dict.fromkeys(_missing(spec, volumes, uses, made, asked)))
    refusals.update(dict.fromkeys(_unknown(asked.mounts, _claims(spec, uses, run), "--mount", "claim")))
    files = [one for use in uses for one in several(part(use.template, "inputs"), "artifacts")]
    files.extend(one for use in uses if (one := _listed(use.template)).get("name"))
    tasks = (task for use in uses for task in called(use.template))
    files.extend(one for place in (spec, *tasks) for one in several(part(place, "arguments"), "artifacts"))
    known = {str(one["name"]): None for one in files} | dict.fromkeys(_keys(files))
    refusals.update(dict.fromkeys(_unknown(asked.artifacts, known, "--artifact", "artifact")))
    manifests = [spec, *(use.template for use in uses), *_jobs(uses)]
    for option, word, given in (
        ("--config-map", "ConfigMap", asked.config_maps),
        ("--secret", "Secret", asked.secrets),
    ):
        names = dict.fromkeys(_referred(manifests, word.lower()))
        refusals.update(dict.fromkeys(_unknown(given.keys() - asked.unasked, names, option, word)))
    return Verdict(_notes(spec, uses, asked), list(refusals))


def _claims(spec: Json, uses: list[Use], run: str) -> dict[str, None]:
    """The claims that pods may mount."""
    places = (spec, *(use.template for use in uses), *_jobs(uses))
    found = [claim for place in places for claim in claims(several(place, "volumes")).values()]
    new = (name_of(one) for one in several(spec, "volumeClaimTemplates"))
    return dict.fromkeys((*found, *(f"{run}-{name}" for name in new)))


def _jobs(uses: list[Use]) -> list[Json]:
    """The pods of the Jobs that templates create."""
    return [body for use in uses for body in objects.bodies(part(use.template, "resource"))]


def _referred(node: object, word: str) -> Iterator[str]:
    """The names in fields that refer to an object whose kind is called `word`: `secretKeyRef`, `imagePullSecrets`."""
    if is_list(node):
        for one in node:
            yield from _referred(one, word)
    elif is_mapping(node):
        for field, value in node.items():
            for one in value if is_list(value) else (value,):
                if word not in field.lower():
                    yield from _referred(one, word)
                elif is_mapping(one):
                    yield from (str(name) for key in ("name", "secretName") if (name := one.get(key)))
                elif isinstance(one, str):
                    yield one


def _unknown(given: Set[str], known: Iterable[str], option: str, word: str) -> Iterator[str]:
    """Values given for names that do not exist: they would have no effect."""
    names = list(known)
    for name in sorted(given):
        if any(_may_be(name, one) for one in names):
            continue
        shown = [one for one in names if not one.startswith(f"{GIVEN}/")]
        more = meant(name, shown, listed(shown) if shown else "it has none")
        yield f"{option} {name}: the workflow has no {word} `{name}`; {more}"


def _may_be(name: str, known: str) -> bool:
    """Whether a text in which tags may stand becomes this name."""
    return re.fullmatch(".*".join(map(re.escape, TAG.split(known)[::2])), name, re.DOTALL) is not None


def _done(uses: Iterable[Use]) -> set[str]:
    """The actions of `resource` templates that others rely on."""
    made = [use.template for use in uses if kind(use.template) == "resource"]
    if not made:
        return set()
    from flowdsl.runtime.local.pods.jobs import does

    return {one for template in made for one in does(template)}


def _refused(use: Use, asked: Asked, done: set[str]) -> Iterator[str]:
    """Why a template cannot run here; `done`: the actions of others."""
    body = kind(use.template)
    step, fake = the_step(use.task), _fake(use)
    programs = list(_programs(use.template))
    for one in programs:
        if part(one, "lifecycle").get("postStart"):
            yield f"{step} has a `postStart`, which does not run here: leave the step out: {fake}"
    if body == "resource" and not asked.kubectl:
        from flowdsl.runtime.local.pods.jobs import why_not

        what = why_not(use.template, done)
        if not what and asked.engine is not None:
            what = "runs pods that --engine gives no names to each other"
        if what:
            yield f"{step} {what}: let it do so with --kubectl, or take a value for its result: {fake}"
    elif body == "plugin":
        yield f"{step} is run by a plugin of Argo, which is not here: take a value for its result: {fake}"
    elif asked.engine is None:
        for one in programs:
            if not one.get("command"):
                yield (
                    f"{step} runs the command that its image {one.get('image', '')} has: name the command "
                    f"in the manifest, run the image with --engine docker, or leave the step out: {fake}"
                )


def _fake(use: Use) -> str:
    """The options that give a step its outputs."""
    declared = part(use.template, "outputs")
    found = [
        (str(one["name"]), "VALUE") for one in several(declared, "parameters") if one.get("value") is None
    ]
    found += [(str(one["name"]), "PATH") for one in several(declared, "artifacts")]
    if len(found) < 2:
        return f"--fake {use.task}={found[0][1] if found else 'VALUE'}"
    return " ".join(f"--fake {use.task}.{name}={value}" for name, value in found)


def _programs(template: Json) -> Iterator[Json]:
    """The containers that a template runs: its own, and those of the Job that it creates."""
    yield from containers(template)
    if body := template.get("resource"):
        yield from objects.containers(body)


# --- what the user must provide ---------------------------------------------------------------------


def _missing(
    spec: Json, volumes: Mapping[str, Json], uses: list[Use], made: Set[str], asked: Asked
) -> Iterator[str]:
    """ConfigMaps, Secrets and files that are needed, but not given; `made`: the keys of what is stored in the run."""
    for one in (
        *several(part(spec, "arguments"), "parameters"),
        *(one for use in uses for one in several(part(use.template, "inputs"), "parameters")),
    ):
        source = part(one, "valueFrom")
        reference = part(source, "configMapKeyRef")
        if one.get("value") is None and source.get("default") is None and not reference.get("optional"):
            yield from _object("ConfigMap", reference, asked.config_maps, f"the parameter `{one['name']}`")
    for one in several(part(spec, "arguments"), "artifacts"):
        yield from _file(one, made, asked, f"the artifact `{one['name']}`")
    for place in (spec, *(use.template for use in uses)):
        for one in several(part(place, "synchronization"), "semaphores"):
            yield from _object("ConfigMap", part(one, "configMapKeyRef"), asked.config_maps, "a semaphore")
    for use in uses:
        yield from _missing_files(use, made, asked)
        for header in several(part(use.template, "http"), "headers"):
            secret = part(part(header, "valueFrom"), "secretKeyRef")
            if not secret.get("optional"):
                yield from _object("Secret", secret, asked.secrets, the_step(use.task))
        pods = [use.template, *objects.bodies(part(use.template, "resource"))]
        own = {one["name"]: one for pod in pods for one in several(pod, "volumes")}
        for container in _programs(use.template):
            yield from _objects(container, {**volumes, **own}, use, asked)


def _missing_files(use: Use, made: Set[str], asked: Asked) -> Iterator[str]:
    for task in called(use.template):
        step = the_step(str(task["name"]))
        for one in several(part(task, "arguments"), "artifacts"):
            yield from _file(one, made, asked, f"the artifact `{one['name']}` of {step}")
    for one in several(part(use.template, "inputs"), "artifacts"):
        yield from _file(one, made, asked, f"the input `{one['name']}` of {the_step(use.task)}")
    listed = _listed(use.template)
    if _key(listed) and not any(f"{key}/".startswith(f"{_key(listed)}/") for key in made):
        yield from _file({"name": "artifacts", **listed}, made, asked, f"the `data` of {the_step(use.task)}")


def _objects(container: Json, volumes: Mapping[str, Json], use: Use, asked: Asked) -> Iterator[str]:
    references: list[tuple[str, Json, str]] = []
    for variable in several(container, "env"):
        source = part(variable, "valueFrom")
        references.append(("ConfigMap", part(source, "configMapKeyRef"), "name"))
        references.append(("Secret", part(source, "secretKeyRef"), "name"))
    for source in several(container, "envFrom"):
        references.append(("ConfigMap", part(source, "configMapRef"), "name"))
        references.append(("Secret", part(source, "secretRef"), "name"))
    for mount in several(container, "volumeMounts"):
        volume = volumes.get(str(mount.get("name")), {})
        for source in (volume, *several(part(volume, "projected"), "sources")):
            references.append(("ConfigMap", part(source, "configMap"), "name"))
            secret = part(source, "secret")
            references.append(("Secret", secret, "secretName" if "secretName" in secret else "name"))
    for word, reference, field in references:
        given = asked.config_maps if word == "ConfigMap" else asked.secrets
        if not reference.get("optional"):
            yield from _object(word, reference, given, the_step(use.task), field)


def _object(
    word: str, reference: Json, given: Mapping[str, Collection[str]], whose: str, field: str = "name"
) -> Iterator[str]:
    name: object = reference.get(field)
    if not isinstance(name, str) or not name or "{{" in name or not objects.is_known(name):
        return
    option = "--config-map" if word == "ConfigMap" else "--secret"
    if name not in given:
        yield f"{whose} reads the {word} `{name}`: give its data with {option} {name}=PATH"
        return
    wanted = [reference.get("key"), *(one.get("key") for one in several(reference, "items"))]
    for key in dict.fromkeys(one for one in wanted if isinstance(one, str) and "{{" not in one):
        if key not in given[name]:
            there = (
                f"has {', '.join(f'`{one}`' for one in sorted(given[name]))}" if given[name] else "is empty"
            )
            yield f"{whose} reads `{key}` of the {word} `{name}`, and what {option} {name}=PATH gives {there}"


def _file(artifact: Json, made: Set[str], asked: Asked, whose: str) -> Iterator[str]:
    for store, field in STORES.items():
        key = part(artifact, store).get(field)
        name = str(artifact["name"])
        if not isinstance(key, str) or "{{" in key or artifact.get("optional"):
            continue
        if key not in made and not {key, "/".join(parts_of(key)), name} & (asked.artifacts | asked.earlier):
            yield f"{whose} is in a store, under {key}: give the file with --artifact {name}=PATH"


def _listed(template: Json) -> Json:
    """The artifact location whose keys a `data` template lists."""
    return part(part(part(template, "data"), "source"), "artifactPaths")


def _key(artifact: Json) -> str:
    """The key of an artifact, without a trailing slash; empty if it has none."""
    return next(_keys([artifact]), "").rstrip("/")


def _keys(artifacts: Iterable[Json]) -> Iterator[str]:
    for one in artifacts:
        for store, field in STORES.items():
            key = part(one, store).get(field)
            if isinstance(key, str):
                yield key


# --- what is only reported --------------------------------------------------------------------------


def _notes(spec: Json, uses: list[Use], asked: Asked) -> list[str]:
    notes: list[str] = []
    pods = [use for use in uses if kind(use.template) in POD_BODIES]
    images = dict.fromkeys(
        str(one["image"]) for use in pods for one in _programs(use.template) if one.get("image")
    )
    if images and asked.engine is None:
        notes.append(
            f"images are not used, the programs of this machine are ({', '.join(images)}); "
            "--engine docker runs them"
        )
    ignored = _ignored([spec, *(use.template for use in uses), *_jobs(uses)])
    if ignored:
        notes.append(f"ignored on this machine: {', '.join(ignored)}")
    programs = dict.fromkeys(
        f"`{word}` ({use.task})"
        for use in pods
        for one in _programs(use.template)
        if (word := next(iter(texts(one, "command")), "")) and asked.engine is None and _lacks(word, asked)
    )
    if programs:
        notes.append(
            f"this machine does not have {', '.join(programs)}: the step fails; install it, "
            "or use --engine docker or --fake"
        )
    locks = [part(one, "synchronization") for one in (spec, *(use.template for use in uses))]
    if any(locks):
        notes.append("locks hold within this run; other runs do not wait for them")
    waits = dict.fromkeys(
        f"`{use.task}` ({wait})"
        for use in uses
        if not asked.approve
        and (wait := str(part(use.template, "suspend").get("duration") or ""))
        and _is_long(wait)
    )
    if waits:
        notes.append(f"waited for as on a cluster: {', '.join(waits)}; --approve continues at once")
    return notes


def _is_long(wait: str) -> bool:
    """Whether a watching user may wonder what the run is waiting for."""
    try:
        return duration(wait) >= _LONG
    except GrammarError:
        return False  # known only at run time


def _lacks(word: str, asked: Asked) -> bool:
    plain = "/" not in word and "{{" not in word and "$(" not in word
    return plain and not word.startswith("python") and not asked.has(word)


def _ignored(places: Iterable[Json]) -> list[str]:
    return list(dict.fromkeys(_IGNORED[key] for place in places for key in _IGNORED if place.get(key)))
