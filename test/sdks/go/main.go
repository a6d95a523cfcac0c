// A small application that embeds the published Go SDK and runs until SIGTERM. SHARED_DIR and APP
// say where and as whom it registers; LANE, POLL_SECONDS and HEARTBEAT_SECONDS are optional.
package main

import (
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	ice "github.com/zjn-zjn/ice/sdks/go"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)

	app, err := strconv.Atoi(os.Getenv("APP"))
	if err != nil {
		log.Fatalf("APP is not a number: %v", err)
	}
	registerLeaves()
	poll, heartbeat := seconds("POLL_SECONDS", 2), seconds("HEARTBEAT_SECONDS", 10)
	client, err := ice.NewClientWithOptions(app, os.Getenv("SHARED_DIR"), -1, poll, heartbeat, os.Getenv("LANE"))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(); err != nil {
		log.Fatal(err)
	}
	<-stop
	client.Destroy()
}

func seconds(name string, standard float64) time.Duration {
	value, err := strconv.ParseFloat(os.Getenv(name), 64)
	if err != nil {
		value = standard
	}
	return time.Duration(value * float64(time.Second))
}
