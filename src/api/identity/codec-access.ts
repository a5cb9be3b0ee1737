import type { Request, RequestHandler } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import type { Config } from '../../process/config.ts';
import { digestSecret, secretMatches } from '../../services/identity/login/access-keys.ts';
import type { Authenticator } from '../../services/identity/login/authenticator.ts';
import { MethodNotAllowed } from '../http/middleware/error-handler.ts';

interface CodecAccess {
  /** Rejects unknown host names, and allows cross-origin calls, which a Temporal UI makes. */
  guard: RequestHandler;
  allow(req: Request): Promise<boolean>;
}

const CODEC_PATHS = new Set(['/encode', '/decode']);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Requires the codec's token or ManageAccount, and a known host name, which protects against DNS rebinding. */
export function createCodecAccess(deps: {
  authenticator: Pick<Authenticator, 'authenticate'>;
  config: Pick<Config, 'codecToken' | 'codecHosts' | 'publicUrl' | 'host'>;
}): CodecAccess {
  const { codecToken, codecHosts, publicUrl, host } = deps.config;
  const publicHost = URL.canParse(publicUrl) ? new URL(publicUrl).hostname.toLowerCase() : '';
  const known = new Set([publicHost, host.toLowerCase(), ...codecHosts]);
  return {
    guard(req, res, next) {
      const name = (req.headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
      if (!LOOPBACK.test(name) && !known.has(name)) {
        throw new DomainError(
          'Forbidden',
          'The codec endpoint is not served under this host name; add it to FLOTILLA_CODEC_HOSTS',
        );
      }
      const { origin } = req.headers;
      // Any origin is safe, because browsers do not add the token by themselves.
      if (origin !== undefined) {
        res.setHeader('Access-Control-Allow-Origin', origin);
        res.setHeader('Access-Control-Allow-Methods', 'POST');
        res.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Namespace');
      }
      res.setHeader('Vary', 'Origin');
      res.setHeader('Cache-Control', 'no-store');
      if (req.method === 'OPTIONS') res.status(204).end();
      else if (req.method !== 'POST' && CODEC_PATHS.has(req.path)) throw new MethodNotAllowed(['POST']);
      else next();
    },
    async allow(req) {
      const token = /^bearer (\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
      if (token === undefined) return false;
      if (codecToken !== null && secretMatches(token, digestSecret(codecToken))) return true;
      const caller = await deps.authenticator.authenticate(token).catch(() => null);
      return caller?.may('ManageAccount') ?? false;
    },
  };
}
