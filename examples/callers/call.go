// go run call.go http://127.0.0.1:8080 9001
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	data := map[string]any{"uid": int64(9007199254740993)}
	body, _ := json.Marshal(map[string]any{"app": json.Number(os.Args[2]), "ruleId": 1, "the service": data})
	key := rand.Text()
	answer := map[string]any{"error": "Nothing answered.", "mayHaveRun": true}
	for _, pause := range []int{1, 2, 4, 8, 0} {
		request, _ := http.NewRequest("POST", os.Args[1]+"/rule-server/mock/execute", bytes.NewReader(body))
		request.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}}
		again := strconv.Itoa(pause)
		if response, err := http.DefaultClient.Do(request); err == nil {
			decoder := json.NewDecoder(response.Body)
			decoder.UseNumber()
			clear(answer)
			if err := decoder.Decode(&answer); err != nil {
				log.Fatal(err)
			}
			again = response.Header.Get("Retry-After")
		}
		if again == "" || pause == 0 {
			break
		}
		seconds, _ := strconv.Atoi(again)
		time.Sleep(time.Duration(seconds) * time.Second) // then the same key again: it runs at most once
	}
	if mayHaveRun, isRefused := answer["mayHaveRun"]; isRefused {
		log.Fatalf("%v mayHaveRun: %v", answer["error"], mayHaveRun)
	}
	fmt.Println(answer["outcome"], answer["the service"].(map[string]any)["uid"])
}
