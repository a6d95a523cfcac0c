// java -cp 'lib/*' Call.java http://127.0.0.1:8080 9001, with jackson-databind in lib
import com.fasterxml.jackson.databind.*;
import java.io.IOException;
import java.net.URI;
import java.net.http.*;
import java.util.*;

class Call {
  public static void main(String[] args) throws Exception {
    var json = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
    var body = json.writeValueAsString(Map.of(
        "app", Long.valueOf(args[1]), "ruleId", 1, "the service", Map.of("uid", 9007199254740993L)));
    var call = HttpRequest.newBuilder(URI.create(args[0] + "/rule-server/mock/execute"))
        .headers("content-type", "application/json", "idempotency-key", UUID.randomUUID().toString())
        .POST(HttpRequest.BodyPublishers.ofString(body)).build();
    var nothing = json.readTree("{\"error\":\"Nothing answered.\",\"mayHaveRun\":true}");
    var answer = nothing;
    for (var pause : List.of("1", "2", "4", "8", "0")) {
      var again = pause;
      try {
        var response = HttpClient.newHttpClient().send(call, HttpResponse.BodyHandlers.ofString());
        answer = json.readTree(response.body());
        again = response.headers().firstValue("retry-after").orElse("0");
      } catch (IOException nothingAnswered) {
        answer = nothing; // the same key again: it runs at most once
      }
      if (again.equals("0") || pause.equals("0")) break;
      Thread.sleep(1000 * Long.parseLong(again));
    }
    if (answer.has("mayHaveRun")) throw new IOException(answer.get("error") + " mayHaveRun: " + answer.get("mayHaveRun"));
    System.out.println(answer.get("outcome").asText() + " " + answer.get("the service").get("uid"));
  }
}
