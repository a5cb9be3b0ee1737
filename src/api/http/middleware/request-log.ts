import type { RequestHandler } from 'express';
import type { Logger } from '../../../process/logger.ts';
import { isRead, type Operation } from '../operations.ts';
import type { RequestState } from '../request-state.ts';

export interface RequestListeners {
  onRequestStart?(): void;
  /** The status is 499 when the client disconnected, 500 when the response was cut off. */
  onRequestEnd?(operationId: string, status: number, seconds: number): void;
}

/** Logs every request when it is complete, and reports it to the metrics. */
export function requestLog(logger: Logger, { onRequestStart, onRequestEnd }: RequestListeners): RequestHandler {
  return ({ method }, { locals }, next) => {
    const startedAt = performance.now();
    onRequestStart?.();
    locals.onCompleted.push((status) => {
      const milliseconds = performance.now() - startedAt;
      logRequest(logger, method, locals, { status, durationMs: Math.round(milliseconds * 10) / 10 });
      onRequestEnd?.(locals.operation?.id ?? 'none', status, milliseconds / 1000);
    });
    next();
  };
}

const MAX_LOGGED_IDS = 50;

/** No content. Reads, and unauthenticated failures, which anybody can send at will, are logged only at `debug`. */
function logRequest(
  logger: Logger,
  method: string,
  { operation, principal, responseBody }: RequestState,
  figures: { status: number; durationMs: number },
): void {
  const isNotable = !isRead(operation, method) && (principal !== null || figures.status < 400);
  const level = isNotable ? 'info' : 'debug';
  if (!logger.isLevelEnabled(level)) return;
  const who = principal && { accountId: principal.accountId, personId: principal.personId };
  const about = activityFields(operation, responseBody);
  logger[level]({ operation: operation?.id ?? 'none', ...figures, ...who, ...about }, 'request completed');
}

function activityFields(operation: Operation | undefined, body: unknown): object {
  if (isActivity(body)) return { activityId: body.id };
  if (!operation?.listsActivities || !Array.isArray(body) || body.length === 0) return {};
  const activityIds: unknown[] = body.slice(0, MAX_LOGGED_IDS);
  return body.length > MAX_LOGGED_IDS ? { activityIds, activityCount: body.length } : { activityIds };
}

function isActivity(body: unknown): body is { id: number } {
  if (typeof body !== 'object' || body === null) return false;
  return 'activity_status' in body && 'id' in body && typeof body.id === 'number';
}
