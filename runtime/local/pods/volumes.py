"""The volumes of a pod, as folders of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flowdsl.runtime.local.places import claim_folder
from flowdsl.runtime.local.pods.environment import About, field, missing, resource
from flowdsl.runtime.local.pods.expansion import expanded
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.pods.store import copied_whole
from flowdsl.runtime.parts import part, several

Json = dict[str, Any]
Notice = Callable[[str], None]


class Volumes:
    """The volumes of one pod; a folder is created on first use.

    `own`: the folder of the pod, `run`: of the run, `shared`: of what outlives runs.
    """

    def __init__(
        self, volumes: list[Json], about: About, own: str, run: Path, shared: Path, notice: Notice
    ) -> None:
        self.volumes = {one["name"]: one for one in volumes}
        self.about = about
        self.own, self.run, self.shared = own, run, shared
        self.notice = notice
        self.made: dict[str, Path] = {}

    def mount(self, mount: Json, env: Mapping[str, str], container: Json) -> tuple[Path, bool]:
        """The folder or file of a mount, and whether it is read-only. Raises Refusal."""
        name = mount["name"]
        if name not in self.volumes:
            raise Refusal(f"volume '{name}' not found in workflow spec")
        volume = self.volumes[name]
        if name not in self.made:
            self.made[name] = self._source(name, volume, container)
        source = self.made[name]
        claim = part(volume, "persistentVolumeClaim")
        sub = mount.get("subPath") or expanded(mount.get("subPathExpr", ""), env)
        if sub:
            if sub.startswith("/") or ".." in sub.split("/"):
                raise Refusal(f"subPath {sub!r} of the mount {mount['mountPath']} leads out of its volume")
            if mount.get("readOnly") and claim:
                self._bring(source, sub)
            source = source / sub
            if not source.exists():
                source.mkdir(parents=True)
        given = {"configMap", "secret", "projected", "downwardAPI"} & volume.keys()
        return source, bool(mount.get("readOnly") or claim.get("readOnly") or given)

    def _bring(self, source: Path, sub: str) -> None:
        """Copy files that a step of an earlier run left under the name of that run to where this run reads them."""
        parts, run = sub.split("/"), self.about.settings.workflow
        if run not in parts:
            return
        for before in self.about.settings.before:
            then = "/".join(before.name if one == run else one for one in parts)
            copied_whole(source / then, source / sub)

    def _source(self, name: str, volume: Json, container: Json) -> Path:
        folder = Path(self.own, "volumes", name)
        if "emptyDir" in volume or "ephemeral" in volume:
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o777)
        elif "persistentVolumeClaim" in volume:
            folder = self._claim(volume["persistentVolumeClaim"]["claimName"])
        elif "hostPath" in volume:
            folder = self._host(volume["hostPath"])
        elif not {"configMap", "secret", "projected", "downwardAPI"} & volume.keys():
            kind = next((one for one in volume if one != "name"), "emptyDir")
            raise Refusal(f"volume '{name}' is a {kind}, which one machine does not have")
        elif not folder.exists():
            folder.mkdir(parents=True)
            for one in several(volume["projected"], "sources") if "projected" in volume else [volume]:
                self._write(one, folder, container)
        return folder

    def _claim(self, name: str) -> Path:
        settings = self.about.settings
        if name in settings.mounts:
            folder = settings.mounts[name].absolute()
            if not folder.exists():
                raise Refusal(f"the folder {folder} for the claim {name} does not exist")
            return folder
        folder = claim_folder(name, settings.workflow, self.run, self.shared)
        if folder.is_relative_to(self.run):
            for before in settings.before:
                then = before.name + name.removeprefix(settings.workflow)
                copied_whole(claim_folder(then, before.name, before, self.shared), folder)
        else:
            kind = "folder" if folder.is_dir() and any(folder.iterdir()) else "empty folder"
            self.notice(
                f"the claim {name} is the {kind} {folder}, which is kept; --mount {name}=FOLDER names another"
            )
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _host(self, host: Json) -> Path:
        path = Path(host["path"])
        kind = host.get("type") or ""
        if not path.exists() and kind == "DirectoryOrCreate":
            path.mkdir(parents=True)
        elif not path.exists() and kind == "FileOrCreate":
            path.touch()
        if not path.exists():
            raise Refusal(f"hostPath type check failed: {path} is not on this machine")
        return path

    def _write(self, source: Json, folder: Path, container: Json) -> None:
        """Write the files of a ConfigMap, a Secret or the downward API."""
        settings = self.about.settings
        for kind, known in (("configMap", settings.config_maps), ("secret", settings.secrets)):
            if kind not in source:
                continue
            one = source[kind]
            name = one.get("name") or one.get("secretName")
            data = known.get(name)
            if data is None:
                if one.get("optional"):
                    continue
                raise missing(f"{kind}Ref", name, None, settings, container["name"])
            items = one.get("items") or [{"key": key, "path": key} for key in data]
            mode = int(one.get("defaultMode", 0o644))
            for item in items:
                if item["key"] not in data:
                    if one.get("optional"):
                        continue
                    raise missing(f"{kind}Ref", name, item["key"], settings, container["name"])
                _file(folder, item["path"], data[item["key"]], int(item.get("mode", mode)))
        for item in several(part(source, "downwardAPI"), "items"):
            if "fieldRef" in item:
                text = field(item["fieldRef"]["fieldPath"], self.about)
            else:
                text = resource(item["resourceFieldRef"], container, settings)
            _file(folder, item["path"], text, item.get("mode", 0o644))
        if "serviceAccountToken" in source:
            raise Refusal("a token of a service account is asked for, which one machine does not have")


def _file(folder: Path, path: str, text: str, mode: int) -> None:
    if path.startswith("/") or ".." in path.split("/"):
        raise Refusal(f"the path {path!r} leads out of its volume")
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode(errors="surrogateescape"))
    os.chmod(target, mode)  # noqa: PTH101
