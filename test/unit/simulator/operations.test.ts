import { describe, expect, it } from 'vitest';
import type { BObject } from '../../../src/protocol/bpickle.ts';
import { readAuditReport } from '../../../src/services/compliance/audits/read-report.ts';
import type { Machine } from '../../../tools/simulator/inventory/machine.ts';
import { processesOf } from '../../../tools/simulator/inventory/processes.ts';
import type { Outcome } from '../../../tools/simulator/operations/operation.ts';
import { DEFAULT_AUDIT_RULES } from '../../../tools/simulator/settings.ts';
import { KIOSK, machineAt, OPERATION, PLAIN_DESKTOP, run, SERVER, TPM_DESKTOP, WINDOWS, WSL } from './simulator.ts';

describe('snap operations', () => {
  const names = (machine: Machine) => machine.snaps.map(({ name }) => name);

  it('installs a batch and reports the snaps before the result', async () => {
    const machine = machineAt(SERVER);
    const outcome = await run(machine, { type: 'install-snaps', snaps: [{ name: 'hello' }, { name: 'jq' }] });
    expect(names(machine)).toEqual(expect.arrayContaining(['hello', 'jq']));
    expect(outcome.facts).toContain('snaps');
    expect(outcome.results).toEqual([
      {
        type: 'operation-result',
        'operation-id': OPERATION,
        status: 6,
        'result-text': "{'completed': ['BATCH'], 'errored': [], 'errors': {}}",
      },
    ]);
  });

  it('works snap by snap as soon as one has arguments, and fails as a whole when one does', async () => {
    const machine = machineAt(SERVER);
    const args = { channel: 'latest/edge', classic: true };
    const snaps: BObject[] = [{ name: 'code', args }, { name: 'no-such-snap' }];
    const { results } = await run(machine, { type: 'install-snaps', snaps });
    expect(results[0]).toMatchObject({
      status: 5,
      'result-text':
        "{'completed': ['code'], 'errored': [], 'errors': {'no-such-snap': {'message': 'cannot install \"no-such-snap\": snap not found'}}}",
    });
    expect(machine.snaps.find(({ name }) => name === 'code')).toMatchObject({
      channel: 'latest/edge',
      revision: '249',
    });
  });

  it('removes, holds, unholds and switches channel', async () => {
    const machine = machineAt(SERVER);
    await run(machine, { type: 'hold-snaps', snaps: [{ name: 'lxd', args: { time: 'forever' } }] });
    expect(machine.snaps.find(({ name }) => name === 'lxd')!.hold).toBe('forever');
    await run(machine, { type: 'unhold-snaps', snaps: [{ name: 'lxd' }] });
    await run(machine, { type: 'refresh-snaps', snaps: [{ name: 'lxd', args: { channel: 'candidate' } }] });
    expect(machine.snaps.find(({ name }) => name === 'lxd')).toEqual(
      expect.objectContaining({ channel: 'latest/candidate', revision: '38333' }),
    );
    expect(machine.snaps.find(({ name }) => name === 'lxd')).not.toHaveProperty('hold');
    await run(machine, { type: 'remove-snaps', snaps: [{ name: 'lxd' }] });
    expect(names(machine)).not.toContain('lxd');
  });

  it.each([
    ['remove-snaps', { name: 'hello' }, 'is not installed'],
    ['install-snaps', { name: 'kubectl' }, 'requires classic'],
    ['install-snaps', { name: 'hello', args: { channel: 'latest/nowhere' } }, 'no channel'],
  ])('rejects %s of %j', async (type, snap, reason) => {
    const { results } = await run(machineAt(SERVER), { type, snaps: [snap] });
    expect(results[0]).toMatchObject({ status: 5, 'result-text': expect.stringContaining(reason) });
  });

  it('never responds to an argument it does not know', async () => {
    const snaps = [{ name: 'hello', args: { flavour: 'sweet' } }];
    expect(await run(machineAt(SERVER), { type: 'install-snaps', snaps })).toEqual({ results: [] });
  });

  it('has no handler on Windows', async () => {
    const { results } = await run(machineAt(WINDOWS), { type: 'install-snaps', snaps: [{ name: 'hello' }] });
    expect(results[0]).toMatchObject({ status: 5, 'result-text': 'no handler for install-snaps\n' });
  });
});

describe('signal-process', () => {
  it('ends a process whose start time agrees, without a text', async () => {
    const machine = machineAt(SERVER);
    const [, , victim] = processesOf(machine, machine.blueprint);
    const message = { type: 'signal-process', pid: victim!.pid, name: victim!.name, signal: 'TERM' };
    const wrong = await run(machine, { ...message, 'start-time': victim!.startTime - 3 });
    expect(wrong.results[0]).toMatchObject({ status: 5, 'result-text': expect.stringContaining('start time') });
    const { results } = await run(machine, { ...message, 'start-time': victim!.startTime + 2 });
    expect(results).toEqual([{ type: 'operation-result', 'operation-id': OPERATION, status: 6 }]);
    expect(processesOf(machine, machine.blueprint)).not.toContainEqual(victim);
    const again = await run(machine, { ...message, 'start-time': victim!.startTime });
    expect(again.results[0]).toMatchObject({ status: 5 });
  });
});

describe('execute-script', () => {
  const script = {
    type: 'execute-script',
    username: 'root',
    interpreter: '/bin/sh',
    'time-limit': 60,
    attachments: {},
  };

  it.each([
    ['echo out; id -un; echo $LANDSCAPE_ACTIVITY_ID', { status: 6, 'result-text': 'out\nroot\n101\n' }],
    ['echo boom; exit 3', { status: 5, 'result-code': 103, 'result-text': 'boom\n' }],
    ['echo started\nsleep 90\necho never', { status: 5, 'result-code': 102, 'result-text': 'started\n' }],
    ['cat /attachments/note.txt /attachments/file', { status: 6, 'result-text': 'inline text\nfetched\n' }],
  ])('runs %j', async (code, result) => {
    const attachments = { 'note.txt': 'inline text\n', file: 77 };
    const env = { LANDSCAPE_ACTIVITY_ID: '101' };
    const outcome = await run(machineAt(SERVER), { ...script, code, env, attachments }, { 77: 'fetched\n' });
    expect(outcome.results[0]).toMatchObject(result);
    expect('result-code' in outcome.results[0]!).toBe('result-code' in result);
  });

  it.each([
    ['/bin/sh', 'echo a\r\ntrue\r\n', { status: 5, 'result-code': 103, 'result-text': 'a\r\nsh: true\r: not found\n' }],
    ['/bin/bash', 'exit 0\r\n', { status: 5, 'result-code': 103 }],
    ['/usr/bin/env bash', 'exit 0\r\n', { status: 5, 'result-code': 103 }],
    ['/bin/sh', '\ufeffecho a', { status: 5, 'result-code': 103 }],
    ['/usr/bin/python3', 'print("a")\r\n', { status: 6, 'result-text': 'a\n' }],
  ])('%s: forgives %j no more than a real one does', async (interpreter, code, result) => {
    const { results } = await run(machineAt(SERVER), { ...script, interpreter, code });
    expect(results[0]).toMatchObject(result);
  });

  it('takes as long as it sleeps, at most its limit', async () => {
    expect(await run(machineAt(SERVER), { ...script, code: 'sleep 5' })).toMatchObject({ extraMs: 5000 });
    expect(await run(machineAt(SERVER), { ...script, code: 'sleep 500' })).toMatchObject({ extraMs: 60_000 });
  });

  it.each([
    [{ username: 'nosuch' }, 'UnknownUserError: nosuch'],
    [{ interpreter: '/bin/cobol' }, 'UnknownInterpreterError'],
    [{ attachments: [] }, 'malformed'],
    [{ env: { A: 1 } }, 'TypeError'],
  ])('rejects %j', async (wrong, text) => {
    const { results } = await run(machineAt(SERVER), { ...script, code: 'true', ...wrong });
    expect(results[0]).toMatchObject({ status: 5, 'result-text': expect.stringContaining(text) });
    expect(results[0]).not.toHaveProperty('result-code');
  });

  it('fails with 104 on an attachment it cannot fetch', async () => {
    const { results } = await run(machineAt(SERVER), { ...script, code: 'true', attachments: { file: 78 } });
    expect(results[0]).toMatchObject({ status: 5, 'result-code': 104 });
  });
});

describe('usg', () => {
  const audit = { type: 'usg', action: 'audit', profile: 'cis_level1_server', 'run-id': 'run-1' };

  const count = (outcome: Outcome, part: RegExp) => [...String(outcome.after![0]!['report']).matchAll(part)].length;
  const failing = (outcome: Outcome) => count(outcome, /<result>fail/g);

  it('sends the result first, then a report of a few dozen rules', async () => {
    const first = await run(machineAt(SERVER), audit);
    expect(first.results[0]).toMatchObject({ status: 6 });
    expect(first.after![0]).toMatchObject({ type: 'usg-audit', 'operation-id': OPERATION, 'run-id': 'run-1' });
    const reading = readAuditReport(first.after![0]!['report'] as Buffer);
    expect(reading).toMatchObject({
      rules: expect.arrayContaining([
        {
          rule: 'xccdf_org.ssgproject.content_rule_sshd_disable_root_login',
          severity: 'high',
          title: 'Ensure sshd disable root login',
          description: 'The remote login service must be configured accordingly in disable root login .',
          rationale: 'Remote logins are what attackers try first.',
          identifiers: [expect.stringMatching(/^\d\.\d+\.\d$/), expect.stringMatching(/^CCE-\d+-\d$/)],
          result: expect.stringMatching(/^(pass|fail)$/),
        },
      ]),
    });
    expect(count(first, /<rule-result /g)).toBe(DEFAULT_AUDIT_RULES);
  });

  it('finds some computers in order, and others that a fix mends', async () => {
    const before: number[] = [];
    const after: number[] = [];
    for (let index = 0; index < 25; index += 1) {
      const machine = machineAt(index);
      const first = await run(machine, audit);
      if (!first.after) continue;
      before.push(failing(first));
      await run(machine, { ...audit, action: 'fix' });
      expect(machine.rebootPackages).toContain('usg');
      after.push(failing(await run(machine, audit)));
    }
    const inOrder = (counts: number[]) => counts.filter((count) => count === 0).length;
    expect(inOrder(before)).toBeGreaterThan(3);
    expect(inOrder(before)).toBeLessThan(before.length - 3);
    expect(inOrder(after)).toBeGreaterThan(inOrder(before) + 3);
    expect(after.every((count, place) => count <= before[place]!)).toBe(true);
  });

  it.each([
    [SERVER, { profile: 'bad_profile' }, 'unknown profile'],
    [KIOSK, {}, 'not installed'],
  ])('fails on computer %i with %j', async (index, change, text) => {
    const outcome = await run(machineAt(index), { ...audit, ...change });
    expect(outcome.results[0]).toMatchObject({ status: 5, 'result-text': expect.stringContaining(text) });
    expect(outcome.after).toBeUndefined();
  });
});

describe('fde-recovery-key', () => {
  const generate = { type: 'fde-recovery-key', action: 'generate' };

  it('gives eight groups of five digits with a TPM', async () => {
    const { results } = await run(machineAt(TPM_DESKTOP), generate);
    expect(results[0]).toMatchObject({ type: 'fde-recovery-key', 'operation-id': OPERATION, successful: true });
    expect(results[0]!['recovery-key']).toMatch(/^(\d{5}-){7}\d{5}$/);
  });

  it('is no operation of agents without the plug-in', async () => {
    for (const index of [PLAIN_DESKTOP, WSL, WINDOWS]) {
      const { results } = await run(machineAt(index), generate);
      expect(results[0]).toMatchObject({ type: 'operation-result', status: 5 });
    }
  });
});

describe('shutdown', () => {
  it.each([
    [true, 'reboot'],
    [false, 'off'],
  ])('with reboot %s leads to %s', async (reboot, power) => {
    const outcome = await run(machineAt(SERVER), { type: 'shutdown', reboot });
    expect(outcome).toMatchObject({ power, results: [{ status: 6 }] });
  });
});
