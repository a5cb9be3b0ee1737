import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { EncryptionCodec } from '../../temporal/encryption/payload-codec.ts';
import { TEST_KEYS } from '../support/temporal/workflow-environment.ts';

const { History } = proto.temporal.api.history.v1;
const { EventType } = proto.temporal.api.enums.v1;

type WorkflowHistory = proto.temporal.api.history.v1.IHistory;

/** A recorded history: the events by name for the reader, and the whole in protobuf, because its payloads are encrypted anyway. */
interface HistoryFile {
  events: string[];
  history: string;
}

const codec = new EncryptionCodec(TEST_KEYS);

/** Writes a history without data about the machine that recorded it. */
export async function writeHistory(file: string, history: WorkflowHistory): Promise<void> {
  await anonymise(history);
  const events = (history.events ?? []).map(({ eventType }) => EventType[eventType ?? 0]!.replace('EVENT_TYPE_', ''));
  const content: HistoryFile = { events, history: Buffer.from(History.encode(history).finish()).toString('base64') };
  await writeFile(file, `${JSON.stringify(content, null, 1)}\n`);
}

export async function readHistory(file: string): Promise<WorkflowHistory> {
  const { history } = JSON.parse(await readFile(file, 'utf8')) as HistoryFile;
  return History.decode(Buffer.from(history, 'base64'));
}

/** Host names stand in identities and queue names, paths in the stacks of failures. */
async function anonymise(value: object): Promise<void> {
  const fields = value as Record<string, unknown>;
  for (const [key, field] of Object.entries(fields)) {
    if (typeof field === 'string') fields[key] = field.replaceAll(hostname(), 'host');
    else if (key === 'encodedAttributes' && field) fields[key] = await withoutStack(field as Payload);
    else if (typeof field === 'object' && field !== null && !(field instanceof Uint8Array)) await anonymise(field);
  }
}

async function withoutStack(attributes: Payload): Promise<Payload> {
  const [clear] = await codec.decode([attributes]);
  const { message } = JSON.parse(Buffer.from(clear!.data!).toString()) as { message: string };
  const data = Buffer.from(JSON.stringify({ message, stack_trace: '' }));
  const [encrypted] = await codec.encode([{ ...clear, data }]);
  return encrypted!;
}
