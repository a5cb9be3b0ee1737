import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it } from 'vitest';
import { WorkflowSpans } from '../../workers/workflow-spans.ts';
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

beforeAll(async () => {
  quietRuntime();
  code = await workflowCode();
});

async function replay(history: object, workflowCode = code): Promise<void> {
  await Worker.runReplayHistory(
    { workflowBundle: { code: workflowCode }, dataConverter: TEST_DATA_CONVERTER, replayName: 'replay', sinks },
    history,
    'activity/1',
  );
}

describe('replay of recorded histories', () => {
  it('has a history for every path', () => {
    const recorded = new Set(files.map((file) => file.replace(/\.\d+\.json$/, '')));
    expect(SCENARIOS.map(({ name }) => name).filter((name) => !recorded.has(name))).toEqual([]);
  });

  it('has a history for every workflow type', () => {
    expect([...byType.keys()].sort()).toEqual(Object.keys(workflows).sort());
  });

  it.each(files)('replays %s with the current workflow code', async (file) => {
    await replay(await load(file));
  });

  it.each([...byType])('takes a %s as part of a trace: %s', async (_, file) => {
    const history = await load(file);
    const traceparent = defaultPayloadConverter.toPayload({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` });
    history.events![0]!.workflowExecutionStartedEventAttributes!.header = { fields: { [TRACE_HEADER]: traceparent } };
    await replay(history);
  });

  it('rejects workflow code that does something else', async () => {
    const other = code.replaceAll('.advance(', '.settle(');
    expect(other).not.toBe(code);
    await expect(replay(await load('lane-succeeded.1.json'), other)).rejects.toThrow(DeterminismViolationError);
  });
});
