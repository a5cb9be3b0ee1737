import type { Logger } from '../../process/logger.ts';
import type { Principal } from '../../services/common/ports.ts';
import { isRead, type Operation } from './operations.ts';

export interface Answered {
  method: string;
  /** Undefined where no route matched. */
  operation: Operation | undefined;
  /** The one sent; 499 where the client left before, 500 where the answer broke off. */
  status: number;
  milliseconds: number;
  /** Null where nobody was identified. */
  principal: Principal | null;
  /** Body of the operation's reply; undefined where it made none. */
  body: unknown;
}

/** Most activities that a line names one by one. */
const MAX_NAMED = 50;

/**
 * One line for an answered request: ids and figures, nothing of what was sent. It names the activities that the answer
 * is about, so that a request can be followed to what it made. At `info` where something may have
 * changed, at `debug` for reads, and for what was refused before anybody was identified, which strangers can send at will.
 *
 * @remarks To be called within the request's span, whose ids the line carries.
 */
export function logAnswer(
  logger: Logger,
  { method, operation, status, milliseconds, principal, body }: Answered,
): void {
  const isNotable = !isRead(operation, method) && (principal !== null || status < 400);
  const level = isNotable ? 'info' : 'debug';
  if (!logger.isLevelEnabled(level)) return;
  const who = principal && { accountId: principal.accountId, personId: principal.personId };
  const durationMs = Math.round(milliseconds * 10) / 10;
  const about = activitiesOf(operation, body);
  logger[level]({ operation: operation?.id ?? 'none', status, durationMs, ...who, ...about }, 'answered');
}

function activitiesOf(operation: Operation | undefined, body: unknown): object {
  if (isActivity(body)) return { activityId: body.id };
  if (!operation?.listsActivities || !Array.isArray(body) || body.length === 0) return {};
  const activityIds: unknown[] = body.slice(0, MAX_NAMED);
  return body.length > MAX_NAMED ? { activityIds, activityCount: body.length } : { activityIds };
}

/** Whether an answer is one activity, in whatever detail; one that is only like it, as a report that is there, has no id. */
function isActivity(body: unknown): body is { id: number } {
  if (typeof body !== 'object' || body === null) return false;
  return 'activity_status' in body && 'id' in body && typeof body.id === 'number';
}
