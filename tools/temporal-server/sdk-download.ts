import { readdirSync, statSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTool, type ToolOptions } from './run-tool.ts';

const LIMIT_MS = 10 * 60_000;
const STALL_SECONDS = 20;

/**
 * Lets the Temporal SDK download the test server that it knows and moves the program to `directory/file`. The SDK
 * downloads in a process of its own: it cannot be interrupted and may hang on networks that drop packets.
 * @throws when nothing arrives for 20 s, or the download fails
 */
export async function downloadTestServer(
  directory: string,
  file: string,
  { env, signal }: Pick<ToolOptions, 'env' | 'signal'>,
): Promise<void> {
  const script = fileURLToPath(new URL('./sdk-download-main.ts', import.meta.url));
  const stalled = stallDetector(directory);
  const failure = await runTool(process.execPath, [script, directory], {
    env,
    limitMs: LIMIT_MS,
    stalled,
    signal,
  }).then(
    () => null,
    (error: Error) => error,
  );
  // The SDK may have downloaded the file and only failed because the server did not start within its 5 s.
  const [name, ...others] = (await readdir(directory)).filter((entry) => !/\.(tmp|part|downloading)$/.test(entry));
  if (!name || others.length > 0) {
    for (const entry of await readdir(directory)) await rm(join(directory, entry), { recursive: true, force: true });
    throw failure ?? new Error('the download left no program');
  }
  await rename(join(directory, name), join(directory, file));
}

function stallDetector(directory: string): () => string | null {
  let size = -1;
  let since = performance.now();
  return () => {
    const now = readdirSync(directory).reduce((sum, name) => sum + sizeOf(join(directory, name)), 0);
    if (now !== size) {
      size = now;
      since = performance.now();
    }
    return performance.now() - since > STALL_SECONDS * 1000 ? `nothing arrived for ${STALL_SECONDS} s` : null;
  };
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
