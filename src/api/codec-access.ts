import type { Request, RequestHandler } from 'express';
import type { Authenticator } from '../services/authenticator.ts';
import { MethodNotAllowed } from './route-table.ts';

export interface CodecAccess {
  /** Lets the Temporal UI call from its own origin. The only cross-origin access of the server. */
  cors: RequestHandler;
  /** Tells whether a request may decode payloads. */
  allow(req: Request): Promise<boolean>;
}

const CODEC_PATHS = new Set(['/encode', '/decode']);
const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/** Whether a request comes from this machine, and not from one beyond a proxy on it. */
function isFromHere({ socket, headers }: Request): boolean {
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return LOOPBACK.test(socket.remoteAddress ?? '') && !isForwarded;
}

/**
 * Who may use the codec endpoint: in the embedded stack whoever is on this machine, elsewhere a token with
 * ManageAccount.
 *
 * @see design.md 8, "Codec for the UI"
 */
export function codecAccess(deps: {
  authenticator: Pick<Authenticator, 'authenticate'>;
  embedded: boolean;
  uiPort: number;
}): CodecAccess {
  const ownOrigins = new Set([`http://127.0.0.1:${deps.uiPort}`, `http://localhost:${deps.uiPort}`]);
  return {
    cors(req, res, next) {
      const origin = req.headers.origin;
      // With a token there is nothing to steal by origin: browsers never add the header by themselves.
      if (origin !== undefined && (!deps.embedded || ownOrigins.has(origin))) {
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
      if (deps.embedded && isFromHere(req)) return true;
      const token = /^bearer (\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
      if (token === undefined) return false;
      const caller = await deps.authenticator.authenticate(token).catch(() => null);
      return caller?.may('ManageAccount') ?? false;
    },
  };
}
