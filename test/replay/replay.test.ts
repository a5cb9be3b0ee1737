import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it } from 'vitest';
import { WorkflowSpans } from '../../workers/telemetry/workflow-spans.ts';
import { TRACE_HEADER } from '../../workflows/contracts/tracing.contract.ts';
import * as workflows from '../../workflows/index.ts';
import { quietRuntime, TEST_DATA_CONVERTER, workflowCode } from '../support/temporal/workflow-environment.ts';
import { readHistory } from './history-file.ts';
import { SCENARIOS } from './scenarios.ts';

const DIRECTORY = fileURLToPath(new URL('./histories', import.meta.url));
const files = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.json')).sort();
const load = (file: string) => readHistory(`${DIRECTORY}/${file}`);
const typeOf = async (file: string): Promise<string> =>
  (await load(file)).events![0]!.workflowExecutionStartedEventAttributes!.workflowType!.name!;
/** A history of each workflow type. */
const byType = new Map(await Promise.all(files.map(async (file) => [await typeOf(file), file] as const)));
const sinks = new WorkflowSpans().sinks();
let code: string;
/** What each history gave; one worker replays them all. */
const outcomes = new Map<string, Error | undefined>();

beforeAll(async () => {
  quietRuntime();
  code = await workflowCode();
  const replays = new Map<string, object>();
  for (const file of files) replays.set(file, await load(file));
  for (const file of byType.values()) replays.set(traced(file), await withTrace(file));
  const names = [...replays.keys()];
  const histories = [...replays.values()].map((history) => ({ workflowId: WORKFLOW_ID, history }));
  for await (const { error } of Worker.runReplayHistories(optionsOf(code), histories)) {
    outcomes.set(names[outcomes.size]!, error);
  }
}, 120_000);

const WORKFLOW_ID = 'activity/1';
const optionsOf = (workflowCode: string) => ({
  workflowBundle: { code: workflowCode },
  dataConverter: TEST_DATA_CONVERTER,
  replayName: 'replay',
  sinks,
});
const traced = (file: string): string => `${file} as part of a trace`;

async function withTrace(file: string): Promise<object> {
  const history = await load(file);
  const traceparent = defaultPayloadConverter.toPayload({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` });
  history.events![0]!.workflowExecutionStartedEventAttributes!.header = { fields: { [TRACE_HEADER]: traceparent } };
  return history;
}

function expectReplayed(name: string): void {
  expect(outcomes.has(name), 'it was replayed').toBe(true);
  expect(outcomes.get(name)).toBeUndefined();
}

describe('replay of recorded histories', () => {
  it('has a history for every path', () => {
    const recorded = new Set(files.map((file) => file.replace(/\.\d+\.json$/, '')));
    expect(SCENARIOS.map(({ name }) => name).filter((name) => !recorded.has(name))).toEqual([]);
  });

  it('has a history for every workflow type', () => {
    expect([...byType.keys()].sort()).toEqual(Object.keys(workflows).sort());
  });

  it.each(files)('replays %s with the current workflow code', (file) => expectReplayed(file));

  it.each([...byType])('takes a %s as part of a trace: %s', (_, file) => expectReplayed(traced(file)));

  it('rejects workflow code that does something else', async () => {
    const other = code.replaceAll('.advance(', '.settle(');
    expect(other).not.toBe(code);
    const replay = Worker.runReplayHistory(optionsOf(other), await load('lane-succeeded.1.json'), WORKFLOW_ID);
    await expect(replay).rejects.toThrow(DeterminismViolationError);
  });
});
