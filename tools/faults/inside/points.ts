/**
 * Fail points between two durable steps, recognized by the statements that a process sends. The product contains no
 * hooks: tests inject the faults from outside.
 * @see docs/reliability.md#durable-states
 */
export const FAIL_POINTS = [
  /** S1: the transaction that accepts a request, before its commit. */
  'before-accept-commit',
  /** S1 is durable; no response and no start yet. */
  'after-accept-commit',
  /** A cancel, before and after its commit. */
  'before-cancel-commit',
  'after-cancel-commit',
  /** S2: outbox entries are claimed, nothing is started. */
  'before-start',
  /** The server has started the workflows; the entries still exist. */
  'after-start',
  'after-outbox-commit',
  /** The group's first activity has read its batches. */
  'after-list-batches',
  /** S3: some statements of the chunk that queues messages are done. */
  'inside-open',
  'before-events',
  /** S8: pending events are applied, before and after the commit. */
  'before-events-commit',
  'after-events-commit',
  /** S9: reading the state of a group. */
  'before-group-progress',
  'after-group-progress',
  /** S7: an agent's messages, before they are stored, and stored without a response. */
  'before-exchange-store',
  'after-exchange-store',
  /** Pending events were read, and no workflow was woken. */
  'before-wake-up',
  'before-enrol-commit',
  'after-enrol-commit',
  /** A profile's run, created for a schedule or a person. */
  'before-run-commit',
  'after-run-commit',
] as const;

export type FailPoint = (typeof FAIL_POINTS)[number];

/** Which process reaches a point. */
export function processOf(point: FailPoint): 'api' | 'worker' {
  return /accept|cancel|exchange|enrol|run/.test(point) ? 'api' : 'worker';
}

/** Statements of one connection since `begin`; null outside a transaction. */
export type Marks = Set<Mark> | null;
type Mark = 'accept' | 'cancel' | 'outbox' | 'events' | 'exchange' | 'enrol' | 'run';

/** Points right before a statement is sent, and right after its result arrived. */
export interface Passed {
  before: FailPoint | null;
  after: FailPoint | null;
}

const MARKS: ReadonlyArray<readonly [Mark, RegExp]> = [
  ['run', /insert into (usg_run|script_profile_run)\b/],
  ['enrol', /insert into agent_identity\b/],
  ['cancel', /insert into agent_inbox[^;]*'cancel'/],
  ['accept', /insert into ("outbox"|outbox \(kind, key, traceparent)/],
  ['outbox', /delete from outbox\b/],
  ['events', /from lane l where l\.id = \$1 for update/],
  ['exchange', /update agent\b/],
];

const SINGLE: ReadonlyArray<readonly [RegExp, Passed]> = [
  [/from outbox[^;]*for update of o skip locked/, { before: null, after: 'before-start' }],
  [/delete from outbox\b/, { before: 'after-start', after: null }],
  [/order by l\.ordinal/, { before: null, after: 'after-list-batches' }],
  [/insert into agent_message\b/, { before: null, after: 'inside-open' }],
  [/from lane l where l\.id = \$1 for update/, { before: 'before-events', after: null }],
  [
    /case when open_count = 0 then status else 'open' end/,
    { before: 'before-group-progress', after: 'after-group-progress' },
  ],
  [/sum\(id\)::text as fingerprint/, { before: null, after: 'before-wake-up' }],
];

const COMMITS: ReadonlyArray<readonly [Mark, Passed]> = [
  ['run', { before: 'before-run-commit', after: 'after-run-commit' }],
  ['enrol', { before: 'before-enrol-commit', after: 'after-enrol-commit' }],
  ['cancel', { before: 'before-cancel-commit', after: 'after-cancel-commit' }],
  ['accept', { before: 'before-accept-commit', after: 'after-accept-commit' }],
  ['outbox', { before: null, after: 'after-outbox-commit' }],
  ['events', { before: 'before-events-commit', after: 'after-events-commit' }],
  ['exchange', { before: 'before-exchange-store', after: 'after-exchange-store' }],
];

/** These reads are usually empty, and count only when they find rows. */
export const WITH_ROWS: ReadonlySet<FailPoint> = new Set(['before-start', 'before-wake-up', 'inside-open']);

/** Tracks the next statement of a connection. @returns its new marks and the passed points */
export function follow(marks: Marks, text: string): { marks: Marks; passed: Passed | null } {
  const word = text.trimStart().slice(0, 9).toLowerCase();
  if (word.startsWith('begin') || word.startsWith('start tra')) return { marks: new Set(), passed: null };
  if (word.startsWith('rollback')) return { marks: null, passed: null };
  if (word.startsWith('commit')) {
    const commit = COMMITS.find(([mark]) => marks?.has(mark));
    return { marks: null, passed: commit?.[1] ?? null };
  }
  for (const [mark, pattern] of MARKS) if (marks && pattern.test(text)) marks.add(mark);
  const single = SINGLE.find(([pattern]) => pattern.test(text));
  if (single) return { marks, passed: single[1] };
  // A plain exchange is a single statement.
  const stores = marks === null && /update agent\b/.test(text);
  return { marks, passed: stores ? { before: 'before-exchange-store', after: 'after-exchange-store' } : null };
}
