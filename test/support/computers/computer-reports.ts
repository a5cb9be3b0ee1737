import { expect } from 'vitest';
import type { BValue } from '../../../src/protocol/bpickle.ts';
import type { RawAgent } from '../agents/raw-agent.ts';
import type { ServedFleet } from '../agents/served-fleet.ts';

/** What computers report and how the API shows it, on a fleet that is made before the first test. */
export function computerReports(fleetOf: () => ServedFleet) {
  /** A new computer that reports this. */
  async function reporting(...messages: BValue[]): Promise<RawAgent> {
    const [agent] = (await fleetOf().enrol(1)) as [RawAgent];
    await agent.exchange(messages);
    return agent;
  }

  async function detail(agent: { id: number }, parameters: string) {
    const { app, token } = fleetOf();
    const response = await app.call('GET', `/computers/${agent.id}?${parameters}`, { token });
    expect(response.status).toBe(200);
    return response.body;
  }

  /** The computer as the list shows it; the detail has to say the same. */
  async function read(agent: { id: number }, parameters: string) {
    const { app, token } = fleetOf();
    const { body } = await app.call('GET', `/computers?root_only=false&${parameters}`, { token });
    const item = body.results.find(({ id }: { id: number }) => id === agent.id);
    // Times of contact are written a moment after it.
    const { last_exchange_time: _, ...rest } = item;
    expect(await detail(agent, parameters)).toMatchObject(rest);
    return item;
  }

  return { reporting, detail, read };
}
