import { secureHeaders } from 'hono/secure-headers';
import { type Layer, leaving } from './layers.ts';

/** A page may load only what comes from here. Styles are files or set by script, never written in place. */
const pagePolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  manifestSrc: ["'self'"],
  formAction: ["'none'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Headers that keep browsers from guessing, framing and leaking. A route may say more about its own page. */
export function pageHeaders(): Layer {
  const headers = secureHeaders({
    contentSecurityPolicy: pagePolicy,
    referrerPolicy: 'no-referrer',
    xFrameOptions: 'DENY',
    // The proxy that ends TLS decides about this, also for other names of this host.
    strictTransportSecurity: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xDnsPrefetchControl: false,
    overwrite: false,
  });
  return leaving(headers);
}

/** No answer is kept by a browser or a proxy after a sign-out, but for what says that it may be: the console's own files. */
export function keepNothing(): Layer {
  return (context) => () => {
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
  };
}
