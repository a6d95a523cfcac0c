import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** Two POSTs with HttpURLConnection as it is; it keeps its connection between them if the server does. */
public class Call {
  public static void main(String[] args) throws Exception {
    for (int call = 0; call < 2; call++) {
      HttpURLConnection connection = (HttpURLConnection) URI.create(args[0]).toURL().openConnection();
      connection.setRequestMethod("POST");
      connection.setDoOutput(true);
      connection.getOutputStream().write("{}".getBytes(StandardCharsets.UTF_8));
      int status = connection.getResponseCode();
      try (InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
        System.out.println(status + " " + new String(body.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
  }
}
