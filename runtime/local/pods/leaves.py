"""Executes templates without a container: http, data, resource and plugin.

Sources: workflow/executor/agent.go, data.go and resource.go of Argo 4.1, and workflow/data.
"""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.condition import Requirement, conditions
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import said
from flowdsl.grammar.regex import regex
from flowdsl.grammar.utf8 import decoded
from flowdsl.runtime.local.controller.events import Outcome, StartPod
from flowdsl.runtime.local.pods.environment import keyed
from flowdsl.runtime.local.pods.refusal import Refusal, failed, of_the_step
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.pods.store import BadKey, Store, place
from flowdsl.runtime.parts import part, several, texts

if TYPE_CHECKING:
    from urllib.request import Request

Json = dict[str, Any]
Over = Callable[[], bool]
_PAUSE = 0.5
"""Seconds between two polls of an object of the cluster."""
_UNLISTED = "unable to process data source: unable to source artifact paths: "


def run(start: StartPod, settings: Settings, store: Store, over: Over) -> Outcome:
    """Run a template to its end; `over`: whether it has been stopped."""
    template = start.template
    try:
        if "http" in template:
            return http(template["http"], settings)
        if "data" in template:
            return data(template["data"], store, settings)
        if "resource" in template:
            return resource(template, settings, over)
    except Refusal as refusal:
        return refusal.outcome
    return Outcome("Error", "plugin templates need the plugin of a cluster, which one machine does not have")


def http(wanted: Json, settings: Settings) -> Outcome:
    """Send a request; the body of the response is the result."""
    from flowdsl.runtime.local.pods.web import UNANSWERED

    given = part(wanted, "bodyFrom").get("bytes")
    body = base64.b64decode(given) if given else str(wanted.get("body") or "").encode()
    try:
        asked, sent = _request(wanted, body, settings)
        answer = _answer(asked, wanted)
    except UNANSWERED as error:
        why = f'{_method(wanted).title()} "{wanted["url"]}": {said(error)}'
        return Outcome("Failed", f"{why}; give its answer with --fake")
    outputs = {"result": answer.text}
    condition = wanted.get("successCondition")
    if not condition:
        if 200 <= answer.status < 300:
            return Outcome("Succeeded", "", outputs)
        return Outcome("Failed", f"received non-2xx response code: {answer.status}", outputs)
    asking = {
        "method": wanted.get("method") or "",
        "url": wanted["url"],
        "body": wanted.get("body") or "",
        "bodyBytes": list(body),
        "headers": sent,
    }
    answered = {"statusCode": answer.status, "body": answer.text, "headers": answer.headers}
    return _by_condition(condition, {"request": asking, "response": answered}, outputs)


def _method(wanted: Json) -> str:
    return str(wanted.get("method") or "GET").upper()


def _request(wanted: Json, body: bytes, settings: Settings) -> tuple[Request, dict[str, list[str]]]:
    """The request of a template, and its headers as in the template: without the values from Secrets."""
    from flowdsl.runtime.local.pods.web import add_header, request

    asked = request(str(wanted["url"]), data=body or None, method=_method(wanted))
    sent: dict[str, list[str]] = {}
    for header in several(wanted, "headers"):
        value = header.get("value") or ""
        reference = part(header, "valueFrom").get("secretKeyRef")
        if reference:
            value = keyed("secretKeyRef", reference, settings, "http") or ""
        add_header(asked, header["name"], value)
        sent.setdefault(header["name"], []).append(header.get("value") or "")
    if body and not asked.has_header("Content-type"):
        asked.add_header("Content-Type", "application/octet-stream")
    return asked, sent


class _Answer(NamedTuple):
    """A response, of any status."""

    status: int
    text: str
    headers: dict[str, list[str]]


def _answer(asked: Request, wanted: Json) -> _Answer:
    """Send a request with the settings of a template, and read the response."""
    import ssl
    import urllib.error
    import urllib.request

    from flowdsl.runtime.local.pods.web import unverified

    context = unverified() if wanted.get("insecureSkipVerify") else ssl.create_default_context()
    try:
        answer = urllib.request.urlopen(asked, timeout=wanted.get("timeoutSeconds"), context=context)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        text = decoded(answer.read())
        headers: dict[str, list[str]] = {}
        for name, value in answer.headers.items():
            headers.setdefault(name.title(), []).append(value)
        return _Answer(int(answer.status or 0), text, headers)


def _by_condition(condition: str, scope: dict[str, Any], outputs: dict[str, str]) -> Outcome:
    """The outcome of a request with a `successCondition`."""
    from flowdsl.compiler.evaluation.evaluate import truth
    from flowdsl.compiler.evaluation.values import ExpressionError

    try:
        true = truth(condition, scope)
    except ExpressionError as error:
        return Outcome("Failed", str(error))
    if true:
        return Outcome("Succeeded", "", outputs)
    return Outcome("Failed", f"successCondition '{condition}' evaluated false", outputs)


def data(wanted: Json, store: Store, settings: Settings) -> Outcome:
    """List the keys of the store, and transform the list; its JSON is the result.

    A folder that is given for the source is put into the store, for steps that read the listed artifacts.
    """
    from flowdsl.compiler.evaluation.evaluate import evaluate
    from flowdsl.compiler.evaluation.values import ExpressionError, json_of

    source = part(wanted, "source").get("artifactPaths")
    if source is None:
        return _bad_data("unable to process data source: no valid source is used for data template")
    # That of the artifact repository does not count.
    if "s3" in source and not part(source, "s3").get("bucket"):
        return _bad_data(f"{_UNLISTED}failed to list directory: Bucket name cannot be empty")
    key = place(source)[1]
    given = settings.artifacts.get(str(source.get("name"))) or settings.artifacts.get(key)
    try:
        if given is not None:
            store.put(key, given)
        found: Any = store.keys(key)
    except (BadKey, OSError) as error:
        return _bad_data(f"{_UNLISTED}{said(of_the_step(error))}")
    for number, step in enumerate(several(wanted, "transformation")):
        if step.get("expression"):
            try:
                found = evaluate(step["expression"], {"data": found})
            except ExpressionError as error:
                return _bad_data(
                    f"unable to process data transformation: error processing data step {number}: {error}"
                )
    text = json_of(found)
    return Outcome("Succeeded", "", {"result": text, "exitCode": "0"})


def _bad_data(message: str) -> Outcome:
    return failed(f"unable to process data template: {message}")


class KubectlError(Exception):
    """kubectl has failed, or its output cannot be used."""


def resource(template: Json, settings: Settings, over: Over) -> Outcome:
    """Change an object of a cluster by kubectl, and wait for its conditions. Raises Refusal."""
    if not settings.kubectl:
        raise Refusal(
            f"the step changes a cluster ({template['resource'].get('action')} by kubectl): allow that for this run "
            "with --kubectl, or leave the step out with --fake"
        )
    try:
        outputs = _resource(template, settings, over)
    except KubectlError as error:
        return failed(error)
    return Outcome("Succeeded", "", {**outputs, "exitCode": "0"})


def _resource(template: Json, settings: Settings, over: Over) -> Json:
    wanted = template["resource"]
    action = str(wanted["action"])
    manifest = str(wanted.get("manifest") or "")
    flags = [str(one) for one in texts(wanted, "flags")]
    if not manifest and not flags:
        raise KubectlError("Must provide at least one of flags or manifest.")
    with tempfile.TemporaryDirectory(prefix="flowdsl-") as folder:
        path = Path(folder, "manifest.yaml")
        path.write_text(manifest, encoding="utf-8")
        text = kubectl(_words(action, wanted, flags, path if manifest else None))
    namespace = name = ""
    if action != "delete" and not (action == "get" and not text):
        try:
            made: Json = json.loads(text)
            kind, group = made["kind"], str(made["apiVersion"]).rpartition("/")[0]
            name = f"{str(kind).lower()}.{group}/{made['metadata']['name']}"
            namespace = str(made["metadata"].get("namespace") or settings.namespace)
        except (ValueError, KeyError, TypeError):
            raise KubectlError(
                "Kind and name are both required but at least one of them is missing from the manifest"
            ) from None
        _wait(wanted, namespace, name, over)
    shown: list[Json] = [dict(one) for one in several(part(template, "outputs"), "parameters")]
    for one in shown:
        source = part(one, "valueFrom")
        if source and not name:
            one["value"] = str(source.get("default", ""))
        elif source.get("jsonPath"):
            one["value"] = kubectl(["-n", namespace, "get", name, "-o", f"jsonpath={source['jsonPath']}"])
        elif source.get("jqFilter"):
            one["value"] = _jq(kubectl(["-n", namespace, "get", name, "-o", "json"]), str(source["jqFilter"]))
    return {"parameters": shown} if shown else {}


def _words(action: str, wanted: Json, flags: list[str], manifest: Path | None) -> list[str]:
    """The arguments of kubectl. Source: getKubectlArguments of Argo."""
    words = [action]
    file = manifest
    if action == "delete":
        words.append("--ignore-not-found")
    if action == "patch":
        import yaml

        strategy = wanted.get("mergeStrategy") or "strategic"
        words += ["--type", strategy, "--patch-file", str(manifest)]
        patch = (
            None
            if strategy == "json" or manifest is None
            else yaml.safe_load(manifest.read_text(encoding="utf-8"))
        )
        if strategy == "json" or (flags and isinstance(patch, dict) and "kind" not in patch):
            file = None
    words += flags
    if file is not None:
        words += ["-f", str(file)]
    return [*words, "-o", "name" if action == "delete" else "json"]


def kubectl(words: list[str]) -> str:
    """The output of kubectl. Raises KubectlError."""
    try:
        done = subprocess.run(["kubectl", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        raise KubectlError("kubectl is not installed on this machine") from None
    if done.returncode != 0:
        raise KubectlError(done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}")
    return done.stdout.decode(errors="replace")


class Conditions(NamedTuple):
    """The conditions of success and of failure, each with the text that Kubernetes has for it."""

    success: tuple[tuple[str, Requirement], ...]
    failure: tuple[tuple[str, Requirement], ...]


def conditions_of(wanted: Json) -> Conditions:
    """The conditions of a `resource`, in the order of their paths. Raises KubectlError.

    Source: labels.Parse of Kubernetes.
    """

    def read(kind: str) -> tuple[tuple[str, Requirement], ...]:
        text = str(wanted.get(kind) or "")
        try:
            found = sorted(conditions(text), key=lambda one: one.key) if text else ()
        except GrammarError as error:
            raise KubectlError(f"{kind} '{text}' failed to parse: {error}") from None
        return tuple((_shown(one, text[one.start : one.end]), one) for one in found)

    return Conditions(read("successCondition"), read("failureCondition"))


def _shown(one: Requirement, written: str) -> str:
    """A requirement without spaces that mean nothing. Source: Requirement.String of Kubernetes."""
    if one.operator in ("in", "notin"):
        return f"{one.key} {one.operator} ({','.join(sorted(one.values))})"
    return "".join(written.split())


def met(wanted: Conditions, found: Any) -> bool:
    """Whether an object meets all conditions of success. Raises KubectlError if it meets one of failure.

    Source: matchConditions of Argo.
    """
    for text, one in wanted.failure:
        if holds(one, found):
            raise KubectlError(f"failure condition '{text}' evaluated true")
    return all(holds(one, found) for _, one in wanted.success)


def _wait(wanted: Json, namespace: str, name: str, over: Over) -> None:
    """Wait until the conditions are met. Source: WaitResource of Argo."""
    asked = conditions_of(wanted)
    while any(asked) and not over():
        if met(asked, json.loads(kubectl(["-n", namespace, "get", name, "-o", "json"]))):
            return
        time.sleep(_PAUSE)


def shown(template: Json, found: Json) -> list[Json]:
    """The outputs of a `resource` template, read from an emulated object. Raises KubectlError."""
    parameters: list[Json] = [dict(one) for one in several(part(template, "outputs"), "parameters")]
    for one in parameters:
        source = part(one, "valueFrom")
        if path := str(source.get("jsonPath") or ""):
            plain = PLAIN.fullmatch(path)
            if plain is None:
                raise KubectlError(
                    f"{path} is read by kubectl only: --kubectl, or --fake takes a value for it"
                )
            one["value"] = looked_up(found, _INDEX.sub(r".\1", plain[1]))[1]
        elif source.get("jqFilter"):
            one["value"] = _jq(json.dumps(found), str(source["jqFilter"]))
    return parameters


PLAIN = regex(r"\{\.((?:\w+|\[\d+\])(?:\.\w+|\[\d+\])*)\}")
_INDEX = regex(r"\[(\d+)\]")


def holds(one: Requirement, found: Any) -> bool:
    """Whether an object meets a requirement. Source: Requirement.Matches of Kubernetes; paths as in gjson."""
    there, text = looked_up(found, one.key)
    match one.operator:
        case "exists":
            return there
        case "missing":
            return not there
        case "==" | "in":
            return there and text in one.values
        case "!=" | "notin":
            return not there or text not in one.values
        case _:
            try:
                number, other = int(text), int(one.values[0])
            except ValueError:
                return False
            return there and (number > other if one.operator == ">" else number < other)


def looked_up(found: Any, path: str) -> tuple[bool, str]:
    """Whether a path exists, and the text of its value."""
    value: Any = found
    for name in path.split("."):
        try:
            if hasattr(value, "keys"):
                value = value[name]
            else:
                value = len(value) if name == "#" else value[int(name)]
        except (LookupError, TypeError, ValueError):
            return False, ""
    if value is None:
        return True, ""
    return True, value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _jq(text: str, program: str) -> str:
    """The output of a jq program for an object, formatted as by Argo's gojq. Raises KubectlError."""
    try:
        done = subprocess.run(
            ["jq", "-rcS", program], input=text, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise KubectlError("jq is not installed on this machine, which a jqFilter needs") from None
    if done.returncode != 0:
        raise KubectlError(done.stderr.strip())
    return done.stdout.strip()
