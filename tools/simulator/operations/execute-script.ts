import { type BObject, isDict } from '../../../src/protocol/bpickle.ts';
import { hasUser } from '../inventory/accounts.ts';
import { failed, type Operation, type OperationContext, type Outcome, succeeded } from './operation.ts';
import { environmentOf, runScript } from './script-language.ts';

/** Result codes of scripts. @see docs/agent-protocol.md#scripts */
const CODE = { timeLimit: 102, exit: 103, attachment: 104 } as const;

const INTERPRETERS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'python3', 'perl', 'env']);

/** Runs the part of a script that the simulated shell understands. */
export const executeScript: Operation = async (message, context) => {
  const problem = problemOf(message, context);
  if (problem) return { results: [failed(message, problem)] };
  const attachments = await fetchAttachments(message['attachments'] as BObject, context);
  if (!attachments) return { results: [failed(message, 'Failed downloading attachment', CODE.attachment)] };
  const { hostname } = context.machine.blueprint;
  const limit = message['time-limit'];
  const run = runScript(
    programOf(message['interpreter'] as string),
    message['code'] as string,
    {
      username: message['username'] as string,
      hostname,
      kernel: context.machine.kernel ?? '6.6.87.2-microsoft-standard-WSL2',
      env: { ...environmentOf(message['env']), USER: message['username'] as string, HOSTNAME: hostname },
      attachments,
    },
    typeof limit === 'number' && limit > 0 ? limit * 1000 : null,
  );
  const code = run.timedOut ? CODE.timeLimit : CODE.exit;
  const result = run.exitCode === 0 ? succeeded(message, run.output) : failed(message, run.output, code);
  return { results: [result], extraMs: run.ms };
};

export function failedScript(message: BObject): Outcome {
  return { results: [failed(message, 'simulated failure\n', CODE.exit)] };
}

function problemOf(message: BObject, { machine }: OperationContext): string | null {
  const { username, interpreter, code, attachments } = message;
  if (
    typeof username !== 'string' ||
    typeof interpreter !== 'string' ||
    typeof code !== 'string' ||
    !isDict(attachments)
  ) {
    return 'malformed execute-script message';
  }
  if (!hasUser(machine.blueprint, username)) return `UnknownUserError: ${username}`;
  if (!interpreter.startsWith('/') || !INTERPRETERS.has(programOf(interpreter)))
    return `UnknownInterpreterError: ${interpreter}`;
  return environmentOf(message['env']) ? null : 'TypeError: environment values must be text';
}

/** The interpreter's program: `bash` for `/usr/bin/env bash`. */
function programOf(interpreter: string): string {
  const [path = '', ...words] = interpreter.split(/[ \t]+/).filter((word) => word !== '');
  const name = path.split('/').at(-1)!;
  return name === 'env' ? (words.find((word) => !word.startsWith('-') && !word.includes('=')) ?? name) : name;
}

async function fetchAttachments(
  attachments: BObject,
  { download }: OperationContext,
): Promise<Map<string, string> | null> {
  const files = new Map<string, string>();
  for (const [name, content] of Object.entries(attachments)) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : await download(Number(content));
    if (!bytes) return null;
    files.set(name, bytes.toString('utf8'));
  }
  return files;
}
