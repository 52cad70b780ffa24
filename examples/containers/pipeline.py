"""Transcripts of recordings, by programs in any language: no step is Python, and no image needs it.

`curl` fetches, `ffmpeg` resamples, a compiled program of the team's own transcribes, and two lines of shell
count. Inputs reach a program as arguments or as environment variables, never as the text of a command.
"""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Secret, Volume, command, container, output, pipeline

MODELS = Volume("speech-models", mode="ReadOnlyMany")


class Counted(NamedTuple):
    words: int
    longest: str


FETCH = """\
set -e
curl --fail --location --oauth2-bearer "$TOKEN" --output "$RECORDING" "$URL"
"""
COUNT = """\
wc -w < "$TEXT" > "$WORDS"
tr -s '[:space:]' '\\n' < "$TEXT" | awk 'length > length(best) { best = $0 } END { print best }' > "$LONGEST"
"""


@container(image="curlimages/curl:8.11.1", retries=3, secrets={"TOKEN": Secret("archive", "token")})
def fetch(url: str) -> Path:
    return command("sh", "-c", FETCH, env={"URL": url, "RECORDING": output()})


@container(image="linuxserver/ffmpeg:7.1.1", cpu=2, memory="512Mi")
def resample(recording: Path, rate: int) -> Path:
    return command("ffmpeg", "-i", recording, "-ac", 1, "-ar", rate, "-f", "wav", output())


@container(
    image="registry.example.com/speech/transcribe:1.7.5", cpu=4, memory="4Gi", env={"OMP_NUM_THREADS": 4}
)
def transcribe(sound: Path, model: Path, language: str) -> Path:
    options = [f"--model={model}", f"--language={language}", f"--out={output()}"]
    return command("/usr/local/bin/transcribe", *options, sound)


@container(image="busybox:1.37.0")
def count(transcript: Path) -> Counted:
    paths = {"TEXT": transcript, "WORDS": output("words"), "LONGEST": output("longest")}
    return command("sh", "-ec", COUNT, env=paths)


@pipeline
def transcripts(url: str, language: str = "en") -> Counted:
    recording = fetch(url)
    sound = resample(recording, 16000)
    transcript = transcribe(sound, MODELS / "base.en.bin", language)
    return count(transcript)
