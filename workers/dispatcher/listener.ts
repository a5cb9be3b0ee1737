import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { listenForWork } from '../../src/persistence/activities/outbox.sql.ts';
import { trySessionLock } from '../../src/persistence/database/advisory-locks.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import { checkConnection } from '../../src/persistence/database/transactions.ts';
import type { Logger } from '../../src/process/logger.ts';

const RECONNECT_MS = 500;
const STAND_EVERY_MS = 2_000;
/** A lost connection causes an error event, unless the network itself is down. */
const CHECK_EVERY_MS = 10_000;

interface ListenerEvents {
  onNotify(channel: string, payload: string): void;
  /** After a connection, or becoming the leader: notifications may have been missed. */
  onMissed(): void;
}

/** Holds the leader lock and passes notifications on. Reconnects forever. */
export function startListener(db: Database, logger: Logger, { onNotify, onMissed }: ListenerEvents) {
  const stopping = new AbortController();
  let leader = false;
  const pause = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const hold = async (connection: PoolClient): Promise<void> => {
    const lost = new AbortController();
    connection.on('error', () => lost.abort());
    connection.on('end', () => lost.abort());
    connection.on('notification', ({ channel, payload = '' }) => onNotify(channel, payload));
    await listenForWork(connection);
    onMissed();
    while (!lost.signal.aborted && !stopping.signal.aborted) {
      if (leader) await checkConnection(connection);
      else {
        leader = await trySessionLock(connection, 'dispatcherLeader');
        if (leader) onMissed();
      }
      const ended = AbortSignal.any([lost.signal, stopping.signal]);
      await delay(leader ? CHECK_EVERY_MS : STAND_EVERY_MS, undefined, { signal: ended }).catch(() => undefined);
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let connection: PoolClient | null = null;
      try {
        connection = await db.connect();
        await hold(connection);
      } catch (error) {
        logger.debug({ err: error }, 'listening connection lost');
      }
      leader = false;
      connection?.removeAllListeners('notification');
      // Not returned to the pool: it listens and may hold the lock.
      connection?.release(true);
      await pause(RECONNECT_MS);
    }
  };
  const running = run();
  return {
    isLeader: (): boolean => leader,
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
