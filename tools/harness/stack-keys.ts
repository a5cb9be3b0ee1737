import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EncryptionKey } from '../../src/process/config.ts';
import { openStateFile } from '../simulator/state-file.ts';

/** Reads FLOTILLA_ENCRYPTION_KEYS as the stack's processes get it. */
export function readEncryptionKeys(setting: string): EncryptionKey[] {
  return setting.split(',').map((part) => {
    const [id = '', encoded = ''] = part.trim().split(':');
    return { id, key: Buffer.from(encoded, 'base64') };
  });
}

/**
 * The secure ids of a stack's simulated computers, of which the server keeps digests alone. Read from a copy: whoever
 * opens the state of a fleet writes it anew.
 */
export async function readAgentIdentities(dataDir: string): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), `flotilla-test-${process.pid}-`));
  try {
    const copy = join(directory, 'state.json');
    await copyFile(join(dataDir, 'fleet', 'state.json'), copy);
    const state = openStateFile(copy, { seed: 1, epoch: 0, packageIds: {} });
    state.close(state.agents);
    return [...state.agents.values()].flatMap(({ session }) => (session.id === null ? [] : [session.id]));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
