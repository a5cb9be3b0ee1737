import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import { launchChromium } from '../../harness/chromium.ts';
import type { BenchContext } from '../bench.ts';
import { generateComputers } from '../data/computers.ts';
import { listProcesses } from '../harness/proc.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { quantile } from '../harness/statistics.ts';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { type Api, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { measurePan, measurePaint, measureScroll, openWatched, type WatchedPage } from '../web/watched-page.ts';

const DEFAULT_COMPUTERS = 100_000;
/** Contact times are based on this far ahead: without pings, computers must not become offline one by one. */
const LASTS_MS = 3 * 3600_000;
const EVENTS = 60;
/** Other computers change meanwhile. */
const OTHERS_EVERY_MS = 50;

interface Figures {
  paintedMs: number[];
  framesPerSecond: number[];
  blankRows: number[];
  eventMs: number[];
}

/**
 * Map and list of a large fleet in a real browser: how soon the map is there, whether both move without gaps, and how soon an
 * event is a pixel.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function map(context: BenchContext): Promise<Report> {
  const { options, resources, progress } = context;
  const computers = options.computers?.at(-1) ?? DEFAULT_COMPUTERS;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const url = stack.environment()['FLOTILLA_DATABASE_URL']!;
  const database = await openDatabase(context, url);
  progress(`making ${computers} computers`);
  await fill(url, database, api, computers);
  const before = new Set(listProcesses().map(({ pid }) => pid));
  const browser = await launchChromium();
  resources.defer(() => browser.close());
  const started = listProcesses().filter(({ pid, parent }) => parent === process.pid && !before.has(pid));
  const roles: Role[] = [
    ...stack.roles,
    { name: 'browser', roots: () => started.map(({ pid }) => pid), memory: 'proportional' },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const watched = await openWatched(browser, `http://127.0.0.1:${stack.port}`);
  const { result, usage } = await measure(roles, () => measureAll(context, database, watched));
  return report(context, computers, result, usage);
}

async function fill(url: string, database: pg.Client, api: Api, computers: number): Promise<void> {
  const account = await database.query<{ id: number }>('select id from account where name = $1', [api.account]);
  const persistence = await openPersistence({ url, poolSize: 2, applicationName: 'generator' });
  try {
    const now = new Date(Date.now() + LASTS_MS);
    await generateComputers(persistence.db, { accountId: account.rows[0]!.id, computers, now });
  } finally {
    await persistence.close();
  }
  await database.query('vacuum analyze');
}

async function measureAll(
  { options, progress }: BenchContext,
  database: pg.Client,
  watched: WatchedPage,
): Promise<Figures> {
  const figures: Figures = { paintedMs: [], framesPerSecond: [], blankRows: [], eventMs: [] };
  for (let round = 0; round <= options.rounds; round += 1) {
    progress(`round ${round} of ${options.rounds}`);
    const painted = await measurePaint(watched, '/computers/map');
    const frames = await measurePan(watched);
    const blank = await measureScroll(watched, '/computers');
    if (round === 0) continue;
    figures.paintedMs.push(painted);
    figures.framesPerSecond.push(frames);
    figures.blankRows.push(blank);
  }
  progress(`${EVENTS} events`);
  await watched.page.goto('/computers/map');
  figures.eventMs = await measureEvents(database, watched);
  return figures;
}

/** Has the first computer of the map need a restart, and no longer, while others change at a steady rate. */
async function measureEvents(database: pg.Client, watched: WatchedPage): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(
    `select s.computer_id as id from computer_status s join computer c on c.id = s.computer_id
     where c.state = 'approved' and not c.archived order by c.id`,
  );
  const ids = rows.map(({ id }) => id);
  const first = ids[0]!;
  // Far from the pixels that are watched.
  const others = ids.slice(-1000);
  await makeFine(database, first);
  await watched.watchPixels();
  let isOver = false;
  const changes = (async () => {
    for (let next = 0; !isOver; next += 1) {
      await setRestart(database, others[next % others.length]!, next % (2 * others.length) < others.length);
      await sleep(OTHERS_EVERY_MS);
    }
  })();
  try {
    const latencies: number[] = [];
    for (let event = 0; event < EVENTS; event += 1) {
      // At any time within the page's own rhythm.
      await sleep(300 + ((event * 37) % 400));
      await setRestart(database, first, event % 2 === 0);
      const committedAt = performance.timeOrigin + performance.now();
      latencies.push((await watched.changeAfter(committedAt - 50)) - committedAt);
    }
    return latencies;
  } finally {
    isOver = true;
    await changes;
  }
}

/** Nothing but restarts may decide the state of a computer. */
async function makeFine(database: pg.Client, id: number): Promise<void> {
  await database.query(
    `update computer_status set reboot_since = null, security_upgrades_since = null, package_reporter_since = null,
       esm_disabled_since = null, duplicate_since = null, doubted_at = null where computer_id = $1`,
    [id],
  );
  await database.query(
    `update computer_profile set status = 'compliant' where computer_id = $1 and status = 'noncompliant'`,
    [id],
  );
  await database.query(`update activity set status = 'canceled' where computer_id = $1 and status = 'unapproved'`, [
    id,
  ]);
  await database.query('update computer_contact set last_ping_time = now() + $2::interval where computer_id = $1', [
    id,
    `${LASTS_MS} milliseconds`,
  ]);
}

async function setRestart(database: pg.Client, id: number, isNeeded: boolean): Promise<void> {
  await database.query({
    name: 'bench-restart',
    text: 'update computer_status set reboot_since = case when $2 then now() end where computer_id = $1',
    values: [id, isNeeded],
  });
}

function report({ options }: BenchContext, computers: number, figures: Figures, usage: Usage): Report {
  const builder = new ReportBuilder();
  builder.window(usage);
  assert.equal(figures.eventMs.length, EVENTS);
  builder.asserted('every event became a pixel');
  builder.row('computers', '', [computers]);
  builder.row('navigation to the painted map', 'ms', figures.paintedMs, TARGETS.mapPaintMs);
  builder.row('frames per second while the map is moved', '', figures.framesPerSecond, TARGETS.panFrames);
  builder.row('rows without content while the list is scrolled, at most', '', figures.blankRows, TARGETS.blankRows);
  builder.row('event to pixel, p50', 'ms', [quantile(figures.eventMs, 0.5)]);
  builder.row('event to pixel, p95', 'ms', [quantile(figures.eventMs, 0.95)], TARGETS.eventPixelMs);
  builder.note('the browser has no graphics processor, and shares the machine with the product');
  return builder.finish('map', { usage, figures }, options.judgeAnyway);
}
