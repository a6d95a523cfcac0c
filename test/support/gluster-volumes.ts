/** What glusterfsd serves: one brick, as `gluster volume create` makes it, without what is off there. */
export function serverVolume({ brick, port }: { brick: string; port: number }): string {
  return stack([
    ['posix', 'storage/posix', { directory: brick }],
    ['locks', 'features/locks'],
    ['threads', 'performance/io-threads'],
    [
      'server',
      'protocol/server',
      {
        'transport-type': 'tcp',
        'transport.socket.bind-address': '127.0.0.1',
        'transport.socket.listen-port': port,
        'auth.addr.threads.allow': '127.0.0.1',
      },
    ],
  ]);
}

/** What a machine mounts: the caches and the late writes that `gluster volume create` gives a new volume are all there. */
export function clientVolume(port: number): string {
  const connection = {
    'transport-type': 'tcp',
    'remote-host': '127.0.0.1',
    'remote-port': port,
    'remote-subvolume': 'threads',
  };
  return stack([
    ['client', 'protocol/client', connection],
    ['distribute', 'cluster/distribute'],
    ['utime', 'features/utime', { noatime: 'on' }],
    ['write-behind', 'performance/write-behind'],
    ['open-behind', 'performance/open-behind'],
    ['quick-read', 'performance/quick-read'],
    ['md-cache', 'performance/md-cache'],
    ['threads', 'performance/io-threads'],
  ]);
}

type Layer = [name: string, type: string, options?: Record<string, string | number>];

/** A volume file: each layer on top of the one before. */
function stack(layers: Layer[]): string {
  const volumes = layers.map(([name, type, options = {}], index) => {
    const below = layers[index - 1]?.[0];
    const lines = Object.entries(options).map(([option, value]) => `option ${option} ${value}`);
    if (below !== undefined) lines.push(`subvolumes ${below}`);
    return [`volume ${name}`, `type ${type}`, ...lines, 'end-volume'].join('\n');
  });
  return `${volumes.join('\n')}\n`;
}
