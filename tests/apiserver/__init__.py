"""The proving ground of the runtime: a real API server, and recorded workflows that come to life in it.

build: etcd and kube-apiserver, from source into a cache. server: starts them on loopback. parts, keeper: their
processes, which do not outlive the tests. client: requests. kubelet: serves the logs of pods. history, replay: the
recordings of a real controller, and how they go into the server, state by state.
"""
