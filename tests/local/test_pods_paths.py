"""The file system of a step: the paths of the manifest, and nothing of another step.

Both ways are tested wherever the tests run: with file systems of their own, if the system gives them (the name of the
fixture says `isolated`; where it does not, these runs use the other way too), and with paths put into texts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.local.harness import Harness, harness, result, sh

Json = dict[str, Any]
CLAIM: list[Json] = [{"name": "d", "persistentVolumeClaim": {"claimName": "datasets"}}]


def mounted(path: str, **more: Any) -> Json:
    return {"volumeMounts": [{"name": "d", "mountPath": path, **more}]}


def test_two_steps_have_each_their_own_tmp(pods: Harness) -> None:
    for name in ("a", "b"):
        pods.start(sh("test ! -e /tmp/x && echo > /tmp/x && sleep 0.3 && test -e /tmp/x"), name)
    assert {one.phase for one in pods.ended(2).values()} == {"Succeeded"}
    assert pods.shell("test ! -e /tmp/x").phase == "Succeeded"


def test_a_step_may_remove_a_folder_of_its_own_file_system(pods: Harness) -> None:
    """A folder that no machine has, so that nothing is lost if a step sees the machine's file system."""
    whole = "ls -ld /var/run/argo/ | cut -c 1-10; ls -A /var/run/argo/"
    before = result(pods.shell(whole, "before"))
    assert pods.run(sh("rmdir /var/run/argo"), "removes").phase == "Succeeded"
    assert result(pods.shell(whole, "after")) == before


def test_a_file_system_on_which_there_can_be_no_other(tmp_path: Path) -> None:
    """On an overlay, as in a container: steps have their own files there, too."""
    program = """
        import ctypes, json, os, sys
        from pathlib import Path
        from tests.local.harness import result, sh, harness

        libc = ctypes.CDLL(None, use_errno=True)
        folder, user, group = Path(sys.argv[1]), os.getuid(), os.getgid()
        if sys.platform == "linux" and libc.unshare(0x20000 | (0x10000000 if user else 0)) == 0:
            if user:
                maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
                for name, text in maps.items():
                    Path("/proc/self", name).write_text(text)
            libc.mount(b"none", b"/", None, ctypes.c_ulong(1 << 18 | 4096), None)
            os.chdir(folder)
            for one in ("lower", "upper", "work", "on"):
                os.mkdir(one)
            options = "lowerdir=lower,upperdir=upper,workdir=work"
            any(libc.mount(b"o", b"on", b"overlay", 0, (options + more).encode()) == 0 for more in ("", ",userxattr"))
            os.chdir("/")
        with harness(folder / "on") as pods:
            out = {"parameters": [{"name": "p", "valueFrom": {"path": "/out/p"}}]}
            text = "ls -d /tmp/x /out; mkdir -p /out; echo 1 > /out/p; echo > /tmp/x; ls /tmp/x"
            step = {**sh(text), "outputs": out}
            done = [pods.run(step, name, result=True) for name in ("one", "two")]
            print(json.dumps([done[0].outputs, done[0] == done[1], pods.pods.context.isolated]))
    """
    made = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    outputs, same, isolated = json.loads(made.stdout)
    assert (outputs["result"], outputs["parameters"][0]["value"], same) == ("/tmp/x", "1", True)
    with harness(tmp_path) as usual:
        usual.shell(":")
        assert isolated == usual.pods.context.isolated


def test_a_claim_is_a_folder_that_outlives_the_run(tmp_path: Path) -> None:
    for number, kind in ((1, "empty folder"), (2, "folder")):
        with harness(tmp_path, workflow=f"run-{number}") as pods:
            text = "cat /data/x 2> /dev/null; echo $((${X:-0} + 1)) >> /data/x"
            assert pods.run(sh(text, **mounted("/data")), volumes=CLAIM).phase == "Succeeded"
            assert pods.pods.notices[-1].startswith(
                f"the claim datasets is the {kind} {tmp_path}/volumes/datasets"
            )
            assert len(pods.pods.notices) == (1 if pods.pods.context.isolated else 2)
    assert (tmp_path / "volumes/datasets/x").read_text() == "1\n1\n"


def test_a_claim_is_the_folder_that_the_user_names(pods: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "x").write_text("hello")
    with harness(tmp_path / "other", mounts={"datasets": folder}) as others:
        for path in (
            "/mnt/vol",
            "/flowdsl/volumes/datasets",
            "/var/run/x",
            "/usr/share/nothing/here",
            "/data/deep/er",
        ):
            text = f"cat {path}/x && echo made >> {path}/y"
            done = others.run(sh(text, **mounted(path)), volumes=CLAIM, result=True)
            assert result(done) == "hello"
        assert len((folder / "y").read_text().split()) == 5
        assert not any("datasets" in one for one in others.pods.notices)
    with harness(tmp_path / "third", mounts={"datasets": tmp_path / "none"}) as others:
        assert "does not exist" in others.run(sh(":", **mounted("/data")), volumes=CLAIM).message


@pytest.mark.parametrize("isolate", [None, False])
def test_a_project_may_have_any_sign_in_its_path(tmp_path: Path, isolate: bool | None) -> None:
    folder = tmp_path / "Ann's work, part $1"
    data = folder / "my data"
    data.mkdir(parents=True)
    (data / "x").write_text("hello")
    text = "mkdir /tmp/out; cp /data/x /tmp/out/x; cp /tmp/out/x $HOME; echo $(cat $HOME/x) /data/x; cd /data; pwd -P"
    outputs = {"parameters": [{"name": "x", "valueFrom": {"path": "/tmp/out/x"}}]}
    template = {**sh(text, **mounted("/data")), "outputs": outputs}
    with harness(folder, isolate=isolate, mounts={"datasets": data}) as pods:
        done = pods.run(template, volumes=CLAIM, result=True)
    assert result(done).split("\n") == ["hello /data/x", "/data"]
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"] == "hello"


def test_a_mount_is_in_the_list_of_mounts(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        if pods.pods.context.isolated:
            text = 'vol_found=$(mount | grep /mnt/vol); test -n "$vol_found" && grep -c /mnt/vol /proc/mounts'
            volumes: list[Json] = [{"name": "d", "emptyDir": {}}]
            assert result(pods.run(sh(text, **mounted("/mnt/vol")), volumes=volumes, result=True)) == "1"


def test_a_mount_that_is_read_only_cannot_be_written(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        if pods.pods.context.isolated:
            done = pods.run(sh("echo > /data/x", **mounted("/data", readOnly=True)), volumes=CLAIM)
            assert done.phase == "Failed"
            assert "Read-only" in pods.log()


def test_a_sub_path_is_made_and_is_nested_in_its_volume(pods: Harness, tmp_path: Path) -> None:
    mounts = [
        {"name": "d", "mountPath": "/data", "readOnly": True},
        {"name": "d", "mountPath": "/data/runs/wf/a", "subPath": "runs/wf/a"},
        {"name": "d", "mountPath": "/own", "subPathExpr": "$(POD)/x"},
    ]
    env = [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    done = pods.run(
        sh("echo 1 > /data/runs/wf/a/x; echo 2 > /own/y", volumeMounts=mounts, env=env), volumes=CLAIM
    )
    assert done.phase == "Succeeded", pods.log()
    assert (tmp_path / "volumes/datasets/runs/wf/a/x").read_text() == "1\n"
    assert (tmp_path / "volumes/datasets/wf-one/x/y").read_text() == "2\n"
    for path in ("../x", "/etc"):
        bad = pods.run(sh(":", **mounted("/data", subPath=path)), volumes=CLAIM)
        assert (bad.phase, "leads out of its volume" in bad.message) == ("Error", True)


def test_a_claim_of_the_run_is_shared_by_its_steps_only(pods: Harness, tmp_path: Path) -> None:
    volumes: list[Json] = [{"name": "d", "persistentVolumeClaim": {"claimName": "wf-work"}}]
    assert pods.run(sh("echo 1 > /w/x", **mounted("/w")), volumes=volumes).phase == "Succeeded"
    assert result(pods.run(sh("cat /w/x", **mounted("/w")), "two", volumes=volumes, result=True)) == "1"
    assert not (tmp_path / "volumes").exists()


def test_an_empty_dir_is_one_for_each_pod_and_shared_by_its_containers(pods: Harness) -> None:
    template: Json = {
        **sh(
            "cat /shared/x; test -e /tmp/mine || echo none",
            volumeMounts=[{"name": "s", "mountPath": "/shared"}],
        ),
        "volumes": [{"name": "s", "emptyDir": {}}],
        "initContainers": [
            {
                "name": "first",
                "command": ["sh", "-c", "echo hello > /shared/x; echo > /tmp/mine"],
                "mirrorVolumeMounts": True,
            }
        ],
    }
    for _ in range(2):
        assert result(pods.run(template, result=True)).split() == ["hello", "none"]


def test_a_host_path_is_that_very_path(pods: Harness, tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "host/x").write_text("hello")
    volumes: list[Json] = [{"name": "d", "hostPath": {"path": str(tmp_path / "host")}}]
    assert result(pods.run(sh("cat /h/x", **mounted("/h")), volumes=volumes, result=True)) == "hello"
    missing = [{"name": "d", "hostPath": {"path": str(tmp_path / "none")}}]
    assert "is not on this machine" in pods.run(sh(":", **mounted("/h")), volumes=missing).message


@pytest.mark.parametrize(("kind", "path"), [("DirectoryOrCreate", "/h/x"), ("FileOrCreate", "/h")])
def test_a_host_path_is_made_where_it_says_so(pods: Harness, tmp_path: Path, kind: str, path: str) -> None:
    volumes: list[Json] = [{"name": "d", "hostPath": {"path": str(tmp_path / "new/one"), "type": kind}}]
    (tmp_path / "new").mkdir()
    done = pods.run(sh(f"echo hello > {path}", **mounted("/h")), volumes=volumes)
    assert done.phase == "Succeeded", done.message
    assert (tmp_path / "new/one" / Path(path).relative_to("/h")).read_text() == "hello\n"


def test_config_maps_and_secrets_are_files(tmp_path: Path) -> None:
    with harness(
        tmp_path, config_maps={"c": {"a.txt": "A", "b": "B"}}, secrets={"s": {"token": "T"}}
    ) as pods:
        template: Json = {
            **sh(
                "cat /c/a.txt /c/b /s/sub/token /all/x /all/labels",
                volumeMounts=[
                    {"name": "c", "mountPath": "/c"},
                    {"name": "s", "mountPath": "/s"},
                    {"name": "p", "mountPath": "/all"},
                ],
            ),
            "metadata": {"labels": {"team": "ml"}},
            "volumes": [
                {"name": "c", "configMap": {"name": "c"}},
                {
                    "name": "s",
                    "secret": {"secretName": "s", "items": [{"key": "token", "path": "sub/token"}]},
                },
                {
                    "name": "p",
                    "projected": {
                        "sources": [
                            {"configMap": {"name": "c", "items": [{"key": "b", "path": "x"}]}},
                            {
                                "downwardAPI": {
                                    "items": [
                                        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}
                                    ]
                                }
                            },
                        ]
                    },
                },
            ],
        }
        text = result(pods.run(template, result=True))
        assert text.startswith("ABTB")
        assert 'team="ml"' in text
        template["volumes"][1]["secret"]["secretName"] = "none"
        done = pods.run(template)
        assert done.phase == "Error"
        assert done.message == (
            "Pod failed before main container starts due to CreateContainerConfigError: "
            'secret "none" not found; give it to the run: --secret none=FILE'
        )


def test_an_unknown_volume_is_an_error(pods: Harness) -> None:
    done = pods.run(sh(":", **mounted("/data")))
    assert (done.phase, done.message) == ("Error", "volume 'd' not found in workflow spec")


def test_a_step_writes_where_a_container_could(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        if pods.pods.context.isolated:
            places = "/out.txt /made/x /opt/ml/model /mnt/x /var/x /var/run/x /home/x/y /root/.cache/x /run/a"
            text = f"for one in {places}; do mkdir -p $(dirname $one) && echo 1 > $one || exit 1; done; pwd"
            assert result(pods.shell(text)) == "/"
            text = f"for one in {places}; do test ! -e $one || exit 1; done; cd; pwd"
            assert result(pods.shell(text)) == "/root"
            outputs: Json = {"parameters": [{"name": "p", "valueFrom": {"path": "/opt/ml/model"}}]}
            done = pods.run({**sh("mkdir /opt/ml; echo 3 > /opt/ml/model"), "outputs": outputs})
            assert done.outputs is not None
            assert done.outputs["parameters"][0]["value"] == "3"


def test_a_step_does_not_change_the_machine(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        if pods.pods.context.isolated:
            assert pods.shell(f"echo > {tmp_path}/x; test ! -e {tmp_path}").phase == "Succeeded"
            for place in ("/etc/flowdsl-was-here", "/usr/flowdsl-was-here"):
                pods.shell(f"echo > {place}")
                assert not Path(place).exists()
            text = "rm -rf /var/* /opt/* /home/* /mnt /usr/* 2> /dev/null; echo done"
            assert pods.shell(text).phase == "Succeeded"
            assert (
                result(pods.shell("ls /usr/bin/env && ls -d /var/tmp /tmp /mnt | wc -l")).split()[-1] == "3"
            )


def test_the_working_folder_is_made(pods: Harness) -> None:
    outputs: Json = {"parameters": [{"name": "p", "valueFrom": {"path": "/place/of/x"}}]}
    done = pods.run({**sh("echo 1 > x", workingDir="/place/of"), "outputs": outputs})
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"] == "1"


def test_an_input_is_at_its_path_and_may_be_an_output_too(pods: Harness) -> None:
    raw = [{"name": "x", "path": "/in/x", "raw": {"data": "hello"}, "mode": 0o755}]
    outputs: Json = {
        "artifacts": [{"name": "y", "path": "/in/x", "archive": {"none": {}}, "s3": {"key": "y"}}]
    }
    done = pods.run(
        {**sh("test -x /in/x && cat /in/x"), "inputs": {"artifacts": raw}, "outputs": outputs}, result=True
    )
    assert result(done) == "hello"
    assert pods.artifact("y").read_text() == "hello"


def test_an_input_in_a_volume_is_put_into_the_volume(pods: Harness, tmp_path: Path) -> None:
    raw = [{"name": "x", "path": "/data/in/x", "raw": {"data": "hello"}}]
    template = {**sh("cat /data/in/x", **mounted("/data")), "inputs": {"artifacts": raw}}
    assert result(pods.run(template, volumes=CLAIM, result=True)) == "hello"
    assert (tmp_path / "volumes/datasets/in/x").read_text() == "hello"


def test_the_paths_in_texts_are_replaced_as_whole_parts_and_back(tmp_path: Path) -> None:
    with harness(tmp_path, isolate=False) as pods:
        source = (
            "import os, sys\nopen('/data/x', 'w').write(os.environ['AT'])\n"
            "print('/data/x', '/database', sys.argv[1:])"
        )
        template: Json = {
            "script": {
                "command": ["python3"],
                "source": source,
                "env": [{"name": "AT", "value": "/data/x:/tmp"}],
                "volumeMounts": [{"name": "d", "mountPath": "/data"}],
            },
            "outputs": {"parameters": [{"name": "p", "valueFrom": {"path": "/data/x"}}]},
        }
        done = pods.run(template, volumes=CLAIM, result=True)
        assert result(done) == "/data/x /database []"
        assert done.outputs is not None
        assert done.outputs["parameters"][0]["value"] == "/data/x:/tmp"
        assert [one.split(":")[0] for one in pods.pods.notices] == [
            "this system gives steps no file system of their own",
            "the claim datasets is the empty folder "
            + str(tmp_path / "volumes/datasets, which is kept; --mount datasets=FOLDER names another"),
        ]


@pytest.mark.skipif(
    os.getuid() != 0, reason="this test is that of root; the others are those of an ordinary user then"
)
def test_an_ordinary_user_has_the_same() -> None:
    """The same steps as `nobody`, with the Python of the system, in a folder that this user can read.

    The one of pytest is not: each new session makes its parent folder private.
    """
    if os.getuid() != 0:
        return  # then all tests run as an ordinary user
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    asks = "import sys; sys.exit(sys.version_info < (3, 11))"
    if python is None or subprocess.run([python, "-c", asks], check=False).returncode:
        pytest.skip("there is no Python of the system, 3.11 or newer, which another user can read")
    code = textwrap.dedent(
        """
        import sys
        sys.path[:0] = [sys.argv[1], *sys.argv[3:]]
        from pathlib import Path
        from tests.local.harness import result, sh, harness
        with harness(Path(sys.argv[2])) as pods:
            print(pods.pods.context.isolated)
            mounts = [{"name": "d", "mountPath": path} for path in ("/mnt/vol", "/data", "/usr/share/none/x")]
            volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]
            text = "echo 1 > /data/x; echo > /out; cat /mnt/vol/x /usr/share/none/x/x; id -u"
            done = pods.run(sh(text, volumeMounts=mounts), volumes=volumes, result=True)
            print(result(done).split())
        """
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        Path(made).chmod(0o755)
        home = Path(made, "nobody")
        home.mkdir()
        shutil.chown(home, 65534, 65534)
        tree = Path(made, "code")
        root = Path(__file__).parents[2]
        for name in ("flowdsl", "runtime", "grammar", "compiler", "cli"):
            shutil.copytree(
                root / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        (tree / "tests/local").mkdir(parents=True)
        shutil.copy(root / "tests/local/harness.py", tree / "tests/local")
        subprocess.run(["chmod", "-R", "a+rX", tree], check=True)  # whatever the umask is
        done = subprocess.run(
            [python, "-I", "-c", code, str(tree), str(home)],
            user=65534,
            group=65534,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    isolated, *lines = done.stdout.splitlines()
    assert lines == ["['1', '1', '65534']"]
    assert isolated in ("True", "False")
