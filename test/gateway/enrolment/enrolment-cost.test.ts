import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertPendingComputer } from '../../../src/persistence/agents/enrolment.sql.ts';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { anAccount } from '../../support/activities/activity-rows.ts';
import { countRowsRead, createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const COMPUTERS = 500;
/** Rows that a registration may read. */
const FEW = 20;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('registers a computer of a new fleet without reading those before it', async () => {
  const { db } = database.persistence;
  const { accountId } = await anAccount(db, { computers: 1 });
  // The connection keeps the plan that it made when there was one computer.
  const count = await db.transaction(async (tx) => {
    for (let made = 0; made < COMPUTERS; made++) await register(tx, accountId, made);
    const tables = ['computer', 'agent', 'agent_identity', 'agent_spare_identity'];
    return (await countRowsRead(tx, tables, () => register(tx, accountId, COMPUTERS))).count;
  });
  expect(count).toBeLessThan(FEW);
});

function register(tx: Sql, accountId: number, number: number): Promise<number> {
  const name = `host-${number}`;
  const key = (prefix: string) => Buffer.from(`${prefix}-${number}`.padEnd(32));
  return insertPendingComputer(tx, {
    ...{
      accountId,
      title: name,
      hostname: name,
      machineId: null,
      digest: key('digest'),
      secureIdHash: key('identity'),
    },
    ...{
      accessGroup: null,
      tags: [],
      info: { vm_info: null, container_info: null },
      proInfo: null,
      hostagentUid: null,
    },
    ...{ isWsl: false, originalHash: null, madeAt: null, now: new Date() },
  });
}
