import type { ErrorRequestHandler, Request, Response } from 'express';
import { CLIENT_CLOSED_REQUEST } from '../../../process/http-response.ts';
import type { Logger } from '../../../process/logger.ts';
import type { Operation } from '../operations.ts';
import { completeRequest, releaseResources } from '../request-state.ts';
import type { ErrorResponse } from './error-response.ts';
import { recordedStatus } from './handle.ts';
import { isClientDisconnect, sendJson, toErrorResponse } from './send.ts';
import { ERROR_STATUS } from '../../../domain/common/errors.ts';

/** Sends an error response. @param mustBeDeclared - an error that the document does not declare is a defect; for tests */
export function errorHandler(logger: Logger, mustBeDeclared: boolean): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    releaseResources(res);
    completeRequest(res, respond(error, req, res));
  };

  function respond(error: unknown, req: Request, res: Response): number {
    const { requestId, operation } = res.locals;
    if (res.headersSent) {
      res.destroy();
      if (isClientDisconnect(error)) return CLIENT_CLOSED_REQUEST;
      logger.error({ requestId, err: error }, 'a response broke off');
      return ERROR_STATUS.InternalError;
    }
    const response = toErrorResponse(error, requestId, logger);
    const isDeclared = !mustBeDeclared || !operation || declares(operation, response);
    const sent = isDeclared ? response : toErrorResponse(undeclared(operation, response), requestId, logger);
    sendJson(req, res, { ...sent, requestId });
    return recordedStatus(req, res);
  }
}

function declares({ errorCodes }: Operation, { status, body }: ErrorResponse): boolean {
  return errorCodes.get(status)?.has(body.error) ?? false;
}

function undeclared({ id }: Operation, { status, body }: ErrorResponse): Error {
  return new Error(`${id} does not declare ${status} ${body.error}`);
}
