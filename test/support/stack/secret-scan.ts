import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { encryptionKeys } from '../../../src/process/setting-types.ts';
import { EncryptionCodec } from '../../../temporal/encryption/payload-codec.ts';
import type { TestStack } from '../../../tools/harness/stack.ts';
import { environmentOf } from '../../../tools/harness/stack-processes.ts';

/**
 * How a text looks in what holds it: in clear, in hexadecimal digits (so JSON shows bytes) and in base 64 (so files
 * travel and agents keep messages). In the midst of other bytes a text starts at one of three places of a base 64
 * group; the digits that it shares with its neighbours are left out.
 */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const inBase64 = [0, 1, 2].map((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6));
  });
  return [text, bytes.toString('hex'), ...inBase64];
}

/** Files below a directory that hold a text in any form: logs, heaps, write-ahead logs, whatever there is. */
export function filesWith(directory: string, text: string): string[] {
  const forms = formsOf(text);
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(directory, name);
    try {
      if (!statSync(path).isFile()) return false;
      const content = readFileSync(path);
      return forms.some((form) => content.includes(form));
    } catch (error) {
      // Both databases make and remove files all the time.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  });
}

/** Tables with a row that shows a text, compressed or not. */
export async function tablesWith(stack: TestStack, text: string): Promise<string[]> {
  const tables = await stack.rows<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await stack.rows(`select 1 from "${name}" t where strpos(t::text, $1) > 0 limit 1`, [text]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

/**
 * `table.column` of every column that shows a secret, as text or as bytes, by the name of the secret. Reads every row of
 * every table once.
 */
export async function columnsWith(
  stack: TestStack,
  secrets: Readonly<Record<string, string>>,
): Promise<Record<string, string[]>> {
  const tables = await stack.rows<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const forms = Object.entries(secrets).flatMap(([name, value]) => formsOf(value).map((form) => ({ name, form })));
  const parts = tables.map(
    ({ name }) => `select distinct f.name as secret, '${name}.' || e.key as place
      from "${name}" t, jsonb_each_text(to_jsonb(t)) e, jsonb_to_recordset($1::jsonb) f(name text, form text)
      where strpos(e.value, f.form) > 0`,
  );
  const rows = await stack.rows<{ secret: string; place: string }>(`${parts.join(' union ')} order by 2`, [
    JSON.stringify(forms),
  ]);
  const places: Record<string, string[]> = {};
  for (const { secret, place } of rows) places[secret] = [...(places[secret] ?? []), place];
  return places;
}

/** Everything the histories of all workflows hold, decrypted, and how many there are. */
export async function allHistories(stack: TestStack): Promise<{ workflows: number; text: string }> {
  const client = await stack.temporal();
  const texts: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list()) {
    texts.push(await readableHistory(stack, workflowId, runId));
  }
  return { workflows: texts.length, text: texts.join('\n') };
}

/** Everything a workflow's history holds, decrypted, as one text. */
export async function readableHistory(stack: TestStack, workflowId: string, runId?: string): Promise<string> {
  const client = await stack.temporal();
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const worker = stack.processes('worker')[0]!;
  const keys = encryptionKeys.parse(environmentOf(worker.pid, 'FLOTILLA_ENCRYPTION_KEYS')!);
  const codec = new EncryptionCodec(keys);
  const texts = [JSON.stringify(history)];
  for (const payload of payloadsIn(history)) {
    const [decoded] = await codec.reveal([payload]);
    texts.push(Buffer.from(decoded!.data ?? []).toString('utf8'));
  }
  return texts.join('\n');
}

interface Payload {
  metadata: Record<string, Uint8Array>;
  data: Uint8Array;
}

function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}

/** A text that occurs nowhere by chance. */
const canary = (): string => `Kanari1-${randomBytes(9).toString('hex')}`;

/** A marker for every secret somebody gives to a stack. What the stack generates is collected from its responses. */
export const createCanaries = () => ({
  adminPassword: canary(),
  wrongPassword: canary(),
  newPassword: canary().slice(0, 30),
  guestPassword: canary(),
  wrongSecretKey: canary(),
  wrongInvitation: canary(),
  jwtSecret: `${canary()}-${canary()}`,
  encryptionKey: randomBytes(32).toString('base64'),
  smtpPassword: canary(),
  registrationKey: canary(),
  scriptCode: canary(),
  editedCode: canary(),
  rejectedCode: canary(),
  attachment: canary(),
  tailoring: canary(),
  rejectedTailoring: canary(),
});

/** A client that keeps every response, so that what they show can be searched. */
export class RecordingClient {
  readonly responses: Array<{ request: string; text: string }> = [];
  readonly #url: string;
  token: string | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** @param quoted - keeps the response out of the record: it is the one that may show a secret */
  // Tests look into bodies of every shape.
  // biome-ignore lint/suspicious/noExplicitAny: a client of whatever route
  async call(method: string, path: string, body?: unknown, options: { quoted?: boolean } = {}): Promise<any> {
    const response = await fetch(`${this.#url}/api/v2${path}`, {
      method,
      headers: {
        ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const headers = JSON.stringify([...response.headers]);
    if (!options.quoted)
      this.responses.push({ request: `${method} ${path}`, text: `${response.status} ${headers} ${text}` });
    return { ...(text.startsWith('{') ? JSON.parse(text) : { list: text }), status: response.status };
  }
}
