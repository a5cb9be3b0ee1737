import { type ActivityState, readActivityStates } from '../../persistence/activities/activity-tags.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { ActivityScope } from '../../persistence/query/activity-visibility.ts';
import type { Caller, Clock } from '../common/ports.ts';
import type { EventHub } from '../events/event-hub.ts';
import { scopeOf } from './activity-rights.ts';

export interface WaitRequest {
  activityId: number;
  /** `changed`: until its entity tag is none of the known ones. `ended`: until it has a final status. */
  until: 'changed' | 'ended';
  /** Null: the tag at the start. */
  known: readonly string[] | null;
  seconds: number;
}

/** `due`: it has happened, the time is up, or the activity is not visible. `closing`: the process stops. */
export type WaitResult = 'due' | 'closing' | 'left';

interface Wait {
  /** Never rejects. */
  result: Promise<WaitResult>;
  /** Ends it with `left`, for a client that has disconnected. */
  leave(): void;
}

export type ActivityWaits = ReturnType<typeof createActivityWaits>;

/** Activities of one statement. */
const CHUNK = 500;
/** Changes without an event (a cancel, progress, a computer's title, the passing of a time) are looked for this often. */
const SWEEP_MS = 5_000;
/** At most this part of the time is spent on looking for them. */
const SWEEP_SHARE = 1 / 20;
const RETRY_MS = 1_000;

interface Waiter {
  until: WaitRequest['until'];
  known: readonly string[] | null;
  end(result: WaitResult): void;
}

/** The waiters for one activity with the same rights: they share its checks. */
interface Watch {
  id: number;
  scope: ActivityScope;
  scopeKey: string;
  waiters: Set<Waiter>;
  subscriptions: Array<() => void>;
  parentId: number | null;
}

/**
 * Waits of clients for activities. They hold no connection: what an event concerns is checked by one statement for
 * all waiters with the same rights.
 */
export function createActivityWaits(deps: { genericPlanDb: Sql; clock: Clock; hub: EventHub }) {
  const { genericPlanDb, clock, hub } = deps;
  const watches = new Map<string, Watch>();
  let due = new Set<Watch>();
  let checking = false;
  let sweep: NodeJS.Timeout | null = null;

  function check(...some: Watch[]): void {
    for (const watch of some) due.add(watch);
    if (checking) return;
    checking = true;
    // Whatever becomes due in the same moment is checked together.
    setImmediate(() => void checkDue());
  }

  async function checkDue(): Promise<void> {
    while (due.size > 0) {
      const chosen = [...due].filter(({ waiters }) => waiters.size > 0);
      due = new Set();
      for (const group of Map.groupBy(chosen, ({ scopeKey }) => scopeKey).values()) {
        for (let start = 0; start < group.length; start += CHUNK) await checkSome(group.slice(start, start + CHUNK));
      }
    }
    checking = false;
  }

  async function checkSome(some: readonly Watch[]): Promise<void> {
    // A request that arrives during the read gets a check of its own.
    const present = some.map((watch) => [watch, [...watch.waiters]] as const);
    try {
      const ids = some.map(({ id }) => id);
      const known = knownTagsOf(present.flatMap(([, waiters]) => waiters));
      const states = await readActivityStates(genericPlanDb, some[0]!.scope, ids, known, clock.now());
      const found = new Map(states.map((state) => [state.id, state]));
      for (const [watch, waiters] of present) apply(watch, waiters, found.get(watch.id));
    } catch {
      // Without a database, a request that waits longer than this gets the error of the read that follows.
      setTimeout(() => check(...some), RETRY_MS).unref();
    }
  }

  function apply(watch: Watch, waiters: readonly Waiter[], state: ActivityState | undefined): void {
    for (const waiter of waiters) {
      if (!state || isDue(waiter, state)) waiter.end('due');
    }
    // Events of an operation name its group: only now is that known.
    if (state?.parent_id && watch.parentId === null && watch.waiters.size > 0) {
      watch.parentId = state.parent_id;
      watch.subscriptions.push(hub.subscribe(`activity/${state.parent_id}`, () => check(watch)));
      check(watch);
    }
  }

  function scheduleSweep(afterMs: number): void {
    sweep = setTimeout(async () => {
      const startedAt = performance.now();
      const changing = [...watches.values()].filter(({ waiters }) => [...waiters].some(waitsForChange));
      for (const group of Map.groupBy(changing, ({ scopeKey }) => scopeKey).values()) {
        for (let start = 0; start < group.length; start += CHUNK) await checkSome(group.slice(start, start + CHUNK));
      }
      if (watches.size === 0) sweep = null;
      else scheduleSweep(Math.max(SWEEP_MS, (performance.now() - startedAt) / SWEEP_SHARE));
    }, afterMs).unref();
  }

  function watchOf(caller: Caller, id: number): Watch {
    const scope = scopeOf(caller);
    const scopeKey = JSON.stringify(scope);
    const key = `${id} ${scopeKey}`;
    const known = watches.get(key);
    if (known) return known;
    const watch: Watch = { id, scope, scopeKey, waiters: new Set(), subscriptions: [], parentId: null };
    watch.subscriptions.push(
      hub.subscribe(`activity/${id}`, () => check(watch)),
      () => watches.delete(key),
    );
    watches.set(key, watch);
    if (sweep === null) scheduleSweep(SWEEP_MS);
    return watch;
  }

  hub.closing.addEventListener('abort', () => {
    if (sweep) clearTimeout(sweep);
    for (const { waiters } of watches.values()) for (const waiter of waiters) waiter.end('closing');
  });

  return {
    /** How many wait. */
    count: () => [...watches.values()].reduce((sum, { waiters }) => sum + waiters.size, 0),
    start(caller: Caller, { activityId, until, known, seconds }: WaitRequest): Wait {
      const { promise: result, resolve } = Promise.withResolvers<WaitResult>();
      if (hub.closing.aborted) resolve('closing');
      if (hub.closing.aborted) return { result, leave: () => undefined };
      const watch = watchOf(caller, activityId);
      const timer = setTimeout(() => waiter.end('due'), seconds * 1000);
      const waiter: Waiter = {
        until,
        known,
        end(how) {
          clearTimeout(timer);
          watch.waiters.delete(waiter);
          if (watch.waiters.size === 0) for (const end of watch.subscriptions.splice(0)) end();
          resolve(how);
        },
      };
      watch.waiters.add(waiter);
      // After the subscription: what happens from now on is notified.
      check(watch);
      return { result, leave: () => waiter.end('left') };
    },
  };
}

const waitsForChange = ({ until }: Waiter) => until === 'changed';

/** Null when the tag at the start of one of them is needed. */
function knownTagsOf(all: readonly Waiter[]): string[] | null {
  const waiters = all.filter(waitsForChange);
  return waiters.some(({ known }) => known === null) ? null : waiters.flatMap(({ known }) => known!);
}

function isDue(waiter: Waiter, { ended, tag }: ActivityState): boolean {
  if (waiter.until === 'ended') return ended;
  waiter.known ??= [tag];
  return !waiter.known.includes(tag);
}
