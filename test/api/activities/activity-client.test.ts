import { createClient, type FlotillaClient } from '@flotilla/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;
let client: FlotillaClient;
const requests: Array<{ query: URLSearchParams; known: string | null; status: number }> = [];

beforeAll(async () => {
  world = await createFleetWorld();
  const recording = async (input: string | URL | Request) => {
    const request = input as Request;
    const response = await fetch(request);
    const query = new URL(request.url).searchParams;
    requests.push({ query, known: request.headers.get('if-none-match'), status: response.status });
    return response;
  };
  client = createClient({ url: world.app.url, credentials: { token: world.tokens.admin }, fetch: recording });
});
afterAll(async () => {
  await world?.close();
});

async function installOnTwo(): Promise<number> {
  const computer_ids = [world.ids['web']!, world.ids['desk']!];
  const body = { action: 'install' as const, computer_ids, snaps: [{ name: 'hello' }] };
  const { data } = await client.POST('/snaps', { body });
  requests.length = 0;
  return data.id;
}

describe('waitFor of the client library', () => {
  it('is one request, which the end of the activity answers', async () => {
    const waiting = client.waitFor(await installOnTwo());
    setTimeout(() => void world.processEvents(true), 500);
    expect(await waiting).toMatchObject({ activity_status: 'canceled', children: [{}, {}] });
    expect(requests).toHaveLength(1);
  });

  it('reads an activity that has not changed only once', async () => {
    const seen: unknown[] = [];
    const onProgress = (now: { activity_status: unknown }) => void seen.push(now.activity_status);
    const waiting = client.waitFor(await installOnTwo(), { onProgress });
    setTimeout(() => void world.processEvents(true), 2000);
    await waiting;
    expect(seen).toEqual(['undelivered', 'canceled']);
    expect(requests.map(({ status }) => status)).toEqual([200, 304, 200]);
    expect(requests[1]!.known).toMatch(/^(W\/)?".+"$/);
  });

  it('ends with its time', async () => {
    const id = await installOnTwo();
    await expect(client.waitFor(id, { timeout: 500 })).rejects.toThrow(`Activity ${id} has not ended in 500 ms`);
  });
});
