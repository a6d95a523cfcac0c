/** How a test run gets its Redis servers; decided once per run, see `choose-redis.ts`. */
export type RedisChoice =
  | { kind: 'container'; image: string }
  | { kind: 'binary'; command: string }
  | { kind: 'url'; url: string }
  | { kind: 'unavailable'; reason: string };

export type RedisOptions = {
  /** Keep the data over a restart (append-only file, everysec). Without it a restarted server is empty. */
  appendOnly?: boolean;
  /** How many numbered databases it has; 16 unless told otherwise. */
  databases?: number;
};

/** One Redis for one suite, empty at the start. `stop` may be called twice. */
export type RedisServer = {
  kind: 'container' | 'binary' | 'url';
  url: string;
  /** Kills it without warning and starts it again at the same url. Missing when the server is somebody else's. */
  restart?(): Promise<void>;
  /** Freezes it: connections stay open, nothing answers. Missing when the server is somebody else's. */
  pause?(): Promise<void>;
  resume?(): Promise<void>;
  stop(): Promise<void>;
};

/** Arguments only, no program name: the official image and one whose entrypoint is redis-server both take them. */
export function redisArguments({ appendOnly = false, databases = 16 }: RedisOptions): string[] {
  return [
    '--save',
    '',
    '--appendonly',
    appendOnly ? 'yes' : 'no',
    '--appendfsync',
    'everysec',
    '--protected-mode',
    'no',
    '--databases',
    String(databases),
  ];
}
