/** What a worker runs under so that the modes of files hold for it: a root reads and writes whatever its capabilities let it. */
export const limitedRoot: string[] =
  process.platform === 'linux' && process.getuid?.() === 0
    ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search']
    : [];
