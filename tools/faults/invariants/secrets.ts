import { readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestStack } from '../../harness/stack.ts';

const CHUNK_BYTES = 4 * 2 ** 20;
/** Read offset of each file; earlier content never changes, except for the pages of Temporal's database. */
const readTo = new Map<string, number>();

/**
 * Searches everything that the stack writes outside PostgreSQL for texts: logs, output and Temporal's database with its
 * WAL. Continues growing files where the last search ended.
 * @see docs/reliability.md#secrets-permissions-histories
 */
export async function findSecrets(stack: TestStack, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of filesOf(stack)) {
    for (const text of await textsIn(path, texts)) found.push(`${text} is in ${path.slice(stack.root.length + 1)}`);
  }
  return found;
}

function filesOf({ root, dataDir }: TestStack): string[] {
  const below = ['temporal', 'logs'].flatMap((name) =>
    readdirSync(join(dataDir, name), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return [join(root, 'output.log'), ...below];
}

async function textsIn(path: string, texts: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const file = await open(path, 'r').catch(() => null);
  if (!file) return [];
  try {
    const grows = path.endsWith('.log');
    const overlap = Math.max(...texts.map((text) => text.length));
    let position = grows ? Math.max(0, (readTo.get(path) ?? 0) - overlap) : 0;
    const buffer = Buffer.alloc(CHUNK_BYTES + overlap);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      for (const text of texts) if (buffer.subarray(0, bytesRead).includes(text)) found.add(text);
      if (bytesRead < buffer.length) {
        readTo.set(path, position + bytesRead);
        return [...found];
      }
      position += CHUNK_BYTES;
    }
  } finally {
    await file.close();
  }
}
