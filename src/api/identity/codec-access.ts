import type { Request, RequestHandler } from 'express';
import type { Config } from '../../process/config.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { digestSecret, secretMatches } from '../../services/identity/login/access-keys.ts';
import type { Authenticator } from '../../services/identity/login/authenticator.ts';
import { MethodNotAllowed } from '../http/route-table.ts';

export interface CodecAccess {
  /** Refuses names that are none of ours, and lets a Temporal UI call from its own origin: the only cross-origin access of the server. */
  guard: RequestHandler;
  /** Tells whether a request may decode payloads. */
  allow(req: Request): Promise<boolean>;
}

const CODEC_PATHS = new Set(['/encode', '/decode']);
/** Names of this machine; no other site can have a browser use them. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Who may use the codec endpoint: whoever has its token, and people with the permission ManageAccount, under a name that is
 * known here. A page of another site that has its own name lead here gets nothing.
 */
export function codecAccess(deps: {
  authenticator: Pick<Authenticator, 'authenticate'>;
  config: Pick<Config, 'codecToken' | 'codecHosts' | 'publicUrl' | 'host'>;
}): CodecAccess {
  const { codecToken, codecHosts, publicUrl, host } = deps.config;
  const publicHost = URL.canParse(publicUrl) ? new URL(publicUrl).hostname.toLowerCase() : '';
  const known = new Set([publicHost, host.toLowerCase(), ...codecHosts]);
  return {
    guard(req, res, next) {
      const name = hostname(req.headers.host);
      if (!LOOPBACK.test(name) && !known.has(name)) {
        throw new DomainError(
          'Forbidden',
          'The codec endpoint is not served under this name; FLOTILLA_CODEC_HOSTS adds one',
        );
      }
      const { origin } = req.headers;
      // With a token there is nothing to steal by origin: browsers never add the header by themselves.
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

/** The name in a Host header, without its port. */
function hostname(header = ''): string {
  return header.toLowerCase().replace(/:\d+$/, '');
}
