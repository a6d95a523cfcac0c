package com.sample;

import com.ice.core.client.IceFileClient;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * A small application that embeds the published Java SDK and runs until SIGTERM. SHARED_DIR and APP
 * say where and as whom it registers; LANE, POLL_SECONDS and HEARTBEAT_SECONDS are optional.
 */
public final class Host {
    private Host() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> env = System.getenv();
        IceFileClient client = new IceFileClient(
            Integer.parseInt(env.get("APP")),
            env.get("SHARED_DIR"),
            -1,
            Set.of("com.sample"),
            wholeSeconds(env.getOrDefault("POLL_SECONDS", "2")),
            wholeSeconds(env.getOrDefault("HEARTBEAT_SECONDS", "10")),
            env.get("LANE"));
        // The SDK installs no hook of its own, and its threads do not keep the process alive.
        Runtime.getRuntime().addShutdownHook(new Thread(client::destroy));
        client.start();
        new CountDownLatch(1).await();
    }

    private static int wholeSeconds(String seconds) {
        return Math.max(1, (int) Math.ceil(Double.parseDouble(seconds)));
    }
}
