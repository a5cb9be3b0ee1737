import type { OpenResync } from '../../domain/agents/facts.ts';
import type { ResyncState, Session } from '../../domain/agents/session.ts';
import { HOUR_MS } from '../../domain/common/durations.ts';
import { scopesOf } from '../facts/scopes.ts';

const MIN_INTERVAL_MS = HOUR_MS;

/** As above, for inconsistent package sets: a reporter run is expensive for the computer. */
const MIN_PACKAGES_INTERVAL_MS = 6 * HOUR_MS;

const PACKAGE = 'package';

/** Requests of the server that still have no response. */
export function openResyncs({ resyncId, resync: { requestId, requestedScopes } }: Session): OpenResync[] {
  const packages = resyncId === null ? [] : [{ id: resyncId, scopes: [PACKAGE] }];
  return requestId === null ? packages : [...packages, { id: requestId, scopes: requestedScopes }];
}

/** Scopes to request in this response, if there is room. */
export function scopesToRequest(session: Session, rejected: readonly string[], now: Date): string[] {
  const { approved, resyncWanted, resyncAt, resync } = session;
  if (!approved || elapsedMs(resync.requestedAt, now) < MIN_INTERVAL_MS) return [];
  const scopes = new Set([...resync.wantedScopes, ...scopesOf(rejected)]);
  if (resyncWanted && elapsedMs(resyncAt, now) > MIN_PACKAGES_INTERVAL_MS) scopes.add(PACKAGE);
  return [...scopes].sort();
}

function elapsedMs(at: Date | null, now: Date): number {
  return at === null ? Number.POSITIVE_INFINITY : now.getTime() - at.getTime();
}

export interface ResyncRequest {
  id: number;
  scopes: readonly string[];
}

/** The state after an exchange; null if unchanged. */
export function resyncAfter(
  session: Session,
  request: ResyncRequest | null,
  rejected: readonly string[],
  now: Date,
): ResyncState | null {
  if (request) return { wantedScopes: [], requestedScopes: request.scopes, requestId: request.id, requestedAt: now };
  const { wantedScopes } = session.resync;
  const all = new Set([...wantedScopes, ...(session.approved ? scopesOf(rejected) : [])]);
  return all.size === wantedScopes.length ? null : { ...session.resync, wantedScopes: [...all].sort() };
}

/** The state of package requests after an exchange, which sessions keep separately. */
export function packageResyncAfter(
  { resyncWanted, resyncId, resyncAt }: Session,
  request: ResyncRequest | null,
  now: Date,
): Pick<Session, 'resyncWanted' | 'resyncId' | 'resyncAt'> {
  if (!request?.scopes.includes(PACKAGE)) return { resyncWanted, resyncId, resyncAt };
  return { resyncWanted: false, resyncId: request.id, resyncAt: now };
}
