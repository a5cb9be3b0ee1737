import { isFinal } from '../../domain/activities/status.ts';
import { findParents } from '../../persistence/activities/activity-parents.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller, Clock } from '../common/ports.ts';
import type { EventHub } from '../events/event-hub.ts';
import { HEARTBEAT_MS, pause, watchRights } from '../events/streams.ts';
import type { Authenticator } from '../identity/login/authenticator.ts';
import { scopeOf, unknownActivities } from './activity-rights.ts';
import { type ParentActivity, toBaseActivity } from './displayed-activities.ts';

/** At most four updates a second. */
const UPDATE_MS = 250;
/** Changes without an event are looked for this often. */
const POLL_MS = 5_000;

interface ProgressDeps {
  db: Database;
  clock: Clock;
  hub: EventHub;
  authenticator: Authenticator;
}

/** Progress of single activities. @see docs/events.md#waiting */
export function createActivityProgressService(deps: ProgressDeps) {
  return {
    /**
     * The activity with its counters, now and whenever they change, until it has ended; null where a heartbeat is due. Ends
     * like the stream of events. @throws {DomainError} UnknownActivity, before the first item
     */
    async follow(caller: Caller, id: number): Promise<AsyncGenerator<ParentActivity | null>> {
      const activity = await readProgress(deps, caller, id);
      if (!activity) throw unknownActivities([id]);
      return follow(deps, caller, activity);
    },
  };
}

async function* follow(
  deps: ProgressDeps,
  caller: Caller,
  { id, parent_id: parentId }: ParentActivity,
): AsyncGenerator<ParentActivity | null> {
  const ended = new AbortController();
  let wake = new AbortController();
  // Events of an operation have the id of its group.
  const unsubscribe = deps.hub.subscribe(`activity/${parentId ?? id}`, () => wake.abort());
  const rights = watchRights(deps.authenticator, caller, ended);
  const stopped = AbortSignal.any([ended.signal, deps.hub.closing]);
  try {
    let shown = '';
    let sentAt = performance.now();
    while (!stopped.aborted) {
      wake = new AbortController();
      const activity = await readProgress(deps, caller, id);
      if (!activity || stopped.aborted) return;
      const text = JSON.stringify(activity);
      if (text !== shown) yield activity;
      else if (performance.now() - sentAt >= HEARTBEAT_MS) yield null;
      if (text !== shown || performance.now() - sentAt >= HEARTBEAT_MS) sentAt = performance.now();
      shown = text;
      if (isFinal(activity.status)) return;
      await pause(UPDATE_MS, stopped);
      await pause(POLL_MS - UPDATE_MS, AbortSignal.any([stopped, wake.signal]));
    }
  } finally {
    ended.abort();
    unsubscribe();
    await rights;
  }
}

async function readProgress({ db, clock }: ProgressDeps, caller: Caller, id: number): Promise<ParentActivity | null> {
  const now = clock.now();
  const [row] = await findParents(db, scopeOf(caller), [id], now);
  return row ? toBaseActivity(row, now) : null;
}
