import { type RawAgent, result } from './gateway-world.ts';
import type { ServedFleet } from './served-fleet.ts';

/** One exchange that reports every operation in `done` as done. Returns the ids of those that came. */
export async function work(agent: RawAgent, done: readonly number[] = []): Promise<number[]> {
  const answer = await agent.exchange(done.map((id) => result(id)));
  return answer.messages.flatMap((message) => (message['operation-id'] as number | undefined) ?? []);
}

/** Exchanges until nothing comes any more, beginning with reports of `done`; everything that came, in order. */
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
