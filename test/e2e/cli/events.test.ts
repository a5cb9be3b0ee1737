import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTRL_C, type Environment, runProgram, startOnTerminal } from '../../support/cli/program.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

const COMPUTERS = 3;
const TIMEOUT_MS = 180_000;

describe('flotilla events, on a running stack', { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;
  let env: Environment;

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
    env = { XDG_CONFIG_HOME: join(scenario.stack.root, 'beside') };
    const login = ['login', scenario.stack.url, '--email', 'admin@example.com'];
    expect(await runProgram(login, env, 'Scenario-4711\n')).toMatchObject({ code: 0 });
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  const install = async (...ids: number[]) => {
    const args = ['snaps', 'install', 'hello', '--id', ids.join(','), '--yes', '--wait', '-o', 'json'];
    const { code, stdout, stderr } = await runProgram(args, env);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return (JSON.parse(stdout) as [{ id: number }])[0].id;
  };
  const printed = (output: string) => [...output.matchAll(/^\{.*"id":"(\d+-\d+)".*$/gm)].map(([, id]) => id);

  it('follow what happens, also while the API is killed, until Ctrl-C', async () => {
    const terminal = startOnTerminal(['events', '-f', '--after', 'oldest', '-o', 'ndjson'], env, 4000);
    const first = await install(...scenario.computers);
    await terminal.shows(new RegExp(`"type":"activity.ended".*"subject":"activities/${first}"`));
    await scenario.stack.kill('api');
    await terminal.shows('The connection is lost');
    // Other commands give up sooner than the API is back.
    await expect.poll(async () => (await runProgram(['computers', 'list'], env)).code).toBe(0);
    const second = await install(scenario.computers[0]!, scenario.computers[1]!);
    await terminal.shows(new RegExp(`"type":"activity.ended".*"subject":"activities/${second}"`));
    terminal.type(CTRL_C);
    expect(await terminal.exited).toBe(0);
    const ids = printed(terminal.screen());
    const [, next] = /To continue: flotilla events -f --after (\d+-\d+)/.exec(terminal.screen()) ?? [];
    expect(next).toBe(ids.at(-1));
    const all = await runProgram(['events', '--after', 'oldest', '-o', 'ndjson'], env);
    expect(ids).toEqual(printed(all.stdout).slice(0, ids.length));
    const third = await install(scenario.computers[0]!, scenario.computers[1]!);
    const rest = await runProgram(['events', '--after', next!, '--types', 'activity.created'], env);
    expect(rest.stdout).toMatch(
      new RegExp(`^\\S+ +activity.created +activities/${third} +Install snaps on computer\\n$`),
    );
  });
});
