import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { type BObject, type BValue, decode, encode } from '../../../src/protocol/bpickle.ts';
import { createFleet } from '../../../tools/simulator/fleet.ts';
import { Machine } from '../../../tools/simulator/inventory/machine.ts';
import { findOperation, unsupported } from '../../../tools/simulator/operations/index.ts';
import type { Outcome } from '../../../tools/simulator/operations/operation.ts';
import { createRandom } from '../../../tools/simulator/random.ts';
import { DEFAULT_AUDIT_RULES } from '../../../tools/simulator/settings.ts';

export const EPOCH = 1_795_000_000;
/** Places in the pattern of 25. */
export const [SERVER, TPM_DESKTOP, PLAIN_DESKTOP, KIOSK, WINDOWS, WSL] = [0, 15, 18, 19, 20, 22];
export const OPERATION = 4711;
/** Package ids are catalogue positions plus this. */
export const ID_BASE = 1000;

/** A simulated computer in its initial state. */
export function machineAt(index: number): Machine {
  return new Machine({ seed: 1, index, epoch: EPOCH });
}

/** Runs a message of the server on a computer, without a network. */
export async function run(
  machine: Machine,
  message: BObject,
  attachments: Record<number, string> = {},
): Promise<Outcome> {
  const { blueprint } = machine;
  const operation = findOperation(String(message['type']), blueprint) ?? unsupported;
  return operation(
    { 'operation-id': OPERATION, ...message },
    {
      machine,
      random: createRandom(1, 'test'),
      packageIds: Int32Array.from(blueprint.catalogue?.packages ?? [], (_, index) => ID_BASE + index),
      nowSeconds: EPOCH,
      auditRules: DEFAULT_AUDIT_RULES,
      download: async (id) => (id in attachments ? Buffer.from(attachments[id]!) : null),
    },
  );
}

/** One payload as it was received. */
export interface SeenExchange {
  computerId: string | null;
  token: string | null;
  api: string;
  body: BObject;
  /** The token of the last response. */
  responseToken: string | null;
}

/** A server for tests that speaks just enough to enrol agents, records all it receives, and fails on request. */
export interface ScriptedGateway {
  url: string;
  exchanges: SeenExchange[];
  pings: string[];
  /** Messages for the next response to an identified agent. */
  outgoing: BObject[];
  /** Requests that came, whatever became of them. */
  heard: number;
  /** Requests get their response after this. */
  respondsAfter: Promise<void>;
  /** What the responses name as the server. */
  serverUuid: string;
  /** Paths of GET requests, which find nothing. */
  downloads: string[];
  /** How the next identified exchanges fail: by which status, before or after they counted. */
  failures: ('none' | { status: number; counted: boolean })[];
  close(): Promise<void>;
}

const FACTS = ['active-process-info', 'add-packages', 'computer-info', 'packages', 'snaps'];
const TYPES = [...FACTS, 'fde-recovery-key', 'operation-result', 'resynchronize', 'unknown-package-hashes'];

/** Starts a scripted server on a free port. */
export async function startScriptedGateway(): Promise<ScriptedGateway> {
  const counters = new Map<string, number>();
  const ids = new Map<string, number>();
  const gateway: Omit<ScriptedGateway, 'url' | 'close'> = {
    exchanges: [],
    pings: [],
    outgoing: [],
    heard: 0,
    respondsAfter: Promise.resolve(),
    serverUuid: 'scripted',
    downloads: [],
    failures: [],
  };
  const respond = (computerId: string | null, body: BObject): BObject => {
    const messages = body['messages'] as BObject[];
    const frame: BObject = { 'server-uuid': Buffer.from(gateway.serverUuid), 'server-api': Buffer.from('3.3') };
    if (computerId === null) return { ...frame, messages: [enrolment(messages, counters)] };
    const before = counters.get(computerId)!;
    const pendingEvents = before < 0 ? messages : messages.slice(before - (body['sequence'] as number));
    counters.set(computerId, Math.max(before, (body['sequence'] as number) + messages.length));
    const first: BObject[] = before < 0 ? [{ type: 'accepted-types', types: TYPES }] : [];
    return {
      ...frame,
      messages: [
        ...first,
        ...pendingEvents.flatMap((message) => packageIds(message, ids)),
        ...gateway.outgoing.splice(0),
      ],
      'next-expected-sequence': counters.get(computerId)!,
      'next-exchange-token': Buffer.from(`token-${gateway.exchanges.length}`),
    };
  };
  const exchange = (request: IncomingMessage, raw: Buffer): { status: number; body: BValue } => {
    const body = decode(raw) as BObject;
    const header = (name: string): string | null => (request.headers[name] as string | undefined) ?? null;
    const computerId = header('x-computer-id');
    const seen = {
      computerId,
      token: header('x-exchange-token'),
      api: header('x-message-api')!,
      body,
      responseToken: null,
    };
    gateway.exchanges.push(seen);
    const next = computerId === null ? undefined : gateway.failures.shift();
    const failure = next === 'none' ? undefined : next;
    if (failure && !failure.counted) return { status: failure.status, body: {} };
    const reply = respond(computerId, body);
    if (failure) return { status: failure.status, body: {} };
    Object.assign(seen, { responseToken: (reply['next-exchange-token'] as Buffer | undefined)?.toString() ?? null });
    return { status: 200, body: reply };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    gateway.heard++;
    await gateway.respondsAfter;
    if (request.method === 'GET') {
      gateway.downloads.push(request.url!);
      response.writeHead(404).end();
      return;
    }
    if (request.url === '/ping') gateway.pings.push(raw.toString());
    const { status, body } =
      request.url === '/ping'
        ? { status: 200, body: { messages: gateway.outgoing.length > 0 } }
        : exchange(request, raw);
    response.writeHead(status).end(encode(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(gateway, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** What an agent does meanwhile that must do nothing: enrol, report its inventory, and ping twice. */
export async function enrolElsewhere(): Promise<void> {
  const gateway = await startScriptedGateway();
  const fleet = createFleet({
    computers: 1,
    url: gateway.url,
    logger: createLogger({ level: 'silent', role: 'test' }),
    times: { pingMs: 100, urgentMs: 50, operationMs: 20, retryMs: 50, rampMs: 0, rebootMs: 100 },
    tickMs: 5,
  });
  await fleet.start();
  await fleet.settled(10_000);
  await expect.poll(() => gateway.pings.filter((ping) => ping === 'insecure_id=1').length).toBeGreaterThan(1);
  await fleet.stop();
  await gateway.close();
}

function enrolment(messages: readonly BObject[], counters: Map<string, number>): BObject {
  if (messages[0]?.['type'] !== 'register') return { type: 'accepted-types', types: ['register'] };
  const number = counters.size + 1;
  counters.set(`secure-${number}`, -1);
  return { type: 'set-id', id: Buffer.from(`secure-${number}`), 'insecure-id': number };
}

/** Ids for hashes that were described before, and for packages that are described now. */
function packageIds(message: BObject, known: Map<string, number>): BObject[] {
  const requestId = message['request-id']!;
  if (message['type'] === 'unknown-package-hashes') {
    const ids = (message['hashes'] as Buffer[]).map((hash) => known.get(hash.toString('hex')) ?? null);
    return [{ type: 'package-ids', 'request-id': requestId, ids }];
  }
  if (message['type'] !== 'add-packages') return [];
  const packages = message['packages'] as BObject[];
  const ids = packages.map((entry) => {
    const key = `${entry['name']} ${entry['version']}`;
    if (!known.has(key)) known.set(key, 1000 + known.size);
    return known.get(key)!;
  });
  return [{ type: 'package-ids', 'request-id': requestId, ids }];
}
