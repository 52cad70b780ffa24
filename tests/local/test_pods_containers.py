"""The containers of a pod: commands, variables, scripts, and how several of them end."""

from __future__ import annotations

import shutil
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from flowdsl.runtime.local.controller.events import PodRunning
from flowdsl.runtime.local.pods.expansion import carried, expanded
from tests.local.harness import Harness, harness, result, sh, until

Json = dict[str, Any]


def script(source: str, *command: str, **more: Any) -> Json:
    return {"script": {"image": "python", "command": list(command) or ["python"], "source": source, **more}}


@pytest.mark.parametrize("name", ["python", "python3", "python3.9", "/usr/local/bin/python3"])
def test_a_script_for_python_runs_under_the_python_of_the_settings(pods: Harness, name: str) -> None:
    text = result(pods.run(script("import sys; print(sys.prefix, sys.version_info[:2])", name), result=True))
    assert text == f"{sys.prefix} {sys.version_info[:2]}"


def test_the_folder_of_that_python_leads_the_path(pods: Harness) -> None:
    assert result(pods.shell("python -c 'import sys; print(sys.prefix)'")) == sys.prefix


def test_a_script_gets_its_source_as_the_last_argument(pods: Harness) -> None:
    done = pods.run(script("echo $1 $# $0", "sh", args=["-e"]), result=True)
    assert result(done).endswith("/argo/staging/script")
    assert result(pods.run(script("", "echo", args=["alone"]), result=True)) == "alone"
    assert result(pods.run(script("import sys; print(sys.argv[0])"), result=True)).endswith(
        "/argo/staging/script"
    )


def test_a_program_is_called_by_the_file_that_was_found(pods: Harness) -> None:
    assert result(pods.shell('echo "$0"')) == shutil.which("sh")


def test_the_source_of_a_script_suffers_as_in_argo() -> None:
    names = {"ARGO_POD_NAME": "pod", "ARGO_CONTAINER_NAME": "init"}
    source = "$$ $$$ $(ARGO_POD_NAME) $(ARGO_CONTAINER_NAME) $(OTHER) $x"
    found = carried({"script": {"source": source}}, lambda: names)
    assert found["script"]["source"] == "$ $$ pod init $(OTHER) $x"
    long = source + "x" * 131072
    assert carried({"script": {"source": long}}, lambda: names)["script"]["source"] == long


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$(A)", "1"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$$$$(A)", "$$(A)"),
        ("$(A)$(B)", "12"),
        ("$(NONE)", "$(NONE)"),
        ("$(A", "$(A"),
        ("$A $", "$A $"),
        ("$($(A))", "$($(A))"),
        ("foo$$bar", "foo$bar"),
        ("$()", "$()"),
    ],
)
def test_references_are_expanded_as_in_kubernetes(text: str, wanted: str) -> None:
    assert expanded(text, {"A": "1", "B": "2"}) == wanted


def test_variables_see_those_before_them_and_arguments_see_all(pods: Harness) -> None:
    template: Json = {
        "container": {
            "command": ["sh", "-c", 'echo "$0 $A $B $C $D"'],
            "args": ["$(C)-$$(C)-$(ARGO_CONTAINER_NAME)"],
            "env": [
                {"name": "A", "value": "$(B)"},
                {"name": "B", "value": "x"},
                {"name": "C", "value": "$(B)$(B)"},
                {"name": "D", "value": "$$B"},
            ],
        }
    }
    assert result(pods.run(template, result=True)) == "xx-$(C)-main $(B) x xx $B"


def test_variables_have_sources(tmp_path: Path) -> None:
    maps = {"c": {"a": "1", "b": "2"}}
    with harness(tmp_path, config_maps=maps, secrets={"s": {"token": "T$(A)"}}, labels={"x": "y"}) as pods:
        env: list[Json] = [
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}},
            {"name": "NONE", "valueFrom": {"secretKeyRef": {"name": "s", "key": "none", "optional": True}}},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "SPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['x']"}}},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {
                "name": "MEM",
                "valueFrom": {"resourceFieldRef": {"resource": "requests.memory", "divisor": "1Mi"}},
            },
        ]
        more = {
            "env": env,
            "envFrom": [{"configMapRef": {"name": "c"}, "prefix": "C_"}],
            "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}},
        }
        text = 'echo "$TOKEN ${NONE-unset} $POD $SPACE $IP $X $CPU $MEM $C_a $C_b"'
        done = pods.run(sh(text, **more), result=True)
        assert result(done) == "T$(A) unset wf-one default 127.0.0.1 y 1 1024 1 2"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"secretKeyRef": {"name": "s", "key": "k"}}, "couldn't find key k in Secret default/s"),
        ({"secretKeyRef": {"name": "t", "key": "k"}}, 'secret "t" not found'),
        ({"configMapKeyRef": {"name": "t", "key": "k"}}, 'configmap "t" not found'),
    ],
)
def test_a_source_that_is_missing_ends_the_pod_and_says_how_to_give_it(
    tmp_path: Path, source: Json, message: str
) -> None:
    with harness(tmp_path, secrets={"s": {}}) as pods:
        done = pods.run(sh(":", env=[{"name": "X", "valueFrom": source}]))
        assert done.phase == "Error"
        assert message in done.message
        assert "give it to the run: --" in done.message


def test_a_step_does_not_see_the_variables_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    monkeypatch.setenv("PYTHONPATH", "/canary")
    for isolate in (None, False):
        with harness(tmp_path / str(isolate), isolate=isolate) as pods:
            text = result(pods.shell("env; pwd"))
            assert "canary" not in text
            names = {line.partition("=")[0] for line in text.splitlines() if not line.startswith("/")}
            assert {"PATH", "HOME", "LANG", "ARGO_NODE_ID", "ARGO_PROGRESS_FILE"} <= names
            assert (
                result(pods.shell('echo 50/100 > "$ARGO_PROGRESS_FILE"; cat "$ARGO_PROGRESS_FILE"'))
                == "50/100"
            )


def test_a_variable_that_is_too_long_fails_as_on_linux(pods: Harness) -> None:
    for length, phase in ((131072 - 3, "Succeeded"), (131072 - 2, "Failed")):
        done = pods.run(sh(":", env=[{"name": "A", "value": "x" * length}]))
        assert done.phase == phase, (length, done)
    assert done.message == "main: Error (exit code 1)"


@pytest.mark.parametrize("isolate", [None, False])
def test_an_argument_that_is_too_long_comes_in_a_file_as_in_argo(
    tmp_path: Path, isolate: bool | None
) -> None:
    show = [
        "sh",
        "-c",
        'for one; do case $one in @*) wc -c < "${one#@}";; *) echo ${#one} "$one" | cut -c 1-12;; esac; done',
    ]
    env = [{"name": "A", "value": "1"}]
    with harness(tmp_path, isolate=isolate) as pods:

        def shown(*args: str) -> list[str]:
            return result(
                pods.run({"container": {"command": [*show, "sh"], "args": [*args], "env": env}}, result=True)
            ).split("\n")

        assert shown("$(A)", "x" * 131_000) == ["1 1", "131000 xxxxx"]
        assert shown("$(A)", "x" * 131_073) == ["4 $(A)", "131073"]
        assert shown("$(A)", "x" * 70_000, "y" * 70_000) == ["4 $(A)", "70000 xxxxxx", "70000 yyyyyy"]
        done = pods.run(sh(":", args=["x" * 131_072]))
        assert (done.phase, done.message) == ("Failed", "main: Error (exit code 1)")
        assert (
            pods.run({"container": {"command": ["sh", "-c"], "args": [":" * 131_073]}}).message
            == "main: Error (exit code 127)"
        )


def test_a_long_command_arrives_whole(pods: Harness) -> None:
    words = ["sh", "-c", 'echo "$#"', *["x" * 1000] * 900]
    assert result(pods.run({"container": {"command": words}}, result=True)) == "899"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("/no/such", 'exec: "/no/such": stat /no/such: no such file or directory'),
        ("no-such", 'exec: "no-such": executable file not found in $PATH'),
        ("/etc/passwd", 'exec: "/etc/passwd": permission denied'),
    ],
)
def test_a_command_that_is_not_there_fails_with_the_way_out(pods: Harness, name: str, reason: str) -> None:
    done = pods.run({"container": {"command": [name]}})
    assert done.phase == "Failed"
    assert done.message.startswith(f"main: Error (exit code 64): failed to find name in PATH: {reason}")
    assert "--engine docker" in done.message
    assert done.outputs == {"exitCode": "64"}
    assert "failed to find name in PATH" in pods.log()


@pytest.mark.parametrize("part", [Path(sys.executable), Path(sys.executable).resolve()])
def test_a_mount_that_hides_the_python_of_the_steps_is_named(pods: Harness, part: Path) -> None:
    path = str(part.parent)
    mount: Json = {"volumeMounts": [{"name": "s", "mountPath": path}]}
    container: Json = {"command": ["python", "-c", ""], **mount}
    done = pods.run({"container": container, "volumes": [{"name": "s", "emptyDir": {}}]})
    if pods.pods.context.isolated:
        assert f". What is mounted at {path} hides it: run the steps under one" in done.message
    else:
        assert done.phase == "Succeeded"


def test_a_container_without_a_command_is_refused(pods: Harness) -> None:
    done = pods.run({"container": {"image": "nginx"}})
    assert done.phase == "Error"
    assert "its image nginx, which is not used" in done.message


def test_init_containers_run_one_after_the_other_before_the_rest(pods: Harness) -> None:
    template: Json = {
        **sh("cat /s/x", volumeMounts=[{"name": "s", "mountPath": "/s"}]),
        "volumes": [{"name": "s", "emptyDir": {}}],
        "initContainers": [
            {
                "name": f"i{number}",
                "command": ["sh", "-c", f"echo {number} >> /s/x"],
                "mirrorVolumeMounts": True,
            }
            for number in (1, 2, 3)
        ],
    }
    assert result(pods.run(template, result=True)).split() == ["1", "2", "3"]
    template["initContainers"][1]["command"] = ["sh", "-c", "exit 4"]
    done = pods.run(template)
    assert (done.phase, done.message) == ("Failed", "i2: Error (exit code 4)")


def test_a_sidecar_is_ended_with_the_main_container(pods: Harness) -> None:
    sidecar: Json = {
        "name": "side",
        "command": ["sh", "-c", "echo up > /s/up; sleep 100"],
        "mirrorVolumeMounts": True,
    }
    template: Json = {
        **sh(
            "while ! test -e /s/up; do sleep 0.01; done; echo ok",
            volumeMounts=[{"name": "s", "mountPath": "/s"}],
        ),
        "volumes": [{"name": "s", "emptyDir": {}}],
        "sidecars": [sidecar],
    }
    assert result(pods.run(template, result=True)) == "ok"
    sidecar["command"] = ["sh", "-c", "echo up > /s/up; exit 3"]
    done = pods.run(template)
    assert (done.phase, done.message) == ("Failed", "side: Error (exit code 3)")


def test_containers_of_a_set_run_in_the_order_of_their_dependencies(pods: Harness) -> None:
    group: Json = {
        "volumeMounts": [{"name": "s", "mountPath": "/s"}],
        "containers": [
            {"name": "a", "command": ["sh", "-c", "echo a >> /s/x"]},
            {"name": "b", "command": ["sh", "-c", "echo b >> /s/x"], "dependencies": ["a"]},
            {"name": "main", "command": ["sh", "-c", "cat /s/x; cp /s/x /tmp/out"], "dependencies": ["b"]},
        ],
    }
    outputs: Json = {"parameters": [{"name": "p", "valueFrom": {"path": "/tmp/out"}}]}
    template: Json = {"containerSet": group, "volumes": [{"name": "s", "emptyDir": {}}], "outputs": outputs}
    done = pods.run(template, result=True)
    assert result(done) == "a\nb"
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"] == "a\nb"
    assert done.containers == dict.fromkeys(("a", "b", "main"), ("Succeeded", ""))
    group["containers"][0]["command"] = ["sh", "-c", "exit 5"]
    done = pods.run(template)
    assert (done.phase, done.message) == ("Failed", "a: Error (exit code 5)")
    assert done.containers == {
        "a": ("Failed", "a: Error (exit code 5): "),
        "b": ("Error", 'b: Error (exit code 64): dependency "a" exited with non-zero code: 5'),
        "main": ("Error", 'main: Error (exit code 64): dependency "b" exited with non-zero code: 5'),
    }


def test_a_container_of_a_set_that_fails_stops_the_others_a_moment_later(pods: Harness) -> None:
    containers = [
        {"name": "a", "command": ["sh", "-c", "exit 4"]},
        {"name": "b", "command": ["sh", "-c", "sleep 0.1"]},
        {"name": "c", "command": ["sh", "-c", "sleep 30"], "dependencies": ["b"]},
        {"name": "d", "command": ["sh", "-c", ":"], "dependencies": ["b", "a"]},
        {"name": "main", "command": ["sh", "-c", ":"], "dependencies": ["c"]},
    ]
    done = pods.run({"containerSet": {"containers": containers}})
    assert (done.phase, done.message) == ("Failed", "a: Error (exit code 4)")
    assert done.containers == {
        "a": ("Failed", "a: Error (exit code 4): "),
        "b": ("Succeeded", ""),
        "c": ("Failed", "c: Error (exit code 143): "),
        "d": ("Error", 'd: Error (exit code 64): dependency "a" exited with non-zero code: 4'),
        "main": ("Failed", "main: Error (exit code 143): "),
    }


def test_a_container_of_a_set_that_is_to_be_tried_again_waits_while_another_ends(pods: Harness) -> None:
    containers = [
        {"name": "a", "command": ["sh", "-c", "echo x >> /s/x; exit 1"]},
        {"name": "b", "command": ["sh", "-c", "sleep 0.2"]},
        {"name": "c", "command": ["sh", "-c", "sleep 0.5; wc -l < /s/x > /s/n"]},
    ]
    group = {
        "volumeMounts": [{"name": "s", "mountPath": "/s"}],
        "retryStrategy": {"retries": "1", "duration": "1s"},
        "containers": containers,
    }
    outputs = {"parameters": [{"name": "n", "valueFrom": {"path": "/s/n"}}]}
    done = pods.run({"containerSet": group, "volumes": [{"name": "s", "emptyDir": {}}], "outputs": outputs})
    assert done.outputs is not None
    assert done.outputs["parameters"][0]["value"].strip() == "1"


def test_a_set_of_one_container_says_how_that_ended(pods: Harness) -> None:
    alone: Json = {"name": "main", "command": ["sh", "-c", ":"]}
    assert pods.run({"containerSet": {"containers": [alone]}}).containers == {"main": ("Succeeded", "")}
    assert pods.run(sh(":")).containers is None


@pytest.mark.parametrize("place", ["/s", "/tmp"])
def test_a_container_of_a_set_is_tried_again_with_the_files_that_it_wrote(pods: Harness, place: str) -> None:
    text = f"mkdir -p {place}; echo x >> {place}/x; test $(wc -l < {place}/x) = 3"
    group: Json = {
        "volumeMounts": [{"name": "s", "mountPath": "/s"}],
        "retryStrategy": {"retries": "3", "duration": "1ms"},
        "containers": [{"name": "a", "command": ["sh", "-c", text]}],
    }
    template: Json = {"containerSet": group, "volumes": [{"name": "s", "emptyDir": {}}]}
    assert pods.run(template).phase == "Succeeded"
    group["retryStrategy"]["retries"] = 2
    assert pods.run(template).phase == "Failed"
    assert pods.shell(f"test ! -e {place}/x").phase == "Succeeded"


def test_the_log_of_a_container_that_is_tried_again_is_there_while_it_runs(pods: Harness) -> None:
    text = "test -e /tmp/x || { : > /tmp/x; exit 1; }; echo again; sleep 60"
    containers = [{"name": "main", "command": ["sh", "-c", text]}]
    group: Json = {"retryStrategy": {"retries": "2", "duration": "1ms"}, "containers": containers}
    pods.start({"containerSet": group})
    until(lambda: pods.log() == "again\n", seconds=20)
    pods.stop()
    assert pods.ended()["one"].phase == "Failed"


def test_no_container_is_tried_again_in_a_pod_that_has_ended(pods: Harness) -> None:
    missing = {"name": "X", "valueFrom": {"secretKeyRef": {"name": "t", "key": "k"}}}
    containers: list[Json] = [
        {"name": "a", "command": ["sh", "-c", "echo try; exit 1"]},
        {"name": "b", "command": ["sh", "-c", "sleep 0.2"]},
        {"name": "c", "command": ["sh", "-c", ":"], "env": [missing], "dependencies": ["b"]},
    ]
    group: Json = {"retryStrategy": {"retries": "5", "duration": "500ms"}, "containers": containers}
    assert pods.run({"containerSet": group}).phase == "Error"
    time.sleep(1)
    assert pods.log(container="a") == "try\n"


def test_a_patch_of_the_pod_is_merged_after_that_of_the_workflow(pods: Harness) -> None:
    whole = "containers: [{name: main, env: [{name: A, value: one}, {name: B, value: zero}]}]"
    patch = '{"containers":[{"name":"main","workingDir":"/place","env":[{"name":"B","value":"two"}]}]}'
    template = {**sh("echo $A $B $C", env=[{"name": "C", "value": "three"}]), "podSpecPatch": patch}
    assert result(pods.run(template, result=True, patches=(whole,))) == "one two three"
    assert pods.run({**sh(":"), "podSpecPatch": "{"}).message.startswith("Error applying PodSpecPatch")


@pytest.mark.parametrize(
    ("text", "reason"), [("echo\n", "exec format error"), ("#!/no/such\n", "no such file or directory")]
)
def test_a_file_that_cannot_be_started(pods: Harness, text: str, reason: str) -> None:
    script = {"name": "script", "path": "/tmp/script", "mode": 0o755, "raw": {"data": text}}
    done = pods.run({"inputs": {"artifacts": [script]}, "container": {"command": ["/tmp/script"]}})
    assert (done.phase, done.outputs) == ("Failed", {"exitCode": "64"})
    assert done.message.startswith("main: Error (exit code 64): failed to start command: fork/exec /")
    assert done.message.endswith(f": {reason}")


def test_what_a_patch_says_of_the_containers_of_argo_is_not_for_this_machine(pods: Harness) -> None:
    patch = (
        "initContainers: [{name: init, resources: {requests: {memory: 2Ti}}}]\n"
        "containers: [{name: wait, resources: {requests: {cpu: '999'}}}, {name: main, workingDir: /tmp}]"
    )
    assert result(pods.run({**sh("pwd"), "podSpecPatch": patch}, result=True)) == "/tmp"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


SERVER = """
import http.server, sys, threading, time
time.sleep(0.3)
open('/tmp/up', 'w')
http.server.HTTPServer(('127.0.0.1', {port}), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


@pytest.mark.parametrize("kind", ["httpGet", "tcpSocket", "exec"])
def test_a_daemon_runs_when_its_probe_holds(
    pods: Harness, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # a probe uses no proxy
    port = free_port()
    probes: Json = {
        "httpGet": {"path": "/", "port": port},
        "tcpSocket": {"port": "web"},
        "exec": {"command": ["test", "-e", "/tmp/up" if pods.pods.context.isolated else "/"]},
    }
    template = script(
        SERVER.format(port=port),
        readinessProbe={kind: probes[kind]},
        ports=[{"name": "web", "containerPort": port}],
    )
    pods.start({**template, "daemon": True})
    event = pods.event()
    assert isinstance(event, PodRunning)
    assert event.ip == "127.0.0.1"
    if kind != "exec":
        socket.create_connection(("127.0.0.1", port), 5).close()
    pods.stop()
    done = pods.ended()["one"]  # by then its node has succeeded, and changes only while the run continues
    assert (done.phase, done.message) == ("Failed", "main: Error (exit code 143)")


def test_a_daemon_that_ends_by_itself_has_failed(pods: Harness) -> None:
    pods.start({**sh("exit 0"), "daemon": True})
    assert pods.ended()["one"].phase == "Failed"


def test_times_do_not_go_back(pods: Harness) -> None:
    before = time.time()
    pods.start(sh(":"))
    first, second = pods.event(), pods.event()
    assert before <= first.now <= second.now <= time.time()


def test_an_input_of_a_set_is_in_main_only(pods: Harness) -> None:
    look = ["sh", "-c", "cat /in/x 2> /dev/null || echo nothing"]
    template: Json = {
        "containerSet": {
            "containers": [{"name": one, "image": "x", "command": look} for one in ("main", "b")]
        },
        "inputs": {"artifacts": [{"name": "x", "path": "/in/x", "raw": {"data": "here"}}]},
    }
    assert pods.run(template).phase == "Succeeded"
    assert (pods.log(), pods.log(container="b")) == ("here", "nothing\n")
