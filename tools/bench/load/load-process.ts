import { setTimeout as sleep } from 'node:timers/promises';
import { single, report, work } from './agents-at-work.ts';
import { BenchAgent } from './bench-agent.ts';
import type { LoadCommand, LoadReply, LoadResult, Ports } from './load.contract.ts';
import { type RawResponse, RawConnection } from './raw-connection.ts';
import { portOf, prepared, Tally, withConnections } from './tally.ts';

const agents: BenchAgent[] = [];
let stopping = false;

const ENROL_CONNECTIONS = 8;
const REUSE_LIMIT_MS = 1000;

async function enrol(command: Extract<LoadCommand, { kind: 'enrol' }>): Promise<LoadResult> {
  const tally = new Tally();
  const fresh = Array.from({ length: command.count }, (_, i) => new BenchAgent(`${command.prefix}-${i + 1}`));
  const queue = [...fresh];
  await withConnections(command.port, Math.min(ENROL_CONNECTIONS, command.count), async (connection) => {
    for (let agent = queue.pop(); agent; agent = queue.pop()) {
      const next = agent;
      await tally.time(async () => void (await next.enrol(connection, command.account)));
    }
  });
  agents.push(...fresh);
  return tally.result(fresh.map((agent) => agent.insecureId));
}

async function repeat(command: Extract<LoadCommand, { kind: 'repeat' }>): Promise<LoadResult> {
  const bytes = prepared(command.request);
  const tally = new Tally();
  const end = performance.now() + command.seconds * 1000;
  let turn = 0;
  await withConnections(command.port, command.connections, async (connection) => {
    while (performance.now() < end) await tally.time(() => connection.request(bytes[turn++ % bytes.length]!));
  });
  return { ...tally.result(), distinct: Math.min(turn, bytes.length) };
}

async function times(command: Extract<LoadCommand, { kind: 'times' }>): Promise<LoadResult> {
  const bytes = prepared(command.request);
  const tally = new Tally();
  await withConnections(command.port, 1, async (connection) => {
    for (let i = 0; i < command.count; i++) await tally.time(() => connection.request(bytes[i % bytes.length]!));
  });
  return tally.result();
}

async function exchange(command: Extract<LoadCommand, { kind: 'exchange' }>): Promise<LoadResult> {
  const tally = new Tally();
  const end = performance.now() + command.seconds * 1000;
  // An agent has one exchange at a time: each connection has its own agents.
  let distinct = 0;
  await withConnections(command.port, command.connections, async (connection, index) => {
    const mine = agents.filter((_, i) => i % command.connections === index);
    for (let turn = 0; performance.now() < end; turn++) {
      if (turn < mine.length) distinct++;
      await tally.time(async () => void (await mine[turn % mine.length]!.exchange(connection)));
    }
  });
  return { ...tally.result(), distinct };
}

async function probe(command: Extract<LoadCommand, { kind: 'probe' }>): Promise<LoadResult> {
  const requests = prepared(command.request);
  let turn = 0;
  return untilStopped(command, (connection) => connection.request(requests[turn++ % requests.length]!));
}

async function probeExchange(command: Extract<LoadCommand, { kind: 'probe-exchange' }>): Promise<LoadResult> {
  // An agent has one exchange at a time: it rejoins the queue after its response, and the waiting time counts.
  const line = [...agents];
  return untilStopped(command, async (connection) => {
    while (line.length === 0) await sleep(5);
    const agent = line.shift()!;
    await agent.exchange(connection);
    line.push(agent);
    return undefined;
  });
}

/** Sends requests at a steady pace, independent of the responses. */
async function untilStopped(
  command: { port: Ports; everyMs: number },
  request: (connection: RawConnection) => Promise<RawResponse | undefined>,
): Promise<LoadResult> {
  const tally = new Tally();
  const idle: Array<{ connection: RawConnection; since: number }> = [];
  const open: Promise<void>[] = [];
  let turn = 0;
  const send = async () => {
    const free = idle.pop();
    // A server closes idle connections, and would lose a request that is just on its way.
    const usable = free && performance.now() - free.since < REUSE_LIMIT_MS;
    const connection = usable ? free.connection : await RawConnection.open(portOf(command.port, turn++));
    const response = await request(connection);
    idle.push({ connection, since: performance.now() });
    return response;
  };
  stopping = false;
  while (!stopping) {
    open.push(tally.time(send).catch((error: unknown) => tally.fail(error)));
    await sleep(command.everyMs);
  }
  await Promise.all(open);
  for (const { connection } of idle) connection.close();
  return tally.result();
}

function execute(command: Exclude<LoadCommand, { kind: 'stop' }>): Promise<LoadResult> {
  switch (command.kind) {
    case 'enrol':
      return enrol(command);
    case 'repeat':
      return repeat(command);
    case 'times':
      return times(command);
    case 'exchange':
      return exchange(command);
    case 'report':
      return report(agents, command);
    case 'work':
      return work(agents, command);
    case 'single':
      return single(agents, command);
    case 'probe':
      return probe(command);
    case 'probe-exchange':
      return probeExchange(command);
  }
}

process.on('message', (command: LoadCommand) => {
  if (command.kind === 'stop') {
    stopping = true;
    return;
  }
  execute(command).then(
    (result) => process.send?.({ result } satisfies LoadReply),
    (error: unknown) => process.send?.({ error: String(error) } satisfies LoadReply),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
