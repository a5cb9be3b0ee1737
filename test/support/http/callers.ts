import type { Sql } from '../../../src/persistence/database/sql.ts';
import type { Caller, TokenFacts } from '../../../src/services/common/ports.ts';
import type { TestAccount } from '../activities/activity-rows.ts';

/** Facts of a token that never ends, of a login with a password. */
export const TEST_TOKEN: TokenFacts = {
  id: 'test',
  family: 'test',
  method: 'pwd',
  accessKey: null,
  expiresAt: Number.MAX_SAFE_INTEGER,
  epochs: { person: 0, account: 0, system: 0 },
};

/** Somebody of an account who may do everything, for calling services without the API. */
export async function administratorOf(db: Sql, account: TestAccount): Promise<Caller> {
  const [person] = await db.query<{ id: number; email: string }>(
    `insert into person (name, email, allowable_emails, identity)
     select 'Admin', mail, array[mail], mail from (select gen_random_uuid() || '@fleet.example' as mail) m
     returning id, email`,
  );
  return {
    token: TEST_TOKEN,
    personId: person!.id,
    email: person!.email,
    name: 'Admin',
    accountId: account.accountId,
    accountName: 'test',
    may: () => true,
    groups: () => 'all',
    origin: { address: '127.0.0.1', requestId: 'test' },
  };
}
