import { setTimeout as delay } from 'node:timers/promises';
import { findChanges, listenForEvents, readSnapshot } from '../../persistence/events/cloud-events.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';

type Topic = `account/${number}` | `activity/${number}`;

/** Notifies those who wait in this process of new events; what these are is read from rows. */
export interface EventHub {
  /** Calls `onEvents` soon after each commit of events of an account or activity. @returns ends the subscription */
  subscribe(topic: Topic, onEvents: () => void): () => void;
  /** Aborted when the process stops: waiting requests respond at once. */
  readonly closing: AbortSignal;
  close(): Promise<void>;
}

/** The end of an activity is notified; a poll finds all other events, because `NOTIFY` serializes commits. */
const POLL_MS = 100;
const RECONNECT_MS = 1_000;

/** Reads nothing without subscribers. */
export function createEventHub({ db, logger }: { db: Database; logger?: Logger | undefined }): EventHub {
  const listeners = new Map<Topic, Set<() => void>>();
  const stopping = new AbortController();
  let wake = new AbortController();
  let running: Promise<void> | null = null;

  const pause = (ms: number) =>
    delay(ms, undefined, { signal: AbortSignal.any([stopping.signal, wake.signal]) }).catch(() => undefined);
  const publish = (topic: Topic): void => {
    for (const onEvents of listeners.get(topic) ?? []) onEvents();
  };
  const isNeeded = () => listeners.size > 0 && !stopping.signal.aborted;

  async function watch(): Promise<void> {
    const connection = await db.connect();
    let lost: Error | null = null;
    connection.on('error', (error) => {
      lost = error;
      wake.abort();
    });
    connection.on('notification', () => wake.abort());
    try {
      await listenForEvents(connection);
      let snapshot = await readSnapshot(db);
      // Events may have been committed before the snapshot.
      for (const topic of [...listeners.keys()]) publish(topic);
      while (isNeeded()) {
        if (lost) throw lost;
        await pause(POLL_MS);
        wake = new AbortController();
        const changes = await findChanges(db, snapshot);
        snapshot = changes.snapshot;
        for (const id of changes.accounts) publish(`account/${id}`);
        for (const id of changes.activities) publish(`activity/${id}`);
      }
    } finally {
      connection.removeAllListeners('notification');
      // Not returned to the pool: it listens.
      connection.release(true);
    }
  }

  async function run(): Promise<void> {
    while (isNeeded()) {
      try {
        await watch();
      } catch (error) {
        logger?.warn({ err: error }, 'events cannot be watched; trying again');
        await pause(RECONNECT_MS);
      }
    }
    running = null;
  }

  return {
    closing: stopping.signal,
    subscribe(topic, onEvents) {
      const known = listeners.get(topic) ?? new Set();
      // Equal functions of two subscribers are two subscriptions.
      const listener = () => onEvents();
      listeners.set(topic, known.add(listener));
      running ??= run();
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(topic) === known) listeners.delete(topic);
      };
    },
    async close() {
      stopping.abort();
      await running;
    },
  };
}
