import { describe, expect, it } from 'vitest';
import { createRestartPolicy, RESTART } from '../../../tools/stack/processes/service.ts';
import { createService, type Running } from '../../../tools/stack/processes/service.ts';
import { createServiceGroup } from '../../../tools/stack/processes/service-group.ts';

describe('createRestartPolicy', () => {
  it('doubles its pauses and gives up at the sixth death within a minute', () => {
    const policy = createRestartPolicy();
    const verdicts = [0, 1, 2, 3, 4, 5].map((second) => policy.onDeath(second * 1000));
    expect(verdicts.slice(0, 5)).toEqual([250, 500, 1000, 2000, 4000].map((afterMs) => ({ restart: true, afterMs })));
    expect(verdicts[5]).toEqual({ restart: false, deaths: RESTART.maxDeaths });
  });

  it('removes deaths that are a minute old', () => {
    const policy = createRestartPolicy();
    for (let minute = 0; minute < 50; minute += 1) {
      expect(policy.onDeath(minute * 60_000)).toEqual({ restart: true, afterMs: 250 });
    }
  });
});

/** A process of which the test decides when it ends. */
function aProcess(): Running & { end(reason: string): void; stops: number[] } {
  const exited = Promise.withResolvers<string>();
  const stops: number[] = [];
  return {
    exited: exited.promise,
    end: exited.resolve,
    stops,
    async stop(limitMs) {
      stops.push(limitMs);
      exited.resolve('stopped');
    },
  };
}

const hasty = () => createRestartPolicy({ ...RESTART, firstPauseMs: 1 as never, maxPauseMs: 1 as never });

describe('createService', () => {
  it('restarts what ended and reports it', async () => {
    const lives = [aProcess(), aProcess()];
    const secondLife = Promise.withResolvers<void>();
    const reports: string[] = [];
    let starts = 0;
    const service = createService({
      name: 'API',
      policy: hasty(),
      logTail: () => '',
      report: (message) => reports.push(message),
      async start() {
        const life = lives[starts]!;
        starts += 1;
        if (starts === 2) secondLife.resolve();
        return life;
      },
    });
    await service.start();
    lives[0]!.end('killed by SIGKILL');
    await secondLife.promise;
    expect(reports).toEqual(['API ended (killed by SIGKILL); starting it again']);
    await service.stop(1234);
    expect(lives[1]!.stops).toEqual([1234]);
    expect(starts).toBe(2);
  });

  it('gives up what keeps ending, with its last words', async () => {
    const service = createService({
      name: 'worker',
      policy: hasty(),
      logTail: () => 'no such file',
      report: () => undefined,
      start: () => Promise.reject(new Error('exit code 1')),
    });
    await expect(service.start()).rejects.toThrow(
      'worker ended 6 times within a minute, last: exit code 1\nno such file',
    );
    await expect(service.failed).rejects.toThrow('worker ended 6 times');
  });

  it('does not repeat a first start that is marked to fail fast', async () => {
    let starts = 0;
    const service = createService({
      name: 'PostgreSQL',
      failFast: true,
      logTail: () => '',
      report: () => undefined,
      start() {
        starts += 1;
        return Promise.reject(new Error('port in use'));
      },
    });
    await expect(service.start()).rejects.toThrow('port in use');
    expect(starts).toBe(1);
  });

  it('ends a process that becomes ready after the stop', async () => {
    const life = aProcess();
    const ready = Promise.withResolvers<Running>();
    const service = createService({
      name: 'Temporal',
      logTail: () => '',
      report: () => undefined,
      start: () => ready.promise,
    });
    const served = service.start().catch((error: Error) => error.message);
    const stopped = service.stop(1000);
    ready.resolve(life);
    await stopped;
    expect(life.stops).toHaveLength(1);
    await expect(served).resolves.toBe('Temporal was stopped');
  });
});

describe('createServiceGroup', () => {
  const service = (name: string, start: () => Promise<Running>) =>
    createService({ name, failFast: true, logTail: () => '', report: () => undefined, start });

  it('ends its services in the given order, each with the time that the later ones do not need', async () => {
    const group = createServiceGroup(
      ['API', 'worker', 'PostgreSQL'].map((name) => ({ name, limitMs: 1000 })),
      10_000,
    );
    const ended: string[] = [];
    const limits: number[] = [];
    for (const name of ['PostgreSQL', 'API']) {
      const life = aProcess();
      const stop = async (limitMs: number): Promise<void> => {
        ended.push(name);
        limits.push(Math.round(limitMs / 1000));
        await life.stop(limitMs);
      };
      await group.launch(service(name, async () => ({ exited: life.exited, stop })));
    }
    await Promise.all([group.stop(), group.stop()]);
    expect(ended).toEqual(['API', 'PostgreSQL']);
    expect(limits).toEqual([9, 10]);
  });

  it('starts nothing once the stop has started', async () => {
    const group = createServiceGroup([{ name: 'API', limitMs: 1000 }], 1000);
    await group.stop();
    await expect(group.launch(service('API', async () => aProcess()))).rejects.toThrow('the stack was stopped');
  });

  it('fails as a whole when one service is given up', async () => {
    const group = createServiceGroup([{ name: 'API', limitMs: 1000 }], 1000);
    await expect(group.launch(service('API', () => Promise.reject(new Error('no'))))).rejects.toThrow('no');
    await expect(group.failed).rejects.toThrow('no');
  });
});
