/** Follows events and waits for an activity of the server at the address, and aborts both after garbage collections. */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@flotilla/client';
import { HELD } from './held.ts';

const client = createClient({ url: process.argv[2]!, credentials: { token: 't' } });
const stop = new AbortController();

async function follow(): Promise<void> {
  for await (const event of client.events({ signal: stop.signal })) process.stdout.write(`${event.id}\n`);
}

const reasonOf = (work: Promise<unknown>) => work.catch((error: unknown) => (error as Error).message);
const reasons = [reasonOf(follow()), reasonOf(client.waitFor(HELD, { signal: stop.signal }))];
for (let i = 0; i < 10; i += 1) {
  await delay(50);
  globalThis.gc!();
}
stop.abort(new Error('enough'));
const late = delay(3000, ['nothing ends'], { ref: false });
process.stdout.write(JSON.stringify(await Promise.race([Promise.all(reasons), late])));
process.exit();
