import { setTimeout as delay } from 'node:timers/promises';
import {
  type CloudEvent,
  createClient,
  type EventsOptions,
  type EventType,
  type FlotillaClient,
} from '@flotilla/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { untilComplete } from '../../support/events/complete-feed.ts';
import { ADMIN } from '../../support/http/app.ts';

const LOGIN = { email: ADMIN.email, password: ADMIN.password };

let world: FleetWorld;
let client: FlotillaClient;

beforeAll(async () => {
  world = await createFleetWorld();
  client = createClient({ url: world.app.url, credentials: LOGIN });
});
afterAll(async () => {
  await world?.close();
});

async function installOn(...names: string[]): Promise<number> {
  const computer_ids = names.map((name) => world.ids[name]!);
  const body = { action: 'install' as const, computer_ids, snaps: [{ name: 'hello' }] };
  return (await client.POST('/snaps', { body })).data.id;
}

/** Everything up to now, and the cursor at its end. */
async function read<T extends EventType>(options: EventsOptions<T>) {
  await untilComplete(world.db);
  const events: Array<CloudEvent<T>> = [];
  let cursor = '';
  const onCursor = (now: string) => {
    cursor = now;
  };
  for await (const event of client.events({ ...options, follow: false, onCursor })) events.push(event);
  return { events, cursor };
}

describe('events of the client library', () => {
  it('end, without following, at those that there are', async () => {
    const { events: none, cursor: start } = await read({});
    expect(none).toEqual([]);
    const activity = await installOn('web', 'desk');
    await world.processEvents(true);
    const types = ['activity.ended', 'operation.ended'] as const;
    const { events, cursor } = await read({ after: start, types });
    expect(events.map(({ type, data }) => [type, data.activity_status])).toEqual([
      ['operation.ended', 'canceled'],
      ['operation.ended', 'canceled'],
      ['activity.ended', 'canceled'],
    ]);
    expect(events[2]!.data).toMatchObject({ activity_id: activity, canceled: 2, succeeded: 0 });
    expect((await read({ after: events[1]!.id, types })).events).toEqual([events[2]]);
    expect((await read({ after: cursor })).events).toEqual([]);
    expect((await read({ after: start, types, query: 'title:web' })).events).toEqual([events[0], events[2]]);
  });

  it('come as they are committed, also when the token ends in between', async () => {
    const tokens: Array<string | null> = [];
    const recording = async (input: string | URL | Request) => {
      const request = input as Request;
      if (request.url.includes(':stream')) tokens.push(request.headers.get('authorization'));
      return fetch(request);
    };
    const follower = createClient({ url: world.app.url, credentials: LOGIN, fetch: recording });
    const [subjects, expected] = [[] as string[], [] as string[]];
    const act = async () => expected.push(`activities/${await installOn('web')}`);
    const onCursor = () => {
      if (expected.length === 0) void act();
    };
    for await (const event of follower.events({ types: ['activity.created'], onCursor })) {
      subjects.push(event.subject);
      if (subjects.length === 3) break;
      if (subjects.length === 1) {
        await follower.POST('/logout');
        // The server closes the stream within this time.
        await delay(2_000);
      }
      await act();
    }
    expect(subjects).toEqual(expected);
    expect(new Set(tokens)).toHaveLength(2);
  });

  it('end with the error of the API', async () => {
    const types = ['activity.exploded'] as unknown as EventsOptions['types'] & object;
    for (const follow of [true, false]) {
      const iterator = client.events({ types, follow })[Symbol.asyncIterator]();
      await expect(iterator.next()).rejects.toMatchObject({ status: 400, code: 'InvalidParameter' });
    }
    const [first] = (await read({ after: 'oldest' })).events;
    await world.db.query('update cloud_event_feed set purged_position = $1, purged_id = $2 where id = 1', [
      Number(first!.id.split('-')[0]) + 1,
      0,
    ]);
    for (const follow of [true, false]) {
      const iterator = client.events({ after: first!.id, follow })[Symbol.asyncIterator]();
      await expect(iterator.next()).rejects.toMatchObject({ status: 410, code: 'EventsExpired' });
    }
  });
});
