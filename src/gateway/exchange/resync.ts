import { HOUR_MS } from '../../domain/common/durations.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { OpenResync } from '../facts/facts.ts';
import { scopesOf } from '../facts/scopes.ts';
import type { ResyncState, Session } from './session.ts';

/** An agent is asked to report something afresh at most this often. */
const PAUSE_MS = HOUR_MS;

/** As `PAUSE_MS`, for package sets that came apart: a reporter run is dear for the computer. */
const PACKAGES_PAUSE_MS = 6 * HOUR_MS;

const PACKAGE = 'package';

/** Requests of the server's own that the agent may still answer. */
export function openResyncs({ resyncId, resync: { askedId, askedScopes } }: Session): OpenResync[] {
  const packages = resyncId === null ? [] : [{ id: resyncId, scopes: [PACKAGE] }];
  return askedId === null ? packages : [...packages, { id: askedId, scopes: askedScopes }];
}

/** What an agent is to be asked for in this answer, if there is room for it. */
export function scopesToAsk(session: Session, refused: readonly string[], now: Date): string[] {
  const { approved, resyncWanted, resyncAt, resync } = session;
  if (!approved || passedMs(resync.askedAt, now) < PAUSE_MS) return [];
  const scopes = new Set([...resync.wantedScopes, ...scopesOf(refused)]);
  if (resyncWanted && passedMs(resyncAt, now) > PACKAGES_PAUSE_MS) scopes.add(PACKAGE);
  return [...scopes].sort();
}

function passedMs(at: Date | null, now: Date): number {
  return at === null ? Number.POSITIVE_INFINITY : now.getTime() - at.getTime();
}

/** A request that goes out with an answer. */
export interface AskedResync {
  id: number;
  scopes: readonly string[];
}

/** How an exchange changes what is kept; null when it does not. */
export function resyncAfter(
  session: Session,
  asked: AskedResync | null,
  refused: readonly string[],
  now: Date,
): ResyncState | null {
  if (asked) return { wantedScopes: [], askedScopes: asked.scopes, askedId: asked.id, askedAt: now };
  const { wantedScopes } = session.resync;
  const all = new Set([...wantedScopes, ...(session.approved ? scopesOf(refused) : [])]);
  return all.size === wantedScopes.length ? null : { ...session.resync, wantedScopes: [...all].sort() };
}

/** The part of it that is about packages, as sessions have it. */
export function packagesAsked(
  { resyncWanted, resyncId, resyncAt }: Session,
  asked: AskedResync | null,
  now: Date,
): Pick<Session, 'resyncWanted' | 'resyncId' | 'resyncAt'> {
  if (!asked?.scopes.includes(PACKAGE)) return { resyncWanted, resyncId, resyncAt };
  return { resyncWanted: false, resyncId: asked.id, resyncAt: now };
}

/** Writes what {@link resyncAfter} found, of different computers. */
export async function saveResyncs(
  tx: Sql,
  changes: ReadonlyArray<{ computerId: number; resync: ResyncState }>,
): Promise<void> {
  await tx.query(SAVE, [
    JSON.stringify(
      changes.map(({ computerId, resync: { wantedScopes, askedScopes, askedId, askedAt } }) => ({
        computer_id: computerId,
        wanted_scopes: wantedScopes,
        asked_scopes: askedScopes,
        asked_id: askedId,
        asked_at: askedAt,
      })),
    ),
  ]);
}

const SAVE = `
  update agent a set wanted_scopes = r.wanted_scopes, asked_scopes = r.asked_scopes, asked_id = r.asked_id,
    asked_at = r.asked_at
  from jsonb_to_recordset($1::jsonb)
    r(computer_id int, wanted_scopes text[], asked_scopes text[], asked_id bigint, asked_at timestamptz)
  where a.computer_id = r.computer_id`;
