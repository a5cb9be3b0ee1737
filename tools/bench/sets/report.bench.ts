import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import type { BenchContext } from '../bench.ts';
import { generateAudits } from '../data/audits.ts';
import { generateComputers } from '../data/computers.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf, type Role } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES } from '../product/roles.ts';
import { compareDay, copyRound, productRound, type ReportSetting, type SideRound } from '../rounds/report-rounds.ts';
import { createProfile, RULES } from '../rounds/usg-setting.ts';

const COMPUTERS = 10_000;
const RUNS = 5;
const DAY_MS = 86_400_000;
/** From this size on a round takes minutes. */
const LARGE = 5000;

interface KindRounds {
  kind: 'summary' | 'detailed';
  product: SideRound[];
  copy: SideRound[];
}

/**
 * Reports on five runs of a whole fleet, against the same rows by a bare COPY.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function report(context: BenchContext): Promise<Report> {
  const { options } = context;
  const computers = options.computers?.at(-1) ?? COMPUTERS;
  const setting = await prepare(context, computers);
  let lines = 0;
  for (const detailed of [false, true]) lines += await compareDay(setting, detailed);
  context.progress(`${lines.toLocaleString('en-US')} lines of reports are those of the bare rows`);
  const kinds: KindRounds[] = [];
  for (const kind of ['summary', 'detailed'] as const) {
    const isLarge = kind === 'detailed' && computers >= LARGE;
    const rounds = isLarge ? options.longRounds : options.rounds;
    const sides = {
      product: () => productRound(setting, kind === 'detailed'),
      copy: () => copyRound(setting, kind === 'detailed'),
    };
    const onRound = (text: string) => context.progress(`${kind}, ${text}`);
    kinds.push({
      kind,
      ...(await interleave<SideRound, typeof sides>(sides, { rounds, warmUps: isLarge ? 0 : 1, onRound })),
    });
  }
  return render(context, kinds, lines);
}

async function prepare(context: BenchContext, computers: number): Promise<ReportSetting> {
  const { progress } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const url = stack.environment()['FLOTILLA_DATABASE_URL']!;
  const database = await openDatabase(context, url);
  const { id: profileId } = await createProfile(api, 'Everybody', { all_computers: true, start_date: '2090-01-01' });
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const startedAt = Array.from({ length: RUNS }, (_, n) => new Date(today - (RUNS - n) * 7 * DAY_MS + 7_200_000));
  const persistence = await openPersistence({ url, poolSize: 2, applicationName: 'generator' });
  try {
    const { rows } = await database.query<{ id: number }>('select id from account where name = $1', [api.account]);
    const accountId = rows[0]!.id;
    await generateComputers(persistence.db, { accountId, computers, now: new Date() });
    const audited = await generateAudits(persistence.db, { accountId, profileId, rules: RULES, startedAt });
    progress(`${computers} computers, ${audited} of them audited in each of ${RUNS} runs`);
  } finally {
    await persistence.close();
  }
  const day = (date: Date) => date.toISOString().slice(0, 10);
  const days = { first: day(startedAt[0]!), last: day(startedAt.at(-1)!) };
  const roles: Role[] = [...stack.roles, { name: 'bench', roots: () => [process.pid], alone: true }];
  return { stack, api, database, roles, profileId, days };
}

function render({ options }: BenchContext, kinds: readonly KindRounds[], lines: number): Report {
  const builder = new ReportBuilder();
  for (const { product, copy } of kinds) for (const { usage } of [...product, ...copy]) builder.window(usage);
  for (const rounds of kinds) addKind(builder, rounds);
  builder.asserted(`${lines.toLocaleString('en-US')} lines of reports on one day are the bare rows, byte by byte`);
  builder.note(
    `${RUNS} runs, ${RULES} rules; a report is stored before it can be read, rows by COPY go nowhere and have no order`,
  );
  return builder.finish('report', kinds, options.judgeAnyway);
}

function addKind(builder: ReportBuilder, { kind, product, copy }: KindRounds): void {
  const per = (rounds: readonly SideRound[], of: (round: SideRound) => number) => rounds.map(of);
  const row = (
    figure: string,
    unit: string,
    samples: number[],
    target?: (typeof TARGETS)['reportRatio' | 'reportMiB'],
  ) => builder.row(`${kind}: ${figure}`, unit, samples, target);
  const seconds = (round: SideRound) => round.seconds;
  row('report made', 's', per(product, seconds));
  row('COPY of its rows', 's', per(copy, seconds));
  row('report over COPY', 'x', pairedRatios(per(product, seconds), per(copy, seconds)), TARGETS.reportRatio);
  row(
    'report read',
    's',
    per(product, (round) => round.readSeconds),
  );
  row(
    'size',
    'MiB',
    per(product, ({ bytes }) => bytes / 2 ** 20),
  );
  row(
    'size of COPY',
    'MiB',
    per(copy, ({ bytes }) => bytes / 2 ** 20),
  );
  const added = ({ usage }: SideRound) => usage.roles['worker']!.peakMiB - usage.roles['worker']!.startMiB;
  row('memory added, worker', 'MiB', per(product, added), TARGETS.reportMiB);
  row(
    'CPU of the report',
    's',
    per(product, ({ usage }) => cpuMsOf(usage, PRODUCT_ROLES) / 1000),
  );
  for (const role of ['worker', 'PostgreSQL']) {
    row(
      `CPU of the report, ${role}`,
      's',
      per(product, ({ usage }) => cpuMsOf(usage, [role]) / 1000),
    );
  }
  row(
    'CPU of COPY, PostgreSQL',
    's',
    per(copy, ({ usage }) => cpuMsOf(usage, ['PostgreSQL']) / 1000),
  );
}
