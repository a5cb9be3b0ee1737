import { describe, expect, it } from 'vitest';
import { CHECKS, type Invariant, violationsIn } from '../../../tools/faults/invariants/checks.ts';
import type { ActivityFact, Facts } from '../../../tools/faults/invariants/facts.ts';

/**
 * Every check is shown a world in which its invariant is broken: one that sees nothing proves nothing.
 *
 * @see docs/reliability.md#the-fault-matrix
 */
const NONE = { children: 0, open: 0, succeeded: 0, failed: 0, canceled: 0 };
const GROUP = 10;
const LANE = 5;

const group = (over: Partial<ActivityFact> = {}): ActivityFact => ({
  ...{ id: GROUP, account: 1, parent: null, batch: null, computer: null },
  ...{ status: 'succeeded', delivered: true, ended: true },
  counts: { ...NONE, children: 2, succeeded: 2 },
  message: null,
  ...over,
});

const operation = (id: number, computer: number, over: Partial<ActivityFact> = {}): ActivityFact => ({
  ...{ id, account: 1, parent: GROUP, batch: LANE, computer },
  ...{ status: 'succeeded', delivered: true, ended: true, counts: NONE },
  message: 'acked',
  ...over,
});

/** A group on two computers that went well, and one computer of another account. */
const world = (over: Partial<Facts> = {}): Facts => ({
  activities: [group(), operation(11, 101), operation(12, 102)],
  batches: [{ id: LANE, parent: GROUP, workflow: 'activity/10/lane/0', size: 2, counts: { ...NONE, succeeded: 2 } }],
  transitions: [11, 12].flatMap((activity) => [
    { activity, from: 'undelivered', to: 'delivered' },
    { activity, from: 'delivered', to: 'succeeded' },
  ]),
  deliveries: [
    { operation: 11, computer: 101, position: 1, sentAtMs: 1000, dueAtMs: 900, unmet: false },
    { operation: 12, computer: 102, position: 1, sentAtMs: 1000, dueAtMs: 900, unmet: false },
  ],
  executions: new Map([
    [11, [{ computerId: 101 }]],
    [12, [{ computerId: 102 }]],
  ]),
  owners: new Map([
    [101, 1],
    [102, 1],
    [201, 2],
  ]),
  tags: new Map([
    [101, ['lab']],
    [102, ['lab']],
  ]),
  removed: new Set(),
  openWorkflows: [],
  leftovers: [],
  acknowledged: [
    { what: 'group', account: 1, id: GROUP, computers: [101, 102] },
    { what: 'tag', tag: 'lab', computers: [101, 102] },
  ],
  mayRepeat: new Set(),
  cloned: new Set(),
  cancelTried: new Set(),
  secretsFound: [],
  intrusions: [],
  protocolViolations: [],
  ...over,
});

const open = { status: 'delivered', ended: false } as const;

const inOrder: Facts['deliveries'] = [
  { operation: 11, computer: 101, position: 1, sentAtMs: 1000, dueAtMs: 900, unmet: false },
  { operation: 12, computer: 101, position: 2, sentAtMs: 1000, dueAtMs: 900, unmet: false },
];

const BROKEN: ReadonlyArray<readonly [Invariant, string, Partial<Facts>]> = [
  ['I1', 'a lost operation', { activities: [group(), operation(11, 101)] }],
  ['I1', 'a doubled operation', { activities: [group(), operation(11, 101), operation(12, 102), operation(13, 102)] }],
  [
    'I1',
    'a computer that was not requested',
    {
      activities: [group(), operation(11, 101), operation(12, 102), operation(13, 103)],
    },
  ],
  [
    'I1',
    'counters that drifted',
    {
      activities: [
        group({ counts: { ...NONE, children: 2, succeeded: 1, failed: 1 } }),
        operation(11, 101),
        operation(12, 102),
      ],
    },
  ],
  [
    'I1',
    'a batch that counts otherwise',
    { batches: [{ id: LANE, parent: GROUP, workflow: 'w', size: 2, counts: { ...NONE, succeeded: 1, open: 1 } }] },
  ],
  [
    'I1',
    'a group that succeeded with a canceled operation',
    {
      activities: [
        group({ counts: { ...NONE, children: 2, succeeded: 1, canceled: 1 } }),
        operation(11, 101),
        operation(12, 102, { status: 'canceled' }),
      ],
    },
  ],
  [
    'I1',
    'a group that reports no delivery',
    { activities: [group({ delivered: false }), operation(11, 101), operation(12, 102)] },
  ],
  ['I2', 'a success that became a failure', { transitions: [{ activity: 11, from: 'succeeded', to: 'failed' }] }],
  [
    'I2',
    'two ends',
    {
      transitions: [
        { activity: 11, from: 'delivered', to: 'succeeded' },
        { activity: 11, from: 'delivered', to: 'failed' },
      ],
    },
  ],
  ['I2', 'an end without its time', { activities: [group({ ended: false }), operation(11, 101), operation(12, 102)] }],
  ['I3', 'an operation that ran twice', { executions: new Map([[11, [{ computerId: 101 }, { computerId: 101 }]]]) }],
  ['I3', 'a success that never ran', { executions: new Map() }],
  [
    'I3',
    'a withdrawn message that ran',
    {
      activities: [group(), operation(11, 101), operation(12, 102, { status: 'canceled', message: 'withdrawn' })],
    },
  ],
  ['I3', 'what no agent accepts', { protocolViolations: ['1 times a gap in the sequence'] }],
  ['I4', 'an open row without a workflow', { activities: [group(open), operation(11, 101), operation(12, 102)] }],
  [
    'I4',
    'an open batch without a workflow',
    {
      batches: [{ id: LANE, parent: GROUP, workflow: 'w', size: 2, counts: { ...NONE, open: 1, succeeded: 1 } }],
      openWorkflows: ['activity/10'],
    },
  ],
  ['I4', 'an open workflow without a row', { openWorkflows: ['activity/10'] }],
  ['I4', 'a queue that is not emptied', { leftovers: ['outbox row start 10'] }],
  ['I5', 'an acknowledged group that no longer exists', { activities: [], batches: [] }],
  ['I5', 'an acknowledged tag that no longer exists', { tags: new Map([[101, []]]) }],
  [
    'I5',
    'a cancel that was accepted and did nothing',
    {
      activities: [group(open), operation(11, 101, open), operation(12, 102)],
      acknowledged: [{ what: 'cancel', account: 1, ids: [11] }],
    },
  ],
  [
    'I5',
    'an approval that was accepted and did nothing',
    {
      activities: [group({ ...open, status: 'unapproved' }), operation(11, 101, { ...open, status: 'unapproved' })],
      acknowledged: [{ what: 'approval', account: 1, ids: [11] }],
    },
  ],
  [
    'I5',
    'an approval of a group after which an operation was canceled unapproved',
    {
      transitions: [{ activity: 12, from: 'unapproved', to: 'canceled' }],
      acknowledged: [{ what: 'approval', account: 1, ids: [GROUP] }],
    },
  ],
  ['I5', 'a removal that was accepted and undone', { acknowledged: [{ what: 'removed', computer: 101 }] }],
  ['I6', 'a secret in a log', { secretsFound: ['password is in data/logs/api.log'] }],
  ['I7', 'an operation for a computer of another account', { activities: [group(), operation(11, 201)] }],
  ['I7', 'an operation in a group of another account', { activities: [group({ account: 2 }), operation(11, 101)] }],
  ['I7', 'a computer of another account that carried it out', { executions: new Map([[11, [{ computerId: 201 }]]]) }],
  ['I7', 'a foreign request that was let through', { intrusions: ['neighbour was let do POST /snaps'] }],
  ['I8', 'an operation that came before an earlier one that was due', { deliveries: swapped(900) }],
  [
    'I8',
    'an operation without what goes before',
    { deliveries: inOrder.map((delivery) => ({ ...delivery, unmet: true })) },
  ],
  ['I8', 'an operation that ran before one that came first', { deliveries: inOrder, executions: ran(12, 11) }],
];

/** Two operations on one computer, the second handed over first; the first was due at the moment given. */
function swapped(dueAtMs: number): Facts['deliveries'] {
  return [
    { operation: 12, computer: 101, position: 1, sentAtMs: 1000, dueAtMs: 900, unmet: false },
    { operation: 11, computer: 101, position: 2, sentAtMs: 2000, dueAtMs, unmet: false },
  ];
}

function ran(...operations: number[]): Facts['executions'] {
  return new Map(operations.map((id) => [id, [{ computerId: 101 }]]));
}

describe('the invariants', () => {
  it('hold in a world where nothing went wrong', () => {
    expect(violationsIn(world())).toEqual([]);
  });

  it.each(BROKEN)('%s notices %s', (invariant, _, broken) => {
    expect(CHECKS[invariant](world(broken))).not.toEqual([]);
  });

  it('let an operation run again where the agent died right after its work, and nowhere else', () => {
    const executions = new Map([...world().executions, [11, [{ computerId: 101 }, { computerId: 101 }]]]);
    expect(CHECKS.I3(world({ executions, mayRepeat: new Set([101]) }))).toEqual([]);
    expect(CHECKS.I3(world({ executions, mayRepeat: new Set([102]) }))).toHaveLength(1);
  });

  it('let pass what was not due, and let copies and agents that died run in any order', () => {
    expect(CHECKS.I8(world({ deliveries: swapped(1500), executions: ran(12, 11) }))).toEqual([]);
    const backwards = { deliveries: inOrder, executions: ran(12, 11) };
    expect(CHECKS.I8(world({ ...backwards, cloned: new Set([101]) }))).toEqual([]);
    expect(CHECKS.I8(world({ ...backwards, mayRepeat: new Set([101]) }))).toEqual([]);
  });

  it('let nothing run that was withdrawn, also where the agent died right after its work', () => {
    const activities = [group(), operation(11, 101), operation(12, 102, { status: 'canceled', message: 'withdrawn' })];
    expect(CHECKS.I3(world({ activities, mayRepeat: new Set([102]) }))).toHaveLength(1);
  });

  it('let a computer and its copy carry an operation out once each, and no more often', () => {
    const runs = (times: number) =>
      new Map([...world().executions, [11, Array.from({ length: times }, () => ({ computerId: 101 }))]]);
    expect(CHECKS.I3(world({ executions: runs(2), cloned: new Set([101]) }))).toEqual([]);
    expect(CHECKS.I3(world({ executions: runs(3), cloned: new Set([101]) }))).toHaveLength(1);
    const elsewhere = new Map([...world().executions, [11, [{ computerId: 55 }]]]);
    expect(CHECKS.I3(world({ executions: elsewhere, cloned: new Set([101]) }))).toEqual([]);
    expect(CHECKS.I3(world({ executions: elsewhere }))).toHaveLength(1);
  });

  it('let a cancel of one operation be ahead of the approval of its group', () => {
    const transitions = [{ activity: 12, from: 'unapproved', to: 'canceled' }];
    const acknowledged = [{ what: 'approval' as const, account: 1, ids: [GROUP] }];
    expect(CHECKS.I5(world({ transitions, acknowledged, cancelTried: new Set([12]) }))).toEqual([]);
    expect(CHECKS.I5(world({ transitions, acknowledged, cancelTried: new Set([11]) }))).toHaveLength(1);
  });

  it('let a result replace a cancel once', () => {
    const transitions = [
      { activity: 11, from: 'delivered', to: 'canceled' },
      { activity: 11, from: 'canceled', to: 'succeeded' },
    ];
    expect(CHECKS.I2(world({ transitions }))).toEqual([]);
    expect(
      CHECKS.I2(world({ transitions: [...transitions, { activity: 11, from: 'succeeded', to: 'failed' }] })),
    ).not.toEqual([]);
  });
});
