"""Support tickets by urgency: five stages, of which one trains on a GPU.

The tickets lie on a shared volume that a step sees as a path. Only `train` asks for a GPU, so no other
step waits for one or takes a GPU node. The model is small enough to read; a framework goes into `train`.
"""

import csv
import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from flowdsl import GPU, Volume, pipeline, step

DATA = Volume("tickets", mode="ReadWriteMany")
PYTHON = "python:3.12-slim"


class Trained(NamedTuple):
    weights: Path
    accuracy: float


class Report(NamedTuple):
    urgent: int
    page: Path


def words(text: str) -> list[str]:
    return [word for word in (part.strip(".,;:!?()\"'") for part in text.lower().split()) if len(word) > 2]


def probability(weights: dict[str, float], found: list[str]) -> float:
    total = weights.get("", 0.0) + sum(weights.get(word, 0.0) for word in found)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@step(image=PYTHON, cpu=1, memory="1Gi")
def preprocess(tickets: Path, min_words: int = 3) -> Path:
    """Rows of `urgent,text` become lines of a label and the words of the text; empty tickets are left out."""
    examples = Path("examples.jsonl")
    with tickets.open(newline="", encoding="utf-8") as rows, examples.open("w", encoding="utf-8") as out:
        for row in csv.DictReader(rows):
            found = words(row["text"])
            if len(found) >= min_words:
                out.write(json.dumps([int(row["urgent"]), found]) + "\n")
    return examples


@step(
    image="pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime",
    cpu=4,
    memory="16Gi",
    gpu=GPU(1, memory="16Gi"),
    retries=2,
    timeout="6h",
)
def train(examples: Path, epochs: int = 5, rate: float = 0.1) -> Trained:
    """Logistic regression on the words; every tenth example is kept back to measure the accuracy."""
    if shutil.which("nvidia-smi"):
        subprocess.run(["nvidia-smi", "--list-gpus"], check=False)
    lines = examples.read_text(encoding="utf-8").splitlines()
    rows: list[tuple[int, list[str]]] = [json.loads(line) for line in lines]
    kept_back, learnt_from = rows[::10], [row for at, row in enumerate(rows) if at % 10]
    weights: dict[str, float] = {}
    for epoch in range(epochs):
        for urgent, found in learnt_from:
            step_size = rate * (urgent - probability(weights, found))
            for word in ("", *found):
                weights[word] = weights.get(word, 0.0) + step_size
        print(f"epoch {epoch + 1} of {epochs}: {len(weights)} weights")
    right = sum((probability(weights, found) > 0.5) == bool(urgent) for urgent, found in kept_back)
    model = Path("weights.json")
    model.write_text(json.dumps(weights), encoding="utf-8")
    return Trained(model, right / max(1, len(kept_back)))


@step(image=PYTHON, memory="1Gi")
def export(weights: Path, keep: int = 5000) -> Path:
    """The weights that matter most, in the order of the alphabet."""
    every: dict[str, float] = json.loads(weights.read_text(encoding="utf-8"))
    kept = sorted(every, key=lambda word: -abs(every[word]))[:keep]
    model = Path("model.json")
    model.write_text(json.dumps({word: round(every[word], 4) for word in sorted(kept)}), encoding="utf-8")
    return model


@step(image=PYTHON, cpu=2, memory="1Gi")
def infer(model: Path, tickets: Path) -> Path:
    """The new tickets, each with the probability that it is urgent."""
    weights: dict[str, float] = json.loads(model.read_text(encoding="utf-8"))
    scores = Path("scores.csv")
    with tickets.open(newline="", encoding="utf-8") as rows, scores.open("w", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["score", "text"])
        for row in csv.DictReader(rows):
            table.writerow([f"{probability(weights, words(row['text'])):.3f}", row["text"]])
    return scores


@step(image=PYTHON)
def postprocess(scores: Path, accuracy: float, threshold: float) -> Report:
    """The urgent tickets as a page, the most urgent one first."""
    with scores.open(newline="", encoding="utf-8") as rows:
        urgent = [(float(row["score"]), row["text"]) for row in csv.DictReader(rows)]
    urgent = sorted((row for row in urgent if row[0] >= threshold), reverse=True)
    lines = [f"# Urgent tickets (accuracy {accuracy:.2f})", ""]
    lines.extend(f"- {score:.2f} {text}" for score, text in urgent)
    page = Path("urgent.md")
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Report(len(urgent), page)


@pipeline
def tickets(epochs: int = 5, threshold: float = 0.8) -> Report:
    examples = preprocess(DATA / "labelled.csv")
    trained = train(examples, epochs)
    model = export(trained.weights)
    scores = infer(model, DATA / "new.csv")
    return postprocess(scores, trained.accuracy, threshold)
