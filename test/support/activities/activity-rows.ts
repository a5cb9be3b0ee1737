import { createGroup, type GroupPlan } from '../../../src/persistence/activities/activity-creation.repository.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';

export const SETTINGS = loadConfig({}, 'stack').activities;

/** A clock that only the test moves. */
export class TestClock {
  #now = Date.UTC(2026, 10, 21, 12);

  now(): Date {
    return new Date(this.#now);
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

export interface TestAccount {
  accountId: number;
  /** Root access group. */
  groupId: number;
  computers: number[];
}

/** An account with approved computers titled web-1, web-2, ... */
export async function anAccount(
  db: Sql,
  options: { computers?: number; maxMessageBacklog?: number | null } = {},
): Promise<TestAccount> {
  const [account] = await db.query<{ id: number }>(
    `insert into account (name, title, max_message_backlog) values ('a' || gen_random_uuid(), 'Test', $1) returning id`,
    [options.maxMessageBacklog ?? null],
  );
  const accountId = account!.id;
  const [group] = await db.query<{ id: number }>(
    `insert into access_group (account_id, name, title) values ($1, 'global', 'Global') returning id`,
    [accountId],
  );
  const groupId = group!.id;
  return { accountId, groupId, computers: await computersIn(db, { accountId, groupId }, options.computers ?? 1) };
}

/** Adds approved computers to an access group. */
export async function computersIn(
  db: Sql,
  at: { accountId: number; groupId: number },
  count: number,
  set: { state?: string; archived?: boolean } = {},
): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `insert into computer (account_id, access_group_id, state, archived, title)
     select $1, $2, $4, $5, 'web-' || n from generate_series(1, $3::int) n returning id`,
    [at.accountId, at.groupId, count, set.state ?? 'approved', set.archived ?? false],
  );
  return rows.map(({ id }) => id);
}

const INSTALL = {
  type: 'InstallSnaps',
  summary: 'Install snap hello',
  message: { type: 'install-snaps', fields: { snaps: [{ name: 'hello' }] } },
};

/** One operation per step, each waiting for the one before. */
export function aChain(steps: number, delaySeconds = 0) {
  return Array.from({ length: steps }, (_, step) => ({
    ...INSTALL,
    after: step === 0 ? null : step - 1,
    delaySeconds: step === 0 ? 0 : delaySeconds,
  }));
}

/** Creates a group as a service does. */
export function aGroup(
  db: Database,
  account: TestAccount,
  plan: Partial<GroupPlan> & { settings?: Partial<typeof SETTINGS> } = {},
): Promise<number> {
  const { settings, ...rest } = plan;
  return db.transaction((tx) =>
    createGroup(
      tx,
      {
        accountId: account.accountId,
        creatorId: null,
        type: 'ActivityGroup',
        summary: 'Install snaps on computer',
        now: new Date(),
        deliverAfter: null,
        windowMinutes: 0,
        computers: account.computers,
        operations: [INSTALL],
        ...rest,
      },
      { ...SETTINGS, ...settings },
    ),
  );
}

export interface ChildState {
  id: number;
  lane_id: number;
  computer_id: number;
  status: string;
  blocked_by: number | null;
  delivery_time: Date | null;
  completion_time: Date | null;
  deliver_at: Date | null;
  result_text: string | null;
  result_code: number | null;
  message: string | null;
}

/** Operations of a group in id order, with the state of their messages. */
export function childrenOf(db: Sql, group: number): Promise<ChildState[]> {
  return db.query<ChildState & Record<string, unknown>>(
    `select a.id, a.lane_id, a.computer_id, a.status, a.blocked_by, a.delivery_time, a.completion_time, a.deliver_at,
       a.result_text, a.result_code, m.state as message
     from activity a left join agent_message m on m.activity_id = a.id where a.parent_id = $1 order by a.id`,
    [group],
  );
}

/** Settings that give every group one batch. */
export const ONE_BATCH = { singleBatchLimit: 0 };

export interface PendingEvent {
  batch: number;
  activity: number | null;
  kind: 'delivered' | 'result' | 'gone' | 'cancel';
  ok?: boolean;
  code?: number;
  body?: string;
  at: Date;
}

/** Puts events in the inbox, in the order given. */
export async function addEvent(db: Sql, ...pendingEvents: PendingEvent[]): Promise<void> {
  for (const { batch: lane, activity, kind, ok, code, body, at } of pendingEvents) {
    await db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, ok, code, body, at) values ($1, $2, $3, $4, $5, $6, $7)`,
      [lane, activity, kind, ok ?? null, code ?? null, body ?? null, at],
    );
  }
}
