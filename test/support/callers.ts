import type { Sql } from '../../src/persistence/sql.ts';
import type { Caller } from '../../src/services/ports.ts';
import type { TestAccount } from './activity-rows.ts';

/** Somebody of an account who may do everything, for calling services without the API. */
export async function administratorOf(db: Sql, account: TestAccount): Promise<Caller> {
  const [person] = await db.query<{ id: number; email: string }>(
    `insert into person (name, email, allowable_emails, identity)
     select 'Admin', mail, array[mail], mail from (select gen_random_uuid() || '@fleet.example' as mail) m
     returning id, email`,
  );
  return {
    token: { id: 'test', expiresAt: Number.MAX_SAFE_INTEGER, epochs: { person: 0, account: 0, system: 0 } },
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
