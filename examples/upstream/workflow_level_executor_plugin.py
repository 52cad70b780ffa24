"""A template of a plugin, and the plugin that runs beside the run."""

from flowdsl import command, container, pipeline

SERVER = """\
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

class Plugin(BaseHTTPRequestHandler):
    def args(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length"))))

    def reply(self, reply):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode("UTF-8"))

    def unsupported(self):
        self.send_response(404)
        self.end_headers()

    def do_POST(self):
        if self.path == "/api/v1/template.execute":
            args = self.args()
            if "workflowLevelHello" in args["template"].get("plugin", {}):
                self.reply({
                    "node": {
                        "phase": "Succeeded",
                        "message": "Hello from a workflow-level executor plugin!"
                    }
                })
            else:
                self.reply({})
        else:
            self.unsupported()

if __name__ == "__main__":
    httpd = HTTPServer(("", 4356), Plugin)
    httpd.serve_forever()
"""
HARDENED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
}
NAME = "workflow-level-hello-executor-plugin"
PLUGIN = {
    "metadata": {"name": NAME},
    "spec": {
        "sidecar": {
            "container": {
                "name": NAME,
                "image": "python:alpine3.23",
                "command": ["python", "-c"],
                "args": [SERVER],
                "ports": [{"containerPort": 4356}],
                "resources": {
                    "limits": {"cpu": "200m", "memory": "64Mi"},
                    "requests": {"cpu": "100m", "memory": "32Mi"},
                },
                "securityContext": HARDENED,
            }
        }
    },
}


@container(image="python:alpine3.23", argo={"container": None, "plugin": {"workflowLevelHello": {}}})
def hello() -> None:
    command("hello")


@pipeline(argo={"executorPlugins": [PLUGIN]})
def workflow_level_executor_plugin() -> None:
    hello()
