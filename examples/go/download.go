// A host in Go that downloads one file. It needs only the header and the library:
//
//	go build download.go && ./download https://example.org/photo.jpg /home/me/photo.jpg
package main

// #cgo LDFLAGS: -lbackhaul
// #include <backhaul.h>
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

var failure C.bh_error

func check(status C.bh_status) {
	if status == C.BH_OK {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", C.GoString(C.bh_status_name(status)), C.GoString(&failure.message[0]))
	os.Exit(1)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: download URL FILE")
		os.Exit(2)
	}
	var application *C.bh_application
	var session *C.bh_session
	var options C.bh_application_options
	var configuration C.bh_session_configuration
	var request C.bh_request
	C.bh_init(unsafe.Pointer(&failure), C.size_t(unsafe.Sizeof(failure)))
	C.bh_init(unsafe.Pointer(&options), C.size_t(unsafe.Sizeof(options)))
	C.bh_init(unsafe.Pointer(&configuration), C.size_t(unsafe.Sizeof(configuration)))
	C.bh_init(unsafe.Pointer(&request), C.size_t(unsafe.Sizeof(request)))

	options.identifier = C.CString("org.example.download")
	check(C.bh_application_open(&options, C.BH_WAIT_DEFAULT, &application, &failure))
	configuration.identifier = C.CString("files")
	check(C.bh_session_create(application, &configuration, C.BH_ROLE_CONSUME, C.BH_WAIT_DEFAULT, &session, nil,
		&failure))
	request.url = C.CString(os.Args[1])
	request.destination = C.CString(os.Args[2])
	request.idempotency_key = request.destination // after a crash, the next run finds the same task
	request.if_exists = C.BH_IF_EXISTS_REPLACE
	request.flags = C.BH_REQUEST_IF_CHANGED // an earlier run may have downloaded the file
	check(C.bh_session_enqueue(session, &request, 1, C.BH_WAIT_DEFAULT, nil, &failure))

	failures := 0
	for isFinished := false; !isFinished; {
		var events *C.bh_batch
		check(C.bh_session_poll(session, 0, 100, C.BH_WAIT_DEFAULT, &events, &failure))
		for index := C.size_t(0); index < C.bh_batch_count(events); index++ {
			event := C.bh_batch_event_at(events, index)
			isFinished = isFinished || event.kind == C.BH_EVENT_SESSION_FINISHED
			if event.kind == C.BH_EVENT_TASK_ENDED {
				fmt.Println(C.GoString(event.url), C.GoString(event.path)+C.GoString(event.error_message))
				if event.status != C.BH_OK {
					failures = 1
				}
			}
			check(C.bh_session_acknowledge_through(session, event.id, C.BH_WAIT_DEFAULT, nil, &failure))
		}
		C.bh_batch_release(events)
	}
	check(C.bh_session_complete(session, C.BH_WAIT_DEFAULT, &failure))
	C.bh_application_close(application)
	os.Exit(failures)
}
