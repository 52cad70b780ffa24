"""The examples, run on this machine; those that cannot be, each with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowdsl.cli.app import run
from tests.pages import PAGES, right, settle

ROOT = Path(__file__).resolve().parents[2]
UPSTREAM = {path.stem for path in ROOT.glob("examples/upstream/*.yaml")}
OWN = {path.parent.name for path in ROOT.glob("examples/*/pipeline.py")}

#: What is given to a run besides, and its exit code; None where that is left to chance.
RUN: dict[str, tuple[list[str], int | None]] = {
    "arguments_parameters": ([], 0),
    "artifact_passing": ([], 0),
    "artifactory_artifact": ([], 0),
    "coinflip": ([], 0),
    "conditional_parameters": ([], 0),
    "cron_workflow": ([], 0),
    "custom_metrics": ([], None),
    "dag_disable_failFast": (["--fake", "slow="], 1),
    "dag_multiroot": ([], 0),
    "dag_targets": ([], 0),
    "data_transformations": ([], 0),
    "exit_handlers": ([], 1),
    "expression_destructure_json": ([], 0),
    "gc_ttl": ([], 0),
    "hdfs_artifact": ([], 0),
    "init_container": ([], 0),
    "input_artifact_gcs": (["--artifact", "my_art=given"], 0),
    "input_artifact_raw": ([], 0),
    "k8s_jobs": (["--fake", "rand-num.job_name=x", "--fake", "rand-num.job_obj={}"], 0),
    "life_cycle_hooks_tmpl_level": ([], 0),
    "loops_maps": ([], 0),
    "output_artifact_azure": ([], 0),
    "output_artifact_s3": ([], 0),
    "pod_gc_strategy": ([], 1),
    "pod_spec_patch": ([], 0),
    "resource_claims": ([], 0),
    "retry_container": ([], None),
    "synchronization_mutex_wf_level": ([], 0),
    "template_defaults": ([], None),
    "volumes_emptydir": ([], 0),
    "volumes_existing": ([], 0),
    "volumes_pvc": ([], 0),
    "workflow_level_executor_plugin": (["--fake", "hello="], 0),
    "generations": (["--fake", "train.model=given", "--fake", "train.loss=0.2"], 0),
    "distributed": ([], 0),
    "job": (
        [
            *("--fake", "accuracy=0.95"),
            *("--fake", "trained.succeeded=4", "--fake", "trained.finished=2026-01-31T10:00:00Z"),
        ],
        0,
    ),
    "stages": (["--mount", "tickets=datasets"], 0),
    "sentiment": (["--mount", "datasets=datasets"], 0),
    "shards": ([], 0),
    "sweep": ([], 0),
}

CANNOT = {
    "daemon_nginx": "the image nginx",
    "dag": "a template of the cluster, which is in no file",
    "dag_daemon_retry_strategy": "the image nginx",
    "dag_inline_cronworkflow": "a template of the cluster, which is in no file",
    "hello_windows": "Windows",
    "http_hello_world": "the network",
    "input_artifact_git": "the network",
    "input_artifact_http": "the network",
    "input_artifacts": "a template that names a program of its image",
    "intermediate_parameters": "the image argosay",
    "parallelism_nested": "steps that sleep for minutes",
    "pod_resources_template_override": "a step that sleeps for seconds",
    "sequence_workflow": "the image argosay",
    "sidecar_nginx": "the image nginx",
    "step_level_timeout": "steps that sleep for seconds",
    "steps_inline_workflow": "the image argosay",
    "synchronization_tmpl_level": "steps that sleep for seconds",
    "containers": "ffmpeg, and a program of the user's",
}


def test_every_example_is_run_or_has_a_reason() -> None:
    assert RUN.keys() | CANNOT.keys() == UPSTREAM | OWN
    assert not RUN.keys() & CANNOT.keys()


@pytest.mark.parametrize("name", RUN)
def test_an_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given").write_text("a file\n", encoding="utf-8")
    (tmp_path / "datasets/raw").mkdir(parents=True)
    (tmp_path / "datasets/raw/reviews.txt").write_text("a review that is long enough\n", encoding="utf-8")
    rows = "urgent,text\n1,the server is down again today\n0,where is the manual for this\n"
    for file in ("labelled.csv", "new.csv"):
        (tmp_path / "datasets" / file).write_text(rows, encoding="utf-8")
    folder = ROOT / "examples"
    target = folder / name / "pipeline.py" if name in OWN else folder / f"upstream/{name}.yaml"
    arguments, code = RUN[name]
    chosen = f"{target}:nightly" if name == "generations" else str(target)
    answer = run(["run", chosen, *arguments])
    said = capsys.readouterr()
    # It asks the kernel for the mount of its volume, and not every system gives steps mounts of their own.
    unseen = name == "volumes_emptydir" and "no file system of their own" in said.err
    assert answer in ((0, 1) if code is None or unseen else (code,)), said.out + said.err


@pytest.mark.parametrize("page", PAGES)
def test_what_the_documentation_shows_can_be_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It succeeds, or it is said what it lacks here: data on volumes, programs, a cluster, an answer."""
    monkeypatch.chdir(tmp_path)
    settle(page, tmp_path)
    for name, text, _ in right(page):
        (tmp_path / name).write_text(text, encoding="utf-8")
        if "@pipeline" in text and "def test_" not in text:
            answer = run(["run", name, "-q"])
            said = capsys.readouterr()
            assert answer in (0, 1, 2, 4), said.out + said.err
            if answer == 1:
                assert "failed; the end of" in said.out or "Error" in said.out, said.out
