import type { Request, RequestHandler, Response } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import { ConcurrencyLimiter } from '../../../process/admission/concurrency-limiter.ts';
import type { ActivityWaits, WaitRequest, WaitResult } from '../../../services/activities/activity-waits.ts';
import type { Operation } from '../operations.ts';
import { knownTags } from '../request/conditional.ts';
import { completeRequest } from '../request-state.ts';
import { recordedStatus } from '../send.ts';

/** Waiters that go on at once when all of an activity's are due: the queue of the admission is for others. */
const AT_ONCE = 64;

/**
 * Lets a read wait for its activity, for the parameters `wait` and `until`. Meanwhile it holds no slot of the admission
 * and no connection. @throws {DomainError} InvalidParameterCombination; ServiceUnavailable when the process stops
 */
export function wait(waits: ActivityWaits): (operation: Operation) => RequestHandler {
  const turns = new ConcurrencyLimiter({ concurrency: AT_ONCE });
  return ({ queryParameters }) => {
    if (!queryParameters.has('wait')) return (_req, _res, next) => next();
    return async (req, res, next) => {
      const request = readRequest(req, res);
      if (request === null) return next();
      const result = await untilDue(waits, req, res, request);
      if (result === 'left') return completeRequest(res, recordedStatus(req, res));
      if (result === 'closing') {
        throw new DomainError('ServiceUnavailable', 'The server stops; try again', { retryAfterSeconds: 1 });
      }
      res.locals.hasWaited = true;
      void turns.run('', () => {
        return new Promise<void>((done) => {
          res.locals.onHandled.push(done);
          next();
        });
      });
    };
  };
}

/** Waits unless the client disconnects. Never rejects. */
export async function untilDue(
  waits: ActivityWaits,
  { res: response }: Request,
  { locals }: Response,
  request: WaitRequest,
): Promise<WaitResult> {
  const { principal, address, requestId } = locals;
  const waiting = waits.start({ ...principal!, origin: { address, requestId } }, request);
  response!.once('close', waiting.leave);
  const result = await waiting.result;
  response!.off('close', waiting.leave);
  return result;
}

function readRequest(req: Request, { locals: { query, params } }: Response): WaitRequest | null {
  const { wait: seconds, until = 'changed' } = query as { wait?: number; until?: WaitRequest['until'] };
  if (seconds === undefined && 'until' in query) {
    throw new DomainError('InvalidParameterCombination', 'until needs wait');
  }
  if (!seconds) return null;
  const known = knownTags(req);
  return { activityId: Number(params['activity_id']), until, known: known === '*' ? null : known, seconds };
}
