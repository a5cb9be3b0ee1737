import { setTimeout as sleep } from 'node:timers/promises';
import { decode, isDict } from '../../../src/protocol/bpickle.ts';
import type { Random } from '../../../tools/simulator/random.ts';
import type { Reply, Sent, Transfer } from './agent-channel.ts';

const LATEST_MS = 1500;
const SLOWEST_MS = 600;
const OTHER_TYPES = ['text/html', 'application/json', 'multipart/form-data; boundary=x', 'application/gzip', 'x'];

/** Forwards an unreadable request, which the server must reject. */
async function expectRejected(transfer: Transfer, body: Buffer): Promise<void> {
  const reply = await transfer.forward({ ...transfer.sent, body });
  if (reply.status === 200) transfer.error('a broken payload was accepted');
  transfer.respond(reply);
}

/** @see docs/reliability.md#the-network-between-agents-and-server */
export const CHANNEL_FAULTS = {
  'request lost': async (transfer: Transfer) => transfer.hangUp(),
  'response lost': async (transfer: Transfer) => {
    await transfer.forward();
    transfer.hangUp();
  },
  'request late': async (transfer: Transfer) => {
    const { forward, random } = transfer;
    transfer.hangUp();
    const delay = random.int(20, LATEST_MS);
    transfer.later(async () => {
      await sleep(delay);
      await forward();
    });
  },
  'request overtaken': async (transfer: Transfer) => {
    const { forward } = transfer;
    transfer.hangUp();
    transfer.afterNext(() => forward());
  },
  'request slow': async (transfer: Transfer) => {
    await sleep(transfer.random.int(20, SLOWEST_MS));
    transfer.respond(await transfer.forward());
  },
  'response slow': async (transfer: Transfer) => {
    const reply = await transfer.forward();
    await sleep(transfer.random.int(20, SLOWEST_MS));
    transfer.respond(reply);
  },
  'doubled at once': async (transfer: Transfer) => {
    const replies = await Promise.all([transfer.forward(), transfer.forward()]);
    transfer.respond(transfer.random.pick(replies));
  },
  'doubled in turn': async (transfer: Transfer) => {
    const replies = [await transfer.forward(), await transfer.forward()];
    transfer.respond(transfer.random.pick(replies));
  },
  'doubled later': async (transfer: Transfer) => {
    const { forward } = transfer;
    transfer.respond(await forward());
    transfer.afterNext(() => forward());
  },
  'another replayed before': async (transfer: Transfer) => {
    await transfer.forward(transfer.earlier());
    transfer.respond(await transfer.forward());
  },
  'another replayed after': async (transfer: Transfer) => {
    const reply = await transfer.forward();
    await transfer.forward(transfer.earlier());
    transfer.respond(reply);
  },
  'request cut': async (transfer: Transfer) => {
    const { sent, random } = transfer;
    const status = await transfer.forwardRaw(raw(sent, sent.body.length, random.int(0, sent.body.length - 1)));
    if (status === 200) transfer.error('a cut request was accepted');
    transfer.hangUp();
  },
  'request longer than declared': async (transfer: Transfer) => {
    const { sent, random } = transfer;
    const status = await transfer.forwardRaw(raw(sent, random.int(0, sent.body.length - 1), sent.body.length));
    if (status === 200) transfer.error('a part of a request was accepted');
    transfer.hangUp();
  },
  'request shortened': (transfer: Transfer) =>
    expectRejected(transfer, transfer.sent.body.subarray(0, transfer.random.int(0, transfer.sent.body.length - 1))),
  'request padded': (transfer: Transfer) =>
    expectRejected(
      transfer,
      Buffer.concat([transfer.sent.body, transfer.sent.body.subarray(0, transfer.random.int(1, 9))]),
    ),
  'request garbled': (transfer: Transfer) => expectRejected(transfer, garble(transfer.sent.body, transfer.random)),
  'request of another type': async (transfer: Transfer) => {
    const headers = { ...transfer.sent.headers, 'content-type': transfer.random.pick(OTHER_TYPES) };
    transfer.respond(await transfer.forward({ ...transfer.sent, headers }));
  },
  'response cut': async (transfer: Transfer) => {
    const reply = await transfer.forward();
    transfer.respondPartly(reply, transfer.random.int(0, Math.max(0, reply.body.length - 1)));
  },
  'response shortened': async (transfer: Transfer) => {
    const reply = await transfer.forward();
    transfer.respond(
      changed(reply, reply.body.subarray(0, transfer.random.int(0, Math.max(0, reply.body.length - 1)))),
    );
  },
  'response garbled': async (transfer: Transfer) => {
    const reply = await transfer.forward();
    transfer.respond(changed(reply, garble(reply.body, transfer.random)));
  },
  "somebody else's response": async (transfer: Transfer) => {
    const status = transfer.random.pick([200, 302, 407, 429, 502, 503, 504]);
    transfer.respond({
      status,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from('<html>Log in first</html>'),
    });
  },
} satisfies Record<string, (transfer: Transfer) => Promise<void>>;

export type ChannelFault = keyof typeof CHANNEL_FAULTS;

const ALL = Object.keys(CHANNEL_FAULTS) as ChannelFault[];
/** Nobody can notice these on a ping: it has no structure. */
const UNDETECTABLE_ON_PINGS: ReadonlySet<ChannelFault> = new Set([
  'request shortened',
  'request padded',
  'request garbled',
  'request longer than declared',
]);
const DOWNLOAD_FAULTS: readonly ChannelFault[] = [
  'request lost',
  'response lost',
  'request slow',
  'doubled at once',
  'response cut',
];
const PING_FAULTS = ALL.filter((name) => !UNDETECTABLE_ON_PINGS.has(name));

/** The faults that the receiver of a request can notice. */
export function faultsFor({ method, path }: Sent): readonly ChannelFault[] {
  if (method !== 'POST') return DOWNLOAD_FAULTS;
  return path.startsWith('/ping') ? PING_FAULTS : ALL;
}

/** The bytes of a request whose body has another length than announced. */
function raw({ method, path, headers, body }: Sent, announced: number, sent: number): Buffer {
  const lines = Object.entries({ ...headers, host: 'server', 'content-length': String(announced) });
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body.subarray(0, sent)]);
}

function changed({ status, headers }: Reply, body: Buffer): Reply {
  return { status, headers, body };
}

const MAX_TRIES = 200;

/** Flips bits until the payload is unreadable. */
function garble(body: Buffer, random: Random): Buffer {
  const copy = Buffer.from(body);
  for (let tries = 0; tries < MAX_TRIES && isReadable(copy); tries++) {
    const position = random.int(0, copy.length - 1);
    copy[position] = copy[position]! ^ (1 << random.int(0, 7));
  }
  if (isReadable(copy)) copy[0] = 0;
  return copy;
}

function isReadable(body: Buffer): boolean {
  try {
    const value = decode(body);
    return isDict(value) && (Array.isArray(value['messages']) || typeof value['messages'] === 'boolean');
  } catch {
    return false;
  }
}
