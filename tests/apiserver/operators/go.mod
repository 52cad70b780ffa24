module flowdsl.test/operators

go 1.24.0

require (
	github.com/kubeflow/mpi-operator v0.6.0
	github.com/kubeflow/trainer/v2 v2.0.0
	github.com/kubeflow/training-operator v1.8.1
	github.com/ray-project/kuberay/ray-operator v1.4.2
	sigs.k8s.io/jobset v0.8.2
)
