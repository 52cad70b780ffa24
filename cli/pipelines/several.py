"""`compile` of several files, each to one of its name in a folder, and what else it once wrote into that folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.cli.files import changes, difference, same, save
from flowdsl.cli.pipelines.compiling import Judged, are_parts, as_part, parted, show, without_lack
from flowdsl.cli.pipelines.gathering import files
from flowdsl.cli.process import DONE, NO, WRONG, Refused, err, out
from flowdsl.diagnostic import Diagnostic
from flowdsl.places.source import Sources
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from flowdsl.cli.display.report import Format
    from flowdsl.cli.pipelines.compiling import Judging


def compile_files(
    targets: Sequence[Path],
    judging: Judging,
    *,
    folder: Path | None,
    check: bool,
    prune: bool,
    format: Format,
) -> int:
    """Compile files, each to one of its name in a folder; returns the exit code. After an error, none is written.

    A target that is a folder stands for its files with pipelines. Without a folder to write to, they are only
    compared with the files beside them. `prune` removes what `compile` wrote there for others. Raises `Refused`.
    """
    if folder is None and not check:
        raise Refused(
            "the YAML of several files is several files: name a folder for them with -o, or add --check"
        )
    found = [one for target in targets for one in _judged(target, judging)]
    show([judged for _, judged in found], format, err)
    if any(judged.failed for _, judged in found):
        return WRONG
    sources: dict[Path, Path] = {}
    texts: dict[Path, str] = {}
    for target, judged in found:
        if target is None:
            continue
        path, name = parted(target)
        file = path.with_suffix(".yaml") if folder is None else folder / f"{name or path.stem}.yaml"
        if file in texts:
            raise Refused(
                f"{sources[file]} and {target} would both be {file}: compile each to a file of its own"
            )
        sources[file], texts[file] = target, judged.written
    if folder is not None:
        _refuse_same(found)
    if check:
        return _compared(texts, folder, prune)
    for file, text in texts.items():
        save(text, file)
    if prune and folder is not None:
        _remove(_others(folder, texts))
    return DONE


def _judged(target: Path, judging: Judging) -> list[tuple[Path | None, Judged]]:
    """What FILE, FILE:NAME or a folder compiles to; what has no target is a part of others, and not written."""
    if not target.is_dir():
        return [(target, judging(target))]
    inside = [Path(name) for name, _ in files(str(target)) if name.endswith(".py")]
    found = [(path, without_lack(judging(path), path)) for path in inside]
    parts = are_parts([one for _, one in found])
    told: list[tuple[Path | None, Judged]] = [
        (None, as_part(one)) if part or not one.written else (path, one)
        for (path, one), part in zip(found, parts, strict=True)
    ]
    told = [(path, one) for path, one in told if path is not None or one.diagnostics]
    if not told:
        from flowdsl.compiler.findings.load import NoPipeline

        return [(target, Judged(None, [Diagnostic(NoPipeline(str(target)), None)], Sources()))]
    return told


def _refuse_same(found: Sequence[tuple[Path | None, Judged]]) -> None:
    """Refuse files that would be one object of the cluster, but not the same one. Raises Refused."""
    first: dict[tuple[str, str, str], tuple[Path, object]] = {}
    for target, judged in found:
        if target is None or judged.compiled is None:
            continue
        for one in judged.compiled.documents:
            kind, metadata = str(one["kind"]), part(one, "metadata")
            if "name" not in metadata:  # a Workflow is named when it is created
                continue
            name = str(metadata["name"])
            other, document = first.setdefault((kind, str(metadata.get("namespace")), name), (target, one))
            if document != one:
                raise Refused(
                    f"{other} and {target} both have the {kind} `{name}`, of which `kubectl apply` keeps the last: "
                    'rename one of them, @pipeline(name="...")'
                )


def _compared(texts: Mapping[Path, str], folder: Path | None, prune: bool) -> int:
    """Show what writing would change; returns the exit code."""
    found = [difference(text, file) for file, text in texts.items()]
    others = {} if folder is None else _others(folder, texts)
    if prune:
        found += [
            changes(text, "", str(one), os.devnull, "committed", "compiled") for one, text in others.items()
        ]
    elif others:
        names = ", ".join(map(str, others))
        err(f"note: {names}: compiled earlier, and not by this command; --prune removes such files\n")
    out("".join(found))
    return NO if any(found) else DONE


def _others(folder: Path, written: Collection[Path]) -> dict[Path, str]:
    """The texts of the files in a folder that `compile` wrote, with specs that nobody has changed, besides these."""
    from flowdsl.compiler.argo.provenance import is_sealed

    found: dict[Path, str] = {}
    for file in sorted(folder.glob("*.yaml")):
        if not file.is_file() or file.is_symlink() or any(same(file, one) for one in written):
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):  # it is none that `compile` wrote
            continue
        if is_sealed(text):
            found[file] = text
    return found


def _remove(files: Collection[Path]) -> None:
    for file in files:
        try:
            file.unlink()
        except OSError as error:
            raise Refused(f"{file} cannot be removed: {error.strerror}") from error
        err(f"note: {file} was removed: it was compiled earlier, and not by this command\n")
