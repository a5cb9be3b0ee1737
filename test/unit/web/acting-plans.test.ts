import { describe, expect, it } from 'vitest';
import { AT_ONCE, type Delivery } from '../../../web/src/acting/plans/delivery.ts';
import * as edits from '../../../web/src/acting/plans/edits.ts';
import * as machines from '../../../web/src/acting/plans/machines.ts';
import type { Plan, PlanInput } from '../../../web/src/acting/plans/plan.ts';
import * as software from '../../../web/src/acting/plans/software.ts';
import type { Target } from '../../../web/src/acting/targets.ts';
import { page, runInProcess, startStandIn } from '../../support/cli/in-process.ts';

const target = (id: number, changes: Partial<Target> = {}): Target => ({
  ...{ id, title: `web-${id}`, accessGroup: 'global', tags: [], isOffline: false, annotations: {} },
  ...changes,
});
const TARGETS = [target(3), target(4)];
const LATER: Delivery = { at: '2036-05-04T22:00:00Z', spread: '30', after: '17' };
const AFTER: Delivery = { ...AT_ONCE, after: '17' };

function input<F>(fields: F, changes: Partial<PlanInput<unknown>> = {}): PlanInput<F> {
  return { targets: TARGETS, delivery: AT_ONCE, chosenBy: ['--id', '3,4'], ...changes, fields };
}

const one = { targets: TARGETS.slice(0, 1), chosenBy: ['--id', '3'] };
const kernel = { id: 81, name: 'linux', version: '6.8.0.51', version_rounded: '6.8.0', fixes: null };
const kernels = new Map([3, 4].map((id) => [id, [{ ...kernel, id: 80, version: '6.8.0.52' }, kernel]]));
const packageIds = new Map([
  ['openssl', 7],
  ['vim', 8],
]);
const snaps = { ...software.NO_SNAPS, snaps: 'hello, vlc' };
const version = { channel: 'latest/edge', revision: '29619', classic: true };

/** Plans whose `flotilla` command has to send the same requests. */
const PLANS: Record<string, Plan> = {
  'install snaps': software.planSnaps('install', input({ ...snaps, ...version }, { delivery: LATER })),
  'refresh snaps': software.planSnaps('refresh', input({ ...snaps, ...version })),
  'remove snaps': software.planSnaps('remove', input({ ...snaps, ...version })),
  'hold snaps': software.planSnaps('hold', input({ ...snaps, until: '2036-05-04T22:00:00Z' })),
  'hold snaps forever': software.planSnaps('hold', input(snaps)),
  'release snaps': software.planSnaps('unhold', input(snaps, { delivery: AFTER })),
  'upgrade packages': software.planPackages(
    'upgrade',
    packageIds,
    input({ packages: 'openssl vim' }, { delivery: LATER }),
  ),
  'upgrade kernels': software.planKernel('upgrade', kernels, input({ version: '', restart: true })),
  'downgrade kernels': software.planKernel(
    'downgrade',
    kernels,
    input({ version: '6.8.0.51', restart: false }, { delivery: LATER }),
  ),
  'run a script': software.planScript(
    ['id:3 OR id:4'],
    input({ script: '5', username: 'ubuntu', timeLimit: '90' }, { delivery: LATER }),
  ),
  'run a script as it is': software.planScript(['id:3 OR id:4'], input({ script: '5', username: '', timeLimit: '' })),
  restart: machines.planPower('restart', input({}, { delivery: LATER })),
  'shut down': machines.planPower('shutdown', input({})),
  'generate a key': machines.planRecoveryKey(input({ force: true }, { ...one, delivery: AFTER })),
  archive: machines.planArchive(input({})),
  'add tags': edits.planAddTags(input({ tags: 'lab, -x' })),
  'remove tags': edits.planRemoveTags(input({ tags: 'lab gpu' })),
  annotate: edits.planAnnotate(input({ key: 'rack', value: "it's -1 \n $HOME" })),
  'annotate with a dash': edits.planAnnotate(input({ key: 'rack', value: '--all' })),
  'remove an annotation': edits.planRemoveAnnotation(input({ key: 'rack', value: '' })),
  move: edits.planMove(input({ group: 'lab' })),
};

describe('the flotilla command of a plan', () => {
  it.each(Object.keys(PLANS))('sends the requests of the page: %s', async (name) => {
    const { command, requests } = PLANS[name]!;
    const server = await startStandIn(({ method, path }) => {
      if (method === 'POST') return [200, path.startsWith('/computers:') ? [3, 4] : activity];
      if (path.startsWith('/computers?'))
        return page(requests.length === 1 && name === 'generate a key' ? one.targets : TARGETS);
      if (path.startsWith('/packages?')) return page([...packageIds].map(([title, id]) => ({ name: title, id })));
      if (path.endsWith('/hotpatch/kernel')) {
        return [200, { installed: null, upgrades: kernels.get(3), downgrades: kernels.get(3), message: '' }];
      }
      return undefined;
    });
    // Before further arguments, which may follow the mark that they are no options.
    const [group = '', verb = '', ...rest] = command!;
    const yes = name === 'generate a key' ? [] : ['--yes'];
    const ended = await runInProcess([group, verb, ...yes, ...rest], server.env);
    expect(ended).toMatchObject({ code: 0 });
    const sent = server.received.filter(({ method }) => method === 'POST');
    const plain = (body: unknown) => JSON.parse(JSON.stringify(body));
    expect(sent.map(({ path, body }) => [path, withoutDefaults(body)])).toEqual(
      requests.map(({ path, body }) => [path, withoutDefaults(plain(body))]),
    );
  });

  it('signals processes as a list that the server reads the same', () => {
    const plan = machines.planSignal('kill', input({ pids: '812, 4711' }, { ...one, delivery: AFTER }));
    expect(plan.command).toEqual(['processes', 'kill', '3', '812', '4711', '--after', '17']);
    expect(plan.requests).toEqual([
      { method: 'POST', path: '/processes/kill', body: { computer_id: 3, pids: '812,4711', after: 17 } },
    ]);
  });
});

const activity = { id: 1, activity_status: 'undelivered', summary: 'Something', creation_time: '2026-05-04T09:12:40Z' };

/** The values that the server has for what is left out. */
function withoutDefaults(body: unknown): object {
  const { reboot_after, force, ...rest } = body as Record<string, unknown>;
  return { ...rest, ...(reboot_after === true && { reboot_after }), ...(force === true && { force }) };
}

describe('a plan', () => {
  it('names each computer once in as many queries as are needed', () => {
    const targets = Array.from({ length: 401 }, (_, index) => target(index + 1));
    const { requests } = edits.planAddTags(input({ tags: 'lab' }, { targets }));
    const queries = requests.map(({ body }) => (body as { query: string }).query.split(' OR '));
    expect(queries.map(({ length }) => length)).toEqual([200, 200, 1]);
    expect(queries.flat()).toEqual(targets.map(({ id }) => `id:${id}`));
  });

  it('deletes at most 1000 computers by a request', () => {
    const targets = Array.from({ length: 1500 }, (_, index) => target(index + 1));
    const { requests } = machines.planDelete(input({}, { targets }));
    const sizes = requests.map(({ body }) => (body as { computer_ids: number[] }).computer_ids.length);
    expect(sizes).toEqual([1000, 500]);
  });

  it('sanitizes each computer with its title', () => {
    const { requests } = machines.planSanitize(input({}, { delivery: AFTER }));
    expect(requests).toMatchObject([
      { path: '/computers/3/sanitize', body: { computer_title: 'web-3', after: 17 } },
      { path: '/computers/4/sanitize', body: { computer_title: 'web-4', after: 17 } },
    ]);
  });

  it('leaves out computers that are offered no kernel', () => {
    const offers = new Map([[3, [kernel]]]);
    const { requests } = software.planKernel('upgrade', offers, input({ version: '', restart: false }));
    expect(requests.map(({ path }) => path)).toEqual(['/computers/3/kernel/upgrade']);
  });
});

describe('the inverse of an edit', () => {
  const body = ({ undo }: Plan) => undo?.map(({ path, body: sent }) => [path, sent]);

  it('takes added tags only from those that did not have them', () => {
    const targets = [target(3, { tags: ['lab'] }), target(4)];
    expect(body(edits.planAddTags(input({ tags: 'lab gpu' }, { targets })))).toEqual([
      ['/computers:remove-tags', { query: 'id:4', tags: ['lab'] }],
      ['/computers:remove-tags', { query: 'id:3 OR id:4', tags: ['gpu'] }],
    ]);
  });

  it('gives removed tags back to those that had them, if an administrator can set them', () => {
    const targets = [target(3, { tags: ['lab', 'set by agent'] }), target(4, { tags: ['set by agent'] })];
    expect(body(edits.planRemoveTags(input({ tags: 'lab' }, { targets })))).toEqual([
      ['/computers:add-tags', { query: 'id:3', tags: ['lab'] }],
    ]);
    expect(body(edits.planRemoveTags(input({ tags: 'b_y' }, { targets: [target(3, { tags: ['b_y'] })] })))).toEqual([]);
  });

  it('restores the texts of annotations, and their absence', () => {
    const targets = [
      target(3, { annotations: { rack: 'A1' } }),
      target(4),
      target(5, { annotations: { rack: 'B2' } }),
      target(6, { annotations: { rack: 'A1' } }),
    ];
    const restored = [
      ['/computers:annotate', { query: 'id:3 OR id:6', key: 'rack', value: 'A1' }],
      ['/computers:annotate', { query: 'id:5', key: 'rack', value: 'B2' }],
    ];
    const fields = { key: 'rack', value: 'C3' };
    expect(body(edits.planAnnotate(input(fields, { targets })))).toEqual([
      ['/computers:remove-annotation', { query: 'id:4', key: 'rack' }],
      ...restored,
    ]);
    expect(body(edits.planRemoveAnnotation(input(fields, { targets })))).toEqual(restored);
  });

  it('moves computers back to where each was', () => {
    const targets = [target(3, { accessGroup: 'lab' }), target(4, { accessGroup: 'desk' }), target(5)];
    expect(body(edits.planMove(input({ group: 'lab' }, { targets })))).toEqual([
      ['/computers:change-access-group', { query: 'id:4', access_group: 'desk' }],
      ['/computers:change-access-group', { query: 'id:5', access_group: 'global' }],
    ]);
  });
});
