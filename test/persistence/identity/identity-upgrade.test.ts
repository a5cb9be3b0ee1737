import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { listAccessKeys } from '../../../src/persistence/identity/access-keys.repository.ts';
import { listInvitations } from '../../../src/persistence/identity/invitations.repository.ts';
import { findAccessKey } from '../../../src/persistence/identity/logins.sql.ts';
import { isEmailTaken } from '../../../src/persistence/identity/people.repository.ts';
import { migrate } from '../../../src/persistence/orm/orm.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const BEFORE = 'Migration20261123002000MembershipNumber';

let database: TestDatabase;
let db: Database;
let accountId: number;
let personId: number;

/** An account of the build before, with everything that the upgrade looks at. */
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  ({ db } = database.persistence);
  await database.persistence.orm.migrator.up({ to: BEFORE });
  const [account] = await db.query<{ id: number }>(
    `insert into account (name, title) values ('old', 'Old') returning id`,
  );
  accountId = account!.id;
  const [person] = await db.query<{ id: number }>(
    `insert into person (name, email, allowable_emails, identity) values
       ('Ada', 'ada@now.example', '{ada@first.example,Ada@Then.example,ada@now.example}', 'ada@first.example') returning id`,
  );
  personId = person!.id;
  await db.query('insert into membership (account_id, person_id) values ($1, $2)', [accountId, personId]);
  await db.query(
    `insert into access_key (account_id, person_id, access_key, secret_digest) values ($1, $2, 'OLDKEY', '\\x01')`,
    [accountId, personId],
  );
  await db.query(
    `insert into invitation (account_id, secure_id, name, email, creation_time) values ($1, 's', 'G', 'g@x.example', '2020-01-01')`,
    [accountId],
  );
  expect(await isEmailTaken(db, 'ADA@first.example', null)).toBe(true);
  await migrate(database.persistence);
});

afterAll(() => database?.drop());

describe('the upgrade', () => {
  it('keeps access keys, with a name and without an end', async () => {
    const found = await findAccessKey(db, 'OLDKEY');
    expect(found).toMatchObject({ accountName: 'old', expiresAt: null, secretDigest: Buffer.from([1]) });
    expect(await listAccessKeys(db, personId)).toMatchObject([{ accessKey: 'OLDKEY', name: 'Access key' }]);
  });

  it('frees the addresses that people had before, and no other', async () => {
    const taken = ['ada@first.example', 'ada@then.example', 'ada@now.example'].map((email) =>
      isEmailTaken(db, email, null),
    );
    expect(await Promise.all(taken)).toEqual([false, false, true]);
    expect(await db.query('select email, allowable_emails from person')).toEqual([
      { email: 'ada@now.example', allowable_emails: ['ada@now.example'] },
    ]);
  });

  it('gives open invitations 14 days from then on', async () => {
    const { results } = await listInvitations(db, accountId, new Date(), { limit: 10, offset: 0 });
    const days = (results[0]!.expires_at.getTime() - Date.now()) / (24 * 60 * 60_000);
    expect(results).toMatchObject([{ email: 'g@x.example', bound: false }]);
    expect(days).toBeGreaterThan(13.9);
    expect(days).toBeLessThanOrEqual(14);
  });
});
