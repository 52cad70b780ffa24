from flowdsl import step

ARGUMENTS = {}
NAMES = []
OTHER = []
for index in range(3):
    if index:
        NAMES.append(f"name {index}")
    else:
        OTHER.append(index)
while len(NAMES) < 4:
    NAMES += ["more"]


@step(image="python:3.12-slim")
def train() -> list[str]:
    return NAMES
