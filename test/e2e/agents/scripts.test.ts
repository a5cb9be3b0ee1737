import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityBody } from '../../../tools/harness/stack-client.ts';
import { base64, script } from '../../support/scripts/scripts.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';
import { filesWith, readableHistory } from '../secret-scan.ts';

const COMPUTERS = 6;
const TIMEOUT_MS = 180_000;

interface Made {
  id: number;
  attachments: Array<{ id: number }>;
}

interface Child extends ActivityBody {
  result_text: string | null;
  result_code: number | null;
}

/** Scripts on simulated computers, with real workers. */
describe.concurrent('scripts on simulated computers', { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;
  let turn = 0;
  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  /** Creates and runs a script. @returns the ended group and its children */
  async function run(over: object, command: object = {}): Promise<{ made: Made; group: number; children: Child[] }> {
    turn += 1;
    const made = await scenario.api.post<Made>('/scripts', script({ title: `Script ${turn}`, ...over }));
    const query = { query: `id:${scenario.computers[0]}`, ...command };
    const { id } = await scenario.api.post<ActivityBody>(`/scripts/${made.id}:execute`, query);
    const ended = await scenario.api.pollActivity(id, 60_000);
    return { made, group: id, children: (ended as unknown as { children: Child[] }).children };
  }

  it('end with their output on every computer', async () => {
    const ids = scenario.computers.map((id) => `id:${id}`).join(' OR ');
    const { children } = await run({ code: '#!/bin/sh\nwhoami\necho done' }, { query: ids });
    expect(children).toHaveLength(COMPUTERS);
    for (const child of children) {
      expect(child).toMatchObject({ activity_status: 'succeeded', result_text: 'root\ndone\n', result_code: null });
    }
  });

  it('end by their exit code, their time limit or an unknown user, each distinguished', async () => {
    const [exit, limit, user] = await Promise.all([
      run({ code: '#!/bin/bash\necho before\nexit 3' }),
      run({ code: '#!/bin/bash\necho before\nsleep 600\necho after', time_limit: 2 }),
      run({ username: 'nobody-here' }),
    ]);
    expect(exit!.children).toMatchObject([
      {
        activity_status: 'failed',
        result_code: 103,
        result_text: 'The script ended with a non-zero exit code.\nbefore\n',
      },
    ]);
    expect(limit!.children).toMatchObject([
      {
        activity_status: 'failed',
        result_code: 102,
        result_text: 'The script reached its time limit and was killed.\nbefore\n',
      },
    ]);
    expect(user!.children).toMatchObject([{ activity_status: 'failed', result_code: null }]);
    expect(user!.children[0]!.result_text).toContain('nobody-here');
  });

  it('bring their files along, which nobody else may fetch', async () => {
    const attachments = [{ filename: 'data.txt', content: base64('what is attached\n') }];
    const { made, children } = await run({ code: '#!/bin/sh\ncat $LANDSCAPE_ATTACHMENTS/data.txt', attachments });
    expect(children).toMatchObject([{ activity_status: 'succeeded', result_text: 'what is attached\n' }]);
    const fetched = await fetch(`${scenario.stack.url}/attachment/${made.attachments[0]!.id}`);
    expect(fetched.status).toBe(404);
  });

  it('SECRET-leak: code and output are in no log, event or history', async () => {
    const inCode = `canary-${crypto.randomUUID()}`;
    const { group, children } = await run({ code: `#!/bin/sh\n# ${inCode}\necho out-${inCode}` });
    expect(children[0]!.result_text).toBe(`out-${inCode}\n`);
    for (const route of ['/events?days=1', '/scripts?script_type=all']) {
      expect((await scenario.api.request('GET', route)).text, route).not.toContain(inCode);
    }
    for (const workflow of [`activity/${group}`, `activity/${children[0]!.id}`]) {
      const text = await readableHistory(scenario.stack, workflow);
      expect(text).toContain(String(group));
      expect(text).not.toContain(inCode);
    }
    // PostgreSQL has both; the simulated agents store what they have not run or sent.
    const databases = /(^|\/)(postgres|pg|fleet|beside)[^/]*\//;
    const found = filesWith(scenario.stack.root, inCode).filter((name) => !databases.test(name));
    expect(found).toEqual([]);
  });
});
