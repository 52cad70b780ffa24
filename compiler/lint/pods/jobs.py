"""Jobs and JobSets in `resource` templates: specs that the API server or the webhook rejects.

Their manifests are read with types, and tags are words.
Source: Kubernetes 1.35, pkg/apis/batch/validation; JobSet 0.10, pkg/webhooks and api/jobset/v1alpha2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.pods.untyped import (
    WORD,
    Lacking,
    containers_of,
    count,
    counts,
    named,
    one_of,
    words,
)
from flowdsl.compiler.tree import is_list, is_mapping, mapping_at, mappings_at, value_at
from flowdsl.diagnostic import instead
from flowdsl.grammar.names import DNS_LABEL_LENGTH, is_dns_label, is_dns_subdomain, is_service_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object

_MOST_PARALLEL = 100_000
_RULES = 20


def job(body: Object) -> Iterator[Flaw]:
    """What is invalid in a Job."""
    spec = body.get("spec")
    if not is_mapping(spec):
        return
    yield from of_jobs(spec, "the Job")
    name, completions = named(body), count(spec.get("completions"))
    if name is not None and completions and spec.get("completionMode") == "Indexed":
        longest = f"{name}-{completions - 1}"
        if not is_dns_label(longest):
            way = f"use at most {DNS_LABEL_LENGTH} lower-case letters, digits and `-` with the index"
            yield f"the Job cannot name its pods `{longest}`", way


def of_jobs(spec: Object, owner: str, is_indexed: bool = False) -> Iterator[Flaw]:
    """What is invalid in the spec of a Job; `is_indexed`: the default completion mode is Indexed."""
    mode = spec.get("completionMode")
    if isinstance(mode, str) and WORD in mode:
        return
    indexed = mode == "Indexed" or (mode is None and is_indexed)
    completions, parallelism = count(spec.get("completions")), count(spec.get("parallelism"))
    if mode == "Indexed" and not is_indexed and spec.get("completions") is None:
        yield Lacking(
            f"{owner} is `Indexed` and has no `completions`", "add `completions`, the number of indexes"
        )
    if indexed and parallelism is not None and parallelism > _MOST_PARALLEL:
        yield f"`parallelism` of {owner} is {parallelism}", f"write at most {_MOST_PARALLEL}"
    for field in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy") if not indexed else ():
        if spec.get(field) is not None:
            way = "add `completionMode: Indexed`, with `completions`"
            yield f"{owner} has `{field}`, and its pods have no indexes", way
    most = count(spec.get("maxFailedIndexes"))
    if most is not None and spec.get("backoffLimitPerIndex") is None:
        yield Lacking(
            f"{owner} has `maxFailedIndexes` and no `backoffLimitPerIndex`", "add `backoffLimitPerIndex`"
        )
    elif most is not None and completions is not None and most > completions:
        yield f"`maxFailedIndexes` of {owner} is {most}", f"write at most {completions}, its `completions`"
    yield from _managed(spec, owner)
    labels = mapping_at(spec, "selector", "matchLabels")
    if not _OWN_LABELS.issuperset(labels) and not spec.get("manualSelector"):
        yield f"{owner} selects its pods by labels of its own", "take out `selector`: each Job is given one"
    yield from _failing(spec, owner)
    yield from _succeeding(spec, owner, completions)


_OWN_LABELS = frozenset(
    f"{prefix}{name}" for prefix in ("", "batch.kubernetes.io/") for name in ("controller-uid", "job-name")
)


def _managed(spec: Object, owner: str) -> Iterator[Flaw]:
    """The name of the controller that manages an object in place of its own (`managedBy`)."""
    manager = spec.get("managedBy")
    if not isinstance(manager, str) or WORD in manager:
        return
    domain, slash, path = manager.partition("/")
    if not slash or not path or not is_dns_subdomain(domain) or len(manager) > DNS_LABEL_LENGTH:
        way = "write a domain and a path, as in `kueue.x-k8s.io/multikueue`, of at most 63 characters"
        yield f"`managedBy` of {owner} cannot be `{manager}`", way


_ACTIONS = ("FailJob", "FailIndex", "Ignore", "Count")


def _failing(spec: Object, owner: str) -> Iterator[Flaw]:
    """The pod failure policy. Source: validatePodFailurePolicy."""
    policy: Any = spec.get("podFailurePolicy")
    if not is_mapping(policy):
        return
    pod = mapping_at(spec, "template", "spec")
    if pod.get("restartPolicy") == "OnFailure":
        way = "write `restartPolicy: Never` there: a pod that starts its container again has not failed"
        yield f"{owner} has `podFailurePolicy`, and its pods have `restartPolicy: OnFailure`", way
    if spec.get("podReplacementPolicy") == "TerminatingOrFailed":
        found = f"{owner} has `podFailurePolicy`, and `podReplacementPolicy: TerminatingOrFailed`"
        yield found, "write `podReplacementPolicy: Failed`, or remove it"
    rules = mappings_at(policy, "rules")
    if len(rules) > _RULES:
        yield f"`podFailurePolicy` of {owner} has {len(rules)} rules", f"write at most {_RULES}"
    containers = [str(each.get("name")) for each in containers_of(pod)]
    rule_owner = f"a rule of `podFailurePolicy` of {owner}"
    for rule in rules:
        yield from one_of(rule, "action", rule_owner, _ACTIONS)
        if not rule.get("action"):
            yield f"{rule_owner} has no `action`", f"add one of {', '.join(_ACTIONS)}"
        if rule.get("action") == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield f"{rule_owner} fails an index, and there is no `backoffLimitPerIndex`", "add it"
        codes, states = rule.get("onExitCodes"), rule.get("onPodConditions")
        if bool(codes) == bool(states):
            found = f"{rule_owner} has {'both' if codes else 'neither'} `onExitCodes` "
            yield f"{found}{'and' if codes else 'nor'} `onPodConditions`", "give exactly one of them"
        if is_mapping(codes):
            yield from _exit_codes(codes, rule_owner, containers)


def _exit_codes(codes: Object, owner: str, containers: list[str]) -> Iterator[Flaw]:
    """The exit codes of a rule."""
    yield from one_of(codes, "operator", owner, ("In", "NotIn"))
    values: Any = codes.get("values")
    for field, example in (("operator", "In"), ("values", "[1]")):
        if codes.get(field) is None:
            yield (
                f"{owner} has `onExitCodes` without `{field}`",
                f"add `{field}: {example}`, or what is meant",
            )
    if is_list(values):
        numbers = [number for each in values if (number := count(each)) is not None]
        if not values or numbers != sorted(set(numbers)):
            found = "none" if not values else ", ".join(map(str, numbers))
            yield f"the exit codes of {owner} are {found}", "write each once, the lower ones first"
        if codes.get("operator") == "In" and 0 in numbers:
            yield f"{owner} is about the exit code 0, with which no container fails", "take out 0"
    name = codes.get("containerName")
    if not isinstance(name, str) or not containers or any(WORD in each for each in (name, *containers)):
        return
    if name not in containers:
        yield (
            f"{owner} is about the container `{name}`, which its pods do not have",
            instead(name, containers),
        )


_INDEXES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def _succeeding(spec: Object, owner: str, completions: int | None) -> Iterator[Flaw]:
    """The success policy. Source: validateSuccessPolicy."""
    policy: Any = spec.get("successPolicy")
    if not is_mapping(policy):
        return
    rules = mappings_at(policy, "rules")
    if policy.get("rules") in (None, []) or len(rules) > _RULES:
        yield f"`successPolicy` of {owner} has {len(rules)} rules", f"write from 1 to {_RULES}"
    for rule in rules:
        indexes, least = rule.get("succeededIndexes"), count(rule.get("succeededCount"))
        if indexes is None and rule.get("succeededCount") is None:
            found = (
                f"a rule of `successPolicy` of {owner} has neither `succeededIndexes` nor `succeededCount`"
            )
            yield found, "give one of them, or both"
        if isinstance(indexes, str) and WORD not in indexes:
            if _INDEXES.fullmatch(indexes) is None:
                way = "write indexes and ranges from low to high, as in `0,2-4`"
                yield f"`succeededIndexes` of {owner} cannot be `{indexes}`", way
            elif completions is not None and max(map(int, re.findall(r"\d+", indexes))) >= completions:
                way = f"write indexes from 0 to {completions - 1}"
                yield f"`succeededIndexes` of {owner} is `{indexes}`, of {completions} completions", way
        if least is not None and completions is not None and least > completions:
            found = f"`succeededCount` of {owner} is {least}, of {completions} completions"
            yield found, f"write at most {completions}"


_MOST_PODS = 2**31 - 1
_REASONS = (
    *("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded"),
    "PodFailurePolicy",
)
_JOB_SET_ACTIONS = (
    *("FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts"),
    *("RestartJob", "RestartJobAndIgnoreMaxRestarts"),
)
_RULE_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")


def job_set(body: Object) -> Iterator[Flaw]:
    """What is invalid in a JobSet."""
    spec = body.get("spec")
    if not is_mapping(spec):
        return
    yield from counts(spec, "the JobSet", ("ttlSecondsAfterFinished",))
    jobs = mappings_at(spec, "replicatedJobs")
    names = [each["name"] if isinstance(each.get("name"), str) else WORD for each in jobs]
    known = None if any(WORD in name for name in names) else names
    for index, each in enumerate(jobs):
        yield from _replicated(each, named(body))
        if each.get("dependsOn"):
            yield from _depending(spec, each, names[:index])
        if names[index] in names[:index] and WORD not in names[index]:
            yield f"two jobs of the JobSet are called `{names[index]}`", "give each a name of its own"
    domain = mapping_at(spec, "network").get("subdomain")
    if isinstance(domain, str) and domain and WORD not in domain and not is_service_name(domain):
        yield f"the `subdomain` of the JobSet cannot be `{domain}`", _SERVICE
    yield from _managed(spec, "the JobSet")
    startup = mapping_at(spec, "startupPolicy")
    yield from one_of(startup, "startupPolicyOrder", "the JobSet", ("AnyOrder", "InOrder"))
    success = mapping_at(spec, "successPolicy")
    yield from one_of(success, "operator", "`successPolicy` of the JobSet", ("All", "Any"))
    yield from _targets(success, "`successPolicy` of the JobSet", known)
    yield from _restarting(mapping_at(spec, "failurePolicy"), known)
    yield from _coordinating(mapping_at(spec, "coordinator"), jobs, known)


def _replicated(one: Object, name: str | None) -> Iterator[Flaw]:
    """What is invalid in one of the jobs of the JobSet with this name."""
    own = one.get("name")
    if not isinstance(own, str):
        yield "a job of the JobSet has no `name`", "add one to each"
        return
    owner = f"the job `{own}` of the JobSet"
    yield from counts(one, owner, ("replicas",))
    template: Any = one.get("template")
    spec = template.get("spec") if is_mapping(template) else None
    if not is_mapping(spec):
        if template is None or (is_mapping(template) and spec is None):
            yield f"{owner} has no `template.spec`", "add `template`, with the `spec` of a Job"
        return
    yield from of_jobs(spec, owner, is_indexed=True)
    pod = value_at(spec, ("template", "spec"))
    if is_mapping(pod) and pod.get("restartPolicy") == "Always":
        way = "write `restartPolicy: Never`, or `OnFailure`"
        yield f"the pod of {owner} cannot have `restartPolicy: Always`", way
    replicas, width = count(one.get("replicas", 1)), count(spec.get("parallelism", 1))
    if replicas is not None and width is not None and replicas * width > _MOST_PODS:
        yield f"{owner} has more than {_MOST_PODS} pods", "ask for fewer `replicas`, or less `parallelism`"
    if WORD in own or replicas is None:
        return
    if name is not None:
        longest = f"{name}-{own}-{replicas - 1}"
        completions = count(spec.get("completions"))
        if completions is not None and spec.get("completionMode") in (None, "Indexed"):
            longest += f"-{completions - 1}-abcde"
    else:
        longest = f"x-{own}-{replicas - 1}"
    if len(longest) > DNS_LABEL_LENGTH:
        way = f"shorten the names: with the indexes they have at most {DNS_LABEL_LENGTH} characters"
        yield f"{owner} makes names of {len(longest)} characters, such as `{longest}`", way
    elif not is_service_name(longest):
        yield f"{owner} makes Jobs with the name `{longest}`", _SERVICE


_SERVICE = "use lower-case letters, digits and `-`, with a letter first and no `-` last"


def _depending(spec: Object, one: Object, before: list[str]) -> Iterator[Flaw]:
    """The dependencies of a job of a JobSet, which precede it in the list."""
    owner = f"the job `{one.get('name')}` of the JobSet"
    if mapping_at(spec, "startupPolicy").get("startupPolicyOrder") == "InOrder":
        way = "take out one of them: `InOrder` has each wait for those before it"
        yield f"{owner} has `dependsOn`, beside `startupPolicyOrder: InOrder`", way
    if not before:
        yield f"{owner} is the first one and has `dependsOn`", "put what it waits for before it"
        return
    for each in mappings_at(one, "dependsOn"):
        yield from one_of(each, "status", f"`dependsOn` of {owner}", ("Ready", "Complete"))
        wanted = each.get("name")
        if not isinstance(wanted, str) or any(WORD in name for name in (wanted, *before)):
            continue
        if wanted not in before:
            yield f"{owner} depends on `{wanted}`, which is not before it", instead(wanted, before)


def _targets(owner: Object, what: str, known: list[str] | None) -> Iterator[Flaw]:
    """The jobs of a JobSet that a policy targets; `known` are all of them."""
    for name in words(owner, "targetReplicatedJobs") if known is not None else ():
        if known is not None and name not in known:
            yield f"{what} is about the job `{name}`, which it does not have", instead(name, known)


def _restarting(policy: Object, known: list[str] | None) -> Iterator[Flaw]:
    """The failure policy of a JobSet."""
    what = "`failurePolicy` of the JobSet"
    yield from counts(policy, what, ("maxRestarts",))
    strategies = ("Recreate", "BlockingRecreate", "InPlaceRestart")
    yield from one_of(policy, "restartStrategy", what, strategies)
    told = set[str]()
    for rule in mappings_at(policy, "rules"):
        owner = f"a rule of {what}"
        yield from one_of(rule, "action", owner, _JOB_SET_ACTIONS)
        for reason in words(rule, "onJobFailureReasons"):
            yield from one_of({"onJobFailureReasons": reason}, "onJobFailureReasons", owner, _REASONS)
        yield from _targets(rule, owner, known)
        name = rule.get("name")
        if not isinstance(name, str) or not name or WORD in name:
            continue
        if len(name) > 128 or _RULE_NAME.fullmatch(name) is None:
            way = "use at most 128 letters, digits, `_`, `,` and `:`, with a letter first"
            yield f"{owner} cannot be called `{name}`", way
        if name in told:
            yield f"two rules of {what} are called `{name}`", "give each a name of its own"
        told.add(name)


def _coordinating(lead: Object, jobs: list[Object], known: list[str] | None) -> Iterator[Flaw]:
    """The coordinator pod of a JobSet, whose address others get."""
    name, what = lead.get("replicatedJob"), "`coordinator` of the JobSet"
    if not isinstance(name, str) or WORD in name or known is None:
        return
    if name not in known:
        yield f"{what} is in the job `{name}`, which it does not have", instead(name, known)
        return
    one = jobs[known.index(name)]
    spec = mapping_at(one, "template", "spec")
    completions = count(spec.get("completions"))
    if spec.get("completionMode") == "NonIndexed":
        yield f"{what} is in the job `{name}`, whose pods have no indexes", "write `completionMode: Indexed`"
    for field, most in (("jobIndex", count(one.get("replicas", 1))), ("podIndex", completions)):
        index = count(lead.get(field, 0))
        if index is not None and most is not None and not 0 <= index < most:
            way = f"write a number from 0 to {most - 1}" if most > 0 else "name a job that has pods"
            yield f"`{field}` of {what} is {index}, of {most}", way
