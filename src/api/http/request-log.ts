import type { Logger } from '../../process/logger.ts';
import type { Principal } from '../../services/common/ports.ts';
import { isRead, type Operation } from './operations.ts';

export interface CompletedRequest {
  method: string;
  /** Undefined when no route matched. */
  operation: Operation | undefined;
  /** As sent; 499 when the client disconnected before, 500 when the response broke off. */
  status: number;
  milliseconds: number;
  /** Null when the request was not authenticated. */
  principal: Principal | null;
  /** Body of the operation's response; undefined when there is none. */
  body: unknown;
}

const MAX_LOGGED_IDS = 50;

/**
 * Logs a request with ids and figures, but no content, and with the activities of its response, so that a request can
 * be followed to what it created. At `info` when something may have changed; at `debug` for reads and for requests that
 * failed unauthenticated, which anybody can send at will.
 * @remarks Call it within the request's span, whose ids the line carries.
 */
export function logRequest(
  logger: Logger,
  { method, operation, status, milliseconds, principal, body }: CompletedRequest,
): void {
  const isNotable = !isRead(operation, method) && (principal !== null || status < 400);
  const level = isNotable ? 'info' : 'debug';
  if (!logger.isLevelEnabled(level)) return;
  const who = principal && { accountId: principal.accountId, personId: principal.personId };
  const durationMs = Math.round(milliseconds * 10) / 10;
  const about = activityFields(operation, body);
  logger[level]({ operation: operation?.id ?? 'none', status, durationMs, ...who, ...about }, 'request completed');
}

function activityFields(operation: Operation | undefined, body: unknown): object {
  if (isActivity(body)) return { activityId: body.id };
  if (!operation?.listsActivities || !Array.isArray(body) || body.length === 0) return {};
  const activityIds: unknown[] = body.slice(0, MAX_LOGGED_IDS);
  return body.length > MAX_LOGGED_IDS ? { activityIds, activityCount: body.length } : { activityIds };
}

/** A finished report looks like an activity, but has no id. */
function isActivity(body: unknown): body is { id: number } {
  if (typeof body !== 'object' || body === null) return false;
  return 'activity_status' in body && 'id' in body && typeof body.id === 'number';
}
