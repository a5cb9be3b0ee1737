import { fileURLToPath } from 'node:url';
import { readFleetFigures } from '../../../src/persistence/computers/fleet-figures.sql.ts';
import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import { findFreePorts } from '../../stack/processes/ports.ts';
import type { BenchContext } from '../bench.ts';
import { generateActivities } from '../data/activities.ts';
import { generateComputers } from '../data/computers.ts';
import { startChild } from '../harness/child.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { latency, pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf } from '../harness/usage.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES } from '../product/roles.ts';
import {
  type ObservedRound,
  type ObservedSide,
  observedRound,
  prepareSide,
  readingCost,
  startScraping,
} from '../rounds/observability-rounds.ts';

const COMPUTERS = 500;
const GAUGED_COMPUTERS = 10_000;
const READINGS = 20;
const READ_EVERY_MS = 10_000;

/**
 * The cost of traces and metrics: the same work on a product without traces, on one that sends all of them to a
 * collector, and on the first with scrapes every second; and the gauges of a fleet with a year of activities.
 */
export async function observability(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const computers = options.computers?.at(-1) ?? COMPUTERS;
  const plain = await prepareSide(context, await startProduct(context), computers);
  const collector = await startCollector(context);
  const traced = await prepareSide(context, await startProduct(context, collector), computers);
  const round = (side: ObservedSide) => observedRound(side, [plain, traced], options.seconds);
  const rounds = await interleave<ObservedRound, Record<Side, () => Promise<ObservedRound>>>(
    {
      plain: () => round(plain),
      traced: () => round(traced),
      scraped: async () => {
        const scraping = await startScraping(resources, plain.stack);
        try {
          return await round(plain);
        } finally {
          await scraping.stop();
        }
      },
    },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  await traced.stack.stop();
  const readingMs = await readingCost(plain);
  return report(context, rounds, { computers, readingMs, gauges: await readGauges(context, plain) });
}

type Side = 'plain' | 'traced' | 'scraped';

async function startCollector({ resources }: BenchContext): Promise<Record<string, string>> {
  const [port] = await findFreePorts(1);
  const file = fileURLToPath(new URL('../baselines/trace-sink.ts', import.meta.url));
  await startChild(resources, file, [], { BENCH_PORT: String(port) });
  return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
}

async function readGauges({ options, progress }: BenchContext, { api, stack }: ObservedSide): Promise<number[]> {
  const url = stack.environment()['FLOTILLA_DATABASE_URL']!;
  const persistence = await openPersistence({ url, poolSize: 2, applicationName: 'generator' });
  try {
    const { db } = persistence;
    const [account] = await db.query<{ id: number }>('select id from account where name = $1', [api.account]);
    progress(`making ${options.activities.toLocaleString('en-US')} activities`);
    const common = { accountId: account!.id, now: new Date() };
    await generateComputers(db, { ...common, computers: GAUGED_COMPUTERS });
    await generateActivities(db, { ...common, activities: options.activities });
    const times: number[] = [];
    for (let reading = 0; reading <= READINGS; reading++) {
      const from = performance.now();
      await readFleetFigures(db);
      if (reading > 0) times.push(performance.now() - from);
    }
    return times;
  } finally {
    await persistence.close();
  }
}

function report(
  { options }: BenchContext,
  rounds: Record<Side, ObservedRound[]>,
  { computers, readingMs, gauges }: { computers: number; readingMs: number; gauges: readonly number[] },
): Report {
  const builder = new ReportBuilder();
  for (const { group, requests } of Object.values(rounds).flat()) {
    builder.window(group.usage);
    builder.window(requests.usage);
  }
  const perComputer = (side: Side) => rounds[side].map(({ group }) => cpuMsOf(group.usage, PRODUCT_ROLES) / computers);
  const perRequest = (side: Side) =>
    rounds[side].map(({ requests }) => (cpuMsOf(requests.usage, PRODUCT_ROLES) * 1000) / requests.count);
  for (const [side, what] of [
    ['traced', 'traces'],
    ['scraped', 'metrics read every second'],
  ] as const) {
    builder.row(`action with ${what} over without, CPU`, 'x', pairedRatios(perComputer(side), perComputer('plain')));
    builder.row(`GET with ${what} over without, CPU`, 'x', pairedRatios(perRequest(side), perRequest('plain')));
  }
  for (const side of ['plain', 'traced', 'scraped'] as const) {
    builder.row(`${side}: CPU per computer of an action`, 'ms', perComputer(side));
    builder.row(`${side}: CPU per GET /person`, 'us', perRequest(side));
    builder.row(
      `${side}: action done`,
      's',
      rounds[side].map(({ group }) => group.doneSeconds),
    );
  }
  builder.row('one reading of the metrics of every process: CPU', 'ms', [readingMs]);
  const { p50, p95 } = latency(gauges);
  const n = options.activities.toLocaleString('en-US');
  builder.row(`gauges of the fleet at ${n} activities, one reading`, 'ms', gauges);
  builder.row(`gauges of the fleet at ${n} activities, p95`, 'ms', [p95]);
  builder.row(`gauges of the fleet at ${n} activities, of one connection`, '%', [(p50 / READ_EVERY_MS) * 100]);
  builder.asserted('every operation of every action succeeded; no response but 200');
  builder.note(`actions on ${computers} computers; all traces are recorded and sent, the collector keeps nothing`);
  return builder.finish('observability', rounds, options.judgeAnyway);
}
