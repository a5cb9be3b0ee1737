import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStack, type TestStack } from '../../../tools/harness/stack.ts';
import { type ActivityBody, ApiClient, type Page } from '../../../tools/harness/stack-client.ts';
import { get } from '../../../tools/harness/stack-programs.ts';

interface ComputerBody {
  id: number;
  title: string;
  hostname: string;
}

const FLEET = 25;
const ROOTS = 22;
const EMAIL = 'admin@example.com';

/** What a new user does, in order: each step stands on the one before. */
interface KernelListing {
  installed: object | null;
  upgrades: object[];
  smart_status: string;
}

describe('npm start, as a new user', { timeout: 150_000 }, () => {
  let stack: TestStack;
  let api: ApiClient;
  let password = '';
  let computers: ComputerBody[] = [];
  let activity = 0;

  beforeAll(async () => {
    stack = await createStack();
    await stack.start();
    api = new ApiClient(stack.url);
  }, 120_000);

  afterAll(async () => {
    await stack?.dispose();
  });

  it('prints the addresses and how to log in', async () => {
    const output = stack.output();
    expect(output).toContain(stack.url);
    expect(output).toContain(`http://127.0.0.1:${stack.ports.temporalUi}`);
    expect(output).toContain(EMAIL);
    password = printedPassword(output);
    await api.login(EMAIL, password);
  });

  it('rejects a call without a token', async () => {
    const response = await new ApiClient(stack.url).request('GET', '/computers');
    expect(response).toMatchObject({ status: 401, body: { error: 'Unauthorized', code: 401 } });
  });

  it(`lists the ${FLEET} simulated computers with what they reported`, async () => {
    await stack.waitUntil(
      'the fleet to enrol and report',
      async () => {
        const page = await api.get<Page<ComputerBody>>('/computers?root_only=false');
        computers = page.results;
        return page.count === FLEET && computers.every((c) => c.hostname !== '');
      },
      { limitMs: 60_000 },
    );
    expect(new Set(computers.map((c) => c.id)).size).toBe(FLEET);
    const page = await api.get<Page<ComputerBody>>('/computers?limit=5');
    expect(page.results.map((c) => c.id)).toEqual(computers.slice(0, 5).map((c) => c.id));
    expect(page.next).toContain(`${stack.url}/api/v2/computers?limit=5&offset=5`);
    // Without a parameter the list leaves out the WSL instances of Windows hosts.
    expect((await api.get<Page<ComputerBody>>('/computers')).count).toBe(ROOTS);
  });

  it('shows kernels with an upgrade, what it mends, and hot patches', async () => {
    const web = computers.find(({ title }) => title === 'web-1')!;
    let kernels: KernelListing;
    await stack.waitUntil('its packages', async () => {
      kernels = await api.get<KernelListing>(`/computers/${web.id}/hotpatch/kernel`);
      return kernels.installed !== null;
    });
    expect(kernels!.smart_status).toBe('Kernel upgrade available');
    expect(kernels!.upgrades[0]).toMatchObject({ name: 'linux-image-aws', fixes: { name: expect.any(String) } });
    expect(await api.get(`/computers/${web.id}/hotpatch/info`)).toMatchObject({
      hotpatch_info: { json: { return_code: 0, output: { Status: [{ Running: true, Hotpatch: {} }] } } },
      distro_pro_hotpatch_service_info: { name: 'hotpatch', status: 'enabled' },
      distro_pro_reboot_required_info: { output: { hotpatch_enabled: true, reboot_required: 'no' } },
    });
  });

  it('installs a snap on five computers and polls it to succeeded', async () => {
    const ids = computers.slice(0, 5).map((c) => c.id);
    const body = { action: 'install', computer_ids: ids, snaps: [{ name: 'hello' }] };
    const created = await api.post<ActivityBody>('/snaps', body);
    expect(created).toMatchObject({ type: 'ActivityGroup', parent_id: null, activity_status: 'undelivered' });
    activity = created.id;
    const done = await api.pollActivity(activity, 90_000);
    expect(done.activity_status).toBe('succeeded');
    expect(done.children.map((child) => child.activity_status)).toEqual(Array(5).fill('succeeded'));
    const children = await Promise.all(done.children.map((child) => api.activity(child.id)));
    expect(children.map((child) => child.computer_id).toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
  });

  it('shows the group among the parents with its counts', async () => {
    const page = await api.get<Page<ActivityBody>>('/activities/parents');
    expect(page.results.find((a) => a.id === activity)).toMatchObject({
      children_count: 5,
      children_statuses: { good: 5, warning: 0, bad: 0 },
    });
  });

  it('shows the group and its computers as completed workflows in Temporal', async () => {
    const client = await stack.temporal();
    const parent = client.workflow.getHandle(`activity/${activity}`);
    await stack.waitUntil(
      'the parent workflow to close',
      async () => (await parent.describe()).status.name !== 'RUNNING',
    );
    expect(await parent.describe()).toMatchObject({ type: 'SnapAction', status: { name: 'COMPLETED' } });

    const group = (await api.activity(activity)).children.map((child) => child.id);
    for (const id of group) {
      const description = await client.workflow.getHandle(`activity/${id}`).describe();
      expect(description).toMatchObject({ type: 'ComputerOperation', status: { name: 'COMPLETED' } });
      expect(description.parentExecution?.workflowId).toBe(`activity/${activity}`);
    }
    const found: string[] = [];
    const byGroup = `FleetGroupId = '${activity}'`;
    await stack.waitUntil('visibility to show the group', async () => {
      found.length = 0;
      for await (const workflow of client.workflow.list({ query: byGroup })) found.push(workflow.workflowId);
      return found.length >= 6;
    });
    expect(found.toSorted()).toEqual([activity, ...group].map((id) => `activity/${id}`).toSorted());
  });

  it('serves the API reference, the document and the Temporal UI', async () => {
    const docs = await get(`${stack.url}/docs`);
    expect(docs.status).toBe(200);
    expect(docs.text).toContain('<html');
    const document = await get(`${stack.url}/openapi.json`);
    expect(document.status).toBe(200);
    const { openapi, paths } = JSON.parse(document.text) as { openapi: string; paths: Record<string, unknown> };
    expect(openapi).toMatch(/^3\.1/);
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/snaps', '/computers', '/activities', '/login']));
    expect((await get(`http://127.0.0.1:${stack.ports.temporalUi}/`)).status).toBe(401);
    expect((await get(`${stack.url}/healthz`)).status).toBe(200);
  });
});

function printedPassword(output: string): string {
  const line = output.split('\n').find((text) => /password/i.test(text) && !text.startsWith('{'));
  const password = line?.match(/password\W+([^\s"',]+)/i)?.[1];
  if (!password) throw new Error(`no password was printed:\n${output.slice(-2000)}`);
  return password;
}
