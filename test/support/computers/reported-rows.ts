import { afterAll, beforeAll, beforeEach } from 'vitest';
import { BFloat, type BValue } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../agents/gateway-world.ts';
import { RawAgent } from '../agents/raw-agent.ts';
import { tellPackages } from './packages.ts';

type Row = Record<string, unknown>;

/** What the database has of a computer, on a gateway and with an agent that are made before each test. */
export function reportedRows(worldOf: () => GatewayWorld, agentOf: () => RawAgent) {
  const rows = (table: string, columns = '*', order = '1'): Promise<Row[]> =>
    worldOf().db.query(`select ${columns} from ${table} where computer_id = $1 order by ${order}`, [agentOf().id]);

  const computer = async (): Promise<Row> =>
    (await worldOf().db.query('select * from computer where id = $1', [agentOf().id]))[0]!;

  const rejected = () => rows('agent_rejected_message', 'type, seen', 'type');

  return { rows, computer, rejected };
}

/** A process as agents report it. */
export const aProcess = (pid: number, change: Record<string, BValue> = {}) => ({
  pid,
  name: `p${pid}`,
  state: Buffer.from('S'),
  uid: 0,
  gid: 0,
  'start-time': 1_795_265_174 + pid,
  'vm-size': 100,
  'percent-cpu': new BFloat(1),
  ...change,
});

/** A gateway for the tests of a file, and the agent of the test that runs. */
export interface ReportingAgent {
  readonly world: GatewayWorld;
  agent: RawAgent;
}

/**
 * Makes a gateway for the tests of a file, with an agent that enrols anew before each of them and may name ten packages.
 * To be called once, at the top of the file.
 *
 * @returns them, with what is known of the agent's computer
 */
export function reportingAgent() {
  const here = {} as { -readonly [K in keyof ReportingAgent]: ReportingAgent[K] };
  let account: { id: number; name: string };
  beforeAll(async () => {
    here.world = await createGatewayWorld();
    account = await anAccount(here.world.db);
    await tellPackages(here.world.db, account.id, 1, 10);
  });
  afterAll(() => here.world?.close());
  beforeEach(async () => {
    here.agent = await RawAgent.enrol(here.world, account);
    await here.agent.exchange();
  });
  const events = async (): Promise<string[]> => {
    const found = await here.world.db.query<{ message: string }>(
      `select message from event where entity_type = 'Computer' and entity_id = $1 order by id`,
      [here.agent.id],
    );
    return found.map(({ message }) => message);
  };
  const known = reportedRows(
    () => here.world,
    () => here.agent,
  );
  return { here: here as ReportingAgent, events, ...known };
}
