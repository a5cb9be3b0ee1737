import { ApiError } from '@flotilla/client';

/** Exit codes of the program; docs/cli.md explains them. */
export const EXIT = {
  succeeded: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  unfinished: 4,
  canceled: 5,
  unapproved: 6,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure with a message for people. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}

/** What a failed connection means, by the code of the system error. */
const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there. Is the server running?',
  ENOTFOUND: 'there is no such host. Is the address right?',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ETIMEDOUT: 'there is no response',
  UND_ERR_CONNECT_TIMEOUT: 'there is no response',
  UND_ERR_HEADERS_TIMEOUT: 'there is no response',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed; NODE_EXTRA_CA_CERTS names a file of further authorities',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed; NODE_EXTRA_CA_CERTS names a file of further authorities',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate cannot be verified; NODE_EXTRA_CA_CERTS names a file of further authorities',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/**
 * The lines for people and the exit code of any failure.
 *
 * @param url - the server in use; null before it is known
 */
export function describeError(error: unknown, url: string | null): { lines: string[]; exitCode: ExitCode } {
  if (error instanceof CliError) return { lines: [error.message], exitCode: error.exitCode };
  if (error instanceof ApiError) return { lines: describeApiError(error, url), exitCode: EXIT.refused };
  const reason = networkReason(error);
  if (reason !== null) return { lines: [`Cannot reach ${url ?? 'the server'}: ${reason}`], exitCode: EXIT.refused };
  return { lines: [error instanceof Error ? error.message : String(error)], exitCode: EXIT.failed };
}

function describeApiError(error: ApiError, url: string | null): string[] {
  if (error.code === 'Unauthorized') {
    const server = url ?? 'URL';
    return [`The token for ${server} has expired or was ended. Log in again: flotilla login ${server}`];
  }
  const details = error.details.filter(({ message }) => !error.message.includes(message));
  return [
    error.message,
    ...details.map(({ path, id, message }) => `  ${path ?? (id === undefined ? '' : `id ${id}`)}: ${message}`),
    ...(error.status >= 500 && error.requestId !== null
      ? [`The log of the server has more under the request id ${error.requestId}`]
      : []),
  ];
}

/** Why the server cannot be reached, from the innermost cause; null for any other error. */
function networkReason(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && NETWORK[code] !== undefined) return NETWORK[code];
    const [inner] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
    const nested = inner === undefined ? null : networkReason(inner);
    if (nested !== null) return nested;
  }
  return error instanceof TypeError && error.message === 'fetch failed' ? 'the connection failed' : null;
}
