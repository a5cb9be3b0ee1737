import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { planTopology, TOPOLOGY_HELP } from '../../../tools/stack/topology/topology-plan.ts';
import { TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';

const config = loadConfig({ FLOTILLA_PORT: '9000' }, 'stack');

describe('planTopology', () => {
  it('plans two APIs, two gateways and a worker for every queue by default', () => {
    const { processes } = planTopology([], config);
    expect(processes.map(({ name, port }) => [name, port])).toEqual([
      ['api-1', 9000],
      ['api-2', 9001],
      ['gateway-1', 9010],
      ['gateway-2', 9011],
      ['activity-worker-1', null],
      ['schedule-worker-1', null],
      ['report-worker-1', null],
    ]);
    const queues = processes.filter(({ kind }) => kind === 'worker').map(({ command }) => command.at(-1));
    expect(queues.toSorted()).toEqual(Object.values(TASK_QUEUES).toSorted());
    expect(new Set(processes.map(({ metricsPort }) => metricsPort)).size).toBe(processes.length);
  });

  it('takes other numbers and ports', () => {
    const args = ['--apis', '1', '--gateway-port', '9500', '--activity-workers', '3', '--computers', '7'];
    const plan = planTopology(args, config);
    expect(plan.processes.filter(({ name }) => name.startsWith('activity-worker'))).toHaveLength(3);
    expect(plan.processes.find(({ name }) => name === 'gateway-1')).toMatchObject({ port: 9500 });
    expect(plan).toMatchObject({ computers: 7, afterRestore: false });
  });

  it('repairs a restored database on request', () => {
    expect(planTopology(['--after-restore', '--apis', '1'], config)).toMatchObject({ afterRestore: true });
    expect(() => planTopology(['--after-restore=no'], config)).toThrow(/--after-restore/);
    expect(TOPOLOGY_HELP).toContain('--after-restore');
  });

  it('names every wrong option', () => {
    expect(() => planTopology(['--apis', '0', '--computers', 'many'], config)).toThrow(/--apis[\s\S]*--computers/);
    expect(() => planTopology(['--api', '1'], config)).toThrow(/--api/);
  });
});
