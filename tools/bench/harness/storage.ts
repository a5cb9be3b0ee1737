import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';

/** Durable writes: writing transactions, and bytes of the write-ahead logs. */
export interface Writes {
  commits: number;
  walBytes: number;
}

/** Counters that only grow: compare two readings. */
export interface StorageMeter {
  read(): Promise<{ postgres: Writes; temporal: Writes }>;
  close(): void;
}

const FRAME_HEADER_BYTES = 24;
const SQLITE_POLL_MS = 20;

/**
 * Reads the write-ahead logs of PostgreSQL and of the local Temporal server's SQLite file.
 * @param database - any connection to the PostgreSQL server
 * @param temporalFolder - folder of the server's file; without the file there are zero writes
 * @remarks PostgreSQL commits are assigned transaction ids, so reads do not count and writing savepoints do.
 */
export function createStorageMeter(database: pg.Client, temporalFolder: string): StorageMeter {
  const sqlite = followSqliteWal(temporalFolder);
  return {
    async read() {
      const { rows } = await database.query<{ commits: string; bytes: string }>(
        `select pg_snapshot_xmax(pg_current_snapshot())::text as commits,
                (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as bytes`,
      );
      const postgres = { commits: Number(rows[0]!.commits), walBytes: Number(rows[0]!.bytes) };
      return { postgres, temporal: sqlite.read() };
    },
    close: () => sqlite.close(),
  };
}

/** Writes between two readings. */
export function writesBetween(before: Writes, after: Writes): Writes {
  return { commits: after.commits - before.commits, walBytes: after.walBytes - before.walBytes };
}

/** Fields of the shared-memory index that SQLite keeps beside a WAL file. */
export interface WalIndex {
  /** Grows by one with every transaction. */
  change: number;
  /** Frames in the log now; restarts after a checkpoint. */
  frames: number;
  pageBytes: number;
}

/** Parses the head of a `-shm` file, SQLite's WAL-index header. */
export function parseWalIndex(head: Buffer): WalIndex | null {
  if (head.length < 20 || head[12] !== 1) return null;
  // SQLite writes it in the byte order of the machine.
  const little = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
  const u32 = (at: number) => (little ? head.readUInt32LE(at) : head.readUInt32BE(at));
  const size = little ? head.readUInt16LE(14) : head.readUInt16BE(14);
  return { change: u32(8), frames: u32(16), pageBytes: size === 1 ? 65_536 : size };
}

/** Frames added between two readings of a log that restarts from time to time. */
export function framesAdded(before: number, now: number): number {
  return now >= before ? now - before : now;
}

function followSqliteWal(folder: string): { read(): Writes; close(): void } {
  const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('-shm'));
  if (file === undefined) return { read: () => ({ commits: 0, walBytes: 0 }), close: () => {} };
  const descriptor = openSync(join(folder, file), 'r');
  const head = Buffer.alloc(24);
  let last: WalIndex | null = null;
  let walBytes = 0;
  const poll = () => {
    readSync(descriptor, head, 0, head.length, 0);
    const now = parseWalIndex(head);
    if (now && last) walBytes += framesAdded(last.frames, now.frames) * (now.pageBytes + FRAME_HEADER_BYTES);
    last = now ?? last;
  };
  poll();
  const timer = setInterval(poll, SQLITE_POLL_MS);
  return {
    read: () => {
      poll();
      return { commits: last?.change ?? 0, walBytes };
    },
    close: () => {
      clearInterval(timer);
      closeSync(descriptor);
    },
  };
}
