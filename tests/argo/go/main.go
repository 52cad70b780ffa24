// What a whole Argo needs besides its own programs: a store of artifacts with the API of S3, and that part of a
// kubelet which runs commands in containers, by which the controller stops them.
//
// node STORE KUBELET PODS: two addresses, of which the second has the certificate PODS/../kubelet.crt, and the folder
// in which each pod has a file with the process of each container: PODS/<pod>/<container>.pid.
package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"
	stream "k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// containers enters the namespaces of a container's process.
type containers struct{ folder string }

func (c containers) ExecInContainer(_ context.Context, pod string, _ types.UID, container string, words []string,
	in io.Reader, out, errs io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	pid, err := os.ReadFile(filepath.Join(c.folder, pod, container+".pid"))
	if err != nil {
		return err
	}
	command := exec.Command("nsenter", append([]string{"-t", string(pid), "-m", "-p", "-r", "-w"}, words...)...)
	command.Stdin, command.Stdout, command.Stderr = in, out, errs
	err = command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

// run answers /exec/NAMESPACE/POD/CONTAINER?command=...
func (c containers) run(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	options, err := stream.NewOptions(r)
	if err != nil || len(parts) != 4 {
		http.Error(w, "no such exec", http.StatusBadRequest)
		return
	}
	protocols := []string{"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"}
	words := r.URL.Query()["command"]
	stream.ServeExec(w, r, c, parts[2], "", parts[3], words, options, time.Hour, time.Minute, protocols)
}

// store keeps the bucket `argo` in memory. Of an empty file comes no length, without which gofakes3 takes none.
func store() http.Handler {
	backend := s3mem.New()
	if err := backend.CreateBucket("argo"); err != nil {
		log.Fatal(err)
	}
	server := gofakes3.New(backend).Server()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && r.Header.Get("Content-Length") == "" {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		}
		server.ServeHTTP(w, r)
	})
}

func main() {
	files, kubelet, folder := os.Args[1], os.Args[2], os.Args[3]
	go func() { log.Fatal(http.ListenAndServe(files, store())) }()
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/", containers{folder}.run)
	above := filepath.Dir(folder)
	log.Fatal(http.ListenAndServeTLS(kubelet, filepath.Join(above, "kubelet.crt"), filepath.Join(above, "kubelet.key"), mux))
}
