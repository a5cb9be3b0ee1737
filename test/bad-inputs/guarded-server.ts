import type { RequestListener } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../../src/api/app/app.ts';
import { listen } from '../../src/api/app/server.ts';
import { createGateway } from '../../src/gateway/http/gateway.ts';
import { openPersistence } from '../../src/persistence/orm/orm.ts';
import { loadConfig } from '../../src/process/config.ts';
import { createLogger } from '../../src/process/logger.ts';
import { systemClock } from '../../src/services/common/ports.ts';
import { createServices } from '../../src/services/setup/services.ts';
import { JWT_SECRET, TEST_KEYS } from '../support/http/app.ts';
import { compileSchemas, VALIDATORS } from '../support/http/validators.ts';
import { calibrate } from '../support/common/process.ts';
import type { GuardCommand, GuardReply, Usage } from './resource-guard.ts';

const held: Buffer[] = [];

/** Handlers as bad as the guard must notice, in front of an application: `/planted/quadratic` and `/planted/memory`. */
function plant(app: RequestListener): RequestListener {
  return (req, res) => {
    if (req.url === '/planted/quadratic') res.end(String(quadratic(30_000)));
    else if (req.url === '/planted/memory') {
      held.push(Buffer.alloc(100 * 1024 * 1024, 1));
      res.end();
    } else app(req, res);
  };
}

/** Looks for each item among all before it. */
function quadratic(size: number): number {
  const seen: number[] = [];
  for (let i = 0; i < size; i++) if (!seen.includes(i)) seen.push(i);
  return seen.length;
}

const TICK_MS = 10;
const MIB = 1024 * 1024;
const LOOK_MS = 300;
/** Below it a process has nothing left to get ready. */
const IDLE_SHARE = 0.1;

/** Measures this process from one moment to another. */
class Meter {
  readonly #delay = monitorEventLoopDelay({ resolution: TICK_MS });
  #startedAt = performance.now();
  #cpu = process.cpuUsage();
  #rss = 0;
  #peak = 0;
  /** CPU time of the serving thread from tick to tick: what nobody else was served in, whatever else the machine does. */
  #busy: number[] = [];
  #timer: NodeJS.Timeout | null = null;

  start(): void {
    globalThis.gc?.();
    globalThis.gc?.();
    this.#busy = [];
    this.#rss = process.memoryUsage.rss();
    this.#peak = this.#rss;
    this.#startedAt = performance.now();
    this.#cpu = process.cpuUsage();
    this.#delay.reset();
    this.#delay.enable();
    this.#tick(process.threadCpuUsage());
  }

  end(): Usage {
    clearTimeout(this.#timer ?? undefined);
    this.#delay.disable();
    const { user, system } = process.cpuUsage(this.#cpu);
    const sorted = this.#busy.toSorted((a, b) => a - b);
    return {
      seconds: (performance.now() - this.#startedAt) / 1000,
      cpuMs: (user + system) / 1000,
      rssMb: (this.#peak - this.#rss) / MIB,
      blockedMs: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      delayMs: this.#delay.percentile(99) / 1e6,
    };
  }

  #tick(before: NodeJS.CpuUsage): void {
    this.#timer = setTimeout(() => {
      const { user, system } = process.threadCpuUsage(before);
      this.#busy.push((user + system) / 1000);
      this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
      this.#tick(process.threadCpuUsage());
    }, TICK_MS);
  }
}

async function main(): Promise<void> {
  const config = {
    ...loadConfig({ FLOTILLA_ENCRYPTION_KEYS: `test:${TEST_KEYS[0]!.key.toString('base64')}` }, 'stack'),
    databaseUrl: process.env['GUARD_DATABASE_URL']!,
  };
  const logger = createLogger({ level: 'silent', role: 'test' });
  const persistence = await openPersistence({ url: config.databaseUrl, poolSize: 10, applicationName: 'guarded' });
  const temporal = { check: async () => undefined };
  const clock = systemClock;
  const services = createServices({ persistence, temporal, clock, jwtSecrets: [JWT_SECRET], logger, settings: config });
  const gateway = createGateway({ persistence, config, logger, clock });
  const { publicUrl, deployment } = config;
  const app = createApp({
    services,
    logger,
    publicUrl,
    deployment,
    gateway: gateway.router,
    validators: VALIDATORS,
  });
  const limits = JSON.parse(process.env['GUARD_HTTP_LIMITS'] || '{}') as Parameters<typeof listen>[2];
  const server = await listen(plant(app), { host: '127.0.0.1', port: 0 }, limits);
  const meter = new Meter();
  const reply = (message: GuardReply): void => void process.send!(message);
  process.on('message', async (command: GuardCommand) => {
    if (command === 'start') meter.start();
    if (command === 'end') return reply({ usage: meter.end() });
    if (command === 'calibrate') return reply({ calibrationMs: calibrate() });
    if (command === 'stop') {
      await server.close();
      process.exit(0);
    }
    reply({});
  });
  process.on('disconnect', () => process.exit(0));
  // What that takes is no attack's.
  await compileSchemas();
  await untilIdle();
  reply({ port: server.port });
}

async function untilIdle(): Promise<void> {
  for (;;) {
    const before = performance.eventLoopUtilization();
    await sleep(LOOK_MS);
    if (performance.eventLoopUtilization(before).utilization < IDLE_SHARE) return;
  }
}

await main();
