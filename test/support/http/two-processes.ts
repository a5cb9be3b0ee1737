import { expect } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { createTestApp, type TestApp } from './app.ts';

/** What "holds on every process" allows. */
const WITHIN_MS = 5000;

/** Two processes of one API on one database, with a clock that the test moves. */
export interface TwoProcesses {
  database: TestDatabase;
  app: TestApp;
  other: TestApp;
  clock: { now(): Date };
  pass(ms: number): void;
  /** Lets as much time pass as what ends tokens may take to hold everywhere. */
  passToOthers(): void;
  /** The token is known to, and cached by, both processes. */
  works(token: string): Promise<void>;
  /** The token has ended in the first process, and in the other one in time. */
  hasEnded(token: string): Promise<void>;
  close(): Promise<void>;
}

export async function createTwoProcesses(): Promise<TwoProcesses> {
  const database = await createTestDatabase();
  let nowMs = Date.now();
  const clock = { now: () => new Date(nowMs) };
  const app = await createTestApp(database.persistence, { clock });
  const other = await createTestApp(database.persistence, { clock });
  const person = (at: TestApp, token: string) => at.call('GET', '/person', { token });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  const passToOthers = (): void => pass(WITHIN_MS);
  return {
    database,
    app,
    other,
    clock,
    pass,
    passToOthers,
    async works(token) {
      for (const at of [app, other]) expect((await person(at, token)).status).toBe(200);
    },
    async hasEnded(token) {
      expect((await person(app, token)).body).toMatchObject({ error: 'Unauthorized', code: 401 });
      passToOthers();
      expect((await person(other, token)).body).toMatchObject({ error: 'Unauthorized', code: 401 });
    },
    async close() {
      await app.close();
      await other.close();
      await database.drop();
    },
  };
}
