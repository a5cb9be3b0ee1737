import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import type { BObject } from '../../../src/protocol/bpickle.ts';
import { createFleet, type Fleet, type SimulatedComputer } from '../../../tools/simulator/fleet.ts';
import { enrolElsewhere, type ScriptedGateway, type SeenExchange, startScriptedGateway } from './simulator.ts';

let gateway: ScriptedGateway;
let fleet: Fleet;
let computer: SimulatedComputer;

beforeEach(async () => {
  gateway = await startScriptedGateway();
  fleet = createFleet({
    computers: 1,
    url: gateway.url,
    account: 'lab',
    registrationKey: 'key',
    logger: createLogger({ level: 'silent', role: 'test' }),
    times: { pingMs: 100, urgentMs: 50, operationMs: 20, retryMs: 50, rampMs: 0, rebootMs: 100 },
    tickMs: 5,
  });
  computer = fleet.computers[0]!;
  await fleet.start();
  await fleet.settled(10_000);
});

afterEach(async () => {
  await fleet.stop();
  await gateway.close();
});

const install = (id: number): BObject => ({ type: 'install-snaps', 'operation-id': id, snaps: [{ name: 'hello' }] });

function messagesOf({ body }: SeenExchange): BObject[] {
  return body['messages'] as BObject[];
}

function identified(): SeenExchange[] {
  return gateway.exchanges.filter(({ computerId }) => computerId !== null);
}

function results(): BObject[] {
  return identified()
    .flatMap(messagesOf)
    .filter(({ type }) => type === 'operation-result');
}

/** Fails the next exchange, and returns it with the one that follows. */
async function failing(failure: { status: number; counted: boolean }): Promise<[SeenExchange, SeenExchange]> {
  const before = identified().length;
  gateway.failures.push(failure);
  gateway.outgoing.push(install(1));
  await expect.poll(() => results().length).toBeGreaterThan(0);
  const [failed, next] = identified().slice(before);
  return [failed!, next!];
}

describe('the transport of an agent', () => {
  it('registers at an account with its key, after it learned what is wanted', () => {
    const [first, second] = gateway.exchanges;
    expect(first).toMatchObject({ computerId: null, token: null, api: '3.2', body: { sequence: 0, messages: [] } });
    expect(second).toMatchObject({ computerId: null, api: '3.3' });
    expect(messagesOf(second!)[0]).toMatchObject({
      type: 'register',
      account_name: 'lab',
      registration_password: 'key',
      computer_title: 'web-1',
      'vm-info': Buffer.from('kvm'),
    });
  });

  it('numbers its messages on, and gives each token back once', () => {
    const all = identified();
    expect(all[0]!.body).toMatchObject({ sequence: 1, 'next-expected-sequence': 2 });
    let sequence = 1;
    for (const [position, seen] of all.entries()) {
      expect(seen.body['sequence']).toBe(sequence);
      expect(seen.token).toBe(position === 0 ? null : all[position - 1]!.responseToken);
      sequence += messagesOf(seen).length;
    }
  });

  it('requests packages by hash, describes the unknown, then reports sets by id', () => {
    const types = identified()
      .flatMap(messagesOf)
      .map(({ type }) => type);
    const wanted = ['unknown-package-hashes', 'add-packages', 'packages'];
    expect(types.filter((type) => wanted.includes(String(type)))).toEqual(wanted);
  });

  it('pings by form with its number, and comes when messages wait', async () => {
    const before = identified().length;
    gateway.outgoing.push(install(1));
    await expect.poll(() => results().length).toBe(1);
    expect(new Set(gateway.pings)).toEqual(new Set(['insecure_id=0', 'insecure_id=1']));
    expect(identified().length).toBeGreaterThan(before);
  });

  it('sends the same numbers without a token after a response that is not 200', async () => {
    const [failed, next] = await failing({ status: 503, counted: false });
    expect(failed.token).not.toBeNull();
    expect(next.token).toBeNull();
    expect(next.body['sequence']).toBe(failed.body['sequence']);
    expect(next.body['next-expected-sequence']).toBe(failed.body['next-expected-sequence']);
  });

  it('repeats a payload that counted although its response failed, under its old number', async () => {
    const before = identified().length;
    gateway.failures.push('none', { status: 500, counted: true });
    gateway.outgoing.push(install(2));
    await expect.poll(() => results().length).toBe(2);
    await fleet.settled(5000);
    const [, failed, repeated] = identified().slice(before);
    expect(messagesOf(repeated!)).toEqual(messagesOf(failed!));
    expect(repeated!.body['sequence']).toBe(failed!.body['sequence']);
    expect([failed!.token !== null, repeated!.token]).toEqual([true, null]);
    expect(fleet.executionLog.repeated()).toEqual([]);
  });

  it('runs what is handed over twice, twice', async () => {
    gateway.outgoing.push(install(7));
    await expect.poll(() => results().length).toBe(1);
    gateway.outgoing.push(install(7));
    await expect.poll(() => results().length).toBe(2);
    expect(fleet.executionLog.count(computer.title, 7)).toBe(2);
    expect(fleet.executionLog.repeated()).toEqual([{ computer: computer.title, operationId: 7, count: 2 }]);
  });

  it('stops at an operation that still runs and requests it again', async () => {
    const before = identified().length;
    gateway.outgoing.push(install(7), install(7), install(8));
    await expect.poll(() => results().length).toBe(1);
    const [first, second] = identified().slice(before);
    expect(second!.body['next-expected-sequence']).toBe((first!.body['next-expected-sequence'] as number) + 1);
    expect(fleet.executionLog.total).toBe(1);
  });

  it('reports changed snaps before the result', async () => {
    gateway.outgoing.push(install(1));
    await expect.poll(() => results().length).toBe(1);
    const payload = identified().find((seen) => messagesOf(seen).some(({ type }) => type === 'operation-result'))!;
    expect(messagesOf(payload).map(({ type }) => type)).toEqual(['snaps', 'operation-result']);
  });

  it('sends at most 100 messages at once, and the rest soon after', async () => {
    gateway.outgoing.push(...Array.from({ length: 60 }, (_, id) => install(id + 1)));
    await expect.poll(() => results().length, { timeout: 10_000 }).toBe(60);
    const sizes = identified().map((seen) => [messagesOf(seen).length, seen.body['total-messages'] as number]);
    expect(Math.max(...sizes.map(([sent]) => sent!))).toBeLessThanOrEqual(100);
  });

  it('responds to a resynchronization with its id, then the facts', async () => {
    gateway.outgoing.push({ type: 'resynchronize', 'operation-id': 9, scopes: ['computer'] });
    const response = () => identified().find((seen) => messagesOf(seen)[0]?.['type'] === 'resynchronize');
    await expect.poll(response).toBeDefined();
    expect(messagesOf(response()!).map(({ type }) => type)).toEqual(['resynchronize', 'computer-info']);
    expect(messagesOf(response()!)[0]).toMatchObject({ 'operation-id': 9 });
  });

  it('requests the ids of its packages again when another server responds', async () => {
    const requested = () =>
      identified()
        .flatMap(messagesOf)
        .filter(({ type }) => type === 'unknown-package-hashes').length;
    const before = requested();
    gateway.serverUuid = 'another';
    computer.exchangeSoon();
    await expect.poll(requested).toBe(2 * before);
    await fleet.settled(10_000);
    expect([...fleet.violations]).toEqual([]);
  });

  it('obeys intervals, and is silenced for good by one below ten seconds', async () => {
    gateway.outgoing.push({ type: 'set-intervals', 'urgent-exchange': 1 });
    await expect.poll(() => fleet.violations.size).toBe(1);
    const before = identified().length;
    computer.exchangeSoon();
    await enrolElsewhere();
    expect(identified().length).toBe(before);
  });
});
