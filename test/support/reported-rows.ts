import { BFloat, type BValue } from '../../src/protocol/bpickle.ts';
import type { GatewayWorld, RawAgent } from './gateway-world.ts';

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
