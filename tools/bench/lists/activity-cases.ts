import assert from 'node:assert/strict';
import type { BareRow, BareStatement, Item, ListCase, Page } from './list-case.ts';

const COLUMNS = `a.id, a.parent_id, a.type, a.summary, a.status, a.creation_time, a.approval_time, a.completion_time,
  a.deliver_delay_window, a.result_text, a.result_code, a.deliver_at, a.creator_id, p.name, p.email`;
const DETAIL = `${COLUMNS}, a.computer_id, a.delivery_time, a.deliver_after_time, a.deliver_before_time,
  a.schedule_before_time, a.schedule_after_time, a.modification_time, a.package_ids, a.changes`;
const COUNTERS = ['children', 'computer', 'open', 'succeeded', 'failed', 'canceled'];
const parent = (counters: string) => `${COLUMNS}, ${COUNTERS.map((name) => `${counters}.${name}_count`).join(', ')}`;
const SOURCE = 'activity a left join person p on p.id = a.creator_id';

const onComputersOf = (group: number) =>
  `a.computer_id in (select c.id from computer c where c.account_id = $1 and c.access_group_id = ${group})`;
const withChildrenOn = (group: number) =>
  `a.id in (select a.parent_id from activity a where a.account_id = $1 and ${onComputersOf(group)})`;

/** As many children as a list shows of one parent. */
const children = (accountId: number, group: number | null): BareStatement => ({
  text: `select k.* from unnest($2::int[]) parent(id) cross join lateral (
      select ${COLUMNS} from ${SOURCE} where a.parent_id = parent.id and a.account_id = $1
        ${group === null ? '' : `and ${onComputersOf(group)}`} order by a.id limit 100) k order by k.id`,
  values: [accountId],
  takesIds: true,
});

/** The computer of groups with only one. */
const ONLY_COMPUTERS: BareStatement = {
  text: `select c.id, c.title from activity a join computer c on c.id = a.computer_id
    where a.parent_id in (select id from activity where id = any($1::int[]) and computer_count = 1)`,
  values: [],
  takesIds: true,
};

/** Parents of a page with their children on computers of one access group. */
const parentsSeen = (group: number, matching: string) => `
  with page as (select a.id from activity a where ${matching} order by a.id desc limit $2 offset $3)
  select ${parent('k')} from page join activity a on a.id = page.id left join person p on p.id = a.creator_id
  cross join lateral (
    select count(*)::int as children_count, count(distinct a.computer_id)::int as computer_count,
      count(*) filter (where a.status not in ('succeeded', 'failed', 'canceled'))::int as open_count,
      count(*) filter (where a.status = 'succeeded')::int as succeeded_count,
      count(*) filter (where a.status = 'failed')::int as failed_count,
      count(*) filter (where a.status = 'canceled')::int as canceled_count
    from activity a where a.parent_id = page.id and ${onComputersOf(group)}) k
  order by a.id desc`;

interface Options {
  limit?: number;
  offset?: number;
  parents?: boolean;
  /** Only activities on computers of this access group; null or absent: all. */
  group?: number | null;
}

function bareList(
  accountId: number,
  where: string,
  { limit = 1000, offset = 0, parents = false, group = null }: Options,
): BareStatement[] {
  const seen = group === null ? '' : `and (${onComputersOf(group)} or ${withChildrenOn(group)})`;
  const matching = `a.account_id = $1 ${parents ? 'and a.parent_id is null' : ''} ${seen} and (${where})`;
  const columns = parents ? parent('a') : DETAIL;
  const all = `select ${columns} from ${SOURCE} where ${matching} order by a.id desc limit $2 offset $3`;
  return [
    { text: parents && group !== null ? parentsSeen(group, matching) : all, values: [accountId, limit, offset] },
    { text: `select count(*) from activity a where ${matching}`, values: [accountId] },
    parents ? ONLY_COMPUTERS : children(accountId, group),
  ];
}

/** Ids and times that the queries use. */
export interface ActivityFacts {
  accountId: number;
  total: number;
  parents: number;
  /** A computer with activities, a parent with many children, and the time three days before the newest. */
  computer: number;
  parent: number;
  recently: string;
  group: number;
}

const withGroups = (which: string) =>
  `a.id in (select unnest(array[k.id, k.parent_id]) from activity k where ${which})`;

const query = (text: string) => `?query=${encodeURIComponent(text)}`;

/** Each selector with its hand-written condition; one line is one case. */
const SELECTORS: ReadonlyArray<
  readonly [text: (facts: ActivityFacts) => string, where: (facts: ActivityFacts) => string, narrow?: 'narrow']
> = [
  [() => 'status:succeeded', () => `a.status = 'succeeded'`],
  [() => 'status:failed', () => `a.status = 'failed'`],
  [() => 'status:delivered', () => `a.status = 'delivered'`],
  [() => 'status:canceled', () => `a.status = 'canceled'`],
  [() => 'NOT status:succeeded', () => `a.status <> 'succeeded'`],
  [() => 'type:InstallSnaps', () => `a.type = 'InstallSnaps'`],
  [() => 'type:SignalProcessRequest', () => `a.type = 'SignalProcessRequest'`],
  [
    () => 'creator:operator-1@fleet.example',
    () => `a.creator_id = (select id from person where lower(email) = 'operator-1@fleet.example')`,
  ],
  [
    () => 'creator:operator-12@fleet.example',
    () => `a.creator_id = (select id from person where lower(email) = 'operator-12@fleet.example')`,
  ],
  [({ computer }) => `computer:id:${computer}`, ({ computer }) => withGroups(`k.computer_id = ${computer}`), 'narrow'],
  [
    () => 'computer:tag:web',
    () =>
      withGroups(
        `k.computer_id in (select c.id from computer c where c.account_id = $1 and c.state = 'approved' and c.tags @> array['web'])`,
      ),
  ],
  [({ recently }) => `created-after:${recently}`, ({ recently }) => `a.creation_time >= '${recently}Z'`],
  [({ recently }) => `created-before:${recently}`, ({ recently }) => `a.creation_time < '${recently}Z'`],
  [({ parent }) => `parent-id:${parent}`, ({ parent }) => `a.parent_id = ${parent}`],
  [({ parent }) => `id:${parent}`, ({ parent }) => `a.id = ${parent}`, 'narrow'],
  [() => 'firefox', () => `lower(a.summary) like '%firefox%'`],
  [
    () => 'status:failed type:ChangePackagesRequest openssl',
    () => `a.status = 'failed' and a.type = 'ChangePackagesRequest' and lower(a.summary) like '%openssl%'`,
  ],
];

const PARENT_SELECTORS: typeof SELECTORS = [
  [() => 'status:failed', () => `a.status = 'failed'`],
  [() => 'type:ActivityGroup', () => `a.type = 'ActivityGroup'`],
];

const restricted = (listCase: ListCase): ListCase => ({ ...listCase, requester: 'restricted' });

/** Every case for an account with these activities. */
export function activityCases(facts: ActivityFacts): ListCase[] {
  const { accountId, total, parents, group } = facts;
  const walk = (name: string, family: ListCase['family'], options: Options): ListCase => {
    const { limit = 1000, offset = 0 } = options;
    const path = `/activities${options.parents ? '/parents' : ''}?limit=${limit}&offset=${offset}`;
    return {
      name,
      family,
      path,
      bare: bareList(accountId, 'true', options),
      check: options.parents ? checkParents : checkActivities,
    };
  };
  const rounded = (offset: number) => Math.max(0, Math.floor(offset / 1000) * 1000);
  const pages = [
    walk('page of 1,000', 'page', {}),
    walk('limit=1', 'page', { limit: 1 }),
    ...[0.1, 0.5, 0.999]
      .map((share) => rounded(total * share))
      .map((offset) => walk(`offset ${offset}`, 'offset', { offset })),
    walk('parents, page of 1,000', 'page', { parents: true }),
    walk(`parents, offset ${rounded(parents * 0.98)}`, 'offset', { parents: true, offset: rounded(parents * 0.98) }),
    restricted(walk('restricted, page of 1,000', 'page', { group })),
    restricted(walk('restricted, parents, page of 1,000', 'page', { parents: true, group })),
    restricted({
      ...walk('restricted, status:failed', 'page', {}),
      path: `/activities${query('status:failed')}`,
      bare: bareList(accountId, `a.status = 'failed'`, { group }),
    }),
  ];
  const filtered = SELECTORS.map(([text, where, narrow]): ListCase => {
    const bare = bareList(accountId, where(facts), {});
    return {
      name: text(facts),
      family: narrow ?? 'selector',
      path: `/activities${query(text(facts))}`,
      bare,
      isServed: (page) => page.count < total,
      check: checkActivities,
    };
  });
  const filteredParents = PARENT_SELECTORS.map(([text, where]): ListCase => {
    const bare = bareList(accountId, where(facts), { parents: true });
    return {
      name: `parents, ${text(facts)}`,
      family: 'selector',
      path: `/activities/parents${query(text(facts))}`,
      bare,
      isServed: (page) => page.count < parents,
      check: checkParents,
    };
  });
  return [...pages, ...filtered, ...filteredParents];
}

const ALIKE = ['id', 'parent_id', 'type', 'summary', 'result_code', 'result_text', 'deliver_delay_window'];
const TIMES = ['creation_time', 'approval_time', 'completion_time', 'delivery_time', 'modification_time'];

function checkRows(page: Page, rows: ReadonlyArray<readonly BareRow[]>): void {
  assert.equal(page.count, Number(rows[1]![0]!['count']), 'count');
  assert.equal(page.results.length, rows[0]!.length, 'rows of the page');
  for (const [index, row] of rows[0]!.entries()) checkActivity(page.results[index]!, row);
}

function checkActivity(item: Item, row: BareRow): void {
  const name = `activity ${String(row['id'])}`;
  for (const key of ALIKE) assert.deepEqual(item[key], row[key], `${key} of ${name}`);
  for (const key of TIMES) {
    if (key in item)
      assert.equal(
        item[key],
        (row[key] as Date | null)?.toISOString().replace(/\.\d+Z$/, 'Z') ?? null,
        `${key} of ${name}`,
      );
  }
  assert.equal((item['creator'] as Item | null)?.['email'] ?? null, row['email'], `creator of ${name}`);
  // Operations due later show as scheduled.
  if (row['status'] !== 'undelivered') assert.equal(item['activity_status'], row['status'], `status of ${name}`);
}

function checkActivities(page: Page, rows: ReadonlyArray<readonly BareRow[]>): void {
  checkRows(page, rows);
  const shown = page.results.flatMap((item) => item['children'] as Item[]).map(({ id }) => Number(id));
  assert.deepEqual(
    shown.sort((a, b) => a - b),
    rows[2]!.map(({ id }) => id),
    'children of the page',
  );
}

function checkParents(page: Page, rows: ReadonlyArray<readonly BareRow[]>): void {
  checkRows(page, rows);
  for (const [index, row] of rows[0]!.entries()) {
    const item = page.results[index]!;
    const statuses = {
      good: row['succeeded_count'],
      warning: row['open_count'],
      bad: Number(row['failed_count']) + Number(row['canceled_count']),
    };
    if (Number(row['children_count']) > 0)
      assert.deepEqual(item['children_statuses'], statuses, `statuses of ${String(row['id'])}`);
    assert.equal(item['children_count'], row['children_count'], `children of ${String(row['id'])}`);
  }
}
