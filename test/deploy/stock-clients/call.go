// Two POSTs with the default client; it keeps its connection between them if the server does.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	for call := 0; call < 2; call++ {
		answer, err := http.Post(os.Args[1], "application/json", strings.NewReader("{}"))
		if err != nil {
			fmt.Println(err)
			continue
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Println(answer.StatusCode, string(body))
	}
}
