import { describe, expect, it } from 'vitest';
import { installedVersion, Machine } from '../../../src/fleet/inventory/machine.ts';
import { packageSets } from '../../../src/fleet/inventory/package-sets.ts';
import { processesOf } from '../../../src/fleet/inventory/processes.ts';
import { findOperation, unsupported } from '../../../src/fleet/operations/index.ts';
import type { Outcome } from '../../../src/fleet/operations/operation.ts';
import { createRandom } from '../../../src/fleet/random.ts';
import { DEFAULT_AUDIT_RULES } from '../../../src/fleet/settings.ts';
import type { BObject } from '../../../src/protocol/bpickle.ts';
import { readAuditReport } from '../../../src/services/usg-audits/read-report.ts';

const EPOCH = 1_795_000_000;
/** Places in the pattern of 25. */
const [SERVER, TPM_DESKTOP, PLAIN_DESKTOP, KIOSK, WINDOWS, WSL] = [0, 15, 18, 19, 20, 22];
const OPERATION = 4711;
/** Ids of packages are their positions plus this. */
const ID_BASE = 1000;

function machineAt(index: number): Machine {
  return new Machine({ seed: 1, index, epoch: EPOCH });
}

async function run(machine: Machine, message: BObject, attachments: Record<number, string> = {}): Promise<Outcome> {
  const { blueprint } = machine;
  const operation = findOperation(String(message['type']), blueprint) ?? unsupported;
  return operation(
    { 'operation-id': OPERATION, ...message },
    {
      machine,
      random: createRandom(1, 'test'),
      packageIds: Int32Array.from(blueprint.catalogue?.packages ?? [], (_, index) => ID_BASE + index),
      nowSeconds: EPOCH,
      auditRules: DEFAULT_AUDIT_RULES,
      download: async (id) => (id in attachments ? Buffer.from(attachments[id]!) : null),
    },
  );
}

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
  ])('refuses %s of %j', async (type, snap, reason) => {
    const { results } = await run(machineAt(SERVER), { type, snaps: [snap] });
    expect(results[0]).toMatchObject({ status: 5, 'result-text': expect.stringContaining(reason) });
  });

  it('never answers an argument it does not know', async () => {
    const snaps = [{ name: 'hello', args: { flavour: 'sweet' } }];
    expect(await run(machineAt(SERVER), { type: 'install-snaps', snaps })).toEqual({ results: [] });
  });

  it('has no handler on Windows', async () => {
    const { results } = await run(machineAt(WINDOWS), { type: 'install-snaps', snaps: [{ name: 'hello' }] });
    expect(results[0]).toMatchObject({ status: 5, 'result-text': 'no handler for install-snaps\n' });
  });
});

describe('change-packages', () => {
  function kernels(machine: Machine) {
    const catalogue = machine.blueprint.catalogue!;
    const versions = catalogue.byName.get(catalogue.kernelMeta!)!;
    const installed = installedVersion(catalogue, machine.installed, catalogue.kernelMeta!)!;
    const at = versions.indexOf(installed);
    const id = (entry: { index: number } | undefined) => entry!.index + ID_BASE;
    const image = (entry: { requires: readonly string[] } | undefined) => catalogue.byName.get(entry!.requires[0]!)![0];
    return { catalogue, installed, newer: versions[at + 1], older: versions[at - 1], id, image };
  }

  it('answers 101 with the companions a strict policy leaves out, and changes nothing', async () => {
    const machine = machineAt(SERVER);
    const { installed, newer, id, image } = kernels(machine);
    const before = [...machine.installed];
    const { results } = await run(machine, { type: 'change-packages', install: [id(newer)], policy: 0 });
    expect(results).toEqual([
      {
        type: 'change-packages-result',
        'operation-id': OPERATION,
        'result-code': 101,
        'must-install': [id(image(newer))],
        'must-remove': [id(installed)],
      },
    ]);
    expect(machine.installed).toEqual(before);
  });

  it('allows installs but no replacement with policy 1', async () => {
    const machine = machineAt(SERVER);
    const { newer, id } = kernels(machine);
    const { results } = await run(machine, { type: 'change-packages', install: [id(newer)], policy: 1 });
    expect(results[0]!['result-code']).toBe(101);
  });

  it('upgrades a kernel with its companions listed, and wants a reboot', async () => {
    const machine = machineAt(SERVER);
    const { catalogue, installed, newer, id, image } = kernels(machine);
    const install = [id(newer), id(image(newer))];
    const outcome = await run(machine, { type: 'change-packages', install, remove: [id(installed)], policy: 0 });
    expect(outcome.results[0]).toMatchObject({ 'result-code': 1 });
    expect(outcome.packages).toBe(true);
    expect(installedVersion(catalogue, machine.installed, catalogue.kernelMeta!)).toBe(newer);
    expect(machine.rebootPackages).toContain(catalogue.kernelMeta);
    machine.boot(EPOCH + 60);
    expect(machine.rebootPackages).toEqual([]);
    expect(`linux-image-${machine.kernel}`).toBe(newer!.requires[0]);
    expect(packageNames(machine, 'available')).toContain(`${installed.name} ${installed.version}`);
  });

  it('downgrades with policy 2 and tells what it added', async () => {
    const machine = machineAt(SERVER);
    const { catalogue, installed, older, id, image } = kernels(machine);
    const { results } = await run(machine, { type: 'change-packages', install: [id(older)], policy: 2 });
    expect(results[0]).toMatchObject({
      'result-code': 1,
      'must-install': [id(image(older))],
      'must-remove': [id(installed)],
    });
    expect(installedVersion(catalogue, machine.installed, catalogue.kernelMeta!)).toBe(older);
  });

  it('is content with what is already there', async () => {
    const machine = machineAt(SERVER);
    const install = [machine.installed[0]! + ID_BASE];
    const { results } = await run(machine, { type: 'change-packages', install, policy: 0 });
    expect(results[0]).toMatchObject({ 'result-code': 1, 'result-text': expect.stringContaining('already') });
  });

  it('upgrades all but held packages', async () => {
    const machine = machineAt(SERVER);
    const [held] = machine.installed;
    await run(machine, { type: 'change-packages', hold: [held! + ID_BASE], policy: 0 });
    await run(machine, { type: 'change-packages', 'upgrade-all': true, policy: 2 });
    expect(packageNames(machine, 'available-upgrades').every((name) => name.startsWith('libc6 '))).toBe(true);
    expect(machine.held).toEqual([held]);
  });

  it('refuses to lose an essential package and gives up on unknown ids after 70 minutes', async () => {
    const machine = machineAt(SERVER);
    const essential = machine.installed[0]! + ID_BASE;
    const { results } = await run(machine, { type: 'change-packages', remove: [essential], policy: 2 });
    expect(results[0]).toMatchObject({ 'result-code': 100 });
    const late = await run(machine, { type: 'change-packages', install: [999_999], policy: 2 });
    expect(late).toMatchObject({ extraMs: 70 * 60_000, results: [{ 'result-code': 100 }] });
  });

  function packageNames(machine: Machine, set: 'available' | 'available-upgrades'): string[] {
    const { catalogue } = machine.blueprint;
    return [...packageSets(catalogue!, machine)[set]].map((index) => {
      const { name, version } = catalogue!.packages[index]!;
      return `${name} ${version}`;
    });
  }
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

  it('takes as long as it sleeps, at most its limit', async () => {
    expect(await run(machineAt(SERVER), { ...script, code: 'sleep 5' })).toMatchObject({ extraMs: 5000 });
    expect(await run(machineAt(SERVER), { ...script, code: 'sleep 500' })).toMatchObject({ extraMs: 60_000 });
  });

  it.each([
    [{ username: 'nosuch' }, 'UnknownUserError: nosuch'],
    [{ interpreter: '/bin/cobol' }, 'UnknownInterpreterError'],
    [{ attachments: [] }, 'malformed'],
    [{ env: { A: 1 } }, 'TypeError'],
  ])('refuses %j', async (wrong, text) => {
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
