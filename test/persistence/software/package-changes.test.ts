import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPackageOperations } from '../../../src/persistence/activities/package-changes.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { addEvent, aGroup, anAccount, childrenOf, TestClock } from '../../support/activities/activity-rows.ts';
import { insertPackage } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;
const clock = new TestClock();
const id: Record<string, number> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  for (const [name, version] of [
    ['curl', '8.5.0-2'],
    ['curl', '8.5.0-10'],
    ['libcurl4', '8.5.0-10'],
    ['libold', '1'],
    ['jq', '1.7'],
  ] as const) {
    id[`${name} ${version}`] = await insertPackage(db, name, version);
  }
});
afterAll(() => database.drop());

interface ApiResponse {
  ok?: boolean;
  text?: string;
  mustInstall?: number[];
  mustRemove?: number[];
}

/** One operation on packages that a computer has completed. */
async function completed(fields: Record<string, unknown>, response: ApiResponse = {}) {
  const account = await anAccount(db);
  const group = await aGroup(db, account, {
    operations: [{ type: 'ChangePackagesRequest', summary: 'Change', message: { type: 'change-packages', fields } }],
  });
  const [child] = await childrenOf(db, group);
  const batch = child!.lane_id;
  const engine = createEngine({ ...database.persistence, clock, settings: { expiryDays: 30 } });
  await engine.processPendingEvents(batch, false);
  if (response.mustInstall || response.mustRemove) {
    await db.query('insert into package_change_result values ($1, $2, $3, $4)', [
      child!.id,
      child!.computer_id,
      response.mustInstall ?? [],
      response.mustRemove ?? [],
    ]);
  }
  const ok = response.ok ?? true;
  const body = response.text ?? 'done';
  await addEvent(db, {
    batch,
    activity: child!.id,
    kind: 'result',
    ok,
    code: ok ? 1 : 101,
    body,
    at: clock.now(),
  });
  await engine.processPendingEvents(batch, false);
  const [row] = await db.query('select package_ids, changes from activity where id = $1', [child!.id]);
  return { operation: child!.id, row: row! };
}

describe('what an operation on packages records', () => {
  it('pairs versions of one name, and marks what the computer added', async () => {
    const { operation, row } = await completed(
      { install: [id['curl 8.5.0-10']], policy: 2 },
      { mustInstall: [id['libcurl4 8.5.0-10']!], mustRemove: [id['curl 8.5.0-2']!, id['libold 1']!] },
    );
    expect(row).toEqual({
      package_ids: [id['curl 8.5.0-10'], id['libcurl4 8.5.0-10'], id['curl 8.5.0-2'], id['libold 1']],
      changes: [
        {
          package: 'curl',
          type: 'upgrade',
          complemented: false,
          install_version: '8.5.0-10',
          remove_version: '8.5.0-2',
        },
        { package: 'libcurl4', type: 'install', complemented: true, version: '8.5.0-10' },
        { package: 'libold', type: 'remove', complemented: true, version: '1' },
      ],
    });
    expect(await readPackageOperations(db, [operation])).toMatchObject([
      {
        id: operation,
        effect: {
          installed: [id['curl 8.5.0-10'], id['libcurl4 8.5.0-10']],
          removed: [id['curl 8.5.0-2'], id['libold 1']],
          held: [],
          released: [],
        },
      },
    ]);
  });

  it('knows a downgrade by the order of Debian versions', async () => {
    const { row } = await completed({ install: [id['curl 8.5.0-2']], remove: [id['curl 8.5.0-10']], policy: 0 });
    expect(row['changes']).toEqual([
      {
        package: 'curl',
        type: 'downgrade',
        complemented: false,
        install_version: '8.5.0-2',
        remove_version: '8.5.0-10',
      },
    ]);
  });

  it('reports removals, holds and releases', async () => {
    const { row } = await completed({
      remove: [id['libold 1']],
      hold: [id['jq 1.7']],
      'remove-hold': [id['curl 8.5.0-2']],
    });
    expect(row['changes']).toEqual([
      { package: 'libold', type: 'remove', complemented: false, version: '1' },
      { package: 'jq', type: 'hold', complemented: false, version: '1.7' },
      { package: 'curl', type: 'unhold', complemented: false, version: '8.5.0-2' },
    ]);
  });

  it('records nothing that was not done', async () => {
    const failed = await completed({ install: [id['jq 1.7']] }, { ok: false, mustInstall: [id['libold 1']!] });
    expect(failed.row['changes']).toEqual([]);
    expect(await readPackageOperations(db, [failed.operation])).toEqual([]);
    const idle = await completed(
      { install: [id['jq 1.7']] },
      { text: 'No changes required; all changes already performed' },
    );
    expect(idle.row).toEqual({ package_ids: [id['jq 1.7']], changes: [] });
  });
});
