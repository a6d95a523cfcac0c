import { secureHeaders } from 'hono/secure-headers';
import { type Layer, leaving } from './layers.ts';

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

/** Security headers for browsers; a route may override them for its page. */
export function pageHeaders(): Layer {
  const headers = secureHeaders({
    contentSecurityPolicy: pagePolicy,
    referrerPolicy: 'no-referrer',
    xFrameOptions: 'DENY',
    // HSTS is left to the proxy that terminates TLS, because it concerns other names of the host, too.
    strictTransportSecurity: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xDnsPrefetchControl: false,
    overwrite: false,
  });
  return leaving(headers);
}

/** Nothing may be cached, so that no answer is left after a sign-out, except what sets `cache-control` itself: the console's files. */
export function keepNothing(): Layer {
  return (context) => () => {
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
  };
}
