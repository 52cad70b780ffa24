"""Checks storage: the artifact repository, the storage classes, the claims that the settings name."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import POD_BODIES, kind
from flowdsl.compiler.tree import is_mapping
from flowdsl.grammar.labels import DEFAULT_REPOSITORY
from flowdsl.runtime.checkup.visit import Check, Unread
from flowdsl.runtime.cluster.kinds import CLAIM, CONFIG_MAP, STORAGE_CLASS
from flowdsl.runtime.documents import workflow_spec
from flowdsl.runtime.local.controller.templates import located
from flowdsl.runtime.needs import look
from flowdsl.runtime.parts import part, several, texts
from flowdsl.runtime.references import named_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.checkup.visit import Visit

Json = dict[str, Any]

_OF_NAMESPACE = "artifact-repositories"
_OF_CONTROLLER = "workflow-controller-configmap"
_PLACES = {
    "s3": "bucket",
    "gcs": "bucket",
    "azure": "container",
    "oss": "bucket",
    "hdfs": "path",
    "artifactory": "repoURL",
}


def repository(visit: Visit) -> Iterator[Check]:
    """The artifact repository: that of the namespace, else that of the controller, and its secrets.

    Source: Argo, workflow/artifactrepositories. The secrets are read in the namespace of the run.
    """
    unread: list[str] = []
    where, found = "", None
    for name, namespace in (
        (_OF_NAMESPACE, visit.namespace),
        *((_OF_CONTROLLER, one) for one in visit.controllers or ["argo"]),
    ):
        where = f"ConfigMap `{name}` of namespace `{namespace}`"
        try:
            found = _repository(visit.get(CONFIG_MAP, name, namespace) or {}, name)
        except Unread:
            unread.append(where)
        if found:
            break
    if not found:
        if unread:
            text = f"the artifact repository is not known: {' and '.join(unread)} may not be read"
            yield Check("artifacts", "unchecked", text)
            return
        text = "no artifact repository is set up: a file can go from step to step with store= only"
        see = "https://argo-workflows.readthedocs.io/en/latest/configure-artifact-repository/"
        remedy = f"kubectl edit configmap {_OF_NAMESPACE} -n {visit.namespace}, as in {see}"
        steps = [name for manifest in visit.manifests for name in _keeping(manifest)]
        if steps:
            shown = ", ".join(f"`{name}`" for name in dict.fromkeys(steps))
            yield Check("artifacts", "problem", f"{text}; files are kept by {shown}", remedy)
        else:
            yield Check("artifacts", "note", text, remedy)
        return
    store = next((one for one in _PLACES if found.get(one)), "")
    place = part(found, store).get(_PLACES[store], "") if store else ""
    end = part(found, store).get("endpoint")
    shown = f"{store} `{place}`" + (f" at {end}" if end else "") if store else "without a store that is known"
    yield Check("artifacts", "ok", f"the artifact repository is {shown} ({where})")
    for need in named_in(found):
        problem, _ = look(visit.cluster, need, visit.namespace)
        if problem is not None:
            text = problem.text.replace("which the workflow needs", "which the artifact repository needs")
            yield Check("artifacts", problem.weight, text, problem.remedy)


def _keeping(manifest: Json) -> Iterator[str]:
    """The templates that store files in the artifact repository."""
    for template in several(workflow_spec(manifest), "templates"):
        kept = several(part(template, "outputs"), "artifacts")
        if (
            kind(template) in POD_BODIES
            and not template.get("archiveLocation")
            and not all(map(located, kept))
        ):
            yield str(template.get("name"))


def _repository(config: Json, name: str) -> Json:
    """The repository in a ConfigMap; empty if there is none, or it cannot be read."""
    import yaml

    data = part(config, "data")
    chosen = "artifactRepository"
    if name == _OF_NAMESPACE:
        annotations = part(part(config, "metadata"), "annotations")
        chosen = str(annotations.get(DEFAULT_REPOSITORY) or "")
    try:
        found: object = yaml.safe_load(str(data.get(chosen) or ""))
        if not found and data.get("config"):
            whole: object = yaml.safe_load(str(data["config"]))
            found = whole.get("artifactRepository") if is_mapping(whole) else None
    except yaml.YAMLError:
        return {}
    return found if is_mapping(found) else {}


# --- volumes ---------------------------------------------------------------------------------------------


_USUAL = "storageclass.kubernetes.io/is-default-class"
_ONE = "ReadWriteOnce"
_MANY = "ReadWriteMany"
_MODES = {
    **dict.fromkeys(
        (
            *("ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "rbd.csi.ceph.com"),
            *(
                "kubernetes.io/aws-ebs",
                "kubernetes.io/gce-pd",
                "kubernetes.io/azure-disk",
                "cinder.csi.openstack.org",
            ),
            *(
                "rancher.io/local-path",
                "k8s.io/minikube-hostpath",
                "kubernetes.io/no-provisioner",
                "csi.hetzner.cloud",
            ),
            "dobs.csi.digitalocean.com",
        ),
        _ONE,
    ),
    **dict.fromkeys(
        (
            *("efs.csi.aws.com", "fsx.csi.aws.com", "filestore.csi.storage.gke.io", "file.csi.azure.com"),
            *("cephfs.csi.ceph.com", "nfs.csi.k8s.io", "kubernetes.io/azure-file", "driver.longhorn.io"),
            *("org.gluster.glusterfs", "csi.juicefs.com", "lustre.csi.storage.gke.io", "smb.csi.k8s.io"),
        ),
        _MANY,
    ),
}
"""The widest access mode of the usual provisioners. Source: their own documentation; no API tells it."""


def classes(visit: Visit) -> Iterator[Check]:
    """Storage classes, the default one, and what is known of their access modes."""
    found = visit.list(STORAGE_CLASS)
    if found is None:
        may = f"kubectl auth can-i list {STORAGE_CLASS.resource}"
        yield Check("volumes", "unchecked", "storage classes may not be read", may)
        return
    said: list[str] = []
    default = False
    modes: set[str | None] = set()
    for one in found:
        metadata = part(one, "metadata")
        usual = part(metadata, "annotations").get(_USUAL) == "true"
        default = default or usual
        mode = _mode(str(one.get("provisioner") or ""))
        modes.add(mode)
        words = ", ".join(word for word in ("default" if usual else "", mode or "") if word)
        said.append(f"`{metadata.get('name')}`" + (f" ({words})" if words else ""))
    if not default:
        text = f"no storage class is the default: NewVolume needs one by name, of these: {', '.join(said) or 'none'}"
        remedy = (
            f'kubectl patch storageclass NAME -p \'{{"metadata":{{"annotations":{{"{_USUAL}":"true"}}}}}}\''
        )
        yield Check("volumes", "note", text, remedy)
    else:
        yield Check("volumes", "ok", f"storage classes: {', '.join(said)}")
    if found and modes == {_ONE}:
        text = f"no storage class gives {_MANY}: steps that run at the same time on several nodes cannot share a volume"
        yield Check(
            "volumes", "note", text, "install one for a file system, as NFS; or pass files on as artifacts"
        )


def _mode(provisioner: str) -> str | None:
    for name, mode in _MODES.items():
        if provisioner == name or provisioner.endswith(f".{name}"):
            return mode
    return None


def claims(visit: Visit) -> Iterator[Check]:
    """The claims in the settings of the cluster: whether they exist, with the stated access modes."""
    for volume, claim in visit.profile.volumes.items():
        what = f"the claim `{claim.name}` of volume `{volume}`"
        see = f"kubectl describe pvc {shlex.quote(claim.name)} -n {shlex.quote(visit.namespace)}"
        try:
            found = visit.get(CLAIM, claim.name)
        except Unread as error:
            yield Check("volumes", "unchecked", f"{what} may not be read: {error}")
            continue
        if found is None:
            text = f"{what} is not in namespace `{visit.namespace}`"
            remedy = f"kubectl get pvc -n {visit.namespace} shows what there is; `claim` in {visit.settings} names it"
            yield Check("volumes", "problem", text, remedy)
            continue
        modes = texts(part(found, "spec"), "accessModes")
        phase = part(found, "status").get("phase")
        shown = ", ".join(modes) or "no access mode"
        if phase == "Lost":
            yield Check("volumes", "problem", f"{what} has lost its volume", see)
        elif claim.mode is not None and claim.mode not in modes:
            text = f"{what} has {shown}, and the settings say {claim.mode}"
            yield Check(
                "volumes", "problem", text, f'write mode = "{(modes or [_ONE])[0]}" in {visit.settings}'
            )
        elif phase == "Pending":
            text = f"{what} has no volume yet: it may be made for the first pod"
            yield Check("volumes", "note", text, see)
        else:
            yield Check("volumes", "ok", f"{what}: {shown}")
