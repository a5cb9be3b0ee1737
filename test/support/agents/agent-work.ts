import { type RawAgent, result } from './raw-agent.ts';
import type { ServedFleet } from './served-fleet.ts';

/** Reports the operations in `done` as done, in one exchange. @returns the operations that came */
export async function work(agent: RawAgent, done: readonly number[] = []): Promise<number[]> {
  const response = await agent.exchange(done.map((id) => result(id)));
  return response.messages.flatMap((message) => (message['operation-id'] as number | undefined) ?? []);
}

/** Exchanges until no operation comes any more. @returns all operations that came, in order */
export async function drain(fleet: ServedFleet, agent: RawAgent, done: readonly number[] = []): Promise<number[]> {
  const all: number[] = [];
  let last = [...done];
  for (let idle = 0; idle < 3; idle = last.length === 0 ? idle + 1 : 0) {
    last = await work(agent, last);
    all.push(...last);
    await fleet.settle();
  }
  return all;
}
