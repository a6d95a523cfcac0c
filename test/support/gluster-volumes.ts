type Layer = {
  type: string;
  options?: Record<string, string | number>;
  /** What it lies on, where that is not the layer before it. */
  on?: string[];
};

/** What glusterfsd serves: its bricks as `gluster volume create` makes them, without what is off there. */
export function serverVolume({ bricks, port }: { bricks: string[]; port: number }): string {
  const served = bricks.map((_, index) => `brick-${index}`);
  const allowed = served.map((name): [string, string] => [`auth.addr.${name}.allow`, '127.0.0.1']);
  const options = {
    'transport-type': 'tcp',
    'transport.socket.bind-address': '127.0.0.1',
    'transport.socket.listen-port': port,
    ...Object.fromEntries(allowed),
  };
  return stack([
    ...bricks.flatMap((directory, index): [string, Layer][] => [
      [`posix-${index}`, { type: 'storage/posix', options: { directory }, on: [] }],
      [`locks-${index}`, { type: 'features/locks' }],
      [`brick-${index}`, { type: 'performance/io-threads' }],
    ]),
    ['server', { type: 'protocol/server', options, on: served }],
  ]);
}

/** What a machine mounts: the caches and the late writes that `gluster volume create` gives a new volume are all there. */
export function clientVolume({ bricks, port }: { bricks: string[]; port: number }): string {
  const clients = bricks.map((_, index): [string, Layer] => {
    const there = { 'remote-host': '127.0.0.1', 'remote-port': port, 'remote-subvolume': `brick-${index}` };
    return [`client-${index}`, { type: 'protocol/client', options: { 'transport-type': 'tcp', ...there }, on: [] }];
  });
  return stack([
    ...clients,
    ['distribute', { type: 'cluster/distribute', on: clients.map(([name]) => name) }],
    ['utime', { type: 'features/utime', options: { noatime: 'on' } }],
    ['write-behind', { type: 'performance/write-behind' }],
    ['open-behind', { type: 'performance/open-behind' }],
    ['quick-read', { type: 'performance/quick-read' }],
    ['md-cache', { type: 'performance/md-cache' }],
    ['io-threads', { type: 'performance/io-threads' }],
  ]);
}

/** A volume file. */
function stack(layers: [name: string, layer: Layer][]): string {
  const volumes = layers.map(([name, { type, options = {}, on }], index) => {
    const below = on ?? layers.slice(index - 1, index).map(([before]) => before);
    const lines = Object.entries(options).map(([option, value]) => `option ${option} ${value}`);
    if (below.length > 0) lines.push(`subvolumes ${below.join(' ')}`);
    return [`volume ${name}`, `type ${type}`, ...lines, 'end-volume'].join('\n');
  });
  return `${volumes.join('\n')}\n`;
}
