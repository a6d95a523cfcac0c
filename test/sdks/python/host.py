"""A small application that embeds the published Python SDK and runs until SIGTERM.

SHARED_DIR and APP say where and as whom it registers; LANE, POLL_SECONDS and
HEARTBEAT_SECONDS are optional.
"""

import logging
import os
import signal

import ice

import leaves  # noqa: F401  importing it registers the leaf classes


def main() -> None:
    stops = {signal.SIGTERM, signal.SIGINT}
    # Blocked before the SDK starts its poll thread, which inherits the mask: sigwait below is then the only receiver.
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    log_to_stderr()

    client = ice.FileClient(
        app=int(os.environ["APP"]),
        storage_path=os.environ["SHARED_DIR"],
        poll_interval=float(os.environ.get("POLL_SECONDS", "2")),
        heartbeat_interval=float(os.environ.get("HEARTBEAT_SECONDS", "10")),
        lane=os.environ.get("LANE", ""),
    )
    client.start()
    signal.sigwait(stops)
    client.destroy()


def log_to_stderr() -> None:
    handler = logging.StreamHandler()
    # The SDK puts the cause into an extra field, not into the message.
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s %(error)s", defaults={"error": ""}))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


if __name__ == "__main__":
    main()
