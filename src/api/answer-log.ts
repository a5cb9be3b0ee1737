import type { Logger } from '../logger.ts';
import type { Principal } from '../services/ports.ts';
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
}

/**
 * One line for an answered request: ids and figures, nothing of what was sent. At `info` where something may have
 * changed, at `debug` for reads, and for what was refused before anybody was identified, which strangers can send at will.
 *
 * @remarks To be called within the request's span, whose ids the line carries.
 */
export function logAnswer(logger: Logger, { method, operation, status, milliseconds, principal }: Answered): void {
  const isNotable = !isRead(operation, method) && (principal !== null || status < 400);
  const level = isNotable ? 'info' : 'debug';
  if (!logger.isLevelEnabled(level)) return;
  const who = principal && { accountId: principal.accountId, personId: principal.personId };
  logger[level](
    { operation: operation?.id ?? 'none', status, durationMs: Math.round(milliseconds * 10) / 10, ...who },
    'answered',
  );
}
