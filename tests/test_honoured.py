"""What a run on one machine is refused for, and what is said before it begins."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from flowdsl.runtime.local.honoured import Asked, judged
from flowdsl.runtime.local.uses import steps

HEAD = """\
metadata: {name: run}
spec:
  entrypoint: main
"""


def manifest(text: str) -> Any:
    return yaml.safe_load(HEAD + "".join(f"  {line}\n" for line in text.strip("\n").splitlines()))


def main(body: str, more: str = "") -> str:
    return f"{more}\ntemplates:\n- name: main\n  {body}\n"


SH = "command: [sh, -c, 'true']"

KEYED = (
    "inputs: {artifacts: [{name: raw, path: /raw, optional: true, s3: {key: 'in/{{workflow.name}}.txt'}}]}\n"
    f"  container: {{{SH}}}"
)

JOB_WITH_SECRET = (
    "{apiVersion: batch/v1, kind: Job, metadata: {generateName: a-}, spec: {template: {spec: {restartPolicy: Never, "
    "containers: [{name: a, image: a, command: [b], envFrom: [{secretRef: {name: token}}]}]}}}}"
)

#: A spec, the request, and the refusals.
REFUSED: dict[str, tuple[str, Asked, list[str]]] = {
    "nothing": (main(f"container: {{image: a, {SH}}}"), Asked(), []),
    "no command": (
        main("container: {image: a, args: [x]}"),
        Asked(),
        ["the step `main` runs the command that its image a has: name the command"],
    ),
    "no command, by Docker": (main("container: {image: a}"), Asked(engine="docker"), []),
    "no command, faked": (main("container: {image: a}"), Asked(fakes=frozenset({"main"})), []),
    "a script without a command": (main("script: {image: a, source: x}"), Asked(), ["the step `main` runs"]),
    "a sidecar without a command": (
        main(f"container: {{image: a, {SH}}}\n  sidecars: [{{name: s, image: nginx}}]"),
        Asked(),
        ["the step `main` runs the command that its image nginx has"],
    ),
    "an object": (
        main("resource: {action: get}"),
        Asked(),
        ["the step `main` applies an object to a cluster"],
    ),
    "an object whose template is no pod": (
        main('resource: {action: create, manifest: "{kind: Thing, spec: {template: small}}"}'),
        Asked(),
        ["the step `main` applies an object to a cluster"],
    ),
    "an object whose spec is a list": (
        main('resource: {action: create, manifest: "{kind: Thing, spec: [a]}"}'),
        Asked(),
        ["the step `main` applies an object to a cluster"],
    ),
    "a secret of the pods of a Job": (
        main(f'resource: {{action: create, manifest: "{JOB_WITH_SECRET}"}}'),
        Asked(kubectl=True, secrets={"token": {"a": "b"}, "other": {}}),
        ["--secret other: the workflow has no Secret `other`"],
    ),
    "an object, allowed": (main("resource: {action: get}"), Asked(kubectl=True), []),
    "a plugin": (main("plugin: {slack: {}}"), Asked(kubectl=True), ["the step `main` is run by a plugin"]),
    "not reached": (main(f"container: {{image: a, {SH}}}") + "- {name: other, plugin: {a: {}}}", Asked(), []),
    "in the exit handler": (
        main(f"container: {{image: a, {SH}}}", "onExit: bye") + "- {name: bye, plugin: {a: {}}}",
        Asked(),
        ["the step `onExit` is run by a plugin"],
    ),
    "in a hook": (
        main(f"container: {{image: a, {SH}}}", "hooks: {running: {template: bye, expression: 'true'}}")
        + "- {name: bye, plugin: {a: {}}}",
        Asked(),
        ["the step `running` is run by a plugin"],
    ),
    "a task, by its name": (
        main("dag: {tasks: [{name: first, template: leaf}]}") + "- {name: leaf, plugin: {a: {}}}",
        Asked(),
        ["the step `first` is run by a plugin"],
    ),
    "a task, faked by its template": (
        main("dag: {tasks: [{name: first, template: leaf}]}") + "- {name: leaf, plugin: {a: {}}}",
        Asked(fakes=frozenset({"leaf"})),
        [],
    ),
    "a template that is not there": (
        main("steps: [[{name: first, templateRef: {name: lib, template: leaf}}]]"),
        Asked(),
        [
            "the step `first` runs a template of the WorkflowTemplate lib, which is not here: name its file, too"
        ],
    ),
    "a template of a name that is not known yet": (
        main("dag: {tasks: [{name: first, template: '{{item}}'}]}") + "- {name: leaf, plugin: {a: {}}}",
        Asked(),
        ["the step `first` is run by a plugin"],
    ),
    "a hook of a container": (
        main(f"container: {{image: a, {SH}, lifecycle: {{postStart: {{exec: {{command: [sh]}}}}}}}}"),
        Asked(engine="docker"),
        ["the step `main` has a `postStart`, which does not run here: leave the step out: --fake main=VALUE"],
    ),
    "a Secret": (
        main(f"container: {{image: a, {SH}, envFrom: [{{secretRef: {{name: hub}}}}]}}"),
        Asked(),
        ["the step `main` reads the Secret `hub`: give its data with --secret hub=PATH"],
    ),
    "a Secret that is given": (
        main(f"container: {{image: a, {SH}, envFrom: [{{secretRef: {{name: hub}}}}]}}"),
        Asked(secrets={"hub": ()}),
        [],
    ),
    "a ConfigMap that may be missing": (
        main(f"container: {{image: a, {SH}, envFrom: [{{configMapRef: {{name: x, optional: true}}}}]}}"),
        Asked(),
        [],
    ),
    "a ConfigMap in a volume": (
        main(
            f"container: {{image: a, {SH}, volumeMounts: [{{name: v, mountPath: /v}}]}}",
            "volumes: [{name: v, configMap: {name: conf}}]",
        ),
        Asked(),
        ["the step `main` reads the ConfigMap `conf`: give its data with --config-map conf=PATH"],
    ),
    "a ConfigMap of a parameter": (
        main(
            f"container: {{image: a, {SH}}}",
            "arguments: {parameters: [{name: p, valueFrom: {configMapKeyRef: {name: conf, key: k}}}]}",
        ),
        Asked(),
        ["the parameter `p` reads the ConfigMap `conf`"],
    ),
    "a ConfigMap of a parameter that has a default": (
        main(
            f"container: {{image: a, {SH}}}",
            "arguments: {parameters: [{name: p, valueFrom: {configMapKeyRef: {name: conf, key: k}, default: x}}]}",
        ),
        Asked(),
        [],
    ),
    "keys of what is given": (
        main(
            f"container: {{image: a, {SH}, env: [{{name: A, valueFrom: {{secretKeyRef: {{name: hub, key: token}}}}}}, "
            "{name: B, valueFrom: {secretKeyRef: {name: hub, key: user}}}, {name: C, valueFrom: {configMapKeyRef: "
            "{name: conf, key: k}}}, {name: D, valueFrom: {configMapKeyRef: {name: conf, key: l, optional: true}}}], "
            "volumeMounts: [{name: v, mountPath: /v}]}",
            "volumes: [{name: v, configMap: {name: conf, items: [{key: m, path: m}]}}]",
        ),
        Asked(secrets={"hub": ("user", "other")}, config_maps={"conf": ()}),
        [
            "the step `main` reads `token` of the Secret `hub`, and what --secret hub=PATH gives has `other`, `user`",
            "the step `main` reads `k` of the ConfigMap `conf`, and what --config-map conf=PATH gives is empty",
            "the step `main` reads `m` of the ConfigMap `conf`, and what --config-map conf=PATH gives is empty",
        ],
    ),
    "a file of a store": (
        main(
            f"inputs: {{artifacts: [{{name: raw, path: /raw, s3: {{key: in/raw}}}}]}}\n  container: {{{SH}}}"
        ),
        Asked(),
        ["the input `raw` of the step `main` is in a store, under in/raw"],
    ),
    "a file of a store, by its key": (
        main(
            f"inputs: {{artifacts: [{{name: raw, path: /raw, s3: {{key: in/raw}}}}]}}\n  container: {{{SH}}}"
        ),
        Asked(artifacts=frozenset({"in/raw"})),
        [],
    ),
    "files of a store that are listed": (
        main("data: {source: {artifactPaths: {name: raw, s3: {key: in}}}, transformation: []}"),
        Asked(),
        ["the `data` of the step `main` is in a store, under in: give the file with --artifact raw=PATH"],
    ),
    "files of a store that are listed and given": (
        main("data: {source: {artifactPaths: {name: raw, s3: {key: in}}}, transformation: []}"),
        Asked(artifacts=frozenset({"raw"})),
        [],
    ),
    "files of the run that are listed": (
        main("dag: {tasks: [{name: a, template: make}, {name: b, template: list, depends: a}]}")
        + "- name: list\n  data: {source: {artifactPaths: {name: raw, s3: {key: in}}}, transformation: []}\n"
        + f"- name: make\n  outputs: {{artifacts: [{{name: x, path: /x, s3: {{key: in/x}}}}]}}\n  container: {{{SH}}}",
        Asked(),
        [],
    ),
    "files that are listed beside those of the run": (
        main("dag: {tasks: [{name: a, template: make}, {name: b, template: list, depends: a}]}")
        + "- name: list\n  data: {source: {artifactPaths: {name: raw, s3: {key: in/}}}, transformation: []}\n"
        + f"- name: make\n  outputs: {{artifacts: [{{name: x, path: /x, s3: {{key: in2/x}}}}]}}\n  container: {{{SH}}}",
        Asked(),
        ["the `data` of the step `b` is in a store, under in/: give the file with --artifact raw=PATH"],
    ),
    "a file of another name": (
        main(f"inputs: {{artifacts: [{{name: raw, path: /raw, raw: {{data: x}}}}]}}\n  container: {{{SH}}}"),
        Asked(artifacts=frozenset({"row"})),
        ["--artifact row: the workflow has no artifact `row`; did you mean `raw`?"],
    ),
    "a file of a key that only a tag completes": (
        main(KEYED),
        Asked(artifacts=frozenset({"in/2.txt"})),
        [],
    ),
    "a file that no key becomes": (
        main(KEYED),
        Asked(artifacts=frozenset({"row", "in/2.csv"})),
        [
            "--artifact in/2.csv: the workflow has no artifact `in/2.csv`; there are raw, in/{{workflow.name}}.txt",
            "--artifact row: the workflow has no artifact `row`; did you mean `raw`?",
        ],
    ),
    "a claim of another name": (
        main(f"container: {{{SH}}}", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"),
        Asked(mounts=frozenset({"dato"})),
        ["--mount dato: the workflow has no claim `dato`; did you mean `data`?"],
    ),
    "objects of other names": (
        main(
            f"container: {{image: a, {SH}, envFrom: [{{secretRef: {{name: hub, optional: true}}}}]}}",
            "imagePullSecrets: [{name: registry}]\nartifactRepositoryRef: {configMap: repositories}",
        )
        + f"- name: other\n  container: {{image: a, {SH}}}\n  volumes: [{{name: v, secret: {{secretName: key}}}}]\n",
        Asked(
            secrets={"hub": (), "key": (), "registry": (), "hug": ()},
            config_maps={"repositories": (), "conf": ("a",)},
        ),
        [
            "--config-map conf: the workflow has no ConfigMap `conf`; there is repositories",
            "--secret hug: the workflow has no Secret `hug`; did you mean `hub`?",
        ],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    spec, asked, wanted = REFUSED[name]
    found = judged(manifest(spec), [], asked).refusals
    assert len(found) == len(wanted)
    for text, beginning in zip(found, wanted, strict=True):
        assert text.startswith(beginning)


#: A spec, and a part of the notes.
SAID = {
    main(f"container: {{image: a, {SH}}}"): "images are not used, the programs of this machine are (a)",
    main(f"container: {{image: a, {SH}}}\n  nodeSelector: {{disk: ssd}}"): "node selectors",
    main(f"container: {{image: a, {SH}}}", "tolerations: [{key: x}]"): "ignored on this machine: tolerations",
    main(
        f"container: {{image: a, {SH}}}", "serviceAccountName: x"
    ): "ignored on this machine: service accounts",
    main(
        f"container: {{image: a, {SH}}}\n  synchronization: {{mutexes: [{{name: x}}]}}"
    ): "locks hold within this run",
    main("container: {image: a, command: [ffmpeg, x]}"): "this machine does not have `ffmpeg` (main)",
    main("suspend: {duration: 24h}"): "waited for as on a cluster: `main` (24h); --approve continues at once",
}


@pytest.mark.parametrize("spec", SAID)
def test_what_is_said(spec: str) -> None:
    verdict = judged(manifest(spec), [], Asked(has="sh".__eq__))
    assert verdict.refusals == []
    assert any(SAID[spec] in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("wait", "approve"),
    [("24h", True), ("59s", False), ("30", False), ('"{{workflow.parameters.wait}}"', False)],
)
def test_nothing_is_said_of_what_waits_for_a_moment(wait: str, approve: bool) -> None:
    spec = main(f"suspend: {{duration: {wait}}}")
    assert judged(manifest(spec), [], Asked(approve=approve)).notes == []


def test_a_library_is_followed() -> None:
    leaf: dict[str, Any] = {"name": "leaf", "plugin": {"a": {}}}
    lib: dict[str, Any] = {
        "kind": "WorkflowTemplate",
        "metadata": {"name": "lib"},
        "spec": {"templates": [leaf]},
    }
    found = manifest(main("steps: [[{name: first, templateRef: {name: lib, template: leaf}}]]"))
    assert judged(found, [lib], Asked()).refusals[0].startswith("the step `first` is run by a plugin")
    assert set(steps(found, [lib])) == {"main", "first"}
    other = manifest(main("steps: [[{name: first, templateRef: {name: lib, template: other}}]]"))
    said = "the step `first`: template other not found in workflow template lib"
    assert judged(other, [lib], Asked()).refusals == [said]  # the file was named
