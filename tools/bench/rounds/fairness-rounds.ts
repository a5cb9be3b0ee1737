import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Latency, latency } from '../harness/statistics.ts';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import type { BenchAgent } from '../load/bench-agent.ts';
import { RawConnection } from '../load/raw-connection.ts';
import type { Api } from '../product/api.ts';
import { type BigAccount, type GroupEnd, runBigGroup } from './fairness-fan-out.ts';

/** The account whose single actions are timed. */
export interface SmallAccount {
  api: Api;
  agent: BenchAgent;
  computerId: number;
}

interface Times {
  /** POST /snaps on the one computer. */
  accepted: number;
  /** Until the agent has fetched it and reported. */
  delivered: number;
  /** Until GET /activities/<id> shows succeeded. */
  applied: number;
}

export interface FairnessSetting {
  agentPort: number;
  small: SmallAccount;
  big: BigAccount;
  roles: readonly Role[];
}

export interface FairnessRound {
  total: Latency;
  parts: Record<keyof Times, Latency>;
  group: GroupEnd | null;
  usage: Usage;
}

const ALONE = 20;
const LEAST = 5;
const AGENT_ASKS_EVERY_MS = 40;
const LOOK_EVERY_MS = 20;
const LIMIT_MS = 120_000;
const SETTLE_MS = 3000;

/** Single actions one after another on an otherwise idle product. */
export function aloneRound(setting: FairnessSetting): Promise<FairnessRound> {
  return measured(setting, async (act) => {
    for (let i = 0; i < ALONE; i++) await act();
    return null;
  });
}

/** The same while a large group runs. */
export function fanOutRound(setting: FairnessSetting): Promise<FairnessRound> {
  return measured(setting, async (act) => {
    let ended = false;
    const group = runBigGroup(setting.big).finally(() => {
      ended = true;
    });
    // A failure is reported once the actions in progress have ended.
    group.catch(() => undefined);
    for (let i = 0; i < LEAST || !ended; i++) await act();
    return group;
  });
}

async function measured(
  { agentPort, small, roles }: FairnessSetting,
  work: (act: () => Promise<void>) => Promise<GroupEnd | null>,
): Promise<FairnessRound> {
  await sleep(SETTLE_MS);
  const seen: Times[] = [];
  const connection = await RawConnection.open(agentPort);
  try {
    const act = async () => void seen.push(await singleAction(small, connection));
    const { result: group, usage } = await measure(roles, () => work(act));
    const part = (name: keyof Times) => latency(seen.map((times) => times[name]));
    return {
      total: latency(seen.map(({ accepted, delivered, applied }) => accepted + delivered + applied)),
      parts: { accepted: part('accepted'), delivered: part('delivered'), applied: part('applied') },
      group,
      usage,
    };
  } finally {
    connection.close();
  }
}

async function singleAction({ api, agent, computerId }: SmallAccount, connection: RawConnection): Promise<Times> {
  const marks = [performance.now()];
  const body = { action: 'install', computer_ids: [computerId], snaps: [{ name: 'hello-world' }] };
  const { id } = await api.call<{ id: number }>('POST', '/snaps', body);
  marks.push(performance.now());
  const report = async () => ((await agent.work(connection)) > 0 ? true : null);
  await waitFor('the single operation', report, { everyMs: AGENT_ASKS_EVERY_MS, limitMs: LIMIT_MS });
  marks.push(performance.now());
  const shown = async () => {
    const { activity_status: status } = await api.call<{ activity_status: string }>('GET', `/activities/${id}`);
    assert.ok(['undelivered', 'delivered', 'succeeded'].includes(status), `activity ${id} is ${status}`);
    return status === 'succeeded' ? true : null;
  };
  await waitFor(`activity ${id} to succeed`, shown, { everyMs: LOOK_EVERY_MS, limitMs: LIMIT_MS });
  marks.push(performance.now());
  const [requested = 0, accepted = 0, reported = 0, applied = 0] = marks;
  return { accepted: accepted - requested, delivered: reported - accepted, applied: applied - reported };
}
