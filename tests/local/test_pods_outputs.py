"""What a pod hands back: the shapes are those of recordings of a real controller."""

from __future__ import annotations

import io
import shutil
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from flowdsl.runtime.local.places import unpacked
from tests.local.harness import Harness, harness, result, sh

Json = dict[str, Any]


def parameter(name: str, path: str, **more: Any) -> Json:
    return {"name": name, "valueFrom": {"path": path, **more}}


def test_a_parameter_is_the_text_of_a_file_without_one_newline(pods: Harness) -> None:
    wanted: list[Json] = [parameter("acc", "/tmp/acc"), {"name": "trial", "value": "2"}]
    done = pods.run({**sh("printf '0.2\\n\\n' > /tmp/acc"), "outputs": {"parameters": wanted}})
    assert done.phase == "Succeeded"
    assert done.message == ""
    assert done.outputs == {
        "exitCode": "0",
        "parameters": [
            {"name": "acc", "value": "0.2\n", "valueFrom": {"path": "/tmp/acc"}},
            {"name": "trial", "value": "2"},
        ],
    }


def test_a_failed_step_lists_its_parameters_without_values(pods: Harness) -> None:
    wanted: list[Json] = [parameter("acc", "/tmp/acc"), {"name": "trial", "value": "1"}]
    done = pods.run({**sh("exit 3"), "outputs": {"parameters": wanted}})
    assert (done.phase, done.message) == ("Failed", "main: Error (exit code 3)")
    assert done.outputs == {"exitCode": "3", "parameters": wanted}


def test_a_failed_step_gives_the_parameters_and_artifacts_that_it_wrote(pods: Harness) -> None:
    outputs: Json = {
        "parameters": [parameter("acc", "/tmp/acc")],
        "artifacts": [{"name": "m", "path": "/tmp/acc"}],
    }
    done = pods.run({**sh("echo 1 > /tmp/acc; exit 1"), "outputs": outputs})
    assert done.phase == "Failed"
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"] == "1"
    assert done.outputs["artifacts"] == [{"name": "m", "path": "/tmp/acc", "s3": {"key": "wf/wf-one/m.tgz"}}]


def test_what_is_mounted_at_a_relative_path_is_below_the_root(pods: Harness) -> None:
    step = sh("cat /in-of-flowdsl/f; echo 2 > /v-of-flowdsl/x; cat /v-of-flowdsl/x")
    step["container"]["volumeMounts"] = [{"name": "v", "mountPath": "v-of-flowdsl"}]
    inputs = {"artifacts": [{"name": "f", "path": "in-of-flowdsl/f", "raw": {"data": "1 "}}]}
    done = pods.run({**step, "inputs": inputs}, volumes=[{"name": "v", "emptyDir": {}}], result=True)
    assert result(done) == "1 2"
    assert not [path for path in Path("/").iterdir() if path.name.endswith("-of-flowdsl")]


def test_a_relative_path_begins_where_the_step_runs(pods: Harness) -> None:
    step = sh("mkdir out; echo 1 > out/f; echo 2 > p")
    step["container"]["workingDir"] = "/work/here"
    outputs = {"parameters": [parameter("p", "./p")], "artifacts": [{"name": "f", "path": "out//"}]}
    done = pods.run({**step, "outputs": outputs})
    assert done.phase == "Succeeded", done
    assert done.outputs == {
        "exitCode": "0",
        "parameters": [{**parameter("p", "./p"), "value": "2"}],
        "artifacts": [{"name": "f", "path": "out", "s3": {"key": "wf/wf-one/f.tgz"}}],
    }
    with tarfile.open(pods.artifact("wf/wf-one/f.tgz")) as archive:
        assert archive.getnames() == ["out", "out/f"]


@pytest.mark.parametrize("message", ["Pod was active on the node longer than the specified deadline", ""])
def test_what_lies_in_a_pod_that_is_stopped_is_lost_with_it(pods: Harness, message: str) -> None:
    step = sh("echo 1 > /tmp/a; echo 2 > /v/b; echo up; while :; do sleep 0.01; done")
    step["container"]["volumeMounts"] = [{"name": "v", "mountPath": "/v"}]
    outputs = {
        "parameters": [parameter("a", "/tmp/a", default="0"), parameter("b", "/v/b")],
        "artifacts": [{"name": "a", "path": "/tmp/a"}, {"name": "b", "path": "/v/b"}],
    }
    pods.start({**step, "outputs": outputs}, volumes=[{"name": "v", "emptyDir": {}}])
    while pods.log("one") != "up\n":
        time.sleep(0.01)
    pods.stop("one", message)
    done = pods.ended()["one"]
    assert done.phase == "Failed"
    assert done.outputs is not None
    assert [one["value"] for one in done.outputs["parameters"]] == ["0", "2"]
    assert [one["name"] for one in done.outputs["artifacts"]] == ["b"]


def test_a_parameter_that_a_step_does_not_write_is_an_error_unless_it_has_a_default(pods: Harness) -> None:
    done = pods.run({**sh(":"), "outputs": {"parameters": [parameter("acc", "/tmp/acc")]}})
    assert done.phase == "Error"
    assert done.message == (
        "wait: Error (exit code 64): open /var/run/argo/outputs/parameters/tmp/acc: no such file or directory"
    )
    assert done.outputs == {"exitCode": "0", "parameters": [parameter("acc", "/tmp/acc")]}
    done = pods.run({**sh(":"), "outputs": {"parameters": [parameter("acc", "/tmp/acc", default="7")]}})
    assert done.phase == "Succeeded"
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"] == "7"


def test_a_folder_is_no_parameter(pods: Harness) -> None:
    wanted = [parameter("acc", "/tmp/acc", default="1"), parameter("other", "/tmp/other")]
    done = pods.run({**sh("mkdir /tmp/acc; echo 2 > /tmp/other"), "outputs": {"parameters": wanted}})
    assert done.phase == "Failed"
    assert done.message == (
        "main: Error (exit code 64): failed to copy /tmp/acc to /var/run/argo/outputs/parameters//tmp/acc: "
        "write /var/run/argo/outputs/parameters//tmp/acc: copy_file_range: is a directory"
    )
    assert done.outputs is not None
    assert (done.outputs["exitCode"], done.outputs["parameters"][0]["value"]) == ("64", "")


def test_a_path_through_a_file_is_no_parameter_whatever_the_default(pods: Harness) -> None:
    wanted = [parameter("p", "/tmp/f/x/y")]
    wanted[0]["valueFrom"]["default"] = "d"
    done = pods.run({**sh("mkdir /tmp/f; echo > /tmp/f/x"), "outputs": {"parameters": wanted}})
    assert done.phase == "Failed"
    assert done.message == (
        "main: Error (exit code 64): failed to open /tmp/f/x/y: open /tmp/f/x/y: not a directory"
    )


def test_each_byte_that_is_no_text_is_a_sign_of_its_own(pods: Harness) -> None:
    script = r"printf 'a\342\202b\377' | tee /tmp/p"
    done = pods.run({**sh(script), "outputs": {"parameters": [parameter("p", "/tmp/p")]}}, result=True)
    assert result(done) == "a\ufffd\ufffdb\ufffd"
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"] == "a\ufffd\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("script", "archive", "message"),
    [
        ("mkfifo /tmp/d/p", {}, ""),
        ("ln -s /etc/passwd /tmp/d/l", {}, ""),
        (
            "ln -s /etc/passwd /tmp/d/l",
            {"none": {}},
            "wait: Error (exit code 64): illegal symlink target: d/l -> /etc/passwd; ",
        ),
        (
            "ln -s ../../x /tmp/d/l",
            {"zip": {}},
            "wait: Error (exit code 64): illegal symlink target: d/l -> ../../x; ",
        ),
        (
            "rm -r /tmp/d; mkfifo /tmp/d",
            {},
            (
                "main: Error (exit code 64): failed to tarball the output /tmp/d to "
                "/var/run/argo/outputs/artifacts/tmp/d.tgz: /tmp/d is not a regular file or directory"
            ),
        ),
    ],
)
def test_pipes_and_links_in_a_folder(pods: Harness, script: str, archive: Json, message: str) -> None:
    artifact = {"name": "d", "path": "/tmp/d", "archive": archive}
    script = f"mkdir /tmp/d; echo x > /tmp/d/f; ln /tmp/d/f /tmp/d/g; {script}"
    done = pods.run({**sh(script), "outputs": {"artifacts": [artifact]}})
    assert done.message == message
    if not message:
        assert done.outputs is not None
        found = unpacked(done.outputs["artifacts"][0], pods.folder / "run")
        assert found is not None
        assert sorted(one.name for one in found.iterdir()) == ["f", "g"]
        assert (found / "f").stat().st_nlink == 1, "each is a file of its own"


def test_a_link_does_not_lead_out_by_way_of_another_one(pods: Harness) -> None:
    script = "mkdir /tmp/d; echo x > /tmp/d/f; ln -s .. /tmp/d/up; ln -s up/../y /tmp/d/x"
    done = pods.run({**sh(script), "outputs": {"artifacts": [{"name": "d", "path": "/tmp/d"}]}})
    assert done.phase == "Succeeded"
    assert done.outputs is not None
    found = unpacked(done.outputs["artifacts"][0], pods.folder / "run")
    assert found is not None
    assert sorted(one.name for one in found.iterdir()) == ["f", "x"]
    assert str((found / "x").readlink()) == "y"


def test_the_result_is_standard_output_and_the_log_has_both(pods: Harness) -> None:
    done = pods.shell("echo one; echo two >&2; sleep 0.05; printf 'three\\n\\n'")
    assert done.outputs == {"exitCode": "0", "result": "one\nthree\n"}
    assert sorted(pods.log().split()) == ["one", "three", "two"]


def test_the_result_is_the_last_256_kib_of_standard_output(pods: Harness) -> None:
    text = result(pods.shell("for i in $(seq 60000); do echo $i; done"))
    assert len(text) == 256 * 1024
    assert text.endswith("\n60000")


def test_the_log_keeps_the_order_of_standard_output_and_error(pods: Harness) -> None:
    pods.run(sh("for i in 1 2 3 4 5; do echo $i; echo e$i >&2; done"))
    assert pods.log().split() == [f"{sign}{number}" for number in range(1, 6) for sign in ("", "e")]


def test_a_folder_travels_as_an_archive_with_modes_and_links(pods: Harness) -> None:
    make = "mkdir -p /tmp/m/empty; echo x > /tmp/m/run; chmod 755 /tmp/m/run; ln -s run /tmp/m/link"
    done = pods.run({**sh(make), "outputs": {"artifacts": [{"name": "model", "path": "/tmp/m"}]}}, "make")
    key = "wf/wf-make/model.tgz"
    assert done.outputs == {
        "exitCode": "0",
        "artifacts": [{"name": "model", "path": "/tmp/m", "s3": {"key": key}}],
    }
    with tarfile.open(pods.artifact(key)) as archive:
        assert sorted(archive.getnames()) == ["m", "m/empty", "m/link", "m/run"]
    use: Json = {"artifacts": [{"name": "in", "path": "/data/model", "s3": {"key": key}}]}
    text = result(pods.shell("cd /data/model; ls; readlink link; test -x run && cat link", "use", inputs=use))
    assert text.split() == ["empty", "link", "run", "run", "x"]


def test_a_file_without_an_archive_has_its_own_key_and_loses_its_mode(pods: Harness) -> None:
    wanted: Json = {
        "name": "model",
        "path": "/tmp/model",
        "archive": {"none": {}},
        "s3": {"key": "runs/a/model/3"},
    }
    done = pods.run({**sh("echo x > /tmp/model; chmod 755 /tmp/model"), "outputs": {"artifacts": [wanted]}})
    assert done.outputs == {"exitCode": "0", "artifacts": [wanted]}
    assert pods.artifact("runs/a/model/3").read_text() == "x\n"
    assert pods.artifact("runs/a/model/3").stat().st_mode & 0o111 == 0


def test_a_folder_without_an_archive_is_its_files(pods: Harness) -> None:
    make = "mkdir -p /tmp/d/a /tmp/d/none; echo 1 > /tmp/d/x; echo 2 > /tmp/d/a/y; ln -s x /tmp/d/l"
    wanted: Json = {"name": "d", "path": "/tmp/d", "archive": {"none": {}}, "s3": {"key": "k/p"}}
    assert pods.run({**sh(make), "outputs": {"artifacts": [wanted]}}).phase == "Succeeded"
    found = sorted(path.relative_to(pods.artifact("k")).as_posix() for path in pods.artifact("k").rglob("*"))
    assert found == ["p", "p/a", "p/a/y", "p/x"]


def test_a_folder_that_is_empty_stores_nothing_without_an_archive(pods: Harness) -> None:
    wanted: Json = {"name": "d", "path": "/tmp/d", "archive": {"none": {}}, "s3": {"key": "k"}}
    assert pods.run({**sh("mkdir /tmp/d"), "outputs": {"artifacts": [wanted]}}).phase == "Succeeded"
    assert list(pods.artifact("k").iterdir()) == []
    use: Json = {"artifacts": [{"name": "in", "path": "/in", "s3": {"key": "k"}}]}
    assert pods.run({**sh("ls /in"), "inputs": use}).phase == "Error"
    use["artifacts"][0]["optional"] = True
    assert pods.run({**sh('test -z "$(ls /in)"'), "inputs": use}).phase == "Succeeded"


def test_a_zip_archive_travels_too(pods: Harness) -> None:
    wanted: Json = {"name": "d", "path": "/tmp/d", "archive": {"zip": {}}}
    done = pods.run(
        {**sh("mkdir /tmp/d; echo 1 > /tmp/d/x; chmod 755 /tmp/d/x"), "outputs": {"artifacts": [wanted]}}
    )
    assert done.outputs is not None
    assert done.outputs["artifacts"] == [{**wanted, "s3": {"key": "wf/wf-one/d.zip"}}]
    with zipfile.ZipFile(pods.artifact("wf/wf-one/d.zip")) as archive:
        assert {one.external_attr >> 16 for one in archive.infolist()} == {0}
        assert archive.namelist() == ["d/x"]
    use: Json = {
        "artifacts": [{"name": "in", "path": "/in", "archive": {"zip": {}}, "s3": {"key": "wf/wf-one/d.zip"}}]
    }
    assert result(pods.shell("cat /in/x; test -x /in/x || echo no program", inputs=use)) == "1\nno program"


def test_the_compression_level_counts(pods: Harness) -> None:
    make = "seq 20000 > /tmp/x"
    sizes: list[int] = []
    for level in (0, 9):
        wanted: Json = {
            "name": f"x{level}",
            "path": "/tmp/x",
            "archive": {"tar": {"compressionLevel": level}},
        }
        assert pods.run({**sh(make), "outputs": {"artifacts": [wanted]}}).phase == "Succeeded"
        sizes.append(pods.artifact(f"wf/wf-one/x{level}.tgz").stat().st_size)
    assert sizes[0] > 2 * sizes[1]


def test_an_artifact_that_is_missing_is_an_error_unless_it_is_optional(pods: Harness) -> None:
    done = pods.run({**sh(":"), "outputs": {"artifacts": [{"name": "m", "path": "/tmp/m"}]}})
    assert (done.phase, done.message) == (
        "Error",
        "wait: Error (exit code 64): open /var/run/argo/outputs/artifacts/tmp/m.tgz: no such file or directory; ",
    )
    done = pods.run(
        {**sh(":"), "outputs": {"artifacts": [{"name": "m", "path": "/tmp/m", "optional": True}]}}
    )
    assert (done.phase, done.outputs) == ("Succeeded", {"exitCode": "0"})


MISSING: list[tuple[Json, str]] = [
    ({"parameters": [parameter("p", "/vol/p")]}, "open /mainctrfs/vol/p: no such file or directory"),
    (
        {"artifacts": [{"name": "m", "path": "/vol/d/m"}]},
        "stat /mainctrfs/vol/d/m: no such file or directory; ",
    ),
    (
        {
            "artifacts": [
                {"name": "m", "path": "/vol/m", "archive": {"none": {}}},
                {"name": "n", "path": "/n/"},
            ]
        },
        (
            "/vol/m no such file or directory; "
            "open /var/run/argo/outputs/artifacts/n.tgz: no such file or directory; "
        ),
    ),
]


@pytest.mark.parametrize(("outputs", "said"), MISSING)
def test_what_is_missing_is_named_as_the_executor_of_argo_names_it(
    pods: Harness, outputs: Json, said: str
) -> None:
    step = sh(":")
    step["container"]["volumeMounts"] = [{"name": "v", "mountPath": "/vol"}]
    done = pods.run({**step, "outputs": outputs, "volumes": [{"name": "v", "emptyDir": {}}]})
    assert (done.phase, done.message) == ("Error", f"wait: Error (exit code 64): {said}")


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/../x", "x" * 300, "a\0b"])
def test_a_key_does_not_lead_out_of_the_store(tmp_path: Path, key: str) -> None:
    with harness(tmp_path) as pods:
        wanted: Json = {"name": "m", "path": "/tmp/m", "archive": {"none": {}}, "s3": {"key": key}}
        done = pods.run({**sh("echo x > /tmp/m"), "outputs": {"artifacts": [wanted]}})
        assert done.phase == "Error"
        assert "the key" in done.message
        use: Json = {"artifacts": [{"name": "in", "path": "/in", "s3": {"key": key}}]}
        assert "the key" in pods.run({**sh(":"), "inputs": use}).message
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("key", ["/a/b", "a//b", "//a///b/"])
def test_a_key_may_have_more_slashes_than_a_path(pods: Harness, key: str) -> None:
    ways: list[tuple[Json, str]] = [
        ({"none": {}}, "mkdir /tmp/m; echo x > /tmp/m/f"),
        ({}, "echo x > /tmp/m"),
    ]
    for archive, made in ways:
        wanted: Json = {"name": "m", "path": "/tmp/m", "archive": archive, "s3": {"key": key}}
        done = pods.run({**sh(made), "outputs": {"artifacts": [wanted]}})
        assert done.outputs == {"exitCode": "0", "artifacts": [wanted]}
        assert pods.artifact("a/b").exists()
        use: Json = {"artifacts": [{"name": "in", "path": "/in", "s3": {"key": key}}]}
        assert pods.run({**sh("cat /in/f || cat /in"), "inputs": use}).phase == "Succeeded"
        shutil.rmtree(pods.artifact("a"))


def test_what_the_step_links_to_is_what_its_container_sees(pods: Harness) -> None:
    make = "ln -s /place/real /tmp/link; mkdir -p /place; echo mine > /place/real"
    wanted: Json = {"parameters": [parameter("p", "/tmp/link")]}
    if pods.pods.context.isolated:
        done = pods.run({**sh(make), "outputs": wanted})
        assert done.outputs is not None
        assert done.outputs["parameters"][0]["value"] == "mine"


def test_logs_are_an_artifact_where_that_is_wanted(tmp_path: Path) -> None:
    with harness(tmp_path, archive_logs=True) as pods:
        done = pods.run(sh("echo hello"))
        key = "wf/wf-one/main.log"
        assert done.outputs == {"exitCode": "0", "artifacts": [{"name": "main-logs", "s3": {"key": key}}]}
        assert pods.artifact(key).read_text() == "hello\n"
        quiet = pods.run({**sh(":"), "archiveLocation": {"archiveLogs": False}})
        assert quiet.outputs == {"exitCode": "0"}


def test_a_hostile_archive_is_refused(pods: Harness) -> None:
    for name, link in (("../out", ""), ("./", ""), ("link", "/etc"), ("link", "../../x"), ("link", ".")):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            member = tarfile.TarInfo(name)
            if link:
                member.type, member.linkname = tarfile.SYMTYPE, link
            elif name == "./":
                member.type = tarfile.DIRTYPE
            archive.addfile(member)
        pods.artifact("bad").parent.mkdir(exist_ok=True)
        pods.artifact("bad").write_bytes(data.getvalue())
        done = pods.run(
            {**sh(":"), "inputs": {"artifacts": [{"name": "in", "path": "/in", "s3": {"key": "bad"}}]}}
        )
        assert done.phase == "Error"
        assert done.message.startswith("init: Error (exit code 64): illegal")


def test_what_argo_extracts_of_an_archive(pods: Harness) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, kind, mode in (
            ("/d", tarfile.DIRTYPE, 0o700),
            ("/d/x/../a", tarfile.REGTYPE, 0o777),
            ("d/b", tarfile.REGTYPE, 0o666),
            ("d/hard", tarfile.LNKTYPE, 0o644),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.mode = kind, mode
            member.linkname = "d/b" if kind == tarfile.LNKTYPE else ""
            archive.addfile(member)
    pods.artifact("given").parent.mkdir(exist_ok=True)
    pods.artifact("given").write_bytes(data.getvalue())
    use: Json = {"artifacts": [{"name": "in", "path": "/in", "s3": {"key": "given"}}]}
    assert result(pods.shell("cd /in; stat -c '%n %a' . *", inputs=use)) == ". 755\na 777\nb 666"


def zipped(script: str, path: str, pods: Harness, **more: Any) -> list[tuple[str, int]]:
    """The names and sizes in the zip archive that a step outputs."""
    step = sh(script)
    step["container"]["volumeMounts"] = [{"name": "v", "mountPath": "/vol"}]
    wanted: Json = {"artifacts": [{"name": "d", "path": path, "archive": {"zip": {}}}]}
    done = pods.run({**step, "volumes": [{"name": "v", "emptyDir": {}}], "outputs": wanted, **more})
    assert done.message == ""
    with zipfile.ZipFile(pods.artifact("wf/wf-one/d.zip")) as archive:
        return [(one.filename, one.file_size) for one in archive.infolist()]


def test_a_link_in_a_zip_archive_is_an_empty_file(pods: Harness) -> None:
    script = "mkdir -p /tmp/d/.b /tmp/d/empty; echo 1 | tee /tmp/d/a /tmp/d/.b/c /tmp/d/z; ln -s a /tmp/d/l"
    wanted = [("d/.b/c", 2), ("d/a", 2), ("d/l", 0), ("d/z", 2)]
    assert zipped(script, "/tmp/d/", pods) == wanted


def test_a_file_that_is_zipped_alone_comes_out_below_the_folders_of_the_executor(pods: Harness) -> None:
    assert zipped("echo 1 > /vol/x", "/vol/x", pods) == [("/mainctrfs/vol/x", 2)]
    assert zipped("echo 1 > /tmp/d", "/tmp/d", pods) == [("/tmp/argo/outputs/artifacts/d", 2)]
    use: Json = {
        "artifacts": [{"name": "in", "path": "/in", "archive": {"zip": {}}, "s3": {"key": "wf/wf-one/d.zip"}}]
    }
    assert result(pods.shell("cat /in/argo/outputs/artifacts/d", inputs=use)) == "1"


def test_a_file_with_another_name_than_its_artifact_is_lost_before_it_is_zipped(pods: Harness) -> None:
    wanted: Json = {"artifacts": [{"name": "d", "path": "/tmp/x", "archive": {"zip": {}}}]}
    done = pods.run({**sh("echo 1 > /tmp/x"), "outputs": wanted})
    where = "stat /tmp/argo/outputs/artifacts/d: no such file or directory; "
    assert (done.phase, done.message) == ("Error", f"wait: Error (exit code 64): {where}")


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        ({}, ""),
        ({"zip": {}}, "open /tmp/argo/outputs/artifacts/d: no such file or directory; "),
        ({"none": {}}, "open /tmp/argo/outputs/artifacts/d: no such file or directory; "),
    ],
)
def test_a_link_to_a_folder_is_all_that_argo_packs_of_it(pods: Harness, archive: Json, message: str) -> None:
    artifact = {"name": "d", "path": "/tmp/d", "archive": archive}
    done = pods.run({**sh("mkdir /tmp/e; ln -s e /tmp/d"), "outputs": {"artifacts": [artifact]}})
    assert done.message == (message and f"wait: Error (exit code 64): {message}")
    if not message:
        use: Json = {"artifacts": [{"name": "in", "path": "/in", "s3": {"key": "wf/wf-one/d.tgz"}}]}
        done = pods.shell(":", inputs=use)
        assert done.phase == "Error"
        assert "artifact in is a link that leads to e" in done.message


def test_a_link_to_a_whole_path_leads_nowhere_from_a_volume(pods: Harness) -> None:
    step = sh("echo 1 > /vol/x; ln -s /vol/x /vol/whole; ln -s x /vol/part")
    step["container"]["volumeMounts"] = [{"name": "v", "mountPath": "/vol"}]
    step["volumes"] = [{"name": "v", "emptyDir": {}}]
    done = pods.run({**step, "outputs": {"parameters": [parameter("p", "/vol/part")]}})
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"] == "1"
    done = pods.run({**step, "outputs": {"parameters": [parameter("p", "/vol/whole")]}})
    assert done.message == "wait: Error (exit code 64): open /mainctrfs/vol/whole: no such file or directory"
    done = pods.run({**step, "outputs": {"artifacts": [{"name": "a", "path": "/vol/whole"}]}})
    assert (
        done.message == "wait: Error (exit code 64): stat /mainctrfs/vol/whole: no such file or directory; "
    )


@pytest.mark.parametrize(
    ("path", "is_fine"), [("/tmp/s/../o", False), ("/tmp/../tmp/o", True), ("/tmp/s/..", False)]
)
def test_an_artifact_does_not_lead_up(pods: Harness, path: str, is_fine: bool) -> None:
    wanted: Json = {"artifacts": [{"name": "o", "path": path}]}
    done = pods.run({**sh("mkdir /tmp/s; echo 1 > /tmp/o"), "outputs": wanted})
    said = "Artifact 'o' attempted to use a path containing '..'. Directory traversal is not permitted; "
    assert done.message == ("" if is_fine else f"wait: Error (exit code 64): {said}")


def test_a_folder_on_a_volume_in_place_of_a_parameter_has_its_default(pods: Harness) -> None:
    step = sh("mkdir /vol/p")
    step["container"]["volumeMounts"] = [{"name": "v", "mountPath": "/vol"}]
    wanted = parameter("p", "/vol/p")
    wanted["valueFrom"]["default"] = "d"
    done = pods.run({**step, "volumes": [{"name": "v", "emptyDir": {}}], "outputs": {"parameters": [wanted]}})
    assert done.outputs is not None
    assert (done.message, done.outputs["parameters"][0]["value"]) == ("", "d")


def test_what_never_ran_has_no_result(pods: Harness) -> None:
    done = pods.run({"container": {"image": "busybox", "command": ["/no/such"]}}, result=True)
    assert done.outputs == {"exitCode": "64"}


def test_a_name_that_is_no_text_is_not_zipped(pods: Harness) -> None:
    wanted: Json = {"artifacts": [{"name": "d", "path": "/tmp/d", "archive": {"zip": {}}}]}
    done = pods.run({**sh("mkdir /tmp/d; echo 1 > /tmp/d/$(printf '\\377')"), "outputs": wanted})
    assert "the name of a file in it is no UTF-8" in done.message
