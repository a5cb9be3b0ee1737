import { setTimeout as sleep } from 'node:timers/promises';
import { decode, isDict } from '../../../src/protocol/bpickle.ts';
import type { Random } from '../../../tools/simulator/random.ts';
import type { Passage, Reply, Sent } from './agent-channel.ts';

const LATEST_MS = 1500;
const SLOWEST_MS = 600;
const OTHER_TYPES = ['text/html', 'application/json', 'multipart/form-data; boundary=x', 'application/gzip', 'x'];

/** A request that was passed on although nobody could read it must have been refused. */
async function refused(passage: Passage, body: Buffer): Promise<void> {
  const reply = await passage.forward({ ...passage.sent, body });
  if (reply.status === 200) passage.complain('a broken payload was taken');
  passage.answer(reply);
}

/** Everything that can happen to one request. @see docs/reliability.md#the-network-between-agents-and-server */
export const MISCHIEFS = {
  'request lost': async (passage: Passage) => passage.hangUp(),
  'answer lost': async (passage: Passage) => {
    await passage.forward();
    passage.hangUp();
  },
  'request late': async (passage: Passage) => {
    const { forward, random } = passage;
    passage.hangUp();
    const delay = random.int(20, LATEST_MS);
    passage.later(async () => {
      await sleep(delay);
      await forward();
    });
  },
  'request overtaken': async (passage: Passage) => {
    const { forward } = passage;
    passage.hangUp();
    passage.afterNext(() => forward());
  },
  'request slow': async (passage: Passage) => {
    await sleep(passage.random.int(20, SLOWEST_MS));
    passage.answer(await passage.forward());
  },
  'answer slow': async (passage: Passage) => {
    const reply = await passage.forward();
    await sleep(passage.random.int(20, SLOWEST_MS));
    passage.answer(reply);
  },
  'doubled at once': async (passage: Passage) => {
    const replies = await Promise.all([passage.forward(), passage.forward()]);
    passage.answer(passage.random.pick(replies));
  },
  'doubled in turn': async (passage: Passage) => {
    const replies = [await passage.forward(), await passage.forward()];
    passage.answer(passage.random.pick(replies));
  },
  'doubled later': async (passage: Passage) => {
    const { forward } = passage;
    passage.answer(await forward());
    passage.afterNext(() => forward());
  },
  'another replayed before': async (passage: Passage) => {
    await passage.forward(passage.earlier());
    passage.answer(await passage.forward());
  },
  'another replayed after': async (passage: Passage) => {
    const reply = await passage.forward();
    await passage.forward(passage.earlier());
    passage.answer(reply);
  },
  'request cut': async (passage: Passage) => {
    const { sent, random } = passage;
    const status = await passage.forwardRaw(raw(sent, sent.body.length, random.int(0, sent.body.length - 1)));
    if (status === 200) passage.complain('a cut request was taken');
    passage.hangUp();
  },
  'request longer than it says': async (passage: Passage) => {
    const { sent, random } = passage;
    const status = await passage.forwardRaw(raw(sent, random.int(0, sent.body.length - 1), sent.body.length));
    if (status === 200) passage.complain('a part of a request was taken');
    passage.hangUp();
  },
  'request shortened': (passage: Passage) =>
    refused(passage, passage.sent.body.subarray(0, passage.random.int(0, passage.sent.body.length - 1))),
  'request padded': (passage: Passage) =>
    refused(passage, Buffer.concat([passage.sent.body, passage.sent.body.subarray(0, passage.random.int(1, 9))])),
  'request garbled': (passage: Passage) => refused(passage, garble(passage.sent.body, passage.random)),
  'request of another type': async (passage: Passage) => {
    const headers = { ...passage.sent.headers, 'content-type': passage.random.pick(OTHER_TYPES) };
    passage.answer(await passage.forward({ ...passage.sent, headers }));
  },
  'answer cut': async (passage: Passage) => {
    const reply = await passage.forward();
    passage.answerPart(reply, passage.random.int(0, Math.max(0, reply.body.length - 1)));
  },
  'answer shortened': async (passage: Passage) => {
    const reply = await passage.forward();
    passage.answer(changed(reply, reply.body.subarray(0, passage.random.int(0, Math.max(0, reply.body.length - 1)))));
  },
  'answer garbled': async (passage: Passage) => {
    const reply = await passage.forward();
    passage.answer(changed(reply, garble(reply.body, passage.random)));
  },
  "somebody else's answer": async (passage: Passage) => {
    const status = passage.random.pick([200, 302, 407, 429, 502, 503, 504]);
    passage.answer({
      status,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from('<html>Log in first</html>'),
    });
  },
} satisfies Record<string, (passage: Passage) => Promise<void>>;

export type Mischief = keyof typeof MISCHIEFS;

const ALL = Object.keys(MISCHIEFS) as Mischief[];
/** What a garbled ping says instead is as good a ping, and a file of another content is a file. */
const WITHOUT_FORM: ReadonlySet<Mischief> = new Set([
  'request shortened',
  'request padded',
  'request garbled',
  'request longer than it says',
]);
const OF_DOWNLOADS: readonly Mischief[] = [
  'request lost',
  'answer lost',
  'request slow',
  'doubled at once',
  'answer cut',
];
const OF_PINGS = ALL.filter((name) => !WITHOUT_FORM.has(name));

/** What may be done to a request so that whoever reads it can notice. */
export function mischiefsOn({ method, path }: Sent): readonly Mischief[] {
  if (method !== 'POST') return OF_DOWNLOADS;
  return path.startsWith('/ping') ? OF_PINGS : ALL;
}

/** The bytes of a request that says one length and has another. */
function raw({ method, path, headers, body }: Sent, said: number, sent: number): Buffer {
  const lines = Object.entries({ ...headers, host: 'server', 'content-length': String(said) });
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body.subarray(0, sent)]);
}

function changed({ status, headers }: Reply, body: Buffer): Reply {
  return { status, headers, body };
}

const MOST_TRIES = 200;

/** Turns bits until no payload can be read any more. */
function garble(body: Buffer, random: Random): Buffer {
  const copy = Buffer.from(body);
  for (let tries = 0; tries < MOST_TRIES && isReadable(copy); tries++) {
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
