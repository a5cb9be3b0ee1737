import type { ErrorRequestHandler, Request, Response } from 'express';
import { DomainError, ERROR_STATUS, type ErrorCode, type ErrorDetail } from '../../../domain/common/errors.ts';
import { CLIENT_CLOSED_REQUEST } from '../../../process/http-response.ts';
import type { Logger } from '../../../process/logger.ts';
import { isDatabaseUnavailable } from '../../../services/common/ports.ts';
import { RequestMemoryExceeded } from '../request/body-stream.ts';
import { completeRequest, releaseResources } from '../request-state.ts';
import { isClientDisconnect, recordedStatus, send } from '../send.ts';
import { beginRequest } from './request-id.ts';

export class MethodNotAllowed extends DomainError {
  readonly allow: string;

  constructor(methods: readonly string[]) {
    const allow = (methods.includes('GET') ? [...methods, 'HEAD'] : methods).join(', ');
    super('MethodNotAllowed', `Only ${allow} can be used here`);
    this.allow = allow;
  }
}

/** Body of every error response. @see docs/api-conventions.md#error-body */
export function errorBody(status: number, error: ErrorCode, message: string, details?: ErrorDetail[]) {
  return { error, message, code: status, details };
}

/** Sends an error response. @param mustBeDeclared - an error that the document does not declare is a defect; for tests */
export function errorHandler(logger: Logger, mustBeDeclared = false): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    // Requests of agents have no state.
    if (res.locals.requestId === undefined) beginRequest(req, res);
    releaseResources(res);
    completeRequest(res, respond(error, req, res));
  };

  function respond(error: unknown, req: Request, res: Response): number {
    const { requestId, operation } = res.locals;
    if (res.headersSent) {
      res.destroy();
      if (isClientDisconnect(error)) return CLIENT_CLOSED_REQUEST;
      logger.error({ requestId, err: error }, 'a response was cut off');
      return ERROR_STATUS.InternalError;
    }
    let sent = toDomainError(error, requestId, logger);
    const status = statusOf(sent);
    if (mustBeDeclared && operation && !operation.errorCodes.get(status)?.has(sent.code)) {
      sent = toDomainError(new Error(`${operation.id} does not declare ${status} ${sent.code}`), requestId, logger);
    }
    sendError(sent, req, res);
    return recordedStatus(req, res);
  }
}

function statusOf({ namedInBody, code }: DomainError): number {
  return namedInBody ? 400 : ERROR_STATUS[code];
}

function sendError(error: DomainError, req: Request, res: Response): void {
  const status = statusOf(error);
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (error.retryAfterSeconds !== undefined) {
    headers['Retry-After'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  }
  if (error instanceof MethodNotAllowed) headers['Allow'] = error.allow;
  // The rest of the body is not read.
  if (error.code === 'PayloadTooLarge' || error instanceof RequestMemoryExceeded) headers['Connection'] = 'close';
  send(req, res, status, errorBody(status, error.code, error.message, error.details), headers);
}

/** Everything that is not expected is a defect: it is logged, and the 500 reveals nothing of it. */
function toDomainError(error: unknown, requestId: string, logger: Logger): DomainError {
  if (error instanceof DomainError) return error;
  // Express and its parsers throw errors with a status.
  const { status } = (error ?? {}) as { status?: unknown };
  if (status === 413) return new DomainError('PayloadTooLarge', 'The body is too large');
  if (status === 415) return new DomainError('UnsupportedMediaType', 'The body has an unsupported type or encoding');
  if (status === 400) return new DomainError('InvalidParameter', 'The request could not be read');
  if (isDatabaseUnavailable(error)) {
    logger.warn({ requestId, err: error }, 'the database is unavailable');
    const message = 'The database is unavailable; try again shortly';
    return new DomainError('ServiceUnavailable', message, { retryAfterSeconds: 2 });
  }
  logger.error({ requestId, err: error }, 'a request failed');
  return new DomainError('InternalError', `An internal error occurred; request ${requestId}`);
}
