import { setTimeout as sleep } from 'node:timers/promises';
import { single, tell, work } from './agents-at-work.ts';
import { BenchAgent } from './bench-agent.ts';
import type { LoadOrder, LoadReply, LoadResult, Ports } from './load.contract.ts';
import { type RawResponse, RawConnection } from './raw-connection.ts';
import { portOf, prepared, Tally, withConnections } from './tally.ts';

const agents: BenchAgent[] = [];
let stopping = false;

const ENROL_CONNECTIONS = 8;
const REUSE_LIMIT_MS = 1000;

async function enrol(order: Extract<LoadOrder, { kind: 'enrol' }>): Promise<LoadResult> {
  const tally = new Tally();
  const fresh = Array.from({ length: order.count }, (_, i) => new BenchAgent(`${order.prefix}-${i + 1}`));
  const queue = [...fresh];
  await withConnections(order.port, Math.min(ENROL_CONNECTIONS, order.count), async (connection) => {
    for (let agent = queue.pop(); agent; agent = queue.pop()) {
      const next = agent;
      await tally.time(async () => void (await next.enrol(connection, order.account)));
    }
  });
  agents.push(...fresh);
  return tally.result(fresh.map((agent) => agent.insecureId));
}

async function repeat(order: Extract<LoadOrder, { kind: 'repeat' }>): Promise<LoadResult> {
  const bytes = prepared(order.request);
  const tally = new Tally();
  const end = performance.now() + order.seconds * 1000;
  let turn = 0;
  await withConnections(order.port, order.connections, async (connection) => {
    while (performance.now() < end) await tally.time(() => connection.request(bytes[turn++ % bytes.length]!));
  });
  return { ...tally.result(), distinct: Math.min(turn, bytes.length) };
}

async function times(order: Extract<LoadOrder, { kind: 'times' }>): Promise<LoadResult> {
  const bytes = prepared(order.request);
  const tally = new Tally();
  await withConnections(order.port, 1, async (connection) => {
    for (let i = 0; i < order.count; i++) await tally.time(() => connection.request(bytes[i % bytes.length]!));
  });
  return tally.result();
}

async function exchange(order: Extract<LoadOrder, { kind: 'exchange' }>): Promise<LoadResult> {
  const tally = new Tally();
  const end = performance.now() + order.seconds * 1000;
  // An agent has one exchange at a time: each connection has its own agents.
  let distinct = 0;
  await withConnections(order.port, order.connections, async (connection, index) => {
    const mine = agents.filter((_, i) => i % order.connections === index);
    for (let turn = 0; performance.now() < end; turn++) {
      if (turn < mine.length) distinct++;
      await tally.time(async () => void (await mine[turn % mine.length]!.exchange(connection)));
    }
  });
  return { ...tally.result(), distinct };
}

async function probe(order: Extract<LoadOrder, { kind: 'probe' }>): Promise<LoadResult> {
  const requests = prepared(order.request);
  let requested = 0;
  return untilStopped(order, (connection) => connection.request(requests[requested++ % requests.length]!));
}

async function probeExchange(order: Extract<LoadOrder, { kind: 'probe-exchange' }>): Promise<LoadResult> {
  // An agent has one exchange at a time: it rejoins the queue after its response, and the waiting time counts.
  const line = [...agents];
  return untilStopped(order, async (connection) => {
    while (line.length === 0) await sleep(5);
    const agent = line.shift()!;
    await agent.exchange(connection);
    line.push(agent);
    return undefined;
  });
}

/** Sends requests at a steady pace, independent of the responses. */
async function untilStopped(
  order: { port: Ports; everyMs: number },
  request: (connection: RawConnection) => Promise<RawResponse | undefined>,
): Promise<LoadResult> {
  const tally = new Tally();
  const idle: Array<{ connection: RawConnection; since: number }> = [];
  const open: Promise<void>[] = [];
  let turn = 0;
  const ask = async () => {
    const free = idle.pop();
    // A server closes idle connections, and would lose a request that is just on its way.
    const usable = free && performance.now() - free.since < REUSE_LIMIT_MS;
    const connection = usable ? free.connection : await RawConnection.open(portOf(order.port, turn++));
    const response = await request(connection);
    idle.push({ connection, since: performance.now() });
    return response;
  };
  stopping = false;
  while (!stopping) {
    open.push(tally.time(ask).catch((error: unknown) => tally.fail(error)));
    await sleep(order.everyMs);
  }
  await Promise.all(open);
  for (const { connection } of idle) connection.close();
  return tally.result();
}

function obey(order: Exclude<LoadOrder, { kind: 'stop' }>): Promise<LoadResult> {
  switch (order.kind) {
    case 'enrol':
      return enrol(order);
    case 'repeat':
      return repeat(order);
    case 'times':
      return times(order);
    case 'exchange':
      return exchange(order);
    case 'tell':
      return tell(agents, order);
    case 'work':
      return work(agents, order);
    case 'single':
      return single(agents, order);
    case 'probe':
      return probe(order);
    case 'probe-exchange':
      return probeExchange(order);
  }
}

process.on('message', (order: LoadOrder) => {
  if (order.kind === 'stop') {
    stopping = true;
    return;
  }
  obey(order).then(
    (result) => process.send?.({ result } satisfies LoadReply),
    (error: unknown) => process.send?.({ error: String(error) } satisfies LoadReply),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
