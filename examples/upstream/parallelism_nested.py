"""A loop in a loop: lists by parameters of the run, and one task of each inner loop at a time."""

from flowdsl import command, container, fan_out, pipeline

ECHO = "echo {{inputs.parameters.parallel_id}} {{inputs.parameters.seq_id}}; sleep 10"

LETTERS = ["a", "b", "c", "d"]
NUMBERS = [1, 2, 3, 4]


@container(image="alpine:3.23", argo={"container": {"args": ["-c", ECHO]}})
def one_job(parallel_id: int, seq_id: str) -> None:
    command("/bin/sh", parallel_id, seq_id)


@pipeline
def seq_worker(seq_list: list[str], parallel_id: int) -> None:
    fan_out(one_job, over={"seq_id": seq_list}, parallel=1, parallel_id=parallel_id)


@pipeline
def parallelism_nested(seq_list: list[str] = LETTERS, parallel_list: list[int] = NUMBERS) -> None:
    fan_out(seq_worker, over={"parallel_id": parallel_list}, seq_list=seq_list)
