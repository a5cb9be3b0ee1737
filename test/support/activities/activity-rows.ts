import { expect } from 'vitest';
import {
  addStartCommand,
  createGroup,
  type GroupPlan,
} from '../../../src/persistence/activities/activity-creation.repository.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import type { FleetWorld } from '../agents/fleet-world.ts';
import type { ApiResponse } from '../http/app.ts';

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
  for (const { batch, activity, kind, ok, code, body, at } of pendingEvents) {
    await db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, ok, code, body, at) values ($1, $2, $3, $4, $5, $6, $7)`,
      [batch, activity, kind, ok ?? null, code ?? null, body ?? null, at],
    );
  }
}

/** Makes, reads, ends and cancels groups on a world that is made before the first test. */
export function activityGroups(worldOf: () => FleetWorld) {
  const admin = () => worldOf().tokens.admin;

  /** Installs a snap on computers by their titles. */
  async function act(computers: string[], over: object = {}): Promise<number> {
    const { app, ids } = worldOf();
    const body = { action: 'install', computer_ids: computers.map((title) => ids[title]), snaps: [{ name: 'hello' }] };
    const response = await app.call('POST', '/snaps', { token: admin(), body: { ...body, ...over } });
    expect(response.status).toBe(200);
    return response.body.id;
  }

  const get = (path: string, token = admin()) => worldOf().app.call('GET', path, { token });

  const cancel = (ids: unknown, token = admin()) =>
    worldOf().app.call('POST', '/activities/cancel', { token, body: { activity_ids: ids } });

  /** The computers' results, in order; null for none. */
  async function report(group: number, ...outcomes: Array<boolean | null>): Promise<void> {
    const { db, clock, processEvents } = worldOf();
    const children = await childrenOf(db, group);
    for (const [index, ok] of outcomes.entries()) {
      if (ok === null) continue;
      const { lane_id, id } = children[index]!;
      const text = ok ? 'done' : 'no such snap';
      await addEvent(db, { batch: lane_id, activity: id, kind: 'result', ok, body: text, at: clock.now() });
    }
    await processEvents();
  }

  return { act, get, cancel, report };
}

/** Where an operation without a group is to be. */
interface LoneOperation {
  accountId: number;
  computer: number;
  now: Date;
}

/**
 * An operation that belongs to no group, as a database may hold it: its batch is the top workflow, whose start is
 * in the outbox. No service makes one.
 *
 * @returns its id
 */
export function aLoneOperation(db: Database, { accountId, computer, now }: LoneOperation): Promise<number> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ id: number }>(INSERT, [accountId, computer, now]);
    await addStartCommand(tx, row!.id, { accountId, now });
    return row!.id;
  });
}

const INSERT = `
  with payload as (
    insert into operation_payload (account_id, message_type, fields, creation_time)
    values ($1::int, 'install-snaps', '{"snaps": [{"name": "hello"}]}', $3::timestamptz) returning id
  ), own as (
    select nextval('activity_id_seq')::int as id
  ), opened as (
    insert into lane (account_id, wf_id, single, ordinal, size, open_count, summary, created_at)
    select $1::int, 'activity/' || id, true, 1, 1, 1, 'Install snap hello', $3::timestamptz from own returning id
  )
  insert into activity (id, account_id, lane_id, computer_id, payload_id, type, summary, status, creation_time, deliver_at)
  select own.id, $1::int, opened.id, $2::int, payload.id, 'InstallSnaps', 'Install snap hello', 'undelivered',
    $3::timestamptz, $3::timestamptz
  from own, opened, payload returning id`;

type Verb = 'reapply' | 'revert' | 'approve' | 'cancel';

/** What tests do with activities over the API, on a world that is made before the first test. */
export function activityVerbs(worldOf: () => FleetWorld) {
  const admin = () => worldOf().tokens.admin;

  async function processGroup(group: number): Promise<void> {
    const { db, engine } = worldOf();
    const batches = await db.query<{ id: number }>('select id from lane where parent_id = $1 order by id', [group]);
    for (const { id } of batches) await engine.processPendingEvents(id, false);
  }

  const verb = (name: Verb, ids: unknown, token = admin()) =>
    worldOf().app.call('POST', `/activities/${name}`, { token, body: { activity_ids: ids } });

  const detail = async (id: number, token = admin()) =>
    (await worldOf().app.call('GET', `/activities/${id}`, { token })).body;

  /** Installs a snap on computers by their titles. */
  async function act(computers: string[], over: object = {}): Promise<number> {
    const { app, ids } = worldOf();
    const computer_ids = computers.map((title) => ids[title]);
    const body = { action: 'install', computer_ids, snaps: [{ name: 'hello' }], ...over };
    const response = await app.call('POST', '/snaps', { token: admin(), body });
    expect(response.status).toBe(200);
    await processGroup(response.body.id);
    return response.body.id;
  }

  /** The computers' results, in order, the last of them for the rest; null for none. */
  async function end(group: number, ...outcomes: Array<boolean | null>): Promise<void> {
    const { db, clock } = worldOf();
    for (const [index, { lane_id, id }] of (await childrenOf(db, group)).entries()) {
      const ok = outcomes[index] ?? outcomes.at(-1)!;
      if (ok === null) continue;
      await addEvent(db, { batch: lane_id, activity: id, kind: 'result', ok, at: clock.now() });
    }
    await processGroup(group);
  }

  const messagesOf = (group: number) =>
    worldOf().db.query(
      `select a.computer_id, a.type, p.message_type, p.fields
       from activity a join operation_payload p on p.id = a.payload_id where a.parent_id = $1 order by a.id`,
      [group],
    );

  const count = async () => (await worldOf().db.query('select count(*)::int as count from activity'))[0]!['count'];

  /** Makes a call after which there are as many activities as before. */
  async function unchanged(call: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const before = await count();
    const response = await call();
    expect(await count()).toBe(before);
    return response;
  }

  return { processGroup, verb, detail, act, end, messagesOf, count, unchanged };
}
