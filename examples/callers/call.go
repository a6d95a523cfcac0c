// go run call.go http://127.0.0.1:8080 9001
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	body := fmt.Sprintf(`{"app":%s,"ruleId":1,"the service":{"uid":%d}}`, os.Args[2], 9007199254740993)
	key, answer := rand.Text(), map[string]any{}
	for _, pause := range []string{"1", "2", "4", "8", "0"} {
		again := pause
		request, _ := http.NewRequest("POST", os.Args[1]+"/rule-server/mock/execute", strings.NewReader(body))
		answer = map[string]any{"error": "Nothing answered.", "mayHaveRun": true}
		request.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}}
		if response, err := http.DefaultClient.Do(request); err == nil {
			decoder := json.NewDecoder(response.Body)
			decoder.UseNumber()
			clear(answer)
			if err := decoder.Decode(&answer); err != nil {
				log.Fatal(err)
			}
			again = response.Header.Get("Retry-After")
		}
		wait, _ := time.ParseDuration(again + "s")
		if wait == 0 || pause == "0" {
			break
		}
		time.Sleep(wait) // then the same key again: it runs at most once
	}
	if mayHaveRun, isRefused := answer["mayHaveRun"]; isRefused {
		log.Fatalf("%v mayHaveRun: %v", answer["error"], mayHaveRun)
	}
	fmt.Println(answer["outcome"], answer["the service"].(map[string]any)["uid"])
}
