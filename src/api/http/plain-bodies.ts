import type { Layer } from './layers.ts';
import { isRead } from './parameters.ts';
import { problem } from './respond.ts';

/** Refuses compressed bodies (RFC 9110, section 12.5.3), which could expand to any size. */
export function plainBodies(): Layer {
  return ({ req }) => {
    const encoding = req.header('content-encoding')?.trim().toLowerCase() || 'identity';
    if (isRead(req.method) || encoding === 'identity') return undefined;
    return problem('compressed-body', {}, { headers: { 'accept-encoding': 'identity' } });
  };
}
