import { ApiError } from './api-error.ts';

/** The server has sent nothing for so long that the connection counts as lost. */
export class SilentConnection extends Error {
  override readonly name = 'SilentConnection';
}

/** Whether an error may pass by itself: the network is down, or the server is unavailable or overloaded. */
export function isOutage(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof TypeError || error instanceof SilentConnection || isTimeout(error);
}

/** Of `AbortSignal.timeout`. */
function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
