"""Profiles of clusters: one pipeline becomes other YAML on each, and what a cluster lacks is found."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

from flowdsl.cli.app import run
from flowdsl.cli.pipelines.compiling import Judged, Target, judge
from flowdsl.compiler.argo_versions import LATEST, VERSIONS
from flowdsl.compiler.schema import fields
from flowdsl.compiler.schema.versions import SINCE, misfits

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples/clusters/training.py"
CLUSTERS = ("bare-metal", "gke", "eks-karpenter", "aks")

HEAD = """
from pathlib import Path
from flowdsl import GPU, InitContainer, TensorFlow, Volume, pipeline, run, step

I = "python:3.12-slim"
"""


def compiled(tmp_path: Path, settings: str, options: str, **goal: str) -> dict[str, Any]:
    """The template of a step with the options, compiled in a project with the settings."""
    return templates(tmp_path, settings, options, **goal)[1]


def templates(tmp_path: Path, settings: str, options: str, **goal: str) -> list[dict[str, Any]]:
    """All templates of such a pipeline."""
    judged = judged_with(tmp_path, settings, options, **goal)
    assert [one.finding.message for one in judged.diagnostics] == []
    assert judged.compiled is not None
    (document,) = judged.compiled.documents
    return list(document["spec"]["templates"])


def judged_with(tmp_path: Path, settings: str, options: str, **goal: str) -> Judged:
    """Such a pipeline with what is wrong in it."""
    (tmp_path / "flowdsl.toml").write_text(settings)
    file = tmp_path / "case.py"
    file.write_text(
        f"{HEAD}\n\n@step(image=I, {options})\ndef train() -> None: ...\n\n\n"
        "@pipeline\ndef case() -> None:\n    train()\n"
    )
    return judge(file, goal=Target(**goal))


def terms(template: dict[str, Any]) -> list[list[tuple[Any, ...]]]:
    """The node affinity of a template."""
    required = template["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return [
        [(one["key"], one["operator"], *one.get("values", ())) for one in group["matchExpressions"]]
        for group in required["nodeSelectorTerms"]
    ]


def limits(template: dict[str, Any]) -> dict[str, str]:
    return dict(template["script"]["resources"]["limits"])


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_yaml_for_each_cluster_is_current(cluster: str, pytestconfig: pytest.Config) -> None:
    beside = EXAMPLE.with_name(f"{cluster}.yaml")
    command = ["compile", str(EXAMPLE), "--cluster", cluster, "--output", str(beside)]
    if pytestconfig.getoption("update_snapshots"):
        assert run(command) == 0
    assert run([*command, "--check"]) == 0


def test_the_yaml_of_each_cluster_is_its_own() -> None:
    assert len({EXAMPLE.with_name(f"{cluster}.yaml").read_text("utf-8") for cluster in CLUSTERS}) == 4


def test_without_a_name_the_default_cluster_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", str(EXAMPLE)]) == 0
    assert capsys.readouterr().out == EXAMPLE.with_name("bare-metal.yaml").read_text("utf-8")


def test_a_checkpoint_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step of the example, called as a function, is stopped and restarted."""
    from flowdsl.compiler.load import load

    monkeypatch.chdir(tmp_path)
    train = vars(load(EXAMPLE).module)["train"]
    (tmp_path / "numbers.txt").write_text("1\n2\n3\n")
    (tmp_path / "state").mkdir()
    (tmp_path / "whole").mkdir()
    train(tmp_path / "numbers.txt", 0.5, 3, tmp_path / "state")
    again = train(tmp_path / "numbers.txt", 0.5, 8, tmp_path / "state")
    whole = train(tmp_path / "numbers.txt", 0.5, 8, tmp_path / "whole")
    assert again.loss == whole.loss


def test_an_unknown_cluster_is_said_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(EXAMPLE), "--cluster", "gkee"]) == 2
    out = capsys.readouterr().out
    assert "error[FD677]: there is no cluster `gkee` in " in out
    assert "did you mean `gke`?" in out


def test_a_mistake_in_the_project_file_names_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.flowdsl.clusters.lab.pools]\nnew = { gpu = 8 }\n")
    (tmp_path / "case.py").touch()
    assert run(["check", "case.py", "--cluster", "lab"]) == 2
    out = capsys.readouterr().out
    assert (
        "pyproject.toml:2:9: error[FD675]: there is no `gpu` in [tool.flowdsl.clusters.lab.pools.new]" in out
    )


def test_settings_may_stand_in_the_project_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.flowdsl]\ndefault-cluster = "lab"\n[tool.flowdsl.clusters.lab.pools]\nnew = { labels = { a = "b" } }\n'
    )
    file = tmp_path / "case.py"
    file.write_text(
        f'{HEAD}\n\n@step(image=I, pool="new")\ndef train() -> None: ...\n\n\n'
        "@pipeline\ndef case() -> None:\n    train()\n"
    )
    assert run(["check", str(file)]) == 0


LAB = """
default-cluster = "lab"

[clusters.lab]
labels = { disk = "example.com/disk", zone = "example.com/zone" }
gpu-taints = ["sku=gpu:NoSchedule"]
spot = { label = "life=spot", taints = ["life=spot:NoSchedule"] }
products = { A100-40 = { label = "a100", memory = "40Gi" }, A100-80 = { memory = "80Gi" }, T4 = { memory = "16Gi" } }
pools.new = { labels = { pool = "new" }, taints = ["dedicated:NoSchedule"], products = ["A100-40", "A100-80"] }
pools.open = { products = ["A100-40", "A100-80", "T4"] }
share.nvidia = { resource = "aliyun.com/gpu-mem", unit = "1Gi" }
"""


def test_names_of_labels_are_those_of_the_cluster(tmp_path: Path) -> None:
    made = compiled(tmp_path, LAB, 'node={"disk": "ssd", "arch": "arm64"}, where="zone in (a, b)"')
    assert made["nodeSelector"] == {"example.com/disk": "ssd", "kubernetes.io/arch": "arm64"}
    assert terms(made) == [[("example.com/zone", "In", "a", "b")]]


def test_a_product_of_a_node_is_what_the_nodes_say(tmp_path: Path) -> None:
    made = compiled(tmp_path, LAB, 'node={"gpu.product": "A100-40", "disk": "ssd"}')
    assert made["nodeSelector"] == {"nvidia.com/gpu.product": "a100", "example.com/disk": "ssd"}
    settings = LAB.replace('"a100"', '["a100", "a100-SHARED"]')
    made = compiled(tmp_path, settings, 'node={"gpu.product": "A100-40"}, where="zone == a"')
    assert terms(made) == [
        [("nvidia.com/gpu.product", "In", "a100", "a100-SHARED"), ("example.com/zone", "In", "a")]
    ]


def test_a_pattern_is_the_products_it_fits(tmp_path: Path) -> None:
    made = compiled(tmp_path, LAB, 'gpu=GPU(2, product="A100*")')
    assert terms(made) == [[("nvidia.com/gpu.product", "In", "a100", "A100-80")]]
    assert limits(made) == {"nvidia.com/gpu": "2"}
    assert [one["key"] for one in made["tolerations"]] == ["nvidia.com/gpu", "sku"]


@pytest.mark.parametrize("others", ['["V100", "T4"]', '{ V = { label = "V100", memory = "16Gi" } }'])
def test_what_only_another_cluster_has_is_left_out_of_a_list(tmp_path: Path, others: str) -> None:
    settings = f"{LAB}[clusters.old]\nproducts = {others}\n"
    made = compiled(tmp_path, settings, 'gpu=GPU(1, product=["V100*", "A100-40"])')
    assert terms(made) == [[("nvidia.com/gpu.product", "In", "a100")]]
    made = compiled(tmp_path, settings, 'gpu=1, where="gpu.product in (V100, A100-40)"')
    assert terms(made) == [[("nvidia.com/gpu.product", "In", "a100")]]
    for where, missing in (("in (V100, B200, A100-40)", "B200"), ("== V100", "V100")):
        (found,) = judged_with(tmp_path, settings, f'gpu=1, where="gpu.product {where}"').diagnostics
        assert f"has no GPU `{missing}`" in found.finding.message
    for product, missing in (('["V100", "B200", "T4"]', "B200"), ('"V100"', "V100")):
        (found,) = judged_with(tmp_path, settings, f"gpu=GPU(1, product={product})").diagnostics
        assert f"has no GPU `{missing}`" in found.finding.message


def test_memory_is_told_by_products_where_no_label_tells_it(tmp_path: Path) -> None:
    made = compiled(tmp_path, LAB, 'gpu=GPU(1, memory="30Gi"), where="gpu.memory < 60Gi or zone == a"')
    product = "nvidia.com/gpu.product"
    assert terms(made) == [
        [(product, "In", "a100")],
        [(product, "In", "a100", "A100-80"), ("example.com/zone", "In", "a")],
    ]


def test_the_opposite_of_a_memory_is_told_by_products_too(tmp_path: Path) -> None:
    made = compiled(tmp_path, LAB, 'where="not gpu.memory >= 30Gi"')
    assert terms(made) == [
        [("nvidia.com/gpu.product", "In", "T4")],
        [("nvidia.com/gpu.product", "DoesNotExist")],
    ]


def test_memory_is_a_label_where_the_profile_says_so(tmp_path: Path) -> None:
    settings = LAB.replace('disk = "', '"gpu.memory" = "example.com/mem", disk = "')
    made = compiled(tmp_path, settings, 'gpu=GPU(1, memory="30Gi")')
    assert terms(made) == [[("example.com/mem", "Gt", "30719")]]


def test_a_pool_is_its_labels_and_its_taints(tmp_path: Path) -> None:
    made = compiled(
        tmp_path, LAB, 'gpu=1, pool="new", node={"disk": "ssd"}, tolerations=["dedicated:NoSchedule"]'
    )
    assert made["nodeSelector"] == {"example.com/disk": "ssd", "pool": "new"}
    assert [one["key"] for one in made["tolerations"]] == ["dedicated", "nvidia.com/gpu", "sku"]


def test_a_pool_with_gpus_lets_in_what_has_none(tmp_path: Path) -> None:
    tolerated = {"new": ["nvidia.com/gpu", "sku", "dedicated"], "bare": ["other"]}
    profile = LAB + 'pools.bare = { labels = { pool = "bare" }, taints = ["other:NoSchedule"] }\n'
    for pool, keys in tolerated.items():
        made = compiled(tmp_path, profile, f'pool="{pool}"')
        assert [one["key"] for one in made["tolerations"]] == keys
        assert "affinity" not in made


def test_the_chief_of_a_training_gets_into_the_pool_of_its_workers(tmp_path: Path) -> None:
    spread = (
        'gpu=GPU(1, product="A100*"), pool="new", distributed=TensorFlow(workers=2, ps=1, operator="tfjob")'
    )
    (manifest,) = (
        one["resource"]["manifest"] for one in templates(tmp_path, LAB, spread) if "resource" in one
    )
    keys = ["nvidia.com/gpu", "sku", "dedicated"]
    assert (
        re.findall(r"key: ([^,]+), operator: (?:Exists|Equal)", manifest) == 3 * keys
    )  # chief, worker, server
    assert manifest.count("nodeAffinity:") == 1


@pytest.mark.parametrize("gpu", ["8", 'GPU(8, product="T4")', 'GPU(1, memory="30Gi")'])
def test_of_a_pool_without_amounts_nothing_is_known(tmp_path: Path, gpu: str) -> None:
    for amounts, codes in (
        ("", []),
        ('taints = ["a:NoSchedule"]', []),
        ("cpu = 8", ["FD68"]),
        ("gpus = 0", ["FD68"]),
        ("products = []", ["FD68"]),
    ):
        pools = f'pools.bare = {{ labels = {{ pool = "bare" }}{amounts and ", "}{amounts} }}'
        (tmp_path / "flowdsl.toml").write_text(re.sub("pools.new = .*", pools, LAB))
        file = tmp_path / "case.py"
        file.write_text(
            f'{HEAD}\n\n@step(image=I, gpu={gpu}, pool="bare")\ndef train() -> None: ...\n\n\n'
            "@pipeline\ndef case() -> None:\n    train()\n"
        )
        assert [one.finding.code[:4] for one in judge(file).diagnostics] == codes, amounts


def test_spot_nodes_are_chosen_and_lost_pods_are_tried_again(tmp_path: Path) -> None:
    made = compiled(tmp_path, LAB, "spot=True")
    assert made["nodeSelector"] == {"life": "spot"}
    assert [one["key"] for one in made["tolerations"]] == ["life"]
    rule = made["retryStrategy"]
    assert rule["limit"] > 0  # else Argo does not back off
    (pattern,) = re.findall(r"^lastRetry.message matches '([^']*)'", rule["expression"])
    for message in (
        "Pod was terminated in response to imminent node shutdown.",
        "pod deleted",
        "The node was low on resource: memory.",
        "Preempted in order to admit critical pod",
        "Evicted",
    ):
        assert re.search(pattern, message), message
    assert not re.search(pattern, "Error (exit code 1)")


def test_the_user_s_retries_come_first(tmp_path: Path) -> None:
    made = compiled(tmp_path, LAB, "spot=True, retries=2")
    assert made["retryStrategy"] == {"limit": 2, "retryPolicy": "Always"}


def test_a_server_on_spot_nodes_is_not_tried_again(tmp_path: Path) -> None:
    (tmp_path / "flowdsl.toml").write_text(LAB)
    file = tmp_path / "case.py"
    file.write_text(
        f"{HEAD}\n\n@step(image=I, spot=True, daemon=True)\ndef serve() -> str: ...\n\n\n"
        "@step(image=I)\ndef ask(host: str) -> None: ...\n\n\n"
        "@pipeline\ndef case() -> None:\n    ask(serve())\n"
    )
    judged = judge(file)
    assert judged.compiled is not None
    (document,) = judged.compiled.documents
    (made,) = (one for one in document["spec"]["templates"] if one["name"] == "serve")
    assert made["nodeSelector"] == {"life": "spot"}
    assert "retryStrategy" not in made


def test_a_cluster_may_have_no_spot_nodes(tmp_path: Path) -> None:
    settings = re.sub("spot = .*", "spot = false", LAB)
    made = compiled(tmp_path, settings, 'spot=True, where="not spot"')
    assert "nodeSelector" not in made
    assert "retryStrategy" not in made
    assert terms(made) == [[("spot", "DoesNotExist")]]


def test_the_word_spot_is_the_label_of_spot_nodes(tmp_path: Path) -> None:
    assert terms(compiled(tmp_path, LAB, 'where="not spot"')) == [[("life", "NotIn", "spot")]]
    assert terms(compiled(tmp_path, LAB, 'where="spot"')) == [[("life", "In", "spot")]]


@pytest.mark.parametrize(
    ("sharing", "asked"),
    [
        ('{ resource = "aliyun.com/gpu-mem", unit = "1Gi" }', {"aliyun.com/gpu-mem": "8"}),
        ('{ resource = "aliyun.com/gpu-mem", unit = "3Gi" }', {"aliyun.com/gpu-mem": "3"}),
        ('{ resource = "nvidia.com/gpu.shared", replicas = 4 }', {"nvidia.com/gpu.shared": "1"}),
    ],
)
def test_a_part_of_a_gpu_is_asked_for_as_the_cluster_shares(
    tmp_path: Path, sharing: str, asked: dict[str, str]
) -> None:
    made = compiled(
        tmp_path, re.sub("share.nvidia = .*", f"share.nvidia = {sharing}", LAB), 'gpu=GPU(1, share="8Gi")'
    )
    assert limits(made) == asked
    (((_, operator, *products),),) = terms(made)
    assert operator == "In"
    assert ("T4" in products) == ("replicas" not in sharing)  # a quarter of it has less memory


def test_a_volume_is_the_claim_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "flowdsl.toml").write_text(
        '[clusters.lab]\nvolumes.data = { claim = "data-nfs" }\nnamespace = "ml"\n'
    )
    file = tmp_path / "case.py"
    file.write_text(
        f'{HEAD}\n\n@step(image=I, mounts={{"/data": Volume("data")}})\ndef train() -> None: ...\n\n\n'
        "@pipeline\ndef case() -> None:\n    train()\n"
    )
    judged = judge(file, goal=Target("lab"))
    assert judged.compiled is not None
    (document,) = judged.compiled.documents
    assert document["metadata"]["namespace"] == "ml"
    assert document["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-nfs"}}
    ]


REGISTRIES = """
[clusters.lab.registries]
"docker.io" = "reg.lab:5000/hub"
"docker.io/library/python" = "reg.lab:5000/python"
"index.docker.io/pytorch" = "reg.lab:5000/torch"
"ghcr.io/team" = "localhost/team"
"""


@pytest.mark.parametrize(
    ("image", "pulled"),
    [
        ("busybox:1.36", "reg.lab:5000/hub/library/busybox:1.36"),
        ("python:3.12-slim", "reg.lab:5000/python:3.12-slim"),
        (f"python@sha256:{'0' * 64}", f"reg.lab:5000/python@sha256:{'0' * 64}"),
        ("library/pythons:1", "reg.lab:5000/hub/library/pythons:1"),
        ("pytorch/pytorch:2.7.1", "reg.lab:5000/torch/pytorch:2.7.1"),
        ("ghcr.io/team/train:1.4.0", "localhost/team/train:1.4.0"),
        ("ghcr.io/teams/train:1.4.0", "ghcr.io/teams/train:1.4.0"),
        ("ghcr.io:443/team/train:1.4.0", "ghcr.io:443/team/train:1.4.0"),
        ("quay.io/team/train:1.4.0", "quay.io/team/train:1.4.0"),
    ],
)
def test_an_image_is_pulled_from_the_registry_of_the_cluster(tmp_path: Path, image: str, pulled: str) -> None:
    found = compiled(
        tmp_path, REGISTRIES, f'init=[InitContainer("a", image={image!r}, command=["true"])]', cluster="lab"
    )
    assert found["initContainers"][0]["image"] == pulled
    assert found["script"]["image"] == "reg.lab:5000/python:3.12-slim"


def test_all_images_of_a_pipeline_are_pulled_from_the_registry_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "flowdsl.toml").write_text('[clusters.lab.registries]\n"docker.io" = "reg.lab:5000/hub"\n')
    file = tmp_path / "case.py"
    file.write_text(f"""{HEAD}
from flowdsl import Cache, Sidecar, Torch, minimize, sweep, uniform
from typing import NamedTuple


class Trained(NamedTuple):
    loss: float


@step(image="pytorch/pytorch:2.7.1", gpu=1, distributed=Torch(workers=2), code=None)
def spread() -> None: ...


REDIS = Sidecar("redis", image="redis:7", command=["redis-server"])


@step(image="ghcr.io/team/train:1", sidecars=[REDIS], cache=Cache(max_age="1d"))
def train(rate: float) -> Trained:
    return Trained(rate)


@pipeline
def case() -> None:
    spread()
    sweep(train, over={{"rate": uniform(0, 1)}}, trials=20, parallel=5, objective=minimize("loss"), search="tpe")
""")
    judged = judge(file, goal=Target("lab"))
    assert [one.finding.message for one in judged.diagnostics if one.finding.severity == "error"] == []
    assert judged.compiled is not None
    found = re.findall(r"\bimage: ([^\s,]+)", judged.compiled.text)
    assert set(found) == {
        "reg.lab:5000/hub/pytorch/pytorch:2.7.1",
        "ghcr.io/team/train:1",
        "reg.lab:5000/hub/library/redis:7",
        "reg.lab:5000/hub/library/python:3.12-slim",
    }


# --- versions of Argo ------------------------------------------------------------------------------


def test_every_field_that_came_later_is_a_field() -> None:
    for (kind, field), since in SINCE.items():
        assert field in fields(kind), (kind, field)
        assert since in VERSIONS[1:]


MANIFEST: dict[str, Any] = {
    "kind": "Workflow",
    "spec": {
        "templates": [
            {
                "name": "main",
                "pendingTimeout": "1h",
                "annotations": {"pendingTimeout": "no field"},
                "synchronization": {"mutexes": [{"name": "one", "database": True}]},
                "retryStrategy": {"backoff": {"duration": "1m", "cap": "5m"}},
            },
            {
                "name": "graph",
                "dag": {
                    "tasks": [
                        {"name": "a", "inline": {"podResources": {}}},
                        {
                            "name": "b",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "x",
                                        "value": "{{=tasks['a'].outputs.parameters['r'] ?? 'none'}}",
                                    }
                                ]
                            },
                        },
                    ]
                },
            },
        ]
    },
}


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("3.6", ["annotations", "backoff.cap", "database", "pendingTimeout", "podResources", "value"]),
        ("3.7", ["pendingTimeout", "podResources"]),
        ("4.0", ["pendingTimeout", "podResources"]),
        ("4.1", []),
    ],
)
def test_what_an_older_argo_lacks_is_found(version: str, found: list[str]) -> None:
    problems = list(misfits(MANIFEST, version))
    keys = sorted(str(one.path[-1]).replace("cap", "backoff.cap") for one in problems)
    assert keys == found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", ["containers", "sweep", "sentiment"])
def test_the_examples_are_for_every_version(version: str, case: str) -> None:
    file = ROOT / "examples" / case / "pipeline.py"
    assert run(["check", str(file), "--argo-version", version]) == 0


def test_the_version_of_the_command_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "flowdsl.toml").write_text('default-cluster = "old"\n[clusters.old]\nargo = "3.6"\n')
    source = (ROOT / "tests/mistakes/old_argo/branches.py").read_text("utf-8")
    (tmp_path / "branches.py").write_text(source)
    assert run(["check", str(tmp_path / "branches.py")]) == 2
    assert run(["check", str(tmp_path / "branches.py"), "--argo-version", LATEST]) == 0
    assert "FD693" in capsys.readouterr().out


OLD = """apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: old-}
spec:
  entrypoint: main
  templates:
  - name: main
    retryStrategy: {limit: 2, backoff: {duration: 1s, cap: 1m}}
    container: {image: "busybox:1.36", command: [sh, -c, ":"]}
"""


def test_a_long_argument_is_an_error_for_an_argo_that_does_not_keep_it_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, pipeline = tmp_path / "long.yaml", tmp_path / "long.py"
    manifest.write_text(OLD.replace('[sh, -c, ":"]', f'[echo], args: ["{"x" * 131_073}"]'))
    pipeline.write_text(LONG)
    for file in map(str, (manifest, pipeline)):
        for version, code in (("4.0", 0), ("3.7", 2)):
            assert run(["check", file, "--argo-version", version, "--format", "concise"]) == code
            assert ("error[FD362]" if code else "warning[FD867]") in capsys.readouterr().out


LONG = """from flowdsl import command, container, pipeline

TEXT = "x" * 131_073


@container(image="busybox:1.36")
def echo(text: str) -> None:
    command("echo", text)


@pipeline
def long() -> None:
    echo(TEXT)
"""


BEFORE = """
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: before}
spec:
  schedule: "0 3 * * *"
  workflowSpec:
    entrypoint: main
    podPriority: 10
    synchronization: {mutex: {name: one}}
    arguments: {parameters: [{name: rows, value: 10, enum: [10, 20]}]}
    templates:
    - name: main
      inputs: {parameters: [{name: fast, default: true}]}
      synchronization: {semaphore: {configMapKeyRef: {name: locks, key: one}}}
      memoize: {key: "{{inputs.parameters.fast}}", cache: {configMap: {name: kept}}}
      container:
        image: busybox:1.37.0
        resources: {limits: {cpu: 1.5}}
        command: [echo, "{{workflow.parameters.rows}}", "{{inputs.parameters.fast}}"]
        env: [{name: A, value: a}, {name: A, value: b}]
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_right_before_4_0_is_right_there(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("before.yaml").write_text(BEFORE)
    code = run(["check", "before.yaml", "--argo-version", version, "--format", "concise"])
    assert (code, capsys.readouterr().out.count("error")) == ((2, 11) if version >= "4" else (0, 0))
    Path("wrong.yaml").write_text(BEFORE.replace("name: one", "nam: one").replace("0 3 * * *", "0 3 * *"))
    assert run(["check", "wrong.yaml", "--argo-version", version, "--format", "concise"]) == 2
    assert "FD570" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["Workflo", "''", "null"])
def test_a_kind_that_there_is_not_is_told_for_older_versions_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.yaml").write_text(OLD.replace("kind: Workflow\n", f"kind: {kind}\n"))
    told: list[str] = []
    for version in (LATEST, "3.6"):
        assert run(["check", "wrong.yaml", "--argo-version", version, "--format", "concise"]) == 2
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


def test_manifests_are_judged_for_the_version_of_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.yaml").write_text(OLD)
    Path("flowdsl.toml").write_text('default-cluster = "lab"\n[clusters.lab]\nargo = "3.6"\n[clusters.new]\n')
    found = "old.yaml:8:55: error[FD692]: `cap` exists since Argo 3.7, but this is for 3.6\n"
    assert run(["check", "old.yaml"]) == 2
    assert capsys.readouterr().out.startswith(found)
    assert run(["run", "old.yaml"]) == 2
    assert capsys.readouterr().err.startswith(found)
    assert run(["check", "old.yaml", "--argo-version", "3.7"]) == 0
    assert run(["check", "old.yaml", "--cluster", "new"]) == 0
    assert run(["check", "old.yaml", "--cluster", "newer"]) == 2
    assert "error[FD677]: there is no cluster `newer` in flowdsl.toml" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO(OLD))
    assert run(["check", "-"]) == 2
    assert "<stdin>:8:55: error[FD692]" in capsys.readouterr().out


@pytest.mark.parametrize("operator", ["", "pytorchjob", "jobset", "trainjob"])
def test_the_oldest_argo_has_all_that_spreads_a_step(tmp_path: Path, operator: str) -> None:
    file = tmp_path / "case.py"
    file.write_text(
        f"from flowdsl import Torch, pipeline, step\n{HEAD}\n\n"
        f"@step(image=I, distributed=Torch(2, operator={operator or None!r}))\ndef train() -> None: ...\n\n\n"
        "@pipeline\ndef case() -> None:\n    train()\n"
    )
    assert judge(file, goal=Target(argo=VERSIONS[0])).diagnostics == []
