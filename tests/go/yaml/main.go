// Reads YAML documents, separated by lines of "---", from standard input and prints each as one line of JSON:
// as kubectl, Argo and the API server read it, or with the argument "v3" as kustomize and yq do.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	v3 "go.yaml.in/yaml/v3"
	kubernetes "sigs.k8s.io/yaml"
)

func asJSON(document []byte) ([]byte, error) {
	if len(os.Args) < 2 || os.Args[1] != "v3" {
		return kubernetes.YAMLToJSONStrict(document)
	}
	var value any
	if err := v3.Unmarshal(document, &value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func main() {
	input, err := io.ReadAll(os.Stdin)
	output := bufio.NewWriter(os.Stdout)
	for number, document := range strings.Split(string(input), "\n---\n") {
		var line []byte
		if err == nil {
			line, err = asJSON([]byte(document + "\n"))
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "document %d: %v\n", number+1, err)
			os.Exit(1)
		}
		fmt.Fprintf(output, "%s\n", line)
	}
	if err := output.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
