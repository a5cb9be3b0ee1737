import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MessageQueue } from '../../../tools/simulator/agent/message-queue.ts';
import { parseCommandLine } from '../../../tools/simulator/command-line.ts';
import { createComputerOptions, faultOccurs, NO_FAULTS } from '../../../tools/simulator/computer-options.ts';
import { openExecutionLog } from '../../../tools/simulator/execution-log.ts';
import { createLimiter } from '../../../tools/simulator/limiter.ts';
import { renderPython } from '../../../tools/simulator/operations/python-text.ts';
import { createRandom } from '../../../tools/simulator/random.ts';
import { type AgentRecord, openStateFile } from '../../../tools/simulator/state-file.ts';
import { createTimerWheel } from '../../../tools/simulator/timer-wheel.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleet-parts-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('MessageQueue', () => {
  const accepted = new Set(['a']);

  function queueOf(...names: string[]): MessageQueue {
    const queue = new MessageQueue();
    for (const name of names) queue.add({ type: 'a', name }, accepted);
    return queue;
  }

  const names = (queue: MessageQueue): unknown[] => queue.pending.map((message) => message['name']);

  it('moves on by what the server requests, or by all that was sent', () => {
    const queue = queueOf('1', '2', '3');
    expect(queue.acknowledge(2, 3)).toBe('in step');
    expect([queue.sequence, names(queue)]).toEqual([2, ['3']]);
    expect(queue.acknowledge(undefined, 1)).toBe('in step');
    expect([queue.sequence, queue.length]).toEqual([3, 0]);
  });

  it('steps back within the last acknowledged batch', () => {
    const queue = queueOf('1', '2', '3');
    queue.acknowledge(3, 3);
    queue.add({ type: 'a', name: '4' }, accepted);
    expect(queue.acknowledge(2, 0)).toBe('stepped back');
    expect([queue.sequence, names(queue)]).toEqual([2, ['3', '4']]);
  });

  it.each([
    ['before the batch it kept', 0],
    ['beyond what it has', 99],
  ])('starts over at a number %s with all it holds', (_, wanted) => {
    const queue = queueOf('1', '2', '3');
    queue.acknowledge(1, 1);
    queue.acknowledge(2, 1);
    expect(queue.acknowledge(wanted, 1)).toBe('start over');
    expect([queue.sequence, names(queue)]).toEqual([wanted, ['2', '3']]);
  });

  it('holds back what the server does not take, until it does', () => {
    const queue = queueOf('1');
    queue.add({ type: 'b', name: '2' }, accepted);
    expect(names(queue)).toEqual(['1']);
    queue.accept(new Set(['b']));
    expect(names(queue)).toEqual(['2']);
  });

  it('gives at most 100 messages at once', () => {
    const queue = queueOf(...Array.from({ length: 150 }, (_, n) => String(n)));
    expect([queue.batch().length, queue.length]).toEqual([100, 150]);
  });
});

describe('the state file', () => {
  const fresh = { seed: 1, epoch: 5, packageIds: {} };
  const session = { id: 'x', insecure: 1, clone: null, seq: 1, next: 2, api: '3.3' as const, uuid: 'u' };
  const record: AgentRecord = {
    session,
    types: [],
    queue: [],
    operations: [],
    machine: {},
    packagesReported: false,
    bricked: false,
    intervals: {},
  };

  it('overrides parts of earlier lines and survives a torn one', () => {
    const file = join(folder, 'state');
    const state = openStateFile(file, fresh);
    state.save(3, record);
    state.save(3, { queue: [0], machine: { boots: 2 } });
    appendFileSync(file, '{"i":3,"queue":[0,0');
    const again = openStateFile(file, { ...fresh, epoch: 99 });
    expect(again.fleet.epoch).toBe(5);
    expect(again.agents.get(3)).toEqual({ ...record, queue: [0], machine: { boots: 2 } });
    again.save(3, { queue: [] });
    expect(openStateFile(file, fresh).agents.get(3)!.queue).toEqual([]);
  });

  it('completes the record of an agent killed early, and drops one killed before its first response', () => {
    const file = join(folder, 'early');
    const state = openStateFile(file, fresh);
    state.save(1, { session, types: [] });
    state.save(2, { queue: [0] });
    expect([...openStateFile(file, fresh).agents]).toEqual([[1, record]]);
  });

  it('is written anew with one line an agent, others kept', () => {
    const file = join(folder, 'compact');
    const state = openStateFile(file, fresh);
    for (let i = 0; i < 5; i++) state.save(i, record);
    openStateFile(file, fresh).close([[1, { ...record, packagesReported: true }]]);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(6);
    expect(openStateFile(file, fresh).agents.get(1)!.packagesReported).toBe(true);
  });

  it('takes nothing once it is closed', () => {
    const file = join(folder, 'closed');
    const state = openStateFile(file, fresh);
    state.save(1, record);
    state.close([[1, record]]);
    const before = readFileSync(file, 'utf8');
    state.save(1, { packagesReported: true });
    state.compact([]);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('rejects the state of another seed', () => {
    const file = join(folder, 'seeded');
    openStateFile(file, fresh).close([]);
    expect(() => openStateFile(file, { ...fresh, seed: 2 })).toThrow('seed 1');
  });
});

describe('the execution log', () => {
  const execution = { computer: 'web-1', computerId: 7, operationId: 12, type: 'install-snaps' };

  it('counts on from its file', () => {
    const file = join(folder, 'execution-log');
    const first = openExecutionLog(file);
    first.record(execution);
    first.close();
    const second = openExecutionLog(file);
    second.record(execution);
    expect([second.count('web-1', 12), second.total]).toEqual([2, 2]);
    expect(second.repeated()).toEqual([{ computer: 'web-1', operationId: 12, count: 2 }]);
    second.close();
  });

  it('keeps what follows a line that was cut short', () => {
    const file = join(folder, 'torn log');
    const first = openExecutionLog(file);
    first.record(execution);
    first.close();
    appendFileSync(file, '{"time":"2');
    const second = openExecutionLog(file);
    second.record(execution);
    second.close();
    const third = openExecutionLog(file);
    expect(third.total).toBe(2);
    third.close();
  });

  it('reads lines that are longer than one piece', () => {
    const file = join(folder, 'long log');
    const long = { ...execution, computer: 'ü'.repeat(2 ** 20) };
    const first = openExecutionLog(file);
    for (const next of [execution, long, execution]) first.record(next);
    first.close();
    const second = openExecutionLog(file);
    expect([second.total, second.count(long.computer, 12), second.count('web-1', 12)]).toEqual([3, 1, 2]);
    second.close();
  });

  it('counts nothing once it is closed', () => {
    const file = join(folder, 'closed log');
    const log = openExecutionLog(file);
    log.close();
    log.record(execution);
    expect([log.total, readFileSync(file, 'utf8')]).toEqual([0, '']);
  });
});

describe('createRandom', () => {
  it('draws alike from equal paths only', () => {
    const draws = (...path: (string | number)[]) => createRandom(1, ...path).hex(32);
    expect(draws('a', 1)).toBe(draws('a', 1));
    expect(new Set([draws('a', 1), draws('a', 2), draws('b', 1), draws('a1')]).size).toBe(4);
  });

  it('stays within its bounds and reaches all of them', () => {
    const random = createRandom(1, 'bounds');
    const drawn = new Set(Array.from({ length: 500 }, () => random.int(3, 6)));
    expect([...drawn].sort()).toEqual([3, 4, 5, 6]);
    expect(random.sample([1, 2, 3, 4], 2)).toHaveLength(2);
  });
});

describe('createTimerWheel', () => {
  it('calls in order of time, and never what was canceled or stopped', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const wheel = createTimerWheel(5);
    const called: string[] = [];
    wheel.after(60, () => called.push('late'));
    wheel.after(10, () => called.push('soon'));
    wheel.after(20, () => called.push('never')).cancel();
    vi.advanceTimersByTime(120);
    expect(called).toEqual(['soon', 'late']);
    wheel.after(10, () => called.push('stopped'));
    wheel.stop();
    vi.advanceTimersByTime(30);
    expect(called).toHaveLength(2);
  });
});

describe('createLimiter', () => {
  it('runs so many at once and all in the end, failures included', async () => {
    const limit = createLimiter(2);
    let [running, most] = [0, 0];
    const jobs = Array.from({ length: 9 }, (_, n) =>
      limit(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (n === 3) throw new Error('job');
        return n;
      }),
    );
    const settled = await Promise.allSettled(jobs);
    expect(most).toBe(2);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
  });
});

describe('options of a computer', () => {
  it('strike the next events first, then by share', () => {
    const options = createComputerOptions({ ...NO_FAULTS, failing: 0.5 }, 1, 0);
    options.next.failing = 1;
    expect([
      faultOccurs(options, 'failing', 0.9),
      faultOccurs(options, 'failing', 0.9),
      faultOccurs(options, 'failing', 0.1),
    ]).toEqual([true, false, true]);
  });
});

describe('renderPython', () => {
  it.each<[Parameters<typeof renderPython>[0], string]>([
    [{ completed: ['a', 'b'], errors: {} }, "{'completed': ['a', 'b'], 'errors': {}}"],
    [`it's`, `"it's"`],
    [`both ' and "`, `'both \\' and "'`],
    ['two\nlines', "'two\\nlines'"],
  ])('renders %j', (value, text) => {
    expect(renderPython(value)).toBe(text);
  });
});

describe('parseCommandLine', () => {
  it('has defaults, takes the environment, and prefers options', () => {
    expect(parseCommandLine([], {})).toMatchObject({ computers: 25, url: 'http://127.0.0.1:8080' });
    expect(parseCommandLine([], { FLOTILLA_HOST: '::', FLOTILLA_PORT: '18080' })).toMatchObject({
      url: 'http://[::1]:18080',
    });
    expect(parseCommandLine([], { FLOTILLA_REGISTRATION_KEY: 'opens' })).toMatchObject({ registrationKey: 'opens' });
    const env = { FLOTILLA_SIMULATED_COMPUTERS: '7', FLOTILLA_PUBLIC_URL: 'https://fleet.example' };
    expect(parseCommandLine([], env)).toMatchObject({ computers: 7, url: 'https://fleet.example' });
    expect(parseCommandLine(['--computers', '3', '--ping-interval', '0.5', '--failing', '0.1'], env)).toMatchObject({
      computers: 3,
      times: { pingMs: 500 },
      shares: { failing: 0.1, slow: 0 },
    });
  });

  it.each([
    [['--computers', '-1'], '--computers'],
    [['--computers', '1.5'], 'whole'],
    [['--slow', '1.1'], '--slow must be a number from 0 to 1'],
    [['--url', 'ftp://x'], '--url'],
    [['--nonsense'], '--nonsense'],
  ])('rejects %j', (args, text) => {
    expect(() => parseCommandLine(args, {})).toThrow(text);
  });
});
