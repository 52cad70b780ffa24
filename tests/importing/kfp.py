"""The pipeline `training`."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Retry, command, container, pipeline, when


@container(
    image="python:3.12-slim",
    labels={
        "pipelines.kubeflow.org/kfp_sdk_version": "1.8.22",
        "pipelines.kubeflow.org/pipeline-sdk-type": "kfp",
        "pipelines.kubeflow.org/enable_caching": "true",
    },
)
def load(rows: int) -> Path:
    program = """\
program_path=$(mktemp)
printf "%s" "$0" > "$program_path"
python3 -u "$program_path" "$@"
"""
    program_2 = """\
def _make_parent_dirs_and_return_path(file_path: str):
    import os
    os.makedirs(os.path.dirname(file_path), exist_ok=True)
    return file_path

def load(rows, out_path):
    with open(out_path, "w") as out:
        out.write("\\n".join(str(row) for row in range(rows)))

import argparse
_parser = argparse.ArgumentParser(prog='Load', description='')
_parser.add_argument("--rows", dest="rows", type=int, required=True, default=argparse.SUPPRESS)
_parser.add_argument("--out", dest="out_path", type=_make_parent_dirs_and_return_path, required=True, default=argparse.SUPPRESS)
_parsed_args = vars(_parser.parse_args())

_outputs = load(**_parsed_args)
"""
    return command(
        "sh",
        "-ec",
        program,
        program_2,
        "--rows",
        rows,
        "--out",
        "/tmp/outputs/out/data",
        paths={"return": "/tmp/outputs/out/data"},
    )


class TrainOutputs(NamedTuple):
    train_output: float
    train_output_2: Path
    train_model: Path


@container(
    image="python:3.12-slim",
    memory="4Gi",
    retries=Retry(2, policy="OnFailure"),
    labels={
        "pipelines.kubeflow.org/kfp_sdk_version": "1.8.22",
        "pipelines.kubeflow.org/pipeline-sdk-type": "kfp",
        "pipelines.kubeflow.org/enable_caching": "true",
    },
)
def train(load_out: Path) -> TrainOutputs:
    program = """\
program_path=$(mktemp)
printf "%s" "$0" > "$program_path"
python3 -u "$program_path" "$@"
"""
    program_2 = """\
def _make_parent_dirs_and_return_path(file_path: str):
    import os
    os.makedirs(os.path.dirname(file_path), exist_ok=True)
    return file_path

def train(data_path, model_path, rate = 0.1):
    rows = len(open(data_path).readlines())
    open(model_path, "w").write(f"{rows} {rate}")
    return 0.95

def _serialize_float(float_value: float) -> str:
    if isinstance(float_value, str):
        return float_value
    if not isinstance(float_value, (float, int)):
        raise TypeError('Value "{}" has type "{}" instead of float.'.format(
            str(float_value), str(type(float_value))))
    return str(float_value)

import argparse
_parser = argparse.ArgumentParser(prog='Train', description='')
_parser.add_argument("--data", dest="data_path", type=str, required=True, default=argparse.SUPPRESS)
_parser.add_argument("--rate", dest="rate", type=float, required=False, default=argparse.SUPPRESS)
_parser.add_argument("--model", dest="model_path", type=_make_parent_dirs_and_return_path, required=True, default=argparse.SUPPRESS)
_parser.add_argument("----output-paths", dest="_output_paths", type=str, nargs=1)
_parsed_args = vars(_parser.parse_args())
_output_files = _parsed_args.pop("_output_paths", [])

_outputs = train(**_parsed_args)

_outputs = [_outputs]

_output_serializers = [
    _serialize_float,

]

import os
for idx, output_file in enumerate(_output_files):
    try:
        os.makedirs(os.path.dirname(output_file))
    except OSError:
        pass
    with open(output_file, 'w') as f:
        f.write(_output_serializers[idx](_outputs[idx]))
"""
    return command(
        "sh",
        "-ec",
        program,
        program_2,
        "--data",
        "/tmp/inputs/data/data",
        "--rate",
        "0.01",
        "--model",
        "/tmp/outputs/model/data",
        "----output-paths",
        "/tmp/outputs/Output/data",
        paths={
            "load_out": "/tmp/inputs/data/data",
            "train_output": "/tmp/outputs/Output/data",
            "train_output_2": "/tmp/outputs/Output/data",
            "train_model": "/tmp/outputs/model/data",
        },
    )


@container(
    image="python:3.12-slim",
    labels={
        "pipelines.kubeflow.org/kfp_sdk_version": "1.8.22",
        "pipelines.kubeflow.org/pipeline-sdk-type": "kfp",
        "pipelines.kubeflow.org/enable_caching": "true",
    },
)
def deploy(name: str, train_model: Path) -> None:
    program = """\
program_path=$(mktemp)
printf "%s" "$0" > "$program_path"
python3 -u "$program_path" "$@"
"""
    program_2 = """\
def deploy(model_path, name):
    print(name, open(model_path).read())

import argparse
_parser = argparse.ArgumentParser(prog='Deploy', description='')
_parser.add_argument("--model", dest="model_path", type=str, required=True, default=argparse.SUPPRESS)
_parser.add_argument("--name", dest="name", type=str, required=True, default=argparse.SUPPRESS)
_parsed_args = vars(_parser.parse_args())

_outputs = deploy(**_parsed_args)
"""
    command(
        "sh",
        "-ec",
        program,
        program_2,
        "--model",
        "/tmp/inputs/model/data",
        "--name",
        name,
        paths={"train_model": "/tmp/inputs/model/data"},
    )


@pipeline
def condition_1(name: str, train_model: Path) -> None:
    deploy(name=name, train_model=train_model)


@pipeline(
    labels={"pipelines.kubeflow.org/kfp_sdk_version": "1.8.22"},
    service_account="pipeline-runner",
)
def training(rows: int = 100, name: str = "digits") -> None:
    load_ = load(rows=rows)
    train_ = train(load_out=load_)
    with when(train_.train_output > 0.9):
        condition_1(name=name, train_model=train_.train_model)
