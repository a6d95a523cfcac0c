// One image, several roles: an API listens on PORT, a worker on WORKER_PORT. The container is healthy when the port its
// role has answers. A role without a port (WORKER_PORT=0, the demo client) needs this check switched off.
const { PORT = '8080', WORKER_PORT = '9090' } = process.env;

const checks = [PORT, WORKER_PORT].map(async (port) => {
  const { ok, status } = await fetch(`http://127.0.0.1:${port.trim()}/healthz`, { signal: AbortSignal.timeout(4000) });
  if (!ok) throw new Error(`port ${port} answered ${status}`);
});

Promise.any(checks).then(
  () => process.exit(0),
  ({ errors }) => {
    console.error(errors.map(({ message, cause }) => cause?.message ?? message).join('; '));
    process.exit(1);
  },
);
