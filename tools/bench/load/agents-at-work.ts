import { setTimeout as sleep } from 'node:timers/promises';
import { type BObject, decode, isDict } from '../../../src/protocol/bpickle.ts';
import { API_PREFIX } from '../product/api.ts';
import type { BenchAgent } from './bench-agent.ts';
import type { LoadCommand, LoadResult, SingleCommand } from './load.contract.ts';
import { RawConnection, requestBytes } from './raw-connection.ts';
import { portOf, Tally, withConnections } from './tally.ts';

const VISIBLE_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 5;
const STARTED_AT = 1_750_000_000;
/** Size of a message without the name of its process. */
const REST_BYTES = 190;
const PING_HEADERS = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** All agents exchange in turn and report their operations until all are reported. */
export async function work(
  agents: readonly BenchAgent[],
  command: Extract<LoadCommand, { kind: 'work' }>,
): Promise<LoadResult> {
  const tally = new Tally();
  const end = performance.now() + command.limitSeconds * 1000;
  let left = command.operations;
  await withConnections(command.port, Math.min(command.connections, agents.length), async (connection, index) => {
    const mine = agents.filter((_, i) => i % command.connections === index);
    for (let turn = 0; left > 0; turn++) {
      if (performance.now() > end) throw new Error(`${left} operations were never given to an agent`);
      const agent = mine[turn % mine.length]!;
      await tally.time(async () => {
        const reported = await agent.work(connection);
        left -= reported;
        return undefined;
      });
    }
  });
  return { ...tally.result(), distinct: command.operations };
}

/** Agents exchange in turn; every message reports one process with a new name. */
export async function report(
  agents: readonly BenchAgent[],
  command: Extract<LoadCommand, { kind: 'report' }>,
): Promise<LoadResult> {
  const tally = new Tally();
  const end = performance.now() + command.seconds * 1000;
  const reporting = new Set<BenchAgent>();
  await withConnections(command.port, Math.min(command.connections, agents.length), async (connection, index) => {
    const mine = agents.filter((_, i) => i % command.connections === index);
    for (let turn = 0; performance.now() < end; turn++) {
      const agent = mine[turn % mine.length]!;
      const messages = processMessages(command, `${turn}`);
      await tally.time(async () => void (await agent.exchange(connection, messages)));
      reporting.add(agent);
    }
  });
  return { ...tally.result(), distinct: reporting.size };
}

function processMessages({ messages, bytes }: { messages: number; bytes: number }, mark: string): BObject[] {
  return Array.from({ length: messages }, (_, i) => ({
    type: 'active-process-info',
    api: Buffer.from('3.3'),
    timestamp: STARTED_AT,
    'update-processes': [
      { pid: i + 1, name: processName(bytes, mark), state: Buffer.from('S'), uid: 0, gid: 0, 'start-time': STARTED_AT },
    ],
  }));
}

/** A unique process name that brings its message to approximately so many bytes. */
export function processName(bytes: number, mark: string): string {
  return mark.padEnd(Math.max(mark.length, bytes - REST_BYTES), 'x');
}

/**
 * As many requests as are parallel for one operation each, which an agent notices by a ping, fetches and reports; then the
 * next, for the next agent: no agent pings as often as its limit.
 */
export async function single(agents: readonly BenchAgent[], command: SingleCommand): Promise<LoadResult> {
  const tally = new Tally();
  let left = command.count;
  const act = async (index: number) => {
    const ports = { api: portOf(command.apiPort, index), gateway: portOf(command.port, index) };
    const mine = agents.filter((_, i) => i % command.parallel === index);
    for (let turn = 0; left-- > 0; turn++) {
      await tally.time(() => oneOperation(mine[turn % mine.length]!, command, ports));
    }
  };
  await Promise.all(Array.from({ length: command.parallel }, (_, index) => act(index)));
  return tally.result();
}

async function oneOperation(
  agent: BenchAgent,
  { path, headers, pingMs, until }: SingleCommand,
  ports: { api: number; gateway: number },
): Promise<undefined> {
  const body = { action: 'install', computer_ids: [agent.insecureId], snaps: [{ name: 'hello-world' }] };
  // Connections for one operation: the server closes those that are idle meanwhile.
  const api = await RawConnection.open(ports.api);
  const posted = await api.request(requestBytes('POST', path, headers, Buffer.from(JSON.stringify(body))));
  if (until === 'reported') api.close();
  if (posted.status >= 300) throw new Error(`POST ${path} returned ${posted.status}: ${posted.body.toString()}`);
  const ping = requestBytes('POST', '/ping', PING_HEADERS, Buffer.from(`insecure_id=${agent.insecureId}`));
  const gateway = await RawConnection.open(ports.gateway);
  for (;;) {
    await sleep(pingMs);
    const response = await gateway.request(ping);
    if (response.status !== 200) throw new Error(`a ping returned ${response.status}`);
    const reply = decode(response.body);
    if (isDict(reply) && reply.messages === true && (await agent.work(gateway)) > 0) break;
  }
  gateway.close();
  if (until === 'visible') await waitForSuccess(api, headers, JSON.parse(posted.body.toString()).id);
  return undefined;
}

async function waitForSuccess(api: RawConnection, headers: Record<string, string>, id: number): Promise<void> {
  const look = requestBytes('GET', `${API_PREFIX}/activities/${id}`, headers);
  const end = performance.now() + VISIBLE_LIMIT_MS;
  for (;;) {
    const { status, body } = await api.request(look);
    const activity = JSON.parse(body.toString());
    if (activity.activity_status === 'succeeded') break;
    if (status !== 200 || performance.now() > end) throw new Error(`activity ${id} has not succeeded: ${body}`);
    await sleep(LOOK_EVERY_MS);
  }
  api.close();
}
