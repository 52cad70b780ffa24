from flowdsl import step

EXPRESSION = "{{=1+1}}"


@step(image="python:3.12-slim")
def train(n: int) -> str:
    # {{workflow.name}} in a comment
    text = "ü {{inputs.parameters.n}} {{ user }} {{ tasks.a.outputs.result }}"
    return text + "{{retries}}{{pod.name}}{{x {{item.y}}" + EXPRESSION + """
{{ x
}} {{
  workflow.name}} {{ workflow.uid }}"""
