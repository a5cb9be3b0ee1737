import { isDeepStrictEqual } from 'node:util';
import { FAST_SECONDS, type IntervalsState } from '../../domain/agents/intervals.ts';
import type { Session } from '../../domain/agents/session.ts';
import { claimFastSlot, readOpenWork } from '../../persistence/agents/intervals.sql.ts';
import type { ExchangeDeps } from './deps.ts';

/**
 * The computer's intervals after this response; null if unchanged. Takes a slot for work, which the exchange or, if it is
 * not saved, the next one or the reconciler gives back. @see docs/agent-protocol.md#intervals
 */
export async function intervalsAfter(
  { db, maxFast }: Pick<ExchangeDeps, 'db' | 'maxFast'>,
  session: Session,
  withResult: ReadonlySet<number>,
  now: Date,
): Promise<IntervalsState | null> {
  const { intervals, pollsFast, fastAt } = session;
  const preferred = session.approved ? session.preferredIntervals : null;
  const normal = preferred ?? intervals;
  if (normal === null) return null;
  const canBeFaster = Math.max(normal.ping, normal.urgent_exchange) > FAST_SECONDS;
  const isFast = preferred !== null && canBeFaster && (await hasWork());
  const slot = isFast ? (fastAt ?? (await claimFastSlot(db, session.computerId, maxFast, now))) : null;
  const after = { intervals: normal, pollsFast: slot !== null, fastAt: slot };
  return isDeepStrictEqual(after, { intervals, pollsFast, fastAt }) ? null : after;

  async function hasWork(): Promise<boolean> {
    if (session.accountDisabled || session.maxBacklog === 0) return false;
    const work =
      fastAt === null
        ? [...session.due, ...session.sent].map(({ activityId }) => activityId)
        : await readOpenWork(db, session.computerId, now);
    return work.some((id) => !withResult.has(id));
  }
}
