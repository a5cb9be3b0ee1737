import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { quantile } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Usage } from '../harness/usage.ts';
import { type Api, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import type { Stack } from '../product/stack.ts';

const BATCH = 1_000;
/** Events that were written and not received yet. */
const MAX_AHEAD = 20_000;
const EVENTS_PER_RECEIVER_KILL = 1_000;
const SERVER_KILLS = 10;
const DOWN_MS = 50;
/** The first ones start the workflow. */
const WARM_UP_EVENTS = 20;
const QUIET_EVENTS = 200 + WARM_UP_EVENTS;
const QUIET_PAUSE_MS = 50;
/** The pauses of deliveries that failed several times. */
const LIMIT_MS = 30 * 60_000;
const WORKER = 'worker';
const API = 'API';

/**
 * Sends events to one webhook while its receiver and the servers are killed again and again, then replays them: none may be
 * lost, and the replay has the same bytes. Before that, how soon events are received while nothing else happens.
 * @see docs/events.md#webhooks
 */
export async function webhooks(context: BenchContext): Promise<Report> {
  const { options, resources, progress } = context;
  const count = options.activities;
  const stack = await startProduct(context, { FLOTILLA_WEBHOOK_PRIVATE_ADDRESSES: 'true' });
  const api = await logIn(stack);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  const receiver = new Receiver(count + QUIET_EVENTS);
  await receiver.start();
  resources.defer(() => receiver.kill());
  const { webhook } = await api.call<{ webhook: { id: number } }>('POST', '/webhooks', {
    url: `http://127.0.0.1:${receiver.port}/`,
    types: ['computer.changed'],
  });
  progress('events one by one, while nothing else happens');
  const latencies = await receiveOneByOne(database, receiver);
  progress(`${count} events, with kills`);
  const sent = await measure(stack.roles, () => sendAll(context, { stack, database, receiver, count }));
  progress('the replay');
  const bodies = receiver.startAgain();
  const replayed = await measure(stack.roles, async () => {
    await replay(api, webhook.id);
    await receiver.untilAll();
  });
  assert.deepEqual(receiver.digests, bodies, 'a replay has the same bytes');
  return report(context, { sent: sent.usage, replayed: replayed.usage, latencies, ...sent.result });
}

/** The far side: knows which events it has, and what their bytes were. */
class Receiver {
  digests: BigUint64Array;
  received = 0;
  port = 0;
  readonly arrivals = new Map<number, number>();
  #server: Server | null = null;

  constructor(size: number) {
    this.digests = new BigUint64Array(size);
  }

  async start(): Promise<void> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      this.#note(Buffer.concat(chunks));
      response.writeHead(204).end();
    });
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as { port: number }).port;
    this.#server = server;
  }

  /** Ends all connections at once, in the middle of requests. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    server?.closeAllConnections();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  /** @returns what was received so far */
  startAgain(): BigUint64Array {
    const before = this.digests;
    this.digests = new BigUint64Array(before.length);
    this.received = 0;
    return before;
  }

  async untilAll(expected = this.digests.length): Promise<void> {
    const endsAt = performance.now() + LIMIT_MS;
    while (this.received < expected) {
      if (performance.now() > endsAt) throw new Error(`${expected - this.received} of ${expected} events are missing`);
      await sleep(20);
    }
  }

  #note(body: Buffer): void {
    const { number } = (JSON.parse(body.toString()) as { data: { number: number } }).data;
    const digest = createHash('sha256').update(body).digest().readBigUInt64BE() || 1n;
    const known = this.digests[number]!;
    if (known === 0n) this.received += 1;
    assert.ok(known === 0n || known === digest, `event ${number} has other bytes than before`);
    this.digests[number] = digest;
    if (number < QUIET_EVENTS && known === 0n) this.arrivals.set(number, performance.now());
  }
}

async function insertEvents(database: pg.Client, first: number, count: number): Promise<void> {
  await database.query({
    name: 'bench-events',
    text: `insert into cloud_event (position, account_id, type, data)
      select event_position(), (select min(id) from account), 'computer.changed', jsonb_build_object('number', n)
      from generate_series($1::int, $1::int + $2::int - 1) n`,
    values: [first, count],
  });
}

/** @returns milliseconds from commit to receipt */
async function receiveOneByOne(database: pg.Client, receiver: Receiver): Promise<number[]> {
  const committed: number[] = [];
  for (let number = 0; number < QUIET_EVENTS; number += 1) {
    await insertEvents(database, number, 1);
    committed.push(performance.now());
    await sleep(QUIET_PAUSE_MS * (0.5 + Math.random()));
  }
  await receiver.untilAll(QUIET_EVENTS);
  return committed.map((at, number) => receiver.arrivals.get(number)! - at).slice(WARM_UP_EVENTS);
}

interface Sending {
  stack: Stack;
  database: pg.Client;
  receiver: Receiver;
  count: number;
}

/** Kills the receiver every so many events, and in turn worker and API ten times in all. */
async function sendAll(context: BenchContext, { stack, database, receiver, count }: Sending) {
  const end = QUIET_EVENTS + count;
  const serverKillEvery = Math.ceil(count / SERVER_KILLS);
  let kills = 0;
  let serverKills = 0;
  for (let next = QUIET_EVENTS; receiver.received < end; ) {
    if (next < end && next - receiver.received < MAX_AHEAD) {
      await insertEvents(database, next, Math.min(BATCH, end - next));
      next += BATCH;
    } else await sleep(20);
    const received = receiver.received - QUIET_EVENTS;
    if (received < count && received >= kills * EVENTS_PER_RECEIVER_KILL) {
      kills += 1;
      await receiver.kill();
      await sleep(DOWN_MS);
      await receiver.start();
    }
    if (received < count && received >= (serverKills + 1) * serverKillEvery) {
      killRole(stack, serverKills % 2 === 0 ? WORKER : API);
      serverKills += 1;
      context.progress(`${received} received, ${kills} kills of the receiver, ${serverKills} of servers`);
    }
  }
  await stack.ready();
  return { kills, serverKills };
}

function killRole({ roles }: Stack, name: string): void {
  const role = roles.find((known) => known.name === name);
  assert.ok(role, `there is no role ${name}`);
  for (const pid of role.roots()) process.kill(pid, 'SIGKILL');
}

async function replay(api: Api, webhook: number): Promise<void> {
  const endsAt = performance.now() + 60_000;
  for (;;) {
    try {
      await api.call('POST', `/webhooks/${webhook}:replay`, { after: 'oldest' });
      return;
    } catch (error) {
      // The API may be starting again.
      if (performance.now() > endsAt) throw error;
      await sleep(500);
    }
  }
}

interface Found {
  sent: Usage;
  replayed: Usage;
  latencies: number[];
  kills: number;
  serverKills: number;
}

function report({ options }: BenchContext, { sent, replayed, latencies, kills, serverKills }: Found): Report {
  const builder = new ReportBuilder();
  builder.window(sent);
  builder.window(replayed);
  const count = options.activities;
  builder.asserted('every event was received, and a replay had the same bytes');
  const sorted = latencies.toSorted((a, b) => a - b);
  builder.row('alone: commit to receipt, p50', 'ms', [quantile(sorted, 0.5)]);
  builder.row('alone: commit to receipt, p99', 'ms', [quantile(sorted, 0.99)]);
  builder.row('events', '', [count]);
  builder.row('kills of the receiver', '', [kills]);
  builder.row('kills of worker and API', '', [serverKills]);
  builder.row('events per second, with kills', '/s', [(count * 1000) / sent.wallMs]);
  builder.row('events per second, replay', '/s', [((count + QUIET_EVENTS) * 1000) / replayed.wallMs]);
  builder.row('CPU per event of a replay, worker', 'ms', [cpuMsOf(replayed, [WORKER]) / (count + QUIET_EVENTS)]);
  return builder.finish('webhooks', { usage: { sent, replayed } }, options.judgeAnyway);
}
