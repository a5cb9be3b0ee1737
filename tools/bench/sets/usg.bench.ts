import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { cpuMsOf } from '../harness/usage.ts';
import { TARGETS, type Target } from '../harness/verdict.ts';
import { PRODUCT_ROLES, type ProductRole, rolesIn } from '../product/roles.ts';
import { type DueRound, dueRounds } from '../rounds/due-rounds.ts';
import { type AuditRound, auditRound } from '../rounds/usg-rounds.ts';
import { AUDITED_TAG, createProfile, type Probed, prepareUsg, RULES, type Watched } from '../rounds/usg-setting.ts';

const COMPUTERS = 10_000;
const DUE_PROFILES = 1000;
/** From this size on a round takes minutes, and needs no warm-up. */
const LARGE = 5000;

/**
 * A profile that audits a whole fleet, and many profiles due at one moment, with a gateway that serves agents
 * meanwhile.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function usg(context: BenchContext): Promise<Report> {
  const computers = context.options.computers?.at(-1) ?? COMPUTERS;
  const isLarge = computers >= LARGE;
  const rounds = isLarge ? context.options.longRounds : context.options.rounds;
  const setting = await prepareUsg(context, computers);
  const scope = { all_computers: false, tags: [AUDITED_TAG], start_date: '2090-01-01' };
  const { id } = await createProfile(setting.api, 'Everybody', scope);
  const audits: AuditRound[] = [];
  for (let round = isLarge ? 1 : 0; round <= rounds; round++) {
    const audit = await auditRound(setting, id);
    context.progress(`audits of ${audit.computers} computers: ${audit.doneSeconds.toFixed(1)} s`);
    if (round > 0) audits.push(audit);
  }
  const profiles = Math.min(DUE_PROFILES, computers);
  context.progress(`${profiles} profiles due at one moment`);
  const dueRound = dueRounds(setting, profiles);
  const due: DueRound[] = [];
  for (let round = 1; round <= rounds; round++) due.push(await dueRound());
  return report(context, audits, due);
}

function report({ options }: BenchContext, audits: readonly AuditRound[], due: readonly DueRound[]): Report {
  const builder = new ReportBuilder();
  for (const { usage } of [...audits, ...due]) builder.window(usage);
  addAudits(builder, audits);
  addDue(builder, due);
  builder.asserted('every computer counts once in every run; each report has all rules; one run of each due profile');
  builder.asserted('no response of gateway and API but 200 meanwhile');
  builder.note(`${audits[0]?.computers} computers, ${audits[0]?.reports} of which report, ${RULES} rules each`);
  builder.note('meanwhile: one ping, one exchange and one GET /person every 100 ms, beside those of the fleet');
  return builder.finish('usg', { audits, due }, options.judgeAnyway);
}

type Figure<R> = readonly [name: string, unit: string, of: (round: R) => number, target?: Target];

function addAudits(builder: ReportBuilder, audits: readonly AuditRound[]): void {
  const figures: ReadonlyArray<Figure<AuditRound>> = [
    ['all delivered', 's', (r) => r.deliveredSeconds],
    ['all results stored', 's', (r) => r.doneSeconds],
    ['reports stored', '/s', (r) => r.reports / r.doneSeconds],
    ['results of rules stored', '/s', (r) => (r.reports * RULES) / r.doneSeconds],
    ...perUnit<AuditRound>('report', rolesIn(audits[0]!.usage), (r) => r.reports),
    ...memory<AuditRound>(),
    ...latencies<AuditRound>(),
    ['GET /usg-profiles/<id>', 'ms', (r) => r.readMs],
    ['summary report, first read', 'ms', (r) => r.summaryMs],
  ];
  for (const [name, unit, of] of figures) builder.row(name, unit, audits.map(of));
}

function addDue(builder: ReportBuilder, due: readonly DueRound[]): void {
  const { profiles, usage } = due[0]!;
  const figures: ReadonlyArray<Figure<DueRound>> = [
    ['first run', 's', (r) => r.firstSeconds],
    ['lateness, p50', 's', (r) => r.lateness.p50],
    ['lateness, p99', 's', (r) => r.lateness.p99, TARGETS.latenessSeconds],
    ['lateness, max', 's', (r) => r.lateness.max],
    ...perUnit<DueRound>('run', rolesIn(usage), (r) => r.profiles),
    ...latencies<DueRound>(),
  ];
  for (const [name, unit, of, target] of figures)
    builder.row(`${profiles} due at once: ${name}`, unit, due.map(of), target);
}

function perUnit<R extends Watched>(
  what: string,
  roles: readonly ProductRole[],
  count: (round: R) => number,
): Array<Figure<R>> {
  return [
    [`CPU per ${what}`, 'ms', (r) => cpuMsOf(r.usage, PRODUCT_ROLES) / count(r)],
    ...roles.map((role): Figure<R> => [`CPU per ${what}, ${role}`, 'ms', (r) => cpuMsOf(r.usage, [role]) / count(r)]),
    [`commits per ${what}, PostgreSQL`, '', (r) => r.writes.postgres.commits / count(r)],
    [`commits per ${what}, Temporal`, '', (r) => r.writes.temporal.commits / count(r)],
    [`log bytes per ${what}, PostgreSQL`, 'B', (r) => r.writes.postgres.walBytes / count(r)],
    [`log bytes per ${what}, Temporal`, 'B', (r) => r.writes.temporal.walBytes / count(r)],
  ];
}

function memory<R extends Watched>(): Array<Figure<R>> {
  return (['API', 'worker'] as const).flatMap((role): Array<Figure<R>> => {
    const of = (r: R) => r.usage.roles[role]!;
    return [
      [`memory peak, ${role}`, 'MiB', (r) => of(r).peakMiB],
      [`memory added, ${role}`, 'MiB', (r) => of(r).peakMiB - of(r).startMiB],
    ];
  });
}

const PROBES: ReadonlyArray<readonly [keyof Probed, string]> = [
  ['ping', 'ping'],
  ['exchange', 'exchange'],
  ['api', 'GET /person'],
];

function latencies<R extends Watched>(): Array<Figure<R>> {
  return PROBES.flatMap(
    ([probe, name]): Array<Figure<R>> => [
      [`${name} meanwhile, p50`, 'ms', (r) => r.probed[probe].latencyMs.p50],
      [`${name} meanwhile, p99`, 'ms', (r) => r.probed[probe].latencyMs.p99],
    ],
  );
}
