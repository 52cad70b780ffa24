"""`compile -o` and `compile --check`: the files that are written, kept and compared."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from flowdsl.cli.display import lengths
from tests.cli.files import PIPELINE, TWO, WRONG, listing, write
from tests.commands import Result, process

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator


@contextlib.contextmanager
def unprivileged(folder: Path) -> Generator[None]:
    """Run as a user to whom file modes apply; root temporarily becomes nobody."""
    if os.geteuid() != 0:
        yield
        return
    nobody = 65534
    os.chown(folder, nobody, nobody)
    for path in folder.rglob("*"):
        os.chown(path, nobody, nobody)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder that everybody can access; those of pytest are private."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    monkeypatch.chdir(path)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


def test_the_output_is_what_standard_output_gets(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE.replace("hello {name}", "héllo → {name}"))
    text = flowdsl("compile", "pipeline.py").out
    assert flowdsl("compile", "pipeline.py", "-o", "a.yaml") == (0, "", "")
    assert Path("a.yaml").read_bytes().decode() == text
    assert flowdsl("compile", "pipeline.py", "-o", "-") == (0, text, "")
    assert "héllo → " in text
    assert listing() == ["a.yaml", "pipeline.py"]
    assert flowdsl("graph", "pipeline.py", "--svg", "-") == (
        2,
        "",
        "flowdsl: - is not a file: name the one to write\n",
    )


def test_the_same_content_is_not_written_again(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    os.utime("a.yaml", (1, 1))
    before = Path("a.yaml").stat()
    flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    assert (Path("a.yaml").stat().st_mtime_ns, Path("a.yaml").stat().st_ino) == (
        before.st_mtime_ns,
        before.st_ino,
    )
    write("pipeline.py", PIPELINE.replace("you", "world"))
    flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    assert Path("a.yaml").stat().st_mtime_ns > before.st_mtime_ns


def test_a_file_keeps_its_mode_and_a_new_one_has_the_usual(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("a.yaml", "old").chmod(0o640)
    before = os.umask(0o027)
    try:
        flowdsl("compile", "pipeline.py", "-o", "a.yaml")
        flowdsl("compile", "pipeline.py", "-o", "b.yaml")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("a.yaml").stat().st_mode) == 0o640
    assert stat.S_IMODE(Path("b.yaml").stat().st_mode) == 0o640


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_keeps_its_target(exists: bool, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    Path("real").mkdir()
    if exists:
        write("real/a.yaml", "old")
    Path("a.yaml").symlink_to("real/a.yaml")
    assert flowdsl("compile", "pipeline.py", "-o", "a.yaml").code == 0
    assert Path("a.yaml").readlink() == Path("real/a.yaml")
    assert listing("real") == ["a.yaml"]
    assert Path("real/a.yaml").read_text(encoding="utf-8").startswith("apiVersion: ")


def test_nothing_is_written_when_there_is_an_error(flowdsl: Callable[..., Result]) -> None:
    write("a.yaml", "old")
    for text in (WRONG, "1 / 0\n", "x = (\n", PIPELINE + TWO.replace("inner()\n", "inner(1)\n")):
        write("pipeline.py", text)
        for name in ("a.yaml", "new.yaml"):
            code, out, _ = flowdsl("compile", "pipeline.py", "-o", name)
            assert (code, out) == (2, "")
    assert Path("a.yaml").read_text(encoding="utf-8") == "old"
    assert listing() == ["a.yaml", "pipeline.py"]


def test_a_failed_replacement_leaves_the_old_file(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("pipeline.py", PIPELINE)
    write("a.yaml", "old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    code, out, err = flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    assert (code, out, err) == (2, "", "flowdsl: a.yaml cannot be written: No space left on device\n")
    assert Path("a.yaml").read_text(encoding="utf-8") == "old"
    assert listing() == ["a.yaml", "pipeline.py"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("deploy/a.yaml", "deploy/a.yaml cannot be written: there is no folder deploy"),
        ("pipeline.py/a.yaml", "pipeline.py/a.yaml cannot be written: Not a directory"),
        ("pipeline.py", "pipeline.py is the pipeline itself: name another file to write"),
        ("link.py", "link.py is the pipeline itself: name another file to write"),
        ("train.py", "train.py is Python, which is not overwritten: name another file to write"),
        ("alias", "alias is Python, which is not overwritten: name another file to write"),
        ("round", "round cannot be written: Too many levels of symbolic links"),
    ],
)
def test_an_output_that_cannot_be(name: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("train.py", "print()\n")
    Path("link.py").symlink_to("pipeline.py")
    Path("alias").symlink_to("train.py")
    Path("round").symlink_to("round")
    for command in (("compile", "pipeline.py", "-o", name), ("graph", "pipeline.py", "--svg", name)):
        assert flowdsl(*command) == (2, "", f"flowdsl: {said}\n")
    assert Path("pipeline.py").read_text(encoding="utf-8") == PIPELINE
    assert Path("train.py").read_text(encoding="utf-8") == "print()\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".", ". is a folder: name a file in it, as pipeline.yaml"),
        ("deploy/", "deploy/ is a folder: name a file in it, as deploy/pipeline.yaml"),
    ],
)
def test_a_picture_is_no_folder(name: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    assert flowdsl("graph", "pipeline.py", "--svg", name) == (2, "", f"flowdsl: {said}\n")


def test_a_run_of_somebody_else_does_not_hide_the_others(
    open_folder: Path, flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(open_folder)
    monkeypatch.setenv("KUBECONFIG", str(open_folder / "none"))
    for name in ("mine", "closed"):
        runs = open_folder / ".flowdsl/runs" / name
        runs.mkdir(parents=True)
        for file in ("workflow.json", "journal.jsonl"):
            (runs / file).touch()
    closed = open_folder / ".flowdsl/runs/closed"
    commands = (("get", "other"), ("run", "--resume", "other"))
    # With everything imported, also by the second call of a command: for cyclopts, by pydantic, once it is loaded.
    assert all("mine" in flowdsl(*one).err for one in commands * 2)
    with unprivileged(open_folder):
        closed.chmod(0)
        got, resumed = (flowdsl(*one) for one in commands)
        closed.chmod(0o700)
    assert (got.code, "(the last ones are mine)" in got.err) == (2, True)
    assert resumed == (2, "", "flowdsl: there is no run `other` in .flowdsl/runs; the last ones are mine\n")


@pytest.mark.parametrize("command", ["compile", "check", "run"])
def test_the_current_folder_may_have_been_removed(
    command: str, folder: Path, flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    said = "flowdsl: the current folder was removed: change into one that is there\n"
    assert flowdsl(command, "pipeline.py") == (2, "", said)


def test_several_files_go_to_a_folder(flowdsl: Callable[..., Result]) -> None:
    write("one.py", PIPELINE.replace("greet", "welcome"))
    write("two.py", TWO)
    Path("deploy").mkdir()
    assert flowdsl("compile", "one.py", "two.py", "two.py:night", "--as", "template", "-o", "deploy/") == (
        0,
        "",
        "",
    )
    assert sorted(file.name for file in Path("deploy").iterdir()) == ["night.yaml", "one.yaml", "two.yaml"]
    for target, file in (("one.py", "one.yaml"), ("two.py", "two.yaml"), ("two.py:night", "night.yaml")):
        alone = flowdsl("compile", target, "--as", "template")
        assert alone.out == Path("deploy", file).read_text(encoding="utf-8")
    code, out, err = flowdsl("compile", "one.py", "two.py", "--as", "template", "-o", "deploy", "--check")
    assert (code, out) == (0, "")
    assert err.startswith("note: deploy/night.yaml: compiled earlier, and not by this command;")
    Path("deploy/two.yaml").write_text("", encoding="utf-8")
    code, out, _ = flowdsl("compile", "one.py", "two.py", "--as", "template", "-o", "deploy", "--check")
    assert (code, out.count("+++ ")) == (1, 1)
    assert out.startswith("--- deploy/two.yaml\tcommitted\n")


def test_files_of_one_name_cannot_go_to_one_folder(flowdsl: Callable[..., Result]) -> None:
    Path("team").mkdir()
    for name in ("one.py", "team/one.py"):
        write(name, PIPELINE)
    said = "flowdsl: {} and {} would both be {}: compile each to a file of its own\n"
    for targets in (("one.py", "team/one.py"), (".",)):
        code, out, err = flowdsl("compile", *targets, "-o", ".")
        assert (code, out, err) == (2, "", said.format("one.py", "team/one.py", "one.yaml"))
    twice = ("compile", "one.py", "one.py", "--check")
    assert flowdsl(*twice) == (2, "", said.format("one.py", "one.py", "one.yaml"))
    assert listing() == ["one.py", "team"]


def test_files_that_would_be_one_object_cannot_go_to_one_folder(flowdsl: Callable[..., Result]) -> None:
    write("one.py", PIPELINE)
    write("two.py", PIPELINE.replace("3.12", "3.13"))
    Path("deploy").mkdir()
    assert flowdsl("compile", "one.py", "two.py", "-o", "deploy").code == 0, (
        "a Workflow is named when it is created"
    )
    code, out, err = flowdsl("compile", "one.py", "two.py", "--as", "template", "-o", "deploy")
    assert (code, out) == (2, "")
    assert err.startswith("flowdsl: one.py and two.py both have the WorkflowTemplate `")
    assert "kind: Workflow\n" in Path("deploy/two.yaml").read_text(encoding="utf-8")


def test_one_file_goes_to_a_folder(flowdsl: Callable[..., Result]) -> None:
    write("one.py", PIPELINE)
    assert flowdsl("compile", "one.py", "-o", ".") == (0, "", "")
    assert flowdsl("compile", "one.py", "-o", "./", "--check") == (0, "", "")
    assert flowdsl("compile", "one.py").out == Path("one.yaml").read_text(encoding="utf-8")


def test_of_several_files_none_is_written_with_a_mistake_in_one(flowdsl: Callable[..., Result]) -> None:
    write("one.py", PIPELINE)
    write("two.py", WRONG)
    Path("deploy").mkdir()
    code, out, err = flowdsl("compile", "one.py", "two.py", "-o", "deploy")
    assert (code, out, [*Path("deploy").iterdir()]) == (2, "", [])
    assert err.startswith("two.py:11:")


def test_a_folder_stands_for_its_pipelines(flowdsl: Callable[..., Result]) -> None:
    Path("pipelines/team").mkdir(parents=True)
    write("pipelines/one.py", PIPELINE)
    write("pipelines/team/two.py", TWO)
    write("pipelines/steps.py", PIPELINE.partition("@pipeline")[0])
    write("pipelines/test_one.py", "from one import greet\nfrom flowdsl.testing import RunPipeline\n")
    write("pipelines/other.py", "raise SystemExit\n")
    Path("out").mkdir()
    assert flowdsl("compile", "pipelines", "-o", "out") == (0, "", "")
    assert listing("out") == ["one.yaml", "two.yaml"]
    assert flowdsl("compile", "pipelines/", "-o", "out", "--check") == (0, "", "")
    write("pipelines/team/two.py", WRONG)
    code, out, err = flowdsl("compile", "pipelines", "-o", "out")
    assert (code, out) == (2, "")
    assert "pipelines/team/two.py:11:11: error[FD203]" in err
    assert "1 error" in err


def test_a_folder_without_pipelines(flowdsl: Callable[..., Result]) -> None:
    Path("steps").mkdir()
    write("steps/steps.py", PIPELINE.partition("@pipeline")[0])
    code, out, err = flowdsl("compile", "steps", "-o", ".")
    assert (code, out) == (2, "")
    assert err.startswith("error[FD110]: there is no pipeline in steps\n")
    assert listing() == ["steps"]


def test_a_pipeline_that_others_of_its_folder_call_is_a_part_of_theirs(
    flowdsl: Callable[..., Result],
) -> None:
    write("inner.py", PIPELINE)
    write(
        "outer.py",
        "from flowdsl import pipeline\nfrom inner import greet\n\n@pipeline\ndef outer() -> None:\n    greet()\n",
    )
    assert flowdsl("compile", ".", "-o", ".") == (0, "", "")
    assert listing() == ["inner.py", "outer.py", "outer.yaml"]
    assert flowdsl("compile", "inner.py", "outer.py", "-o", ".") == (0, "", "")
    assert "inner.yaml" in listing()


@pytest.mark.parametrize("options", [(), ("--with-rbac", "--as", "template")])
def test_what_is_left_of_a_pipeline_that_is_gone(
    options: tuple[str, ...], flowdsl: Callable[..., Result]
) -> None:
    Path("out").mkdir()
    for name in ("one", "two"):
        write(f"{name}.py", PIPELINE.replace("def greet", f"def {name}"))
    command = ("compile", ".", "-o", "out", *options)
    assert flowdsl(*command, "--prune") == (0, "", "")
    Path("two.py").unlink()
    assert flowdsl(*command, "--check") == (
        0,
        "",
        "note: out/two.yaml: compiled earlier, and not by this command; --prune removes such files\n",
    )
    code, out, err = flowdsl(*command, "--check", "--prune")
    assert (code, err) == (1, "")
    assert out.startswith("--- out/two.yaml\tcommitted\n+++ /dev/null\tcompiled\n")
    assert flowdsl(*command) == (0, "", "")
    assert listing("out") == ["one.yaml", "two.yaml"]
    removed = "note: out/two.yaml was removed: it was compiled earlier, and not by this command\n"
    assert flowdsl(*command, "--prune") == (0, "", removed)
    assert listing("out") == ["one.yaml"]
    assert flowdsl(*command, "--check", "--prune") == (0, "", "")


def test_only_what_was_compiled_is_removed(flowdsl: Callable[..., Result]) -> None:
    Path("out").mkdir()
    write("one.py", PIPELINE)
    text = flowdsl("compile", "one.py").out
    kept = {
        "by-hand": "kind: ConfigMap\nmetadata: {name: a}\n",
        "edited": text.replace("hello {name}", "hi {name}"),
        "with-another": text + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        "empty": "",
    }
    for name, content in kept.items():
        write(f"out/{name}.yaml", content)
    write("out/notes.txt", text)
    write("out/latin.yaml", text).write_bytes(b"\xff")
    Path("out/folder.yaml").mkdir()
    Path("out/link.yaml").symlink_to("/nowhere")
    write("out/windows.yaml", text.replace("\n", "\r\n"))
    before = listing("out")
    assert flowdsl("compile", "one.py", "-o", "out", "--prune").code == 0
    assert listing("out") == sorted({*before, "one.yaml"} - {"windows.yaml"})


def test_nothing_is_removed_with_a_mistake(flowdsl: Callable[..., Result]) -> None:
    Path("out").mkdir()
    write("one.py", PIPELINE)
    assert flowdsl("compile", "one.py", "-o", "out").code == 0
    Path("one.py").rename("two.py")
    write("three.py", WRONG)
    assert flowdsl("compile", ".", "-o", "out", "--prune").code == 2
    assert listing("out") == ["one.yaml"]


def test_an_output_without_permission(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("pipeline.py", PIPELINE)
    Path("locked").mkdir()
    write("locked/a.yaml", "old")
    write("b.yaml", "old").chmod(0o444)
    run(["compile", "pipeline.py"])  # so that all modules are loaded
    capsys.readouterr()
    Path("locked").chmod(0o555)
    with unprivileged(open_folder):
        for name in ("locked/a.yaml", "locked/new.yaml", "b.yaml"):
            assert run(["compile", "pipeline.py", "-o", name]) == 2
            assert capsys.readouterr() == ("", f"flowdsl: {name} cannot be written: Permission denied\n")
    Path("locked").chmod(0o755)  # so that it can be removed
    assert listing("locked") == ["a.yaml"]
    assert {Path(name).read_text(encoding="utf-8") for name in ("locked/a.yaml", "b.yaml")} == {"old"}


def test_what_is_no_file_is_written_to(folder: Path) -> None:
    write("pipeline.py", PIPELINE)
    os.mkfifo("pipe")
    with process("compile", "pipeline.py", "-o", "pipe") as child:
        assert Path("pipe").read_text(encoding="utf-8").startswith("apiVersion: ")
        child.communicate(timeout=120)
        assert child.returncode == 0
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


def test_check_compares(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    text = flowdsl("compile", "pipeline.py").out
    write("pipeline.yaml", text)
    assert flowdsl("compile", "pipeline.py", "--check") == (0, "", "")
    write("pipeline.yaml", text.replace("you", "me"))
    code, out, err = flowdsl("compile", "pipeline.py", "--check")
    assert (code, err) == (1, "")
    assert out.startswith("--- pipeline.yaml\tcommitted\n+++ pipeline.yaml\tcompiled\n@@ -")
    assert re.findall(r"^([-+ ]) .*value: (me|you)", out, re.MULTILINE) == [("-", "me"), ("+", "you")]
    assert sum(line[0] in "-+" for line in out.splitlines()) == 4
    write("pipeline.py", WRONG)
    code, out, err = flowdsl("compile", "pipeline.py", "--check")
    assert (code, out) == (2, "")
    assert "error[" in err


def test_the_difference_is_a_patch(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    text = flowdsl("compile", "pipeline.py").out
    for old in (
        "",
        "x: 1",
        "x: 1\r\n",
        text[:-1],
        text.replace("\n", "\r\n"),
        f"\x0b\x0c\x1c\u2028\n{text}",
        text * 2,
    ):
        write("pipeline.yaml", old)
        code, out, _ = flowdsl("compile", "pipeline.py", "--check")
        assert code == 1
        write("change.patch", out)
        subprocess.run(["git", "apply", "-p0", "change.patch"], check=True)
        assert Path("pipeline.yaml").read_bytes().decode() == text


def test_check_of_a_file_that_is_not_there_or_not_text(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    text = flowdsl("compile", "pipeline.py").out
    code, out, err = flowdsl("compile", "pipeline.py", "--check", "-o", "deploy/a.yaml")
    assert (code, err) == (1, "")
    assert out.startswith("--- /dev/null\tcommitted\n+++ deploy/a.yaml\tcompiled\n@@ -0,0 +1,")
    Path("a.yaml").write_bytes(text.encode().replace(b"you", b"\xff\xef\xbf\xbd"))
    code, out, err = flowdsl("compile", "pipeline.py", "--check", "-o", "a.yaml")
    assert (code, err) == (1, "")
    assert "\\xff" in out
    Path("deploy/pipeline.yaml").mkdir(parents=True)
    assert flowdsl("compile", "pipeline.py", "--check", "-o", "deploy") == (
        2,
        "",
        "flowdsl: deploy/pipeline.yaml cannot be read: Is a directory\n",
    )


def test_a_folder_that_cannot_be_read(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said, within another one and by its own name."""
    write("pipeline.py", PIPELINE)
    for name in ("data", ".hidden"):
        (open_folder / name).mkdir(mode=0)
    with unprivileged(open_folder):
        assert run(["check", "."]) == 0
        assert capsys.readouterr() == ("", "note: data was left out: Permission denied\n")
        assert run(["check", "data"]) == 2
        shown = capsys.readouterr()
        assert shown.out.startswith("error[FD110]: there is no pipeline, YAML or JSON in data\n")
        assert shown.err == "note: data was left out: Permission denied\n"


def test_check_writes_nothing(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Proven by a read-only folder, with a module beside the pipeline."""
    write("pipeline.py", "import helper\n" + PIPELINE)
    write("helper.py", "")
    assert run(["compile", "pipeline.py", "-o", "pipeline.yaml"]) == 0
    assert run(["compile", "pipeline.py", "--check", "-o", "other.yaml"]) == 1
    capsys.readouterr()
    open_folder.chmod(0o555)
    before = {path.name: path.stat().st_mtime_ns for path in open_folder.iterdir()}
    with unprivileged(open_folder):
        with pytest.raises(PermissionError):
            write("x", "")
        assert run(["compile", "pipeline.py", "--check"]) == 0
        assert run(["compile", "pipeline.py", "--check", "-o", "other.yaml"]) == 1
        assert run(["check", "pipeline.py"]) == 0
    assert capsys.readouterr().err == ""
    assert {path.name: path.stat().st_mtime_ns for path in open_folder.iterdir()} == before
    assert set(before) == {"pipeline.py", "helper.py", "pipeline.yaml"}


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (lengths.size(0), "0 bytes"),
        (lengths.size(1), "1 byte"),
        (lengths.size(1023), "1023 bytes"),
        (lengths.size(1024), "1.0 KiB"),
        (lengths.size(1536 << 10), "1.5 MiB"),
        (lengths.size(1 << 30), "1.0 GiB"),
        (lengths.size(5 << 40), "5.0 TiB"),
        (lengths.size(1 << 50), "1024.0 TiB"),
        (lengths.duration(-0.1), "0.0s"),
        (lengths.duration(9.94), "9.9s"),
        (lengths.duration(9.95), "10s"),
        (lengths.duration(59.6), "1m 0s"),
        (lengths.duration(3599), "59m 59s"),
        (lengths.duration(7500), "2h 5m"),
        (lengths.length(None), ""),
        (lengths.length(3.9), "3s"),
        (lengths.age(-1), "0s"),
        (lengths.age(119), "119s"),
        (lengths.age(120), "2m"),
        (lengths.age(86400), "24h"),
        (lengths.age(172800), "2d"),
    ],
)
def test_sizes_and_times_are_short(told: str, text: str) -> None:
    assert told == text
