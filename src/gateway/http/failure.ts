import type { Logger } from '../../process/logger.ts';
import { isDatabaseAway } from '../../services/common/availability.ts';
import { Refusal } from './refusal.ts';

/** What an agent is told of an error; one that is no refusal yet is logged, with what the surroundings say it is about. */
export function refusalOf(error: unknown, logger: Logger): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof URIError) return new Refusal(400, 'InvalidParameter', 'The path is not well-formed');
  // Not the error whole: what PostgreSQL adds to it can quote what agents sent.
  const { name, stack, code } = error as Error & { code?: unknown };
  if (isDatabaseAway(error)) {
    logger.warn({ err: { name, code } }, 'the database is away');
    return new Refusal(503, 'ServiceUnavailable', 'Try again later');
  }
  logger.error({ err: { name, stack, sqlState: code } }, 'an exchange failed');
  return new Refusal(500, 'InternalError', 'Something went wrong');
}
