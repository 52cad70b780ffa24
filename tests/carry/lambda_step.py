from flowdsl import step

train = step(image="python:3.12-slim")(lambda n: n + 1)
