module flowdsl.test/kubeflow

go 1.22

require github.com/kubeflow/training-operator v1.8.1
