import type { ReportBuilder } from '../harness/report.ts';
import { growthExponent, pairedRatios, quantile } from '../harness/statistics.ts';
import { addedMiBOf, cpuMsOf, peakMiBOf } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { OWN_ROLES, PRODUCT_ROLES, rolesIn } from '../product/roles.ts';
import type { Accepts } from './snaps-accepts.ts';
import type { GroupRound, NoOpRound } from './snaps-rounds.ts';

/** The rounds of one group size, and the no-op rounds between them. */
export interface SizeResult {
  computers: number;
  groups: GroupRound[];
  noOps: NoOpRound[];
  accepts: Accepts;
}

/** Processes that work for a no-op workflow; the idle product shares these two servers. */
const NO_OP_ROLES = ['Temporal', 'PostgreSQL', 'no-op worker'];

/** Adds the rows of one size. */
export function addSize(builder: ReportBuilder, { computers, groups, noOps, accepts }: SizeResult): void {
  const n = computers.toLocaleString('en-US');
  const row: ReportBuilder['row'] = (figure, ...rest) => builder.row(`${n}: ${figure}`, ...rest);
  const per = <T>(list: readonly T[], pick: (round: T) => number) => list.map(pick);
  const rate = per(groups, (g) => g.computers / g.doneSeconds);
  const noOpRate = per(noOps, (o) => o.count / o.seconds);
  const cpu = per(groups, (g) => cpuMsOf(g.usage, PRODUCT_ROLES) / g.computers);
  const noOpCpu = per(noOps, (o) => cpuMsOf(o.usage, NO_OP_ROLES) / o.count);
  row('accepted alone', 'ms', accepts.timesMs);
  row('accepted alone, p95', 'ms', [quantile(accepts.timesMs, 0.95)], TARGETS.acceptMs);
  row(
    'accepted',
    'ms',
    per(groups, (g) => g.acceptMs),
  );
  row(
    'all queued',
    's',
    per(groups, (g) => g.queuedSeconds),
  );
  row(
    'all done',
    's',
    per(groups, (g) => g.doneSeconds),
    TARGETS.doneSeconds,
  );
  row(
    'GET /activities/<group>',
    'ms',
    per(groups, (g) => g.readMs),
  );
  row('computers per second', '/s', rate);
  row('no-op workflows per second', '/s', noOpRate);
  row('no-op workflow over computer, CPU', 'x', pairedRatios(noOpCpu, cpu), TARGETS.computersPerNoop);
  row('computers over no-op workflows, per second', 'x', pairedRatios(rate, noOpRate));
  row('CPU per computer', 'ms', cpu);
  for (const role of [...rolesIn(groups[0]!.usage), 'fleet (not counted)']) {
    row(
      `CPU per computer, ${role}`,
      'ms',
      per(groups, (g) => cpuMsOf(g.usage, [role]) / g.computers),
    );
  }
  row('CPU per no-op workflow', 'ms', noOpCpu);
  for (const role of NO_OP_ROLES) {
    row(
      `CPU per no-op workflow, ${role}`,
      'ms',
      per(noOps, (o) => cpuMsOf(o.usage, [role]) / o.count),
    );
  }
  addWrites(row, groups, noOps);
  row(
    'memory added, API + worker',
    'MiB',
    per(groups, ({ usage }) => addedMiBOf(usage, OWN_ROLES)),
    TARGETS.addedMiB,
  );
  for (const role of rolesIn(groups[0]!.usage))
    row(
      `memory peak, ${role}`,
      'MiB',
      per(groups, (g) => g.usage.roles[role]?.peakMiB ?? 0),
    );
  row(
    'API meanwhile, p50',
    'ms',
    per(groups, (g) => g.probe.latencyMs.p50),
  );
  row(
    'API meanwhile, p95',
    'ms',
    per(groups, (g) => g.probe.latencyMs.p95),
  );
  row(
    'API meanwhile, p99',
    'ms',
    per(groups, (g) => g.probe.latencyMs.p99),
  );
}

/** Write-ahead logs of PostgreSQL and of Temporal's file together. */
function addWrites(row: ReportBuilder['row'], groups: readonly GroupRound[], noOps: readonly NoOpRound[]): void {
  const commits = (r: GroupRound | NoOpRound) => r.writes.postgres.commits + r.writes.temporal.commits;
  const bytes = (r: GroupRound | NoOpRound) => r.writes.postgres.walBytes + r.writes.temporal.walBytes;
  const perGroup = (pick: (r: GroupRound) => number) => groups.map((g) => pick(g) / g.computers);
  const perNoOp = (pick: (r: NoOpRound) => number) => noOps.map((o) => pick(o) / o.count);
  row('commits per computer', '', perGroup(commits));
  row(
    'commits per computer, PostgreSQL',
    '',
    perGroup((g) => g.writes.postgres.commits),
  );
  row('commits per no-op workflow', '', perNoOp(commits));
  row('commits, computer over no-op', 'x', pairedRatios(perGroup(commits), perNoOp(commits)), TARGETS.writesPerNoop);
  row('log bytes per computer', 'B', perGroup(bytes));
  row(
    'log bytes per computer, PostgreSQL',
    'B',
    perGroup((g) => g.writes.postgres.walBytes),
  );
  row('log bytes per no-op workflow', 'B', perNoOp(bytes));
  row('log bytes, computer over no-op', 'x', pairedRatios(perGroup(bytes), perNoOp(bytes)), TARGETS.writesPerNoop);
}

/** How costs grow from the smallest to the largest group: 1 is in proportion. */
export function addGrowth(builder: ReportBuilder, sizes: readonly SizeResult[]): void {
  const small = sizes[0];
  const large = sizes.at(-1);
  if (!small || !large || small === large) return;
  const middle = (size: SizeResult, pick: (g: GroupRound) => number) => quantile(size.groups.map(pick), 0.5);
  const grow = (pick: (g: GroupRound) => number): number[] => {
    const points = [small, large].map((size) => ({ size: size.computers, cost: middle(size, pick) }));
    return points.every((point) => point.cost > 0) ? [growthExponent(points[0]!, points[1]!)] : [];
  };
  const name = `growth ${small.computers.toLocaleString('en-US')} -> ${large.computers.toLocaleString('en-US')}`;
  builder.row(
    `${name}: accepted`,
    'exponent',
    grow((g) => g.acceptMs),
  );
  builder.row(
    `${name}: all queued`,
    'exponent',
    grow((g) => g.queuedSeconds),
    TARGETS.timeGrowth,
  );
  builder.row(
    `${name}: all done`,
    'exponent',
    grow((g) => g.doneSeconds),
    TARGETS.timeGrowth,
  );
  builder.row(
    `${name}: CPU`,
    'exponent',
    grow((g) => cpuMsOf(g.usage, PRODUCT_ROLES)),
    TARGETS.timeGrowth,
  );
  builder.row(
    `${name}: peak memory, API + worker`,
    'exponent',
    grow(({ usage }) => peakMiBOf(usage, OWN_ROLES)),
    TARGETS.memoryGrowth,
  );
}
