"""Artifact storage: what Argo's drivers do not support.

Source: Argo Workflows, workflow/artifacts and ArtifactLocation.Relocate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import STORES
from flowdsl.compiler.lint.manifest.typed import typed
from flowdsl.compiler.lint.pods.leaves import header_faults, may_be_address, whole_address
from flowdsl.compiler.lint.variables.unreplaced import left_open
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, is_json, is_mapping, string, value_at
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import only_tag, tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.typed import Typed
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class BadArtifact(Finding):
    """An artifact for which Argo cannot do what the run needs."""

    code = "FD810"
    title = "artifact `{name}` {found}"
    label = "fails in the run"
    help = "{way}"
    name: str
    found: str
    way: str


class UnusedLocation(Finding):
    """The bucket of an artifact that Argo ignores, because the location is incomplete."""

    code = "FD811"
    severity = "warning"
    title = "`{field}` of artifact `{name}` is ignored: the location has no `{missing}`"
    label = "the bucket of the cluster's artifact repository is used"
    help = "add `{missing}`, or {otherwise}"
    name: str
    field: str
    missing: str
    otherwise: str = "leave everything but `key` out"


class SeveralForms(Finding):
    """An artifact with several packing formats: Argo packs it with one, and may unpack it with another."""

    code = "FD791"
    severity = "warning"
    title = "an artifact has one packing format, but `archive` has {forms}"
    label = "several formats"
    help = "keep one of them: which one Argo uses depends on where the file is"
    forms: str


_READ_ONLY = {"git": "a repository of Git", "raw": "a text in the manifest"}
_NOT_LISTED = {**_READ_ONLY, "http": "an address", "artifactory": "Artifactory", "hdfs": "HDFS"}
_IN_BUCKETS = {"s3", "gcs", "oss"}
_NOT_DELETED = {"http": "an address", "hdfs": "HDFS"}
_WHOLE = {"s3": ("endpoint", "bucket"), "oss": ("endpoint", "bucket"), "gcs": ("bucket",)}
"""The fields that a location needs besides a key."""
KEYS = {**STORES, "http": "url"}
_LEVELS = range(-2, 10)
"""The compression levels of Go's gzip."""


def stores(view: View) -> Iterator[Problem]:
    """The store of an artifact supports writing, listing, packing and deleting as needed."""
    for template in view.templates:
        for side in ("inputs", "outputs"):
            for path, artifact in entries_at(template.data, template.path, side, "artifacts"):
                yield from _fetched(artifact, path)
                yield from _part(artifact, path, side == "outputs")
                if side == "outputs":
                    yield from _written(view, artifact, path)
        yield from _archive(template)
        listed = inside(template.data, "data", "source").get("artifactPaths")
        if listed is not None:
            yield from _listed(listed, (*template.path, "data", "source", "artifactPaths"))


def _listed(source: Object, path: Path) -> Iterator[Problem]:
    """The source of a `data` template names its bucket.

    Argo takes the credentials from the artifact repository, but not the bucket. Source: ProcessArtifactPaths.
    """
    name = string(source, "name")
    for field in _NOT_LISTED.keys() & source.keys():
        found = f"is to be listed from {_NOT_LISTED[field]}, which Argo cannot do"
        way = "keep the files in a bucket, such as `s3`"
        yield Problem((*path, field), BadArtifact(name, found, way), on_key=True)
    for field in _IN_BUCKETS & source.keys():
        if not inside(source, field).get("bucket"):
            found = "is to be listed from no bucket: that of the cluster's artifact repository does not count here"
            yield Problem((*path, field), BadArtifact(name, found, "add `bucket`"), on_key=True)
    if not (STORES.keys() | _NOT_LISTED.keys() | {"plugin"}) & source.keys():
        way = "say where they are, such as `s3: {bucket: ..., key: ...}`"
        yield Problem(path, BadArtifact(name, "is to be listed, and has no location", way), on_key=True)


_BUCKETS = frozenset(("GCSArtifact", "S3Artifact"))
_ADDRESSED = frozenset(("ArtifactoryArtifact", "HTTPArtifact"))
_SCHEME = regex(r"[a-zA-Z][a-zA-Z0-9+]*://")


def addresses(view: View) -> Iterator[Problem]:
    """Endpoints and buckets have no URL scheme and no path.

    Source: minio-go, isValidEndpointURL and CheckValidBucketName.
    """
    yield from _urls(view)
    for found in typed(view, _BUCKETS, _with(view, '"endpoint":', '"bucket":')):
        name = _owner(view, found)
        for field in ("endpoint", "bucket"):
            text = string(found.data, field)
            if (scheme := _SCHEME.match(text)) is not None:
                way = f"write `{text[scheme.end() :].partition('/')[0]}`"
                way += ", and `insecure: true` beside it" if text.startswith("http://") else ""
                finding = BadArtifact(name, f"has an address for its `{field}`", way)
                yield Problem((*found.path, field), finding, part=scheme.span())
            elif "{{" not in text and (path := _PATHS[field].search(text)) is not None:
                way = f"write `{text.partition('/')[0]}`, and put folders into `key`"
                finding = BadArtifact(name, f"has the path `{path[0]}` in its `{field}`", way)
                yield Problem((*found.path, field), finding, part=path.span())


_PATHS = {"bucket": regex(r"/.*"), "endpoint": regex(r"/.+")}


def _urls(view: View) -> Iterator[Problem]:
    """The findings about artifacts for which no request can be sent. Source: Go, net/http."""
    for found in typed(view, _ADDRESSED, _with(view, '"url":')):
        url, name = string(found.data, "url"), _owner(view, found)
        if not may_be_address(url):
            way = whole_address(url, "https://example.com/data.csv")
            finding = BadArtifact(name, f"is at `{url}`, to which no request can be sent", way)
            yield Problem((*found.path, "url"), finding)
        for place, part, problem, way in header_faults(found.data, found.path):
            finding = BadArtifact(name, f"needs a request that cannot be sent: {part} {problem}", way)
            yield Problem(place, finding)


def forms(view: View) -> Iterator[Problem]:
    """An artifact has one packing format. Source: Argo Workflows, stageArchiveFile and unarchiveArtifact."""
    for found in typed(view, _PACKED, _with(view, '"archive":')):
        several = [f"`{form}`" for form in ("none", "tar", "zip") if found.data.get(form) is not None]
        if len(several) > 1:
            yield Problem(found.path, SeveralForms(f"{', '.join(several[:-1])} and {several[-1]}"))


_PACKED = frozenset(("ArchiveStrategy",))


def logins(view: View) -> Iterator[Problem]:
    """A location has all credentials that its driver needs, by workflow/artifacts/artifacts.go and below."""
    for found in typed(view, _LOGINS, _with(view, *(f'"{field}":' for field in _OF_LOGINS))):
        flaw = _login(found.type, found.data)
        if flaw is not None:
            field, what, way = flaw
            path = (*found.path, field) if field else found.path
            yield Problem(path, BadArtifact(_owner(view, found), what, way), on_key=True)


_LOGINS = frozenset(("ArtifactoryArtifact", "AzureArtifact", "GitArtifact", "OSSArtifact", "S3Artifact"))
_OF_LOGINS = ("usernameSecret", "blob", "repo", "accessKeySecret", "encryptionOptions")
_OVER_SSH = regex(r"ssh://|(?:[^@:/{]+@)?[^:/\s{]+:(?!//)[^\\]")
_OVER_HTTP = regex(r"https?://")


def _login(kind: str, location: Object) -> tuple[str, str, str] | None:
    """What is wrong with the credentials of a location: the field, the fault, and the remedy.

    For an incomplete location, Argo uses those of the cluster's repository instead.
    """

    def has(*fields: str) -> bool:
        return all(location.get(field) for field in fields)

    def half(one: str, other: str) -> tuple[str, str, str] | None:
        alone = has(one) and not has(other)
        return (one, f"has `{one}` and no `{other}`", f"add `{other}`") if alone else None

    match kind:
        case "ArtifactoryArtifact":
            return half("usernameSecret", "passwordSecret") if has("url") else None
        case "AzureArtifact":
            lacks = has("endpoint", "blob") and not has("accountKeySecret") and not has("useSDKCreds")
            way = "add `accountKeySecret`, or `useSDKCreds: true` for the account of the pod"
            return ("", "says nobody to log in as", way) if lacks else None
        case "GitArtifact":
            return _repository(location.get("repo") or "", location)
        case _ if not has("endpoint", "bucket", "key"):
            return None
        case _ if _is_named(location, "accessKeySecret") and location.get("secretKeySecret"):
            what, way = "has a `secretKeySecret` without `name`", "add the name of the Secret"
            named = _is_named(location, "secretKeySecret")
            return _encryption(location) if named else ("secretKeySecret", what, way)
        case _:
            return half("accessKeySecret", "secretKeySecret") or _encryption(location)


def _repository(repo: str, location: Object) -> tuple[str, str, str] | None:
    """What is wrong with the address of a repository, or the login to it: field, fault, remedy. Source: go-git 5.19."""
    key = "sshPrivateKeySecret"
    if _OVER_SSH.match(repo):
        way = f"add `{key}`, or write an address with `https://`"
        return None if location.get(key) else ("repo", "is fetched over SSH, and has no key", way)
    if _OVER_HTTP.match(repo) and location.get(key):
        way = "write `usernameSecret` and `passwordSecret`, or an address such as `git@github.com:owner/name`"
        return key, "is fetched over HTTP, with a key for SSH", way
    if repo and "://" not in repo and "{{" not in repo and repo[0] not in "./":
        way = "write the whole address, such as `https://github.com/owner/name`"
        return "repo", f"is at `{repo}`, which is no address", way
    return None


def _is_named(location: Object, field: str) -> bool:
    """Whether a Secret is named: without a name, Argo uses the credentials of the pod's account."""
    return bool(string(location, field, "name"))


def _encryption(location: Object) -> tuple[str, str, str] | None:
    """What is wrong with the encryption keys of a bucket."""
    options = inside(location, "encryptionOptions")
    field = "encryptionOptions"
    if not options.get("serverSideCustomerKeySecret"):
        about = string(options, "kmsEncryptionContext")
        used = options.get("enableEncryption") and options.get("kmsKeyId")
        if not used or not about or "{{" in about or is_json(about):
            return None
        way = 'write a JSON object, such as `{"project": "reviews"}`'
        return field, f"has a `kmsEncryptionContext` that is no JSON, `{about}`", way
    if options.get("kmsKeyId"):
        way = "keep one of `kmsKeyId` and `serverSideCustomerKeySecret`"
        return field, "is to be encrypted with two keys", way
    return (
        (field, "sends its key without encryption", "remove `insecure`") if location.get("insecure") else None
    )


def _owner(view: View, found: Typed) -> str:
    """The name of the artifact that a location belongs to; for any other owner, the location's field."""
    owner: object = value_at(view.document, found.path[:-1])
    return (string(owner, "name") if is_mapping(owner) else "") or str(found.path[-2])


def _with(view: View, *fields: str) -> list[Template]:
    """Templates whose text has one of these fields, and graphs, which have few calls to check anyway."""
    return [each for each in view.templates if each.calls or any(field in each.text for field in fields)]


def _fetched(artifact: Object, path: Path) -> Iterator[Problem]:
    """The finding about `singleBranch` without a branch."""
    git = inside(artifact, "git")
    if git.get("singleBranch") and not git.get("branch"):
        finding = BadArtifact(string(artifact, "name"), "is one branch, and has no `branch`", "add `branch`")
        yield Problem((*path, "git", "singleBranch"), finding)


def _written(view: View, artifact: Object, path: Path) -> Iterator[Problem]:
    """The findings about an output that cannot be stored, packed or deleted."""
    name = string(artifact, "name")
    for field in _READ_ONLY.keys() & {key for key, value in artifact.items() if value is not None}:
        found = f"is an output to {_READ_ONLY[field]}, which Argo only reads"
        way = f"remove `{field}`, or write to a bucket, such as `s3`"
        yield Problem((*path, field), BadArtifact(name, found, way), on_key=True)
    level = inside(artifact, "archive", "tar").get("compressionLevel")
    if isinstance(level, int) and level not in _LEVELS:
        found = f"is to be packed with the level {level}, which there is not"
        finding = BadArtifact(name, found, "write a number from 0, for none, to 9, or -1 for the usual one")
        yield Problem((*path, "archive", "tar", "compressionLevel"), finding)
    own = string(artifact, "artifactGC", "strategy")
    shared = inside(view.spec, "artifactGC")
    strategy = own or string(shared, "strategy")
    for field in _NOT_DELETED.keys() & artifact.keys():
        if strategy not in ("", "Never") and not shared.get("forceFinalizerRemoval"):
            found = f"is to be deleted from {_NOT_DELETED[field]}, which Argo cannot do"
            way = "write `artifactGC: {strategy: Never}` in the artifact"
            yield Problem((*path, field), BadArtifact(name, found, way), on_key=True)


def _archive(template: Template) -> Iterator[Problem]:
    """The finding about an incomplete `archiveLocation` of a template. Source: addArchiveLocation."""
    for field, needed in _WHOLE.items():
        location = inside(template.data, "archiveLocation", field)
        missing = next((each for each in (*needed, "key") if not location.get(each)), None)
        given = next((each for each in location if location[each] not in (None, "", False)), None)
        if missing is not None and given is not None:
            path = (*template.path, "archiveLocation", field, given)
            otherwise = "write the `key` into each artifact"
            finding = UnusedLocation("archiveLocation", given, missing, otherwise)
            yield Problem(path, finding, on_key=True)


def _part(artifact: Object, path: Path, is_output: bool) -> Iterator[Problem]:
    """The finding about an incomplete location, of which Argo uses only the key.

    For an output without a key it uses nothing. Source: Argo Workflows, saveArtifactFromFile, and Relocate.
    """
    for field, needed in _WHOLE.items():
        location = inside(artifact, field)
        given = [each for each in location if each != "key" and location[each] not in (None, "", False)]
        if given and is_output and not location.get("key"):
            finding = UnusedLocation(string(artifact, "name"), given[0], "key", f"remove `{field}`")
            yield Problem((*path, field, given[0]), finding, on_key=True)
            continue
        missing = [each for each in needed if not location.get(each)]
        if missing and given and location.get("key"):
            finding = UnusedLocation(string(artifact, "name"), given[0], missing[0])
            yield Problem((*path, field, given[0]), finding, on_key=True)
    location = inside(artifact, "artifactory")
    if location.get("url") and not location.get("usernameSecret"):
        otherwise = "write `http` in place of `artifactory`, which needs no login"
        finding = UnusedLocation(string(artifact, "name"), "url", "usernameSecret", otherwise)
        yield Problem((*path, "artifactory", "url"), finding, on_key=True)


def sources(view: View) -> Iterator[Problem]:
    """`from` of an artifact is a single tag, and nothing else. Source: Argo Workflows, ResolveVar."""
    given = [(call.data.get("arguments"), (*call.path, "arguments")) for call in (*view.handing, *view.hooks)]
    given += [(each.data.get("outputs"), (*each.path, "outputs")) for each in view.templates]
    for owner, path in given:
        for place, artifact in entries_at(owner or {}, path, "artifacts"):
            text = string(artifact, "from")
            if "{{" in text and not only_tag(text) and not any(map(left_open, tags(text))):
                found = (
                    "has text around the tag of `from`"
                    if text.count("{{") == 1
                    else "has several tags in `from`"
                )
                way = "write the tag alone"
                finding = BadArtifact(string(artifact, "name"), found, way)
                yield Problem((*place, "from"), finding)


def parts_of(view: View) -> Iterator[Problem]:
    """Parts of artifacts are objects of the store: `subPath` is appended to the key, and archives have no parts.

    Source: Argo Workflows, resolveArtifact in workflow/controller/scope.go.
    """
    for call in view.handing:
        for path, artifact in entries_at(call.data, call.path, "arguments", "artifacts"):
            task, output = call.owner.output_in(string(artifact, "from")) or (None, "")
            producer = None if task is None or not artifact.get("subPath") else task.callee
            if producer is None or not producer.is_pod or not output.startswith("artifacts."):
                continue
            name = output.removeprefix("artifacts.")
            made = producer.output_artifacts.get(name)
            if made is not None and inside(made, "archive").get("none") is None:
                found = f"asks for a part of `{name}`, which is packed"
                way = f"write `archive: {{none: {{}}}}` at the output of `{producer.title}`"
                finding = BadArtifact(string(artifact, "name"), found, way)
                yield Problem((*path, "subPath"), finding)
