import type { Database } from '../../../src/persistence/database/sql.ts';
import type { Caller } from '../../../src/services/common/ports.ts';
import { createRandom } from '../../../tools/simulator/random.ts';
import { administratorOf } from '../http/app.ts';
import { anAccount, type TestAccount } from './activity-rows.ts';

/** Rows of every stored position, at random, and somebody who sees them all and somebody who sees a part. */
export interface ActivityQueryWorld {
  account: TestAccount;
  /** Texts for `computer:`. */
  computers: ReadonlyArray<{ id: number; title: string; tags: string[]; seen: boolean }>;
  everybody: Caller;
  restricted: Caller;
}

export const NOW = new Date('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;
const STATUSES = [
  ...['unapproved', 'blocked', 'waiting', 'scheduled', 'delivered', 'succeeded', 'failed', 'canceled'],
  ...['undelivered', 'undelivered', 'undelivered', 'undelivered'],
];
export const SUMMARIES = [
  'Install snaps on computer',
  'Restart computer',
  '100% of a_b\\c',
  "Run script: O'Hara",
  'STRASSE',
];
export const TYPES = ['ActivityGroup', 'InstallSnaps', 'RestartRequest', 'UsgActivity'];
export const TAGS = ['lab', 'web'];
const GROUPS = 40;

/** Fills an account with groups of up to four operations, single operations and empty groups. */
export async function createActivityQueryWorld(db: Database, seed: number): Promise<ActivityQueryWorld> {
  const random = createRandom(seed, 'activities');
  const { pick } = random;
  const windows = createRandom(seed, 'windows');
  const account = await anAccount(db, { computers: 8, maxMessageBacklog: 4 });
  const [other] = await db.query<{ id: number }>(
    `insert into access_group (account_id, name, title, parent_id) values ($1, 'seen', 'Seen', $2) returning id`,
    [account.accountId, account.groupId],
  );
  const computers: Array<ActivityQueryWorld['computers'][number]> = [];
  for (const id of account.computers) {
    const tags = TAGS.filter(() => random.chance(0.5));
    const seen = random.chance(0.4);
    const rows = await db.query<{ title: string }>(
      'update computer set tags = $2, access_group_id = $3 where id = $1 returning title',
      [id, tags, seen ? other!.id : account.groupId],
    );
    computers.push({ id, tags, seen, title: rows[0]!.title });
  }
  const everybody = await administratorOf(db, account);
  const restricted: Caller = { ...(await administratorOf(db, account)), groups: () => [other!.id] };
  const creators = [everybody.personId, restricted.personId, null];
  const insert = async (over: { parent: number | null; computer: number | null; children: number }) => {
    const deliverAt = pick([null, NOW, new Date(+NOW - HOUR_MS), new Date(+NOW + HOUR_MS)]);
    const [row] = await db.query<{ id: number }>(INSERT, [
      account.accountId,
      over.parent,
      over.computer,
      pick(TYPES),
      pick(SUMMARIES),
      pick(STATUSES),
      pick(creators),
      new Date(Date.UTC(2026, pick([9, 10]), pick([1, 20, 21]), pick([0, 10]), pick([0, 30]))),
      deliverAt,
      over.children,
      windows.pick([0, 60]),
    ]);
    if (over.computer !== null && random.chance(0.7)) {
      await db.query(MESSAGE, [row!.id, over.computer, pick(['acked', 'queued', 'queued', 'sent']), NOW]);
    }
    return row!.id;
  };
  for (let made = 0; made < GROUPS; made += 1) {
    const children = pick([0, 0, 1, 2, 3, 4]);
    const alone = children === 0 && random.chance(0.6);
    const parent = await insert({ parent: null, computer: alone ? pick(account.computers) : null, children });
    for (let child = 0; child < children; child += 1) {
      await insert({ parent, computer: pick(account.computers), children: 0 });
    }
  }
  return { account, computers, everybody, restricted };
}

const INSERT = `
  insert into activity (account_id, parent_id, computer_id, type, summary, status, creator_id, creation_time,
    deliver_at, children_count, deliver_delay_window)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id`;

const MESSAGE = `
  insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at)
  values ($1, 0, $2, 0, $3, $4)`;
