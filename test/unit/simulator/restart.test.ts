import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { type BObject, decode } from '../../../src/protocol/bpickle.ts';
import { createFleet, type Fleet, type FleetOptions } from '../../../tools/simulator/fleet.ts';
import { enrolElsewhere, type ScriptedGateway, startScriptedGateway } from './simulator.ts';

/** The smallest fleet with a computer that generates recovery keys. */
const WITH_KEYS = 16;
const TIMES = { pingMs: 100, urgentMs: 50, operationMs: 20, retryMs: 50, rampMs: 0, rebootMs: 100 };

const fleets: Fleet[] = [];
let gateway: ScriptedGateway;
let folder: string;

beforeEach(async () => {
  gateway = await startScriptedGateway();
  folder = mkdtempSync(join(tmpdir(), 'fleet-restart-'));
});

afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.stop()));
  await gateway.close();
  rmSync(folder, { recursive: true });
});

/** A fleet on the state file of this test. */
function aFleet(options: Partial<FleetOptions> = {}): Fleet {
  const fleet = createFleet({
    computers: 1,
    url: gateway.url,
    logger: createLogger({ level: 'silent', role: 'test' }),
    times: TIMES,
    tickMs: 5,
    stateFile: join(folder, 'state'),
    executionLogFile: join(folder, 'execution-log'),
    ...options,
  });
  fleets.push(fleet);
  return fleet;
}

async function aSettledFleet(options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const fleet = aFleet(options);
  await fleet.start();
  await fleet.settled(30_000);
  return fleet;
}

/** A fleet of which only a computer with recovery keys is online, which sends its results late. */
async function aKeyMaker() {
  const fleet = await aSettledFleet({ computers: WITH_KEYS, times: { ...TIMES, urgentMs: 400 } });
  const computer = fleet.computers.find(({ machine }) => machine.blueprint.encryption === 'tpm')!;
  for (const other of fleet.computers) other.options.offline = other !== computer;
  return { fleet, computer };
}

/** Sends operations in an exchange after which all others fail. */
function handOver(...operations: BObject[]): void {
  gateway.failures.push('none', ...Array.from({ length: 1000 }, () => ({ status: 503, counted: false })));
  gateway.outgoing.push(...operations);
}

function isKeyResult({ type }: BObject): boolean {
  return type === 'fde-recovery-key';
}

/** Every received result of a recovery key. */
function keyResults(): BObject[] {
  return gateway.exchanges.flatMap(({ body }) => body['messages'] as BObject[]).filter(isKeyResult);
}

/** Every queued message of the state file. */
function queuedOnDisk(): BObject[] {
  const lines = readFileSync(join(folder, 'state'), 'utf8').trim().split('\n');
  const entries = lines.flatMap((line) => (JSON.parse(line) as { queue?: (string | 0)[] }).queue ?? []);
  return entries.flatMap((entry) => (entry === 0 ? [] : [decode(Buffer.from(entry, 'base64')) as BObject]));
}

const generate: BObject = { type: 'fde-recovery-key', 'operation-id': 5, action: 'generate' };
const reboot: BObject = { type: 'shutdown', 'operation-id': 6, reboot: true };
const lost = { 'operation-id': 5, successful: false, 'result-text': 'the agent restarted' };

it('looks for a file of ids once per server, and requests them where there is none', async () => {
  await aSettledFleet();
  expect(gateway.downloads).toEqual([expect.stringMatching(/^\/hash-id-databases\/scripted_[a-z]+_amd64$/)]);
  const sent = gateway.exchanges.flatMap(({ body }) => body['messages'] as BObject[]);
  expect(sent.map((message) => message['type'])).toContain('unknown-package-hashes');
});

describe('a recovery key that was not sent', () => {
  it('is never in the state file, and the next process has none to send', async () => {
    const { fleet } = await aKeyMaker();
    handOver(generate);
    await expect.poll(() => keyResults().length).toBeGreaterThan(0);
    expect(keyResults()[0]).toMatchObject({ successful: true, 'recovery-key': expect.any(String) });
    const whileRunning = queuedOnDisk();
    await fleet.stop();
    for (const messages of [whileRunning, queuedOnDisk()]) {
      expect(messages.filter((message) => 'recovery-key' in message)).toEqual([]);
      expect(messages.find(isKeyResult)).toMatchObject(lost);
    }
    gateway.failures.length = 0;
    const before = keyResults().length;
    await aFleet({ computers: WITH_KEYS }).start();
    await expect.poll(() => keyResults().length).toBeGreaterThan(before);
    expect(keyResults()[before]).toMatchObject(lost);
    expect('recovery-key' in keyResults()[before]!).toBe(false);
  });

  it('is lost when the machine goes down', async () => {
    const { computer } = await aKeyMaker();
    handOver(generate, reboot);
    await expect.poll(() => computer.machine.boots).toBe(1);
    gateway.failures.length = 0;
    const before = keyResults().length;
    await expect.poll(() => keyResults().length).toBeGreaterThan(before);
    expect(keyResults()[before]).toMatchObject(lost);
    expect('recovery-key' in keyResults()[before]!).toBe(false);
  });
});

describe('what a server sets for good', () => {
  it('silences the next process too when no agent survives it', async () => {
    const first = await aSettledFleet();
    gateway.outgoing.push({ type: 'set-intervals', 'urgent-exchange': 1 });
    await expect.poll(() => first.violations.size).toBe(1);
    await first.stop();
    const before = gateway.exchanges.length;
    await aFleet().start();
    await enrolElsewhere();
    expect(gateway.exchanges.length).toBe(before);
  });

  it('holds for the next process', async () => {
    const first = await aSettledFleet();
    gateway.outgoing.push({ type: 'set-intervals', ping: 36_000 });
    await expect.poll(() => gateway.outgoing.length).toBe(0);
    await first.stop();
    gateway.pings.length = 0;
    await aFleet().start();
    await enrolElsewhere();
    // The initial check of the gateway.
    expect(gateway.pings).toEqual(['insecure_id=0']);
  });
});

describe('a fleet that was stopped', () => {
  it('sends and writes nothing more, though agents waited for a connection', async () => {
    const fleet = await aSettledFleet({ computers: 3, connections: 1 });
    let response = (): void => {};
    gateway.respondsAfter = new Promise((resolve) => {
      response = resolve;
    });
    const before = gateway.heard;
    for (const computer of fleet.computers) computer.exchangeSoon();
    await expect.poll(() => gateway.heard).toBeGreaterThan(before);
    await fleet.stop();
    const seen = () => [
      gateway.heard,
      ...['state', 'execution-log'].map((name) => readFileSync(join(folder, name), 'utf8')),
    ];
    const stopped = seen();
    response();
    await enrolElsewhere();
    expect(seen()).toEqual(stopped);
  });
});
